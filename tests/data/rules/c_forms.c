#include <stdio.h>
#define FMT "%s"
void s(char *x, char *t) {
  // ruleid: c-command-injection
  execl("/bin/sh", "sh", "-c", x, NULL);
  // ruleid: c-command-injection
  execlp("sh", "sh", "-c", x, (char *)0);
  char *argv[] = {"sh", "-c", x, NULL};
  // ruleid: c-command-injection
  execv("/bin/sh", argv);
  char b[99];
  snprintf(b, 99, "ls %s", x);
  // ruleid: c-command-injection
  system(b);
  // ok: c-command-injection
  execl("/bin/ls", "ls", x, NULL);
  // ok: c-command-injection
  execl("/bin/sh", "sh", "-c", "ls", NULL);
  char *av[] = {"ls", x, NULL};
  // ok: c-command-injection
  execv("/bin/ls", av);
  // ruleid: c-format-string
  printf(x, 0);
  // ruleid: c-format-string
  fprintf(stderr, t, x);
  // ruleid: c-format-string
  dprintf(1, x);
  // ok: c-format-string
  printf("%s", x);
  // ok: c-format-string
  printf(FMT, x);
  // ok: c-format-string
  printf("a" "b", x);
  // ok: c-format-string
  snprintf(b, sizeof b, "%s", x);
}
