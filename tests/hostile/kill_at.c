/* Kills the process into which it is loaded before the file operation with the number KILL_AT: creating, renaming or removing. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static long long operations;

static void count(void) {
    const char *at = getenv("KILL_AT");
    if (at && __atomic_add_fetch(&operations, 1, __ATOMIC_SEQ_CST) == atoll(at))
        kill(getpid(), SIGKILL);
}

#define WRAP(name, parameters, ...)                                  \
    int name parameters {                                            \
        int (*next) parameters = dlsym(RTLD_NEXT, #name);            \
        count();                                                     \
        return next(__VA_ARGS__);                                    \
    }

WRAP(rename, (const char *from, const char *to), from, to)
WRAP(mkdir, (const char *path, mode_t mode), path, mode)
WRAP(unlink, (const char *path), path)
WRAP(rmdir, (const char *path), path)
WRAP(unlinkat, (int folder, const char *path, int flags), folder, path, flags)

#define WRAP_OPEN(name)                                              \
    int name(const char *path, int flags, ...) {                     \
        int (*next)(const char *, int, ...) = dlsym(RTLD_NEXT, #name); \
        mode_t mode = 0;                                             \
        if (flags & O_CREAT) {                                       \
            va_list more;                                            \
            va_start(more, flags);                                   \
            mode = va_arg(more, mode_t);                             \
            va_end(more);                                            \
            count();                                                 \
        }                                                            \
        return next(path, flags, mode);                              \
    }

#undef open
WRAP_OPEN(open)
WRAP_OPEN(open64)
