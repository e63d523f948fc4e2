/* Prints what other tools call the granularity of a clock: the mean difference in nanoseconds between successive different readings. */
#include <stdio.h>
#include <time.h>

static long long now(void) {
    struct timespec reading;
    clock_gettime(CLOCK_MONOTONIC, &reading);
    return reading.tv_sec * 1000000000LL + reading.tv_nsec;
}

int main(void) {
    enum { CHANGES = 5000000 };
    long long sum = 0;
    for (int change = 0; change < CHANGES; change++) {
        long long before = now(), after;
        do {
            after = now();
        } while (after == before);
        sum += after - before;
    }
    printf("%.2f\n", (double)sum / CHANGES);
    return 0;
}
