/* Wraps clock_gettime of the process into which it is loaded: FAULT names the fault of CLOCK_MONOTONIC, and BY its
   size in nanoseconds or ppm. The system call stays correct. */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const char *fault = "";
static long long by, start;

static long long kernel_ns(clockid_t clock) {
    struct timespec time = {0, 0};
    syscall(SYS_clock_gettime, clock, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

__attribute__((constructor)) static void begin(void) {
    if (getenv("FAULT"))
        fault = getenv("FAULT");
    by = atoll(getenv("BY") ? getenv("BY") : "0");
    start = kernel_ns(CLOCK_MONOTONIC);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    long long ns = kernel_ns(clock);
    if (clock == CLOCK_MONOTONIC) {
        if (!strcmp(fault, "fatal"))
            abort();
        if (!strcmp(fault, "still"))
            ns = start;
        if (!strcmp(fault, "offset"))
            ns += by;
        if (!strcmp(fault, "slew"))
            ns += (ns - start) * by / 1000000;
        if (!strcmp(fault, "quantise"))
            ns -= ns % by;
    }
    time->tv_sec = ns / 1000000000;
    time->tv_nsec = ns % 1000000000;
    return 0;
}
