/* Clocks for real programs: one a build, by MODE. What is read is kept, as a program keeps it.
 *
 * As a library that is loaded before libc it answers CLOCK_MONOTONIC; its hooks are called by SQLite and CPython. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <time.h>
#include <x86intrin.h>

/* By numbers that the preprocessor knows, in the order of MODES in run.py. */
#define NOTHING 0
#define NOTHING_CONVERTED 1
#define RDTSC 2
#define RDTSC_LFENCE 3
#define RDTSCP 4
#define MONOTONIC 5

static int (*real)(clockid_t, struct timespec *);
static volatile uint64_t fixed = 1000000000000;
static volatile uint64_t ns_a_tick = 1ull << 31; /* times 2^32; which rate it is does not matter here */

__attribute__((constructor)) static void begin(void) {
    real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
}

static inline uint64_t ticks(void) {
#if MODE == RDTSC
    return __rdtsc();
#elif MODE == RDTSC_LFENCE
    _mm_lfence();
    return __rdtsc();
#elif MODE == RDTSCP
    unsigned cpu;
    return __rdtscp(&cpu);
#else
    return fixed;
#endif
}

static inline int now(struct timespec *t) {
#if MODE == MONOTONIC
    return real(CLOCK_MONOTONIC, t);
#elif MODE == NOTHING
    t->tv_sec = 1000;
    t->tv_nsec = 0;
    return 0;
#else
    uint64_t ns = (uint64_t)(((unsigned __int128)ticks() * ns_a_tick) >> 32);
    t->tv_sec = ns / 1000000000;
    t->tv_nsec = ns % 1000000000;
    return 0;
#endif
}

int clock_gettime(clockid_t clock, struct timespec *t) {
    return clock == CLOCK_MONOTONIC ? now(t) : real(clock, t);
}

static volatile struct timespec kept;
static uint64_t calls;

static inline void keep(void) {
    struct timespec t;
    now(&t);
    kept.tv_sec = t.tv_sec;
    kept.tv_nsec = t.tv_nsec;
    calls++;
}

/* sqlite3_progress_handler */
int on_progress(void *unused) {
    (void)unused;
    keep();
    return 0;
}

/* PyEval_SetProfile */
int on_profile(void *self, void *frame, int what, void *argument) {
    (void)self, (void)frame, (void)what, (void)argument;
    keep();
    return 0;
}

uint64_t calls_so_far(void) { return calls; }
