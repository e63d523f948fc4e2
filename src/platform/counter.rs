//! Who trusts the counter of the processor, and what the kernel logged of it.

use super::Root;
use crate::model::{CounterFacts, CounterPromise, KernelLog};

/// What the machine says. `age_s` is what the counter shows, in seconds at its own rate.
#[must_use]
pub fn counter(root: &Root, age_s: Option<f64>) -> CounterFacts {
    let log = match timers::os::machine::kernel_log() {
        Ok(text) => logged(&text),
        Err(error) => KernelLog::Unreadable(error.to_string()),
    };
    let promise = timers::arch::hypervisor().and_then(|asked| asked.keeps_rate);
    CounterFacts {
        log,
        uptime_s: root.name("/proc/uptime").and_then(|text| uptime(&text)),
        age_s,
        promise: promise.map(|(keeps_rate, by)| CounterPromise { keeps_rate, by: by.into() }),
        declared_by: timers::raw::declared().map(|declared| declared.by.to_owned()),
    }
}

fn uptime(text: &str) -> Option<f64> {
    let seconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then_some(seconds)
}

/// How the clock of the counter is called in the log, in lower case.
const NAMES: [&str; 3] = ["tsc", "arch_sys_counter", "riscv_clocksource"];
/// The beginning of a log that is whole is not much later than this, in seconds.
const BEGINNING_S: f64 = 1.0;

fn logged(text: &str) -> KernelLog {
    let first = text.lines().find_map(stamp);
    let lines = text.lines().map(|line| (line, line.to_lowercase()));
    let (mut distrust, mut rate_hz) = (Vec::new(), None);
    for (line, lower) in lines.filter(|(_, lower)| NAMES.iter().any(|name| lower.contains(name))) {
        if gives_up(&lower) {
            distrust.push(message(line).to_owned());
        }
        rate_hz = timers::raw::logged_rate(line).or(rate_hz);
    }
    KernelLog::Read { from_the_start: first.is_some_and(|first| first <= BEGINNING_S), distrust, rate_hz }
}

/// Linux, `kernel/time/clocksource.c`, `arch/x86/kernel/tsc.c` and `tsc_sync.c`.
fn gives_up(lower: &str) -> bool {
    lower.contains("unstable") || lower.contains("tsc warp") || lower.contains("turning off tsc")
}

/// The seconds in `<6>[    0.231876] …`.
fn stamp(line: &str) -> Option<f64> {
    line.split_once('[')?.1.split_once(']')?.0.trim().parse().ok()
}

/// The line without priority and time.
fn message(line: &str) -> &str {
    line.split_once("] ").map_or(line, |(_, message)| message).trim()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SOUND: &str = "<6>[    0.000000] Linux version 6.18\n<6>[    0.000056] tsc: Detected 2600.000 MHz processor\n\
                         <6>[    0.372084] clocksource: Switched to clocksource tsc\n\
                         <6>[    1.512007] tsc: Refined TSC clocksource calibration: 2599.998 MHz\n";

    #[test]
    fn a_log_that_says_nothing_against_it() {
        let read =
            KernelLog::Read { from_the_start: true, distrust: Vec::new(), rate_hz: Some(2_599_998_000.0) };
        assert_eq!(logged(SOUND), read);
    }

    #[test]
    fn a_kernel_that_gave_it_up() {
        for line in [
            "clocksource: timekeeping watchdog on CPU3: Marking clocksource 'tsc' as unstable because the skew is too large:",
            "tsc: Marking TSC unstable due to check_tsc_sync_source failed",
            "Measured 6412 cycles TSC warp between CPUs, turning off TSC clock.",
        ] {
            let KernelLog::Read { distrust, .. } = logged(&format!("{SOUND}<4>[ 8123.1] {line}\n")) else {
                panic!()
            };
            assert_eq!(distrust, [line]);
        }
    }

    #[test]
    fn a_log_whose_beginning_is_gone() {
        let read = logged("<6>[ 9000.5] usb 1-1: new device\n");
        assert_eq!(read, KernelLog::Read { from_the_start: false, distrust: Vec::new(), rate_hz: None });
        assert_eq!(
            logged(""),
            KernelLog::Read { from_the_start: false, distrust: Vec::new(), rate_hz: None }
        );
    }

    #[test]
    fn seconds_since_the_start() {
        assert_eq!(uptime("976.64 413.18"), Some(976.64));
        assert_eq!([uptime(""), uptime("-1 0"), uptime("nan")], [None; 3]);
    }

    proptest! {
        #[test]
        fn never_panics(text in any::<String>()) {
            let _ = logged(&text);
            let _ = logged(&format!("[ 1.0] tsc: detected {text}"));
        }
    }
}
