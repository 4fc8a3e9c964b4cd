#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sample(char *target, const char *text, char *command) {
  char buffer[16];
  // ruleid: c-gets
  gets(buffer);
  // ok: c-gets
  fgets(buffer, sizeof buffer, stdin);
  // ruleid: c-unbounded-copy
  strcpy(target, text);
  // ok: c-unbounded-copy
  strcpy(target, "ok");
  // ruleid: c-unbounded-copy
  sprintf(buffer, "%s", text);
  // ok: c-unbounded-copy
  snprintf(buffer, sizeof buffer, "%s", text);
  // ruleid: c-command-injection
  system(command);
  // ok: c-command-injection
  system("ls");
  // ruleid: c-format-string
  printf(text);
  // ok: c-format-string
  printf("%s", text);
  // ok: c-format-string
  printf("done");
}
