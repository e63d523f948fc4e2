/* Wraps clock_gettime of the process into which it is loaded: FAULT names the fault of the clock CLOCK, by default
   CLOCK_MONOTONIC, and BY its size in nanoseconds or ppm, or the reads before it. The system call stays correct. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const char *fault = "";
static clockid_t faulty = CLOCK_MONOTONIC;
static long long by, start, reads;

static long long kernel_ns(clockid_t clock) {
    struct timespec time = {0, 0};
    syscall(SYS_clock_gettime, clock, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

__attribute__((constructor)) static void begin(void) {
    if (getenv("FAULT"))
        fault = getenv("FAULT");
    by = atoll(getenv("BY") ? getenv("BY") : "0");
    faulty = atoi(getenv("CLOCK") ? getenv("CLOCK") : "1");
    start = kernel_ns(faulty);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    long long ns = kernel_ns(clock);
    if (clock == faulty) {
        if (!strcmp(fault, "fails") && __atomic_fetch_add(&reads, 1, __ATOMIC_RELAXED) >= by) {
            errno = EPERM;
            return -1;
        }
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
    if (time->tv_nsec < 0) {
        time->tv_sec -= 1;
        time->tv_nsec += 1000000000;
    }
    if (clock == faulty && !strcmp(fault, "overflow"))
        time->tv_nsec = 1000000005;
    return 0;
}
