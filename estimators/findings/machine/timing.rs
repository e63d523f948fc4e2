//! The rules about what interrupts or delays a thread on a machine: the timer interrupt, timers,
//! idle states.

use super::on_linux;
use crate::findings::{ns, values};
use crate::model::{Platform, Values};

/// The highest `perf_event_paranoid` level at which unprivileged programs may count their own
/// cycles (Documentation/admin-guide/sysctl/kernel.rst); Debian and Android define higher levels.
const MAX_UNPRIVILEGED_LEVEL: i32 = 2;
/// The largest timer slack that has no visible effect on a wait, in nanoseconds.
const MAX_SLACK_NS: u64 = 1_000;
/// The longest exit latency of an idle state, in microseconds, that is small compared with the
/// lateness that the kernel itself causes.
const MAX_EXIT_LATENCY_US: u64 = 20;

rules! {
    pub static RULES: Platform;
    "tick" {
        Ok "CPUs {list} have no timer interrupt while one thread runs; measure on one of them with --cpu",
            |machine| {
                let list = machine.cpu.nohz_full.as_deref()?;
                (!list.trim().is_empty()).then(|| values! { list })
            };
        Note "the timer interrupt stops every busy CPU for a moment<, {rate}>"
            => "if the tail of the distribution matters, start the kernel with nohz_full=N, if it was built for that",
            |machine| {
                // A kernel that was not built for it lacks the file.
                let (cpu, hertz) = (&machine.cpu, machine.kernel.tick_hz);
                let rate = hertz.map(|hertz| format!("{hertz} times a second"));
                on_linux(machine)?;
                (cpu.nohz_full.is_some() || cpu.online.is_some()).then(|| values! { rate })
            };
        Unknown "whether the timer interrupt stops while one thread runs is not reported by this machine",
            on_linux;
    }
    "perf-event-paranoid" {
        Ok "kernel.perf_event_paranoid is {level}: programs may count their own cycles",
            |machine| {
                let level = machine.perf_event_paranoid?;
                (level <= MAX_UNPRIVILEGED_LEVEL).then(|| values! { level: level.to_string() })
            };
        Note "kernel.perf_event_paranoid is {level}: perf-cycles and perf-task-clock need a privilege"
            => "as root, `sysctl kernel.perf_event_paranoid=2`",
            |machine| Some(values! { level: machine.perf_event_paranoid?.to_string() });
        Unknown "kernel.perf_event_paranoid is not reported by this machine",
            on_linux;
    }
    "high-resolution-timers" {
        Ok "timers have a high resolution: waits do not end at ticks only",
            |machine| machine.waiting.high_resolution?.then(Values::new);
        Problem "timers fire at ticks only<, {tick:short} apart>: every wait is rounded up to a tick, plus another tick"
            => "start the kernel without highres=off and nohz=off, and with a clock source that permits high resolution (tsc)",
            |machine| {
                machine.waiting.high_resolution?;
                let tick = machine.kernel.tick_hz;
                Some(values! { tick: tick.map(|hertz| ns(1e9 / f64::from(hertz))) })
            };
        Unknown "whether timers have a high resolution is not reported by this machine",
            on_linux;
    }
    "timer-slack" {
        Ok "the timer slack is {slack:short}: the kernel does not delay wake-ups to combine them",
            |machine| {
                let slack = machine.waiting.timer_slack_ns?;
                (slack <= MAX_SLACK_NS).then(|| values! { slack: ns(slack as f64) })
            };
        Note "the timer slack is {slack:short}: threads without a real-time policy may wake that much later from sleeps, polls and futexes, but not from timerfd and POSIX timers"
            => "if waits must end in time, call prctl(PR_SET_TIMERSLACK, 1) in the thread that waits, or write 1 to /proc/PID/timerslack_ns",
            |machine| Some(values! { slack: ns(machine.waiting.timer_slack_ns? as f64) });
        Unknown "the timer slack of threads is not reported by this machine",
            on_linux;
    }
    "idle-states" {
        Note "an idle CPU may enter {state} and takes {exit:short} to leave it: waits on a quiet machine end that much later, and what follows runs slower at first"
            => "as root, `cpupower idle-set -D 20`, or hold /dev/cpu_dma_latency open with 0 written to it (as cyclictest does by default)",
            |machine| {
                let states = machine.waiting.idle_states.iter().flatten();
                let enabled = states.filter(|state| !state.disabled);
                let deepest = enabled.max_by_key(|state| state.exit_latency_us)?;
                let exit = ns(deepest.exit_latency_us as f64 * 1e3);
                (deepest.exit_latency_us > MAX_EXIT_LATENCY_US)
                    .then(|| values! { state: deepest.name.as_str(), exit })
            };
        Ok "no idle state (C-state) in use takes long to leave",
            |machine| machine.waiting.idle_states.as_ref().map(|_| Values::new());
        Unknown "which idle states (C-states) CPUs enter is not reported by this machine",
            on_linux;
    }
}

/// The year before which no time of day is right. *Computed*: this program did not exist before.
const FIRST_YEAR: &str = "2026";
/// The time of day as RFC 3339, with a sign if its year has more than four digits.
pub struct DateCase<'a>(pub &'a str);

rules! {
    /// The rule about the time of day.
    pub static DATE: DateCase;
    "date" {
        Note "the time of day, {date}, is not plausible: the date of a report says nothing, other figures do not depend on it"
            => "set the time of day (`timedatectl set-ntp true`), or find what shifts it: a preloaded library (LD_PRELOAD, /etc/ld.so.preload, faketime)",
            // A sign sorts before all digits.
            |DateCase(date)| (*date < FIRST_YEAR).then(|| values! { date: *date });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::apply_rules;

    #[test]
    fn implausible_date_is_noted() {
        for (date, is_plausible) in [
            ("2026-01-01T00:00:00Z", true),
            ("9999-12-31T23:59:59Z", true),
            ("2025-12-31T23:59:59Z", false),
            ("1969-12-31T23:59:59Z", false),
            ("0000-01-01T00:00:00Z", false),
            ("-29719-04-05T22:13:20Z", false),
            ("+10000-01-01T00:00:00Z", false),
        ] {
            let found = apply_rules(DATE, &DateCase(date));
            assert_eq!(found.is_empty(), is_plausible, "{date}: {found:?}");
            for finding in found {
                assert!(
                    finding.message().contains("is not plausible"),
                    "{finding:?}"
                );
            }
        }
    }
}
