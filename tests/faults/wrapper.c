/* Wraps clock_gettime of the process into which it is loaded: FAULT names the fault of the clock CLOCK, by default
   CLOCK_MONOTONIC (-1: of all; 99: of gettimeofday alone), and BY its size in nanoseconds or ppm, the date in seconds
   since 1970, or the nanoseconds after which it steps back by a second. The system call stays correct. The fault "alarm"
   sends a signal every BY microseconds, as profilers do; "unbound" refuses to bind threads to CPUs. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const char *fault = "";
static clockid_t faulty = CLOCK_MONOTONIC;
static long long by, starts[100];

static long long kernel_ns(clockid_t clock) {
    struct timespec time = {0, 0};
    syscall(SYS_clock_gettime, clock, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void ignore(int signal) { (void)signal; }

static void alarm_every(long microseconds) {
    struct sigaction action = {.sa_handler = ignore, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, microseconds}, {0, microseconds}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

__attribute__((constructor)) static void begin(void) {
    if (getenv("FAULT"))
        fault = getenv("FAULT");
    by = atoll(getenv("BY") ? getenv("BY") : "0");
    faulty = atoi(getenv("CLOCK") ? getenv("CLOCK") : "1");
    for (int clock = 0; clock < 12; clock++)
        starts[clock] = kernel_ns(clock);
    starts[99] = starts[CLOCK_REALTIME];
    if (!strcmp(fault, "alarm"))
        alarm_every(by);
}

static int gettime(clockid_t clock, clockid_t as, struct timespec *time) {
    long long ns = kernel_ns(clock), start = as >= 0 && as < 100 ? starts[as] : 0;
    int is_faulty = as == faulty || (faulty == -1 && as >= 0 && as < 12);
    if (is_faulty) {
        if (!strcmp(fault, "fatal"))
            abort();
        if (!strcmp(fault, "offset"))
            ns += by;
        if (!strcmp(fault, "slew"))
            ns += (__int128)(ns - start) * by / 1000000;
        if (!strcmp(fault, "quantise"))
            ns -= ns % by;
        if (!strcmp(fault, "back"))
            ns -= (ns - start) / by * 1000000000;
    }
    time->tv_sec = ns / 1000000000;
    time->tv_nsec = ns % 1000000000;
    if (time->tv_nsec < 0) {
        time->tv_sec -= 1;
        time->tv_nsec += 1000000000;
    }
    if (is_faulty && !strcmp(fault, "date"))
        time->tv_sec = (long long)((unsigned long long)by + ns / 1000000000 - start / 1000000000);
    return 0;
}

int clock_gettime(clockid_t clock, struct timespec *time) { return gettime(clock, clock, time); }

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    struct timespec now;
    (void)zone;
    if (gettime(CLOCK_REALTIME, faulty == 99 ? 99 : CLOCK_REALTIME, &now))
        return -1;
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *seconds) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now))
        return -1;
    if (seconds)
        *seconds = now.tv_sec;
    return now.tv_sec;
}

int sched_setaffinity(pid_t thread, size_t size, const cpu_set_t *cpus) {
    if (!strcmp(fault, "unbound")) {
        errno = EPERM;
        return -1;
    }
    return syscall(SYS_sched_setaffinity, thread, size, cpus) < 0 ? -1 : 0;
}
