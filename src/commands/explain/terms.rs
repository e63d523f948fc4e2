//! Terms of the field that are no columns, by topic.

/// A term with its names, the usual one first, and its meaning.
pub struct Term {
    pub names: &'static [&'static str],
    pub about: &'static str,
}

const fn term(names: &'static [&'static str], about: &'static str) -> Term {
    Term { names, about }
}

/// Topics with their terms.
pub const TOPICS: [(&str, &[Term]); 4] = [
    (
        "figures",
        &[
            term(
                &["step", "accuracy", "precision", "tick", "staircase"],
                "the amount in which the value of a clock moves: the column `resolution` (the paper's accuracy). A tick is the unit in \
                 which a clock counts, which may be finer",
            ),
            term(
                &["latency", "overhead", "read"],
                "the time of a read: `cost` of an isolated one, `amortised` for consecutive ones, `adds` within other code",
            ),
            term(
                &["notes", "note"],
                "findings about clocks or the machine, below the table; `-v` prints all of them with causes and remedies",
            ),
            term(
                &["variance", "noise", "uncertainty", "confidence", "±"],
                "how far a figure would be off in another run on this machine: its 95 % interval, from processes that differ",
            ),
        ],
    ),
    (
        "reading a clock",
        &[
            term(
                &["fence", "serialise", "serialising", "lfence", "isb"],
                "an instruction before which earlier work is finished. Without it a processor may read a counter before or after the \
                 code around it: `rdtsc` needs one, `rdtsc-lfence` has one, system calls and the vDSO have theirs",
            ),
            term(
                &["vdso", "vsyscall"],
                "code of the kernel that a program calls without entering the kernel: it reads a counter and scales it to a time",
            ),
            term(
                &["counter", "rdtsc", "cntvct", "rdtime"],
                "a register that counts at a constant rate: the clock source of most clocks. `timermeter check --counter` says whether a \
                 program may read it itself",
            ),
            term(
                &["reference"],
                "the clock that times the reads of the others; the column is `cost-reference`",
            ),
        ],
    ),
    (
        "time that is not uniform",
        &[
            term(
                &["drift", "skew", "ppm"],
                "an error of the rate: a clock that gains 10 ppm is 36 ms ahead after an hour. The column is `rate`",
            ),
            term(
                &["slew", "slewing", "ntp", "discipline"],
                "a correction of the rate, by which a time service moves a clock without a step; CLOCK_MONOTONIC_RAW is not slewed",
            ),
            term(
                &["jump", "leap", "set", "settable"],
                "a change of the value at once, for example when the time of day is set: a duration across it is wrong by any amount",
            ),
            term(
                &["suspend", "sleep"],
                "the time in which the machine is suspended: CLOCK_BOOTTIME counts it, CLOCK_MONOTONIC does not",
            ),
        ],
    ),
    (
        "waiting and disturbances",
        &[
            term(
                &["lateness", "late", "oversleep", "wake-up latency"],
                "the time from the requested end of a wait to the moment when the thread continues: `late p50`, `late p99`, `late max`",
            ),
            term(
                &["jitter"],
                "how far the intervals of a periodic timer differ from its period: `jitter p50`, `jitter p99`",
            ),
            term(
                &["interrupts", "interrupt", "preemption", "context switch"],
                "events that take the CPU from a thread while clocks go on: they lengthen single reads, which the medians leave out and \
                 the column `p99` shows",
            ),
            term(
                &["disturbed", "undisturbed", "undisturbed p99"],
                "of a process or a part of it: the thread lost its CPU, moved to another, shared its core, or the frequency changed. \
                 Such parts are measured again, and medians leave them out",
            ),
            term(
                &["hybrid", "spin", "spins"],
                "a hybrid wait sleeps first, and at the end reads a clock in a loop; one that spins only reads a clock, and keeps a CPU busy",
            ),
            term(
                &["stolen", "neighbours", "noisy neighbour"],
                "time in which a hypervisor runs other guests although this one is ready to run: `check` reports it as `steal`",
            ),
        ],
    ),
];
