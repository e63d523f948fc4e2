//! Reports what this machine declares about the counter of its processor: the properties of the
//! time stamp counter (CPUID, and the flags in `/proc/cpuinfo`), whether the hypervisor keeps its
//! rate, and the kernel's log messages about it.

use timers::clock_sources::{TIME_STAMP_COUNTER, line_names_counter};

use super::Root;
use crate::model::{CounterFacts, CounterPromise, KernelLog, Tsc};

/// Collects the facts about the counter. `age_s` is the reading of the counter, in seconds at its
/// own rate.
pub fn counter(root: &Root, age_s: Option<f64>) -> CounterFacts {
    let log = match timers::os::machine::kernel_log() {
        Ok(text) => parse_log(&text),
        Err(error) => KernelLog::Unreadable(error.to_string()),
    };
    let promise = timers::arch::hypervisor().and_then(|cpuid| cpuid.keeps_rate);
    CounterFacts {
        log,
        uptime_s: root
            .read_name("/proc/uptime")
            .and_then(|text| parse_uptime(&text)),
        age_s,
        promise: promise.map(|(keeps_rate, by)| CounterPromise {
            keeps_rate,
            by: by.into(),
        }),
        declared_by: timers::raw::declared_rate().map(|declared| declared.source.to_owned()),
    }
}

fn parse_uptime(text: &str) -> Option<f64> {
    let seconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then_some(seconds)
}

/// Maximum time stamp of the first line of a complete log, in seconds.
const MAX_FIRST_STAMP_S: f64 = 1.0;

/// Finds messages about the counter in the kernel's log.
fn parse_log(text: &str) -> KernelLog {
    let first = text.lines().find_map(time_stamp_s);
    let lines = text.lines().map(|line| (line, line.to_lowercase()));
    let (mut distrust, mut rate_hz) = (Vec::new(), None);
    for (line, lower) in lines.filter(|(_, lower)| line_names_counter(lower)) {
        if reports_unstable(&lower) {
            distrust.push(message(line).to_owned());
        }
        rate_hz = timers::raw::logged_rate(line).or(rate_hz);
    }
    KernelLog::Read {
        from_the_start: first.is_some_and(|first| first <= MAX_FIRST_STAMP_S),
        distrust,
        rate_hz,
    }
}

/// Whether a log line, in lower case, reports that the kernel stopped using the counter (Linux,
/// `kernel/time/clocksource.c`, `arch/x86/kernel/tsc.c` and `tsc_sync.c`).
fn reports_unstable(lower: &str) -> bool {
    lower.contains("unstable") || lower.contains("tsc warp") || lower.contains("turning off tsc")
}

/// The seconds in `<6>[    0.231876] …`.
fn time_stamp_s(line: &str) -> Option<f64> {
    line.split_once('[')?
        .1
        .split_once(']')?
        .0
        .trim()
        .parse()
        .ok()
}

/// The text of a log line without priority and time stamp.
fn message(line: &str) -> &str {
    line.split_once("] ")
        .map_or(line, |(_, message)| message)
        .trim()
}

/// The declared properties of the counter. The kernel's flags are preferred, because the kernel
/// knows models of processors; CPUID is used if `/proc` is missing.
pub fn identify_tsc(cpuinfo: &str) -> Tsc {
    let (flags, cpuid) = (tsc_from_flags(cpuinfo), timers::arch::identity());
    // An invariant TSC is constant and does not stop; a TSC that is not invariant may still be
    // constant.
    let invariant = cpuid.invariant_tsc.filter(|yes| *yes);
    Tsc {
        constant: flags.constant.or(invariant),
        nonstop: flags.nonstop.or(invariant),
        adjust: flags.adjust.or(cpuid.tsc_adjust),
        scaling: flags.scaling.or(cpuid.tsc_scaling),
        ..flags
    }
}

/// The properties by the flags of the first record. A flag counts as missing only if its list is
/// followed by another line, because the last list may be truncated.
fn tsc_from_flags(cpuinfo: &str) -> Tsc {
    let flags = |name: &str| {
        let mut lines = cpuinfo.lines();
        let (_, flags) =
            lines.find_map(|line| line.split_once(':').filter(|(key, _)| key.trim() == name))?;
        lines.next().map(|_| flags)
    };
    let Some(all) = flags("flags").filter(|all| has_flag(all, TIME_STAMP_COUNTER)) else {
        return Tsc::default();
    };
    // AMD's flag is in the general list, Intel's flag in the list `vmx flags` of processors that
    // support virtualisation.
    let scaling = has_flag(all, "tsc_scale")
        || flags("vmx flags").is_some_and(|vmx| has_flag(vmx, "tsc_scaling"));
    Tsc {
        constant: Some(has_flag(all, "constant_tsc")),
        nonstop: Some(has_flag(all, "nonstop_tsc")),
        adjust: Some(has_flag(all, "tsc_adjust")),
        scaling: Some(scaling),
        known_frequency: Some(has_flag(all, "tsc_known_freq")),
        reliable: Some(has_flag(all, "tsc_reliable")),
    }
}

fn has_flag(flags: &str, flag: &str) -> bool {
    flags.split_whitespace().any(|word| word == flag)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const UNDISTRUSTED_LOG: &str = "<6>[    0.000000] Linux version 6.18\n<6>[    0.000056] tsc: Detected 2600.000 MHz processor\n\
                         <6>[    0.372084] clocksource: Switched to clocksource tsc\n\
                         <6>[    1.512007] tsc: Refined TSC clocksource calibration: 2599.998 MHz\n";

    #[test]
    fn reads_log_without_distrust() {
        let read = KernelLog::Read {
            from_the_start: true,
            distrust: Vec::new(),
            rate_hz: Some(2_599_998_000.0),
        };
        assert_eq!(parse_log(UNDISTRUSTED_LOG), read);
    }

    #[test]
    fn detects_distrusted_counter() {
        for line in [
            "clocksource: timekeeping watchdog on CPU3: Marking clocksource 'tsc' as unstable because the skew is too large:",
            "tsc: Marking TSC unstable due to check_tsc_sync_source failed",
            "Measured 6412 cycles TSC warp between CPUs, turning off TSC clock.",
        ] {
            let KernelLog::Read { distrust, .. } =
                parse_log(&format!("{UNDISTRUSTED_LOG}<4>[ 8123.1] {line}\n"))
            else {
                panic!()
            };
            assert_eq!(distrust, [line]);
        }
    }

    #[test]
    fn detects_truncated_log() {
        let read = parse_log("<6>[ 9000.5] usb 1-1: new device\n");
        assert_eq!(
            read,
            KernelLog::Read {
                from_the_start: false,
                distrust: Vec::new(),
                rate_hz: None
            }
        );
        assert_eq!(
            parse_log(""),
            KernelLog::Read {
                from_the_start: false,
                distrust: Vec::new(),
                rate_hz: None
            }
        );
    }

    #[test]
    fn parses_uptime() {
        assert_eq!(parse_uptime("976.64 413.18"), Some(976.64));
        assert_eq!(
            [parse_uptime(""), parse_uptime("-1 0"), parse_uptime("nan")],
            [None; 3]
        );
    }

    proptest! {
        #[test]
        fn parser_never_panics(text in any::<String>()) {
            let _ = parse_log(&text);
            let _ = parse_log(&format!("[ 1.0] tsc: detected {text}"));
        }
    }

    #[test]
    fn flags_of_a_guest_on_intel() {
        let cpuinfo = "flags\t\t: fpu tsc msr constant_tsc nonstop_tsc tsc_known_freq tsc_deadline_timer tsc_adjust\n\
                       bugs\t\t: spectre_v1\n";
        assert_eq!(
            tsc_from_flags(cpuinfo),
            Tsc {
                constant: Some(true),
                nonstop: Some(true),
                adjust: Some(true),
                scaling: Some(false),
                known_frequency: Some(true),
                reliable: Some(false),
            }
        );
    }

    #[test]
    fn scaling_of_either_vendor() {
        let scaling = |cpuinfo| tsc_from_flags(cpuinfo).scaling;
        assert_eq!(scaling("flags : tsc svm tsc_scale\nbugs :\n"), Some(true));
        assert_eq!(
            scaling("flags : tsc vmx\nvmx flags : tsc_offset tsc_scaling\nbugs :\n"),
            Some(true)
        );
        assert_eq!(
            scaling("flags : tsc vmx\nvmx flags : tsc_offset\nbugs :\n"),
            Some(false)
        );
    }

    #[test]
    fn truncated_flags_are_unknown() {
        for cut in [
            "flags : tsc constant_tsc nonst",
            "flags : tsc constant_tsc",
            "flags",
            "",
            "Features : fp\n\n",
        ] {
            assert_eq!(tsc_from_flags(cut), Tsc::default(), "{cut:?}");
        }
    }

    proptest! {
        #[test]
        fn flags_never_panic(text in any::<String>()) {
            let _ = tsc_from_flags(&text);
            let _ = tsc_from_flags(&format!("flags : {text}\nbugs :\n"));
        }
    }
}
