/* A clock for real programs, which MODE selects at compile time. run.py builds a library for each mode.
 *
 * Loaded before libc (LD_PRELOAD), the library replaces clock_gettime for CLOCK_MONOTONIC. SQLite and CPython call its
 * hooks, which read the clock and store the reading, as a program would. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <time.h>
#include <x86intrin.h>

/* The values of MODE, in the order of MODES in run.py. */
#define NOTHING 0
#define NOTHING_CONVERTED 1
#define RDTSC 2
#define RDTSC_LFENCE 3
#define RDTSCP 4
#define MONOTONIC 5

static int (*real_clock_gettime)(clockid_t, struct timespec *);
static volatile uint64_t fixed = 1000000000000;
static volatile uint64_t ns_per_tick = 1ull << 31; /* times 2^32; the actual rate does not matter here */

__attribute__((constructor)) static void find_clock_gettime(void) {
    real_clock_gettime = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
}

static inline uint64_t read_ticks(void) {
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
    return real_clock_gettime(CLOCK_MONOTONIC, t);
#elif MODE == NOTHING
    t->tv_sec = 1000;
    t->tv_nsec = 0;
    return 0;
#else
    uint64_t ns = (uint64_t)(((unsigned __int128)read_ticks() * ns_per_tick) >> 32);
    t->tv_sec = ns / 1000000000;
    t->tv_nsec = ns % 1000000000;
    return 0;
#endif
}

int clock_gettime(clockid_t clock, struct timespec *t) {
    return clock == CLOCK_MONOTONIC ? now(t) : real_clock_gettime(clock, t);
}

static volatile struct timespec last_reading;
static uint64_t calls;

static inline void read_and_store(void) {
    struct timespec t;
    now(&t);
    last_reading.tv_sec = t.tv_sec;
    last_reading.tv_nsec = t.tv_nsec;
    calls++;
}

/* The hook for sqlite3_progress_handler. */
int on_progress(void *unused) {
    (void)unused;
    read_and_store();
    return 0;
}

/* The hook for PyEval_SetProfile. */
int on_profile(void *self, void *frame, int what, void *argument) {
    (void)self, (void)frame, (void)what, (void)argument;
    read_and_store();
    return 0;
}

uint64_t calls_so_far(void) { return calls; }
