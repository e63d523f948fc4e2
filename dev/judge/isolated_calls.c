/* Judges costs that timermeter reports, on a real machine and without its code: times single calls of clocks in fresh processes.
 *
 *     cc -O2 -o isolated_calls dev/judge/isolated_calls.c && taskset -c 1 ./isolated_calls [PROCESSES [CLOCK...]]
 *
 * `single` is what METHODOLOGY.md calls the cost: a call between two serialised reads of the counter (a fence, then the counter), less the
 * *bracket*, the same two reads without the call, which is in every difference and no part of the call. The second read waits for the
 * call; the call may begin while the first read completes, which hides some nanoseconds of it. There is no loop between the reads, so
 * there is none to subtract. A work of random length before the first read gives each call another phase of the counter: the mean of the
 * differences near the median, less that of the brackets, is the duration of a call also if the counter moves once in 10 ns.
 * `row` is a call among ROW of them, less the bracket. It hides nothing, but calls may overlap each other. The row is unrolled, so that
 * there is no loop to subtract either.
 * `alone` has fences on both sides of the call: nothing else runs during it, and the pipeline fills and drains for it alone.
 * Printed in nanoseconds: of each, the median over the processes, the least and the greatest. Costs of timermeter lie between the least
 * and the greatest of `single` and `row`; where these differ, the core decides which of the two a program meets.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

enum { SAMPLES = 8000, ROWS = 300, ROW = 64, MAX_CLOCKS = 40, MAX_PROCESSES = 1000, FIGURES = 3 };

#define KEEP(value) __asm__ volatile("" : : "r"(value) : "memory")

#if defined(__x86_64__)
#include <x86intrin.h>
static inline __attribute__((always_inline)) void fence(void) { __asm__ volatile("lfence" : : : "memory"); }
static inline __attribute__((always_inline)) int64_t counter(void) { return (int64_t)__rdtsc(); }
#define COUNTERS(X)                                              \
    X("rdtsc", KEEP(__rdtsc()))                                  \
    X("rdtsc-lfence", fence(); KEEP(__rdtsc()))                  \
    X("rdtscp", unsigned cpu; KEEP(__rdtscp(&cpu)))
#elif defined(__aarch64__)
static inline __attribute__((always_inline)) void fence(void) { __asm__ volatile("isb" : : : "memory"); }
static inline __attribute__((always_inline)) int64_t counter(void) {
    int64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}
#define COUNTERS(X) X("cntvct", KEEP(counter()))
#else
#error "isolated_calls knows the counters of x86-64 and AArch64"
#endif

#define GETTIME(clock) struct timespec now; clock_gettime(clock, &now); KEEP(now.tv_nsec)
#define SYSCALL(clock) struct timespec now; syscall(SYS_clock_gettime, clock, &now); KEEP(now.tv_nsec)
#define CLOCKS(X)                                                                      \
    COUNTERS(X)                                                                        \
    X("monotonic", GETTIME(CLOCK_MONOTONIC))                                           \
    X("monotonic-raw", GETTIME(CLOCK_MONOTONIC_RAW))                                   \
    X("monotonic-coarse", GETTIME(CLOCK_MONOTONIC_COARSE))                             \
    X("realtime", GETTIME(CLOCK_REALTIME))                                             \
    X("realtime-coarse", GETTIME(CLOCK_REALTIME_COARSE))                               \
    X("boottime", GETTIME(CLOCK_BOOTTIME))                                             \
    X("tai", GETTIME(CLOCK_TAI))                                                       \
    X("thread-cputime", GETTIME(CLOCK_THREAD_CPUTIME_ID))                                  \
    X("process-cputime", GETTIME(CLOCK_PROCESS_CPUTIME_ID))                                \
    X("monotonic-syscall", SYSCALL(CLOCK_MONOTONIC))                                   \
    X("monotonic-raw-syscall", SYSCALL(CLOCK_MONOTONIC_RAW))                           \
    X("realtime-syscall", SYSCALL(CLOCK_REALTIME))                                     \
    X("gettimeofday", struct timeval now; gettimeofday(&now, NULL); KEEP(now.tv_usec)) \
    X("time", KEEP(time(NULL)))                                                        \
    X("clock", KEEP(clock()))                                                          \
    X("times", struct tms now; KEEP(times(&now)))                                      \
    X("getrusage-self", struct rusage now; getrusage(RUSAGE_SELF, &now); KEEP(now.ru_utime.tv_usec))

static volatile uint64_t state = 88172645463325252u;

/* Works for up to some 60 cycles, another number each time. */
static inline void vary_phase(void) {
    uint64_t x = state;
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    state = x;
    for (uint64_t turns = x % 61; turns > 0; turns--) __asm__ volatile("" : : : "memory");
}

/* Stores `count` differences of the counter around the statements, each by two serialised reads. */
#define DIFFERENCES(deltas, count, ...)       \
    for (int at = 0; at < (count); at++) {    \
        vary_phase();                         \
        fence();                              \
        int64_t first = counter();            \
        __VA_ARGS__;                          \
        fence();                              \
        (deltas)[at] = (double)(counter() - first);    \
    }
#define IN_A_ROW(...) _Pragma("GCC unroll 64") for (int turn = 0; turn < ROW; turn++) { __VA_ARGS__; }

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The mean of what lies within one and a half steps of the median. */
static double near_median(double *deltas, int count, int64_t step) {
    qsort(deltas, count, sizeof *deltas, ascending);
    double median = deltas[count / 2], sum = 0, number = 0;
    for (int at = 0; at < count; at++) {
        if (fabs(deltas[at] - median) <= 1.5 * step) sum += deltas[at], number++;
    }
    return sum / number;
}

/* The largest number that all differences are multiples of. */
static int64_t step_of(const double *deltas, int count) {
    int64_t step = 0;
    for (int at = 0; at < count; at++) {
        for (int64_t rest = (int64_t)deltas[at]; rest != 0;) {
            int64_t next = step % rest;
            step = rest, rest = next;
        }
    }
    return step > 0 ? step : 1;
}

static double ns_per_tick(void) {
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC_RAW, &begin);
    int64_t first = counter();
    usleep(50000);
    clock_gettime(CLOCK_MONOTONIC_RAW, &end);
    int64_t last = counter();
    return ((end.tv_sec - begin.tv_sec) * 1e9 + (end.tv_nsec - begin.tv_nsec)) / (double)(last - first);
}

static int is_wanted(const char *name, int argc, char **argv) {
    for (int at = 2; at < argc; at++) {
        if (strcmp(argv[at], name) == 0) return 1;
    }
    return argc < 3;
}

/* One process: prints the figures of each clock in nanoseconds. */
static void measure(int argc, char **argv) {
    static double deltas[SAMPLES];
    state ^= (uint64_t)getpid() << 32 ^ (uint64_t)counter();
    double ns = ns_per_tick();
    DIFFERENCES(deltas, SAMPLES, (void)0)
    int64_t step = step_of(deltas, SAMPLES);
#define MEASURE(name, ...)                                                                        \
    if (is_wanted(name, argc, argv)) {                                                            \
        DIFFERENCES(deltas, 100, __VA_ARGS__)                                                     \
        DIFFERENCES(deltas, SAMPLES, (void)0)                                                     \
        double bracket = near_median(deltas, SAMPLES, step);                                      \
        DIFFERENCES(deltas, SAMPLES, __VA_ARGS__)                                                 \
        double single = near_median(deltas, SAMPLES, step) - bracket;                             \
        DIFFERENCES(deltas, ROWS, IN_A_ROW(__VA_ARGS__))                                          \
        double row = (near_median(deltas, ROWS, step) - bracket) / ROW;                           \
        DIFFERENCES(deltas, SAMPLES, fence(); fence())                                            \
        double fences = near_median(deltas, SAMPLES, step);                                       \
        DIFFERENCES(deltas, SAMPLES, fence(); __VA_ARGS__; fence())                               \
        double alone = near_median(deltas, SAMPLES, step) - fences;                               \
        printf("%s %.17g %.17g %.17g\n", name, single * ns, row * ns, alone * ns);                \
    }
    CLOCKS(MEASURE)
}

int main(int argc, char **argv) {
    if (getenv("ISOLATED_CALLS_CHILD") != NULL) {
        measure(argc, argv);
        return 0;
    }
    static double figures[MAX_CLOCKS][FIGURES][MAX_PROCESSES];
    static char names[MAX_CLOCKS][64];
    int processes = argc > 1 ? atoi(argv[1]) : 25, clocks = 0;
    if (processes < 1 || processes > MAX_PROCESSES) return fputs("isolated_calls: 1 to 1000 processes\n", stderr), 2;
    char command[8192], path[4096] = {0};
    if (readlink("/proc/self/exe", path, sizeof path - 1) < 0) return perror("isolated_calls"), 1;
    snprintf(command, sizeof command, "ISOLATED_CALLS_CHILD=1 exec '%s'", path);
    for (int at = 1; at < argc; at++) strncat(strcat(command, " "), argv[at], sizeof command - strlen(command) - 2);
    for (int process = 0; process < processes; process++) {
        FILE *child = popen(command, "r");
        for (clocks = 0; child != NULL && clocks < MAX_CLOCKS; clocks++) {
            double *own[FIGURES] = {&figures[clocks][0][process], &figures[clocks][1][process], &figures[clocks][2][process]};
            if (fscanf(child, "%63s %lf %lf %lf", names[clocks], own[0], own[1], own[2]) != 4) break;
        }
        if (child == NULL || pclose(child) != 0) return fputs("isolated_calls: a process failed\n", stderr), 1;
    }
    printf("%-22s %27s %27s %27s   ns, %d processes\n", "clock", "single: median [least most]", "row", "alone", processes);
    for (int at = 0; at < clocks; at++) {
        printf("%-22s", names[at]);
        for (int figure = 0; figure < FIGURES; figure++) {
            double *own = figures[at][figure];
            qsort(own, processes, sizeof *own, ascending);
            printf("  %8.2f [%7.2f %7.2f]", own[processes / 2], own[0], own[processes - 1]);
        }
        putchar('\n');
    }
    return 0;
}
