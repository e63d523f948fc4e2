/* Causes events on emulated machines for which busybox has no command. Linked statically.
 *
 *   provoke leap                    tells the kernel that this UTC day ends with a leap second (adjtimex(2), STA_INS)
 *   provoke namespace S COMMAND...  runs COMMAND in a time namespace with clocks S seconds ahead (time_namespaces(7))
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

static int leap(void) {
    struct timex request = {.modes = ADJ_STATUS, .status = STA_INS};
    return adjtimex(&request) < 0;
}

static int run_in_namespace(const char *seconds, char **command) {
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

int main(int count, char **arguments) {
    if (count == 2 && strcmp(arguments[1], "leap") == 0)
        return leap();
    if (count > 3 && strcmp(arguments[1], "namespace") == 0)
        return run_in_namespace(arguments[2], arguments + 3);
    return 64;
}
