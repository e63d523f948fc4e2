//! What each clock is made of on Linux. If one of two clocks is wrong, the parts that only it has are
//! to blame.
//!
//! Sources: Linux, `kernel/time/timekeeping.c` (MONOTONIC, REALTIME, BOOTTIME and TAI share rate and
//! slew; RAW is the clock source without them; the coarse clocks are those of the last tick), glibc,
//! whose `clock()`, `times()` and `getrusage()` do not call `clock_gettime` by a name that a library can
//! replace; for runtimes their sources: most read `clock_gettime(CLOCK_MONOTONIC)`, Go calls the vDSO
//! itself, Erlang corrects its monotonic time by CLOCK_REALTIME.

use std::fmt;

/// A part of a clock. The texts name a function, or a clock of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The function of the C library that reads the clock of the kernel, `clock_gettime` of this clock
    /// unless it names another: a preloaded library may replace it, for one clock alone.
    Call(&'static str),
    /// The clock of the kernel, without its rate.
    Clock(&'static str),
    /// The rate at which the kernel runs its corrected clocks.
    Rate,
    /// The clock source of the kernel.
    Source,
    /// The counter of the processor.
    Counter,
    /// What no other clock has: a conversion, a missing fence.
    Own(&'static str),
}

use Part::{Call, Clock, Counter, Own, Rate, Source};

impl fmt::Display for Part {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Call(call) => write!(text, "{call} as the C library gives it"),
            Clock(clock) => write!(text, "the kernel's {clock}"),
            Rate => text.write_str("the kernel's correction of its rate"),
            Source => text.write_str("the clock source"),
            Counter => text.write_str("the counter"),
            Own(name) => text.write_str(name),
        }
    }
}

/// A clock of the kernel at its corrected rate, read by a function of the C library.
macro_rules! corrected {
    ($call:literal, $($clock:literal)+) => {
        &[Call($call), $(Clock($clock),)+ Rate, Source]
    };
}

const MONOTONIC: &[Part] = corrected!("CLOCK_MONOTONIC", "CLOCK_MONOTONIC");
const REALTIME: &[Part] = corrected!("CLOCK_REALTIME", "CLOCK_REALTIME");
const GETTIMEOFDAY: &[Part] = corrected!("gettimeofday()", "CLOCK_REALTIME");
const TIME: &[Part] = corrected!("time()", "CLOCK_REALTIME" "the tick");
const PROCESS: &str = "CLOCK_PROCESS_CPUTIME_ID";
const THREAD: &str = "CLOCK_THREAD_CPUTIME_ID";
const PROCESS_CALL: &[Part] = &[Call(PROCESS), Clock(PROCESS)];
const THREAD_CALL: &[Part] = &[Call(THREAD), Clock(THREAD)];

/// Ids of clocks, those of runtimes with their prefix, and what each of them is made of.
const TABLE: &[(&str, &[Part])] = &[
    ("rdtsc", &[Own("rdtsc without a fence"), Counter]),
    ("rdtsc-lfence rdtscp cntvct-isb rdtime-fence", &[Counter]),
    ("quanta-raw", &[Own("quanta-raw"), Counter]),
    (
        "quanta",
        &[
            Own("quanta's calibration"),
            Counter,
            Call("CLOCK_MONOTONIC"),
            Clock("CLOCK_MONOTONIC"),
            Rate,
            Source,
        ],
    ),
    (
        "monotonic instant java:nanoTime dotnet:Stopwatch python:perf_counter python:perf_counter_ns python:monotonic \
         python:monotonic_ns node:hrtime.bigint node:performance.now cpp:steady_clock cpp:omp_get_wtime cpp:MPI_Wtime \
         ruby:clock_gettime.nanosecond ruby:clock_gettime.microsecond ruby:clock_gettime.millisecond \
         ruby:clock_gettime.float_second perl:clock_gettime php:hrtime php:hrtime.array deno:performance.now \
         deno:hrtime.bigint bun:nanoseconds bun:performance.now bun:hrtime.bigint erlang:os:perf_counter",
        MONOTONIC,
    ),
    (
        "erlang:monotonic_time erlang:system_time erlang:timestamp",
        &[
            Own("Erlang's correction"),
            Call("CLOCK_MONOTONIC"),
            Clock("CLOCK_MONOTONIC"),
            Call("CLOCK_REALTIME"),
            Clock("CLOCK_REALTIME"),
            Rate,
            Source,
        ],
    ),
    (
        "monotonic-syscall go:nanotime go:Since go:Now.Sub",
        &[Clock("CLOCK_MONOTONIC"), Rate, Source],
    ),
    (
        "monotonic-raw",
        &[
            Call("CLOCK_MONOTONIC_RAW"),
            Clock("CLOCK_MONOTONIC_RAW"),
            Source,
        ],
    ),
    (
        "monotonic-raw-syscall",
        &[Clock("CLOCK_MONOTONIC_RAW"), Source],
    ),
    (
        "monotonic-coarse dotnet:Environment.TickCount",
        corrected!("CLOCK_MONOTONIC_COARSE", "CLOCK_MONOTONIC" "the tick"),
    ),
    (
        "monotonic-coarse-syscall times",
        &[Clock("CLOCK_MONOTONIC"), Clock("the tick"), Rate, Source],
    ),
    (
        "realtime system-time java:Instant.now java:Clock.systemUTC python:time python:time_ns dotnet:DateTime.UtcNow \
         dotnet:DateTime.Now dotnet:DateTimeOffset.UtcNow node:Date.now cpp:system_clock cpp:high_resolution_clock \
         cpp:timespec_get ruby:clock_gettime.realtime ruby:Time.now bun:Date.now deno:Date.now deno:Temporal.Now \
         erlang:os:system_time erlang:os:timestamp",
        REALTIME,
    ),
    (
        "realtime-syscall go:Now go:Now.UnixMilli",
        &[Clock("CLOCK_REALTIME"), Rate, Source],
    ),
    (
        "realtime-coarse",
        corrected!("CLOCK_REALTIME_COARSE", "CLOCK_REALTIME" "the tick"),
    ),
    (
        "realtime-coarse-syscall",
        &[Clock("CLOCK_REALTIME"), Clock("the tick"), Rate, Source],
    ),
    ("boottime", corrected!("CLOCK_BOOTTIME", "CLOCK_BOOTTIME")),
    ("boottime-syscall", &[Clock("CLOCK_BOOTTIME"), Rate, Source]),
    ("tai", corrected!("CLOCK_TAI", "CLOCK_TAI")),
    (
        "gettimeofday java:currentTimeMillis perl:Time::HiRes::time perl:gettimeofday php:microtime php:microtime.string",
        GETTIMEOFDAY,
    ),
    ("time cpp:time php:time perl:time", TIME),
    (
        "process-cputime python:process_time python:process_time_ns perl:clock_gettime.process ruby:clock_gettime.process \
         java:getProcessCpuTime",
        PROCESS_CALL,
    ),
    (
        "thread-cputime python:thread_time python:thread_time_ns ruby:clock_gettime.thread",
        THREAD_CALL,
    ),
    (
        "process-cputime-syscall clock cpp:clock perl:Time::HiRes::clock",
        &[Clock(PROCESS)],
    ),
    (
        "thread-cputime-syscall java:getCurrentThreadCpuTime",
        &[Clock(THREAD)],
    ),
];

/// The parts of the clock with this id on Linux; empty if they are unknown.
pub fn made_of(id: &str) -> &'static [Part] {
    let mut rows = TABLE.iter();
    rows.find(|(ids, _)| ids.split_whitespace().any(|one| one == id))
        .map_or(&[], |(_, parts)| parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReadsBy;

    /// A clock and its system call differ by the function of the C library alone.
    #[test]
    fn system_call_lacks_the_library() {
        for entry in crate::catalogue() {
            let Some(variant) = entry.info.properties.syscall_variant else {
                continue;
            };
            let properties = crate::find(variant).unwrap().info.properties;
            let found = (properties.reads_by, properties.syscall_variant);
            assert_eq!(found, (Some(ReadsBy::SystemCall), None), "{variant}");
            let [own, other] = [made_of(entry.info.id), made_of(variant)];
            if !own.is_empty() {
                assert!(
                    matches!(own, [Call(_), rest @ ..] if rest == other),
                    "{}",
                    entry.info.id
                );
            }
        }
    }
}
