#include <cstdio>
#include <cstdlib>
#include <string>

class Sample {
 public:
  void run(const std::string &name, char *target) {
    // ruleid: c-command-injection
    system(("ls " + name).c_str());
    // ruleid: c-unbounded-copy
    strcpy(target, name.c_str());
    // ok: c-command-injection
    system("ls");
  }
};
