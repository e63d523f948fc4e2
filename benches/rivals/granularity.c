/* What is often printed as the granularity of a clock: the mean of what it moves by from one value to the next, read as fast as it goes. */
#include <stdio.h>
#include <time.h>

static long long now(void) {
    struct timespec read;
    clock_gettime(CLOCK_MONOTONIC, &read);
    return read.tv_sec * 1000000000LL + read.tv_nsec;
}

int main(void) {
    enum { MOVES = 5000000 };
    long long sum = 0;
    for (int move = 0; move < MOVES; move++) {
        long long before = now(), after;
        do {
            after = now();
        } while (after == before);
        sum += after - before;
    }
    printf("%.2f\n", (double)sum / MOVES);
    return 0;
}
