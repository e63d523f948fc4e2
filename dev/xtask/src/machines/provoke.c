/* What busybox has no words for, for machines that are built so: linked statically, so that it runs where nothing else is.
 *
 *   odd leap                     the kernel is told that this UTC day ends with a leap second (adjtimex(2), STA_INS)
 *   odd read N                   it reads a clock N times a second, until it is ended
 *   odd namespace S COMMAND…     runs it in a time namespace whose monotonic and boot time are S seconds ahead (time_namespaces(7))
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

static int leap(void) {
    struct timex told = {.modes = ADJ_STATUS, .status = STA_INS};
    return adjtimex(&told) < 0;
}

static int in_namespace(const char *seconds, char **command) {
    char offsets[128];
    snprintf(offsets, sizeof offsets, "monotonic %s 0\nboottime %s 0\n", seconds, seconds);
    if (unshare(CLONE_NEWTIME) != 0)
        return 1;
    int file = open("/proc/self/timens_offsets", O_WRONLY);
    if (file < 0 || write(file, offsets, strlen(offsets)) < 0 || close(file) != 0)
        return 2;
    pid_t child = fork();
    if (child == 0) {
        execvp(command[0], command);
        _exit(127);
    }
    int status;
    return waitpid(child, &status, 0) != child || status != 0;
}

/* Ten times a second a tenth of them. */
static int read_on(long reads) {
    struct timespec next, now;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (;;) {
        for (long left = reads / 10; left > 0; left--)
            clock_gettime(CLOCK_REALTIME, &now);
        next.tv_nsec += 100000000;
        if (next.tv_nsec >= 1000000000) {
            next.tv_nsec -= 1000000000;
            next.tv_sec++;
        }
        if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL) != 0)
            return 1;
    }
}

int main(int count, char **words) {
    if (count == 2 && strcmp(words[1], "leap") == 0)
        return leap();
    if (count == 3 && strcmp(words[1], "read") == 0)
        return read_on(atol(words[2]));
    if (count > 3 && strcmp(words[1], "namespace") == 0)
        return in_namespace(words[2], words + 3);
    return 64;
}
