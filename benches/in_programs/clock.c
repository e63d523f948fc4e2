/* A clock for real programs. The file that the variable CLOCK_MODE names holds the number of the mode in which it reads: run.py maps the
 * file and changes the mode between two runs of a program, which goes on.
 *
 * Loaded before libc (LD_PRELOAD), the library replaces clock_gettime for CLOCK_MONOTONIC. SQLite and CPython call its
 * hooks, which read the clock and store the reading, as a program would. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

static int (*real_clock_gettime)(clockid_t, struct timespec *);
static volatile uint64_t fixed = 1000000000000;
static volatile uint64_t ns_per_tick = 1ull << 31; /* times 2^32; the actual rate does not matter here */
static uint32_t no_mode;
static volatile uint32_t *mode = &no_mode;

__attribute__((constructor)) static void open_clock(void) {
    real_clock_gettime = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    const char *path = getenv("CLOCK_MODE");
    int file = path ? open(path, O_RDONLY) : -1;
    void *page = file < 0 ? MAP_FAILED : mmap(NULL, sizeof *mode, PROT_READ, MAP_SHARED, file, 0);
    if (page != MAP_FAILED)
        mode = page;
    if (file >= 0)
        close(file);
}

static inline int convert(uint64_t ticks, struct timespec *t) {
    uint64_t ns = (uint64_t)(((unsigned __int128)ticks * ns_per_tick) >> 32);
    t->tv_sec = ns / 1000000000;
    t->tv_nsec = ns % 1000000000;
    return 0;
}

static int nothing(struct timespec *t) {
    t->tv_sec = 1000;
    t->tv_nsec = 0;
    return 0;
}

static int nothing_converted(struct timespec *t) { return convert(fixed, t); }

static int rdtsc(struct timespec *t) { return convert(__rdtsc(), t); }

static int rdtsc_lfence(struct timespec *t) {
    _mm_lfence();
    return convert(__rdtsc(), t);
}

static int rdtscp(struct timespec *t) {
    unsigned cpu;
    return convert(__rdtscp(&cpu), t);
}

static int monotonic(struct timespec *t) { return real_clock_gettime(CLOCK_MONOTONIC, t); }

/* In the order of MODES in run.py. */
static int (*const modes[])(struct timespec *) = {nothing, nothing_converted, rdtsc, rdtsc_lfence, rdtscp, monotonic};

static inline int now(struct timespec *t) { return modes[*mode](t); }

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
