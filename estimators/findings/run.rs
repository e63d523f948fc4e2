//! The rules about a whole run: conditions that affect all its results.

use super::{ns, number, values};
use crate::model::{Unit, Values};

/// Largest relative range of the frequencies during a measurement, or difference before and after
/// it, without a finding. Beyond it, costs rely on the assumption that they scale with the frequency
/// of the core.
/// *Judgement*.
const MAX_FREQUENCY_RANGE: f64 = 0.03;

rules! {
    /// The rules in the order of reports.
    pub static RUN;
    "frequency-changed" {
        Note "the core ran at {low} to {high}; costs and cycles are those at {median}, and differ at another frequency"
            => "keep the machine idle, <fix the frequency (governor `{governor}`, turbo off), >and repeat",
            |run| {
                let frequency = &run.frequency;
                let ends = frequency.effective_hz_before.zip(frequency.effective_hz_after);
                let during = frequency.cycles_hz.and_then(|hz| hz.ends());
                let ((one, other), used) = (during.or(ends)?, frequency.effective_hz?.value);
                let is_wide = (one - other).abs() > MAX_FREQUENCY_RANGE * used;
                // Without a governor, the host of a guest alone decides the frequency.
                let can_fix = run.platform.hypervisor.is_none() || run.platform.cpu.governor.is_some();
                let governor = can_fix.then_some("performance");
                let [low, high, median] = [one.min(other), one.max(other), used].map(|hz| number(hz, Unit::Hertz));
                (is_wide && !run.is_of_devices()).then(|| values! { low, high, median, governor })
            };
    }
    "effective-frequency-doubtful" {
        Note "a multiplication took {ratio} times as long as an addition, not 2 to 5 times: an addition may not take one \
              cycle here"
            => "give the frequency, as in `--cycles 2.8GHz`, or trust nanoseconds only",
            |run, multiplication| (!run.is_of_devices()).then(|| values! { ratio: number(multiplication, Unit::Ratio) });
    }
    "effective-frequency-unknown" {
        Note "the frequency of the core could not be measured: there are no figures in cycles"
            => "give it, as in `--cycles 2.8GHz`",
            |run| {
                let is_missing = run.frequency.cycles_from == "effective" && run.frequency.cycles_hz.is_none();
                (is_missing && !run.is_of_devices()).then(Values::new)
            };
    }
    "unbound" {
        Note "no process could be bound to a CPU: costs are those of several cores"
            => "on Linux, allow `sched_setaffinity` (systemd: `@resources`)",
            |run| (run.settings.cpu.is_none() && !run.is_of_devices() && !run.timers.is_empty()).then(Values::new);
    }
    "emulated" {
        Problem "{emulator} ran the program: costs, spreads and cycles are the emulator's, clocks are those of the host"
            => "compare these figures with those of the same emulator only; for others, run a build for the processor of the host",
            |machine| machine.emulator().map(|emulator| values! { emulator });
    }
    "time-namespace" {
        Note "a time namespace shifts CLOCK_MONOTONIC by {monotonic} and CLOCK_BOOTTIME by {boottime}"
            => "compare readings within this time namespace only; durations are not affected",
            |machine| machine.limits.time_namespace.map(|shift| values! {
                monotonic: ns(shift.monotonic_ns as f64),
                boottime: ns(shift.boottime_ns as f64),
            });
    }
    "shared-machine" {
        Note "something else used the core of {shared} of {all} timers all the time: their intervals are wide, and their order is uncertain"
            => "stop what else runs on this machine, and repeat",
            |run| {
                let timers = run.timers.iter();
                let is_shared = |code: &str| code == "shared-core";
                let shared = timers.clone().filter(|row| row.findings.iter().any(|it| is_shared(&it.code)));
                let (shared, measured) = (shared.count(), timers.filter(|row| row.observations.is_some()));
                (shared > 0).then(|| values! { shared, all: measured.count() })
            };
    }
}
