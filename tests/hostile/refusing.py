"""Runs a program to which the kernel refuses system calls (seccomp(2)), as some sandboxes do: CALL[,CALL…] PROGRAM ARGUMENT…
CALL=kill ends a process that makes the call, CALL=nothing returns success without effect, CALL=absent fails as on a kernel without it."""
import ctypes, os, platform, struct, sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, IS, RETURN = 0x20, 0x15, 0x06
ALLOW = 0x7FFF0000
ACTIONS = {"": 0x00050001, "kill": 0x80000000, "nothing": 0x00050000, "absent": 0x00050026}
numbers = {"pidfd_send_signal": 424, "pidfd_open": 434} | {
    "x86_64": {"clock_gettime": 228, "clock_nanosleep": 230, "prlimit64": 302, "kill": 62, "tgkill": 234, "wait4": 61, "waitid": 247, "sched_setscheduler": 144},
    "aarch64": {"clock_gettime": 113, "clock_nanosleep": 115, "prlimit64": 261, "kill": 129, "tgkill": 131, "wait4": 260, "waitid": 95, "sched_setscheduler": 119},
}[platform.machine()]
steps = [(LOAD, 0, 0, 0)]
for refused in sys.argv[1].split(","):
    call, _, action = refused.partition("=")
    steps += [(IS, 0, 1, numbers[call]), (RETURN, 0, 0, ACTIONS[action])]
steps += [(RETURN, 0, 0, ALLOW)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))


class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]


libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
program = Filter(len(steps), ctypes.addressof(code))
if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) != 0:
    sys.exit(f"seccomp: {os.strerror(ctypes.get_errno())}")
os.execv(sys.argv[2], sys.argv[2:])
