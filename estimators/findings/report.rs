//! Defines the findings about a whole report: conditions of the machine that affect all results.

use super::clocks::SHARED_CORE;
use super::{ns, number, values};
use crate::model::{Interval, Platform, TimerRow, Unit, Values};

/// The facts about a report from which the rules decide.
pub struct ReportCase<'a> {
    /// The machine.
    pub platform: &'a Platform,
    /// All rows of clocks.
    pub timers: &'a [TimerRow],
}

rules! {
    /// The rules in the order of reports.
    pub static REPORTS: ReportCase;
    "time-namespace" {
        Note "a time namespace shifts CLOCK_MONOTONIC by {monotonic} and CLOCK_BOOTTIME by {boottime}"
            => "compare readings within this time namespace only; durations are not affected",
            |case| {
                let namespace = case.platform.limits.time_namespace?;
                Some(values! {
                    monotonic: ns(namespace.monotonic_ns as f64),
                    boottime: ns(namespace.boottime_ns as f64),
                })
            };
    }
    "shared-machine" {
        Note "something else used the core of {shared} of {all} timers all the time: their intervals are wide, and their order is uncertain"
            => "stop what else runs on this machine, and repeat",
            |case| {
                let measured = case.timers.iter().filter(|row| row.observations.is_some());
                let has_code = |row: &&TimerRow| row.findings.iter().any(|it| it.code == SHARED_CORE);
                let shared = case.timers.iter().filter(has_code).count();
                (shared > 0).then(|| values! { shared, all: measured.count() })
            };
    }
}

/// Largest relative range of the frequencies during a measurement, or difference before and after
/// it, without a finding. Beyond it, costs rely on the assumption that they scale with the frequency
/// of the core.
/// *Judgement*.
pub const MAX_FREQUENCY_RANGE: f64 = 0.03;

/// The frequencies of the core, in hertz, from which the rules decide.
#[derive(Default)]
pub struct FrequencyCase<'a> {
    /// The frequencies before and after the measurement.
    pub ends: Option<[f64; 2]>,
    /// The frequency during the measurement.
    pub during: Option<Interval>,
    /// The hypervisor, if the machine is a guest that has no frequency governor.
    pub host: Option<&'a str>,
    /// How many times as long as an addition a multiplication took, if that is implausible.
    pub doubtful_ratio: Option<f64>,
    /// Whether cycles have to be counted at the measured frequency, which is unknown.
    pub is_missing: bool,
}

rules! {
    /// The rules about the core frequency.
    pub static FREQUENCY: FrequencyCase;
    "frequency-changed" {
        Note "<the core ran at {low} to {high}; costs are reported as they are at {median}, the median><the core ran at \
              {before} before the measurement and at {after} after it ({change}); figures in cycles are uncertain by as much>"
            => "<fix the frequency (governor `{governor}`, turbo off), >keep the machine idle, and repeat",
            frequency_change;
    }
    "effective-frequency-doubtful" {
        Note "a multiplication took {ratio} times as long as an addition, not 2 to 5 times: an addition may not take one \
              cycle here"
            => "give the frequency, as in `--cycles 2.8GHz`, or trust nanoseconds only",
            |case| Some(values! { ratio: number(case.doubtful_ratio?, Unit::Ratio) });
    }
    "effective-frequency-unknown" {
        Note "the frequency of the core could not be measured: there are no figures in cycles"
            => "use `--cycles nominal` or give a value like `--cycles 2.8GHz`",
            |case| case.is_missing.then(Values::new);
    }
}

/// Reports that the core ran at several frequencies during the measurement.
fn frequency_change(case: &FrequencyCase) -> Option<Values> {
    let hertz = |value| number(value, Unit::Hertz);
    let (change, mut values) = match (case.during, case.ends) {
        (Some(Interval { value, low, high }), _) => (
            (high - low) / value,
            values! { low: hertz(low), high: hertz(high), median: hertz(value) },
        ),
        (None, ends) => {
            let [before, after] = ends?;
            let change = (after - before) / before;
            let share = number(change, Unit::Share);
            (
                change,
                values! { before: hertz(before), after: hertz(after), change: share },
            )
        }
    };
    let governor = case.host.is_none().then_some("performance");
    values.extend(values! { governor });
    (change.abs() > MAX_FREQUENCY_RANGE).then_some(values)
}
