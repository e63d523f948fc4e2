//! Words that the program prints, and terms of the field, that are no columns.

/// The names of a term, the usual one first, and its meaning.
pub const TERMS: [(&str, &str); 35] = [
    // Figures.
    (
        "step, accuracy, precision, tick, staircase",
        "the amount in which the value of a clock moves: the column `resolution`. A tick, the unit of its values, may be finer",
    ),
    (
        "latency, overhead, read, measuring costs",
        "the time of a read: `cost` of an isolated one, `amortised` for consecutive ones, `adds` within other code",
    ),
    (
        "single costs",
        "the costs at which single reads cluster, with their shares",
    ),
    (
        "notes, note",
        "findings about clocks or the machine; `-v` prints all, with causes and remedies",
    ),
    (
        "variance, noise, uncertainty, confidence, ±",
        "how far a figure would be off in another run: its 95 % interval, from processes that differ",
    ),
    (
        "cycles",
        "periods of the core's clock: times are converted with the column `frequency`",
    ),
    // Reading a clock.
    (
        "fence, fenced, serialise, serialising, lfence, isb",
        "an instruction that waits for earlier work. Without it a processor may read a counter earlier or later than written: \
         `rdtsc` needs one, `rdtsc-lfence` has one, system calls and the vDSO have theirs",
    ),
    (
        "vdso, vsyscall",
        "code of the kernel that programs call without entering it: it reads a counter and scales it to a time",
    ),
    (
        "counter, rdtsc, cntvct, rdtime",
        "a register that counts at a constant rate, of which most clocks are made. `timermeter check --counter` says whether \
         programs may read it",
    ),
    (
        "quanta",
        "a crate for Rust: the counter, with a rate from the system's clock at start; quanta-raw lacks the rate",
    ),
    (
        "reference",
        "the clock that times the reads of the others: `cost-reference`",
    ),
    // What is wrong or untested.
    (
        "drift, skew, ppm, wrong rate",
        "an error of the rate: a clock that gains 10 ppm is 36 ms ahead after an hour. The column is `rate`",
    ),
    (
        "slew, slewing, ntp, discipline",
        "a correction of the rate, by which a time service moves clocks without a step; not CLOCK_MONOTONIC_RAW",
    ),
    (
        "jump, leap, set, offset",
        "a change of the value at once, as when the time of day is set: durations across it are wrong by any amount",
    ),
    (
        "steps back, order, CPUs differ, CPUs, offsets",
        "whether later readings are never less than earlier ones: in one thread (order), and across CPUs, whose clocks may differ by an offset",
    ),
    (
        "unit",
        "whether a clock counts what it declares: wall time or CPU time, in this unit",
    ),
    (
        "wrong",
        "which clocks disagree with most others or with themselves, and by how much: take no durations with them",
    ),
    (
        "because of",
        "what a wrong clock is made of and other clocks show to be the culprit, as the counter",
    ),
    (
        "caution",
        "why a right clock may mislead: it can be set, stands still while the program sleeps, or needs a fence",
    ),
    (
        "CPU time, CPU cycles",
        "how long the CPU worked for a thread or process: such a clock stands still while they wait",
    ),
    (
        "safe, until-moved, unsafe, not-proven",
        "whether a program may read the counter itself, with a fence; until-moved: until a hypervisor moves this machine to another",
    ),
    (
        "suspend, sleep",
        "the time in which the machine is suspended: CLOCK_BOOTTIME counts it, CLOCK_MONOTONIC does not",
    ),
    // Waiting and disturbances.
    (
        "lateness, late, jitter, oversleep, wake-up latency, sleep 1 ms, waits of",
        "the time from the requested end of a wait until the thread continues: `late p50`, `p99`, `longest`",
    ),
    (
        "interrupts, interrupt, preemption, context switch",
        "events that take the CPU from a thread while clocks go on: medians leave them out, the column `p99` shows them",
    ),
    (
        "disturbed, undisturbed, undisturbed p99",
        "the thread lost its CPU, moved, shared its core, or the frequency changed: measured again, left out by medians",
    ),
    (
        "quiet, busy, this machine",
        "whether other programs take CPU time that the measurement needs: costs rise, waits end later",
    ),
    (
        "hybrid, spin, spins",
        "a wait that spins reads a clock in a loop, and keeps a CPU busy; a hybrid one does so at its end only",
    ),
    (
        "stolen, neighbours, noisy neighbour",
        "time in which a hypervisor runs other guests although this one is ready: the finding `steal`",
    ),
    // Measuring with a clock.
    (
        "to time things, clock, measured with",
        "the clock to use: right, on every platform, with its step and the cost of a read",
    ),
    (
        "cheapest",
        "the clock whose reads cost least, where another one is recommended",
    ),
    (
        "start and stop, method",
        "one operation between two reads, less the cost of one; short ones are repeated: a batch",
    ),
    (
        "error, quantisation, uncertainty of the cost of reads, uncertainty of the rate, effect of the reads on the core, loop around the calls",
        "of `pick`: the largest error of 95 % of results, as a share of the duration, with its parts",
    ),
    (
        "least",
        "the quickest of many runs, less the reads: for an operation that always takes the same, also on a busy machine",
    ),
    (
        "mean",
        "of the second half of the runs, less the reads: for an operation that varies; interruptions are a part of it",
    ),
    (
        "requests",
        "of a service: rate times duration are in flight at once; what exceeds the CPUs waits",
    ),
];
