//! What the timers of other runtimes are, by the names that their documentation uses.

use super::properties::{Counts, Facts};

/// CPU time of the calling thread.
const OF_THREAD: [&str; 6] = [
    "threadtime",
    "threadtimens",
    "currentthreadcputime",
    "currentthreadusertime",
    "threadcpuusage",
    "threadcputime",
];
/// CPU time of the process.
const OF_PROCESS: [&str; 7] = [
    "processtime",
    "processtimens",
    "processcputime",
    "totalprocessortime",
    "userprocessortime",
    "cpuusage",
    "cputime",
];
/// Wall time since some moment, which nobody sets: `CLOCK_MONOTONIC` on Linux.
const STEADY: [&str; 16] = [
    "nanotime",
    "highrescounter",
    "perfcounter",
    "perfcounterns",
    "monotonic",
    "monotonicns",
    "hrtime",
    "hrtimebigint",
    "performancenow",
    "stopwatch",
    "gettimestamp",
    "tickcount",
    "tickcount64",
    "uptime",
    "monotonictime",
    "uptimemillis",
];
/// Wall time of the calendar, which is set.
const CALENDAR: [&str; 15] = [
    "currenttimemillis",
    "instantnow",
    "systemutc",
    "systemutcinstant",
    "datenow",
    "datetimenow",
    "datetimeutcnow",
    "datetimeoffsetutcnow",
    "datetimeoffsetnow",
    "utcnow",
    "systemtime",
    "timetime",
    "timetimens",
    "time",
    "timens",
];
/// Names that are words of many others: only the whole id is meant.
const WHOLE: [&str; 4] = ["time", "timens", "uptime", "cputime"];

/// What is known of a timer of this name: its id in its runtime, or its call. A class or a module may stand before the
/// name, `get` before what it gets, and brackets behind it.
pub(super) fn hosted(name: &str) -> Option<Facts> {
    let bare: String =
        name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    let is = |names: &[&str]| {
        names.iter().any(|known| bare == *known || (!WHOLE.contains(known) && bare.ends_with(known)))
    };
    let facts = if is(&OF_THREAD) {
        Facts::cpu(Counts::Thread)
    } else if is(&OF_PROCESS) {
        Facts::cpu(Counts::Process)
    } else if is(&STEADY) {
        Facts::wall(true, false, Some(false), true)
    } else if is(&CALENDAR) {
        Facts::wall(false, false, Some(true), true)
    } else {
        return None;
    };
    // Whether the count of milliseconds since the start includes a sleep differs between systems and versions.
    Some(if bare.contains("tickcount") { Facts { suspend: None, ..facts } } else { facts })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All timers of the hosts that come with this program, and those of the paper.
    #[test]
    fn the_timers_of_known_runtimes_are_known() {
        let counts = |name: &str| hosted(name).and_then(|facts| facts.counts);
        for name in [
            "nanoTime",
            "currentTimeMillis",
            "Instant.now",
            "Clock.systemUTC",
            "highResCounter",
            "sun.misc.Perf.highResCounter()",
            "Stopwatch.GetTimestamp",
            "System.Diagnostics.Stopwatch",
            "DateTime.Now",
            "DateTime.UtcNow",
            "DateTimeOffset.UtcNow",
            "TickCount",
            "TickCount64",
            "time",
            "time_ns",
            "perf_counter",
            "perf_counter_ns",
            "monotonic",
            "monotonic_ns",
            "datetime.now",
            "hrtime.bigint",
            "hrtime",
            "performance.now",
            "Date.now",
        ] {
            assert_eq!(counts(name), Some(Counts::Wall), "{name}");
        }
        for name in ["getCurrentThreadUserTime", "getCurrentThreadCpuTime", "thread_time", "thread_time_ns"] {
            assert_eq!(counts(name), Some(Counts::Thread), "{name}");
        }
        for name in ["getProcessCpuTime", "TotalProcessorTime", "cpuUsage", "process_time", "process_time_ns"]
        {
            assert_eq!(counts(name), Some(Counts::Process), "{name}");
        }
        for name in ["sundial", "runtime", "sometime", ""] {
            assert_eq!(counts(name), None, "{name}");
        }
    }

    #[test]
    fn calendars_can_be_set() {
        for name in ["Instant.now()", "Clock.systemUTC().instant()", "System.DateTime.Now", "time.time_ns"] {
            assert_eq!(hosted(name).and_then(|facts| facts.monotonic), Some(false), "{name}");
        }
        for name in ["System.nanoTime()", "TickCount", "process.hrtime.bigint()"] {
            assert_eq!(hosted(name).and_then(|facts| facts.monotonic), Some(true), "{name}");
        }
    }
}
