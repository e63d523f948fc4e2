//! Everything about one timer that waits, as facts with names.

use super::in_short;
use crate::model::{
    Granularity, Interval, MissedPolicy, PeriodRow, WaitConditions, WaitFigures, WaitRow,
};
use crate::report::Fact;
use crate::text::numbers::{short_time, significant, time};

/// A timer that waits.
#[must_use]
pub fn facts_of_waits(row: &WaitRow) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut tell =
        |name: &'static str, value: Option<String>| facts.extend(value.map(|value| (name, value)));
    tell("conditions", Some(all(&row.conditions)));
    tell(
        "status",
        (row.reason.is_some()).then(|| row.status.name().to_owned()),
    );
    tell("reason", row.reason.clone());
    tell("remedy", row.remedy.clone());
    let Some(figures) = &row.figures else {
        return facts;
    };
    tell("granularity", Some(granularity(figures)));
    tell("floor", figures.floor_ns.map(timed));
    tell("a wait of 0", figures.zero_ns.map(timed));
    tell(
        "in proportion",
        figures
            .proportional_ppm
            .map(|known| with_interval(known, |ppm| format!("{} ppm", significant(ppm, 3)))),
    );
    tell(
        "CPU over length",
        figures.cpu_slope.map(|known| {
            with_interval(known, |share| {
                format!("{} % of the wait", significant(100.0 * share, 3))
            })
        }),
    );
    tell("arm and cancel", figures.arm_cancel_ns.map(timed));
    for late in figures.by_length() {
        let quantiles = [
            ("p90", late.p90_ns),
            ("p99", late.p99_ns),
            ("p99.9", late.p999_ns),
        ];
        let quantiles = quantiles.iter().filter_map(|(name, known)| {
            Some(format!("{name} {}", time(Some(known.as_ref()?.value))))
        });
        let median = late.p50_ns.map(|p50| format!("median {}", timed(p50)));
        let max = format!("max {} in {} waits", time(Some(late.max_ns)), late.waits);
        let mut told = median
            .into_iter()
            .chain(quantiles)
            .chain([max])
            .collect::<Vec<_>>()
            .join(", ");
        told += &late.timers_part_ns.map_or_else(String::new, |part| {
            format!("; the timer's part {}", time(Some(part.value)))
        });
        told += &late.cpu_ns.map_or_else(String::new, |cpu| {
            format!("; {} of CPU", time(Some(cpu.value)))
        });
        if late.early > 0.0 {
            told += &format!(
                "; {} % early, by up to {}",
                significant(100.0 * late.early, 3),
                time(Some(late.earliest_ns))
            );
        }
        tell(
            "lateness",
            Some(format!("at {}: {told}", short_time(late.request_ns as f64))),
        );
    }
    tell(
        "observed",
        Some(format!(
            "{} waits in {} processes",
            figures.waits, figures.processes
        )),
    );
    facts
}

/// A periodic timer.
#[must_use]
pub fn facts_of_period(row: &PeriodRow) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut tell =
        |name: &'static str, value: Option<String>| facts.extend(value.map(|value| (name, value)));
    tell("period", Some(short_time(row.period_ns as f64)));
    tell("conditions", Some(all(&row.conditions)));
    tell("reason", row.reason.clone());
    tell("remedy", row.remedy.clone());
    let Some(figures) = &row.figures else {
        return facts;
    };
    tell(
        "rate error",
        figures
            .rate_error_ppm
            .map(|known| with_interval(known, |ppm| format!("{} ppm", significant(ppm, 3)))),
    );
    tell("jitter", figures.jitter_p50_ns.map(timed));
    tell("jitter, p99", figures.jitter_p99_ns.map(timed));
    tell("late to its grid", figures.lateness_p50_ns.map(timed));
    tell("late to its grid, p99", figures.lateness_p99_ns.map(timed));
    tell(
        "missed",
        Some(format!(
            "{}, of which it reports {}",
            figures.missed, figures.missed_reported
        )),
    );
    let policy = figures.policy.map(|policy| match policy {
        MissedPolicy::Burst => "makes up for what was missed, one after the other",
        MissedPolicy::Skip => "leaves out what was missed",
        MissedPolicy::Delay => "goes on a period later: its grid moves",
    });
    tell("after a stall", policy.map(str::to_owned));
    tell(
        "observed",
        Some(format!(
            "{} wake-ups, {} stalls, {} processes",
            figures.wakeups, figures.stalls, figures.processes
        )),
    );
    facts
}

/// All conditions in words.
fn all(conditions: &WaitConditions) -> String {
    in_short(conditions, &[], true)
}

fn with_interval(known: Interval, written: impl Fn(f64) -> String) -> String {
    match known.ends() {
        Some((low, high)) => format!(
            "{} [{}, {}]",
            written(known.value),
            written(low),
            written(high)
        ),
        None => written(known.value),
    }
}

fn timed(known: Interval) -> String {
    with_interval(known, |ns| time(Some(ns)))
}

/// How finely waits can be asked for, at each scale of which something is known.
fn granularity(figures: &WaitFigures) -> String {
    let told = |kind: &str, granularity: Granularity| match granularity {
        Granularity::Step(known) => format!("{kind} {}", timed(known)),
        Granularity::AtMost(ns) => format!("{kind} ≤ {}", short_time(ns)),
    };
    let scales = figures.steps.iter().filter_map(|steps| {
        let rounding = steps
            .rounding
            .map(|known| told("requests rounded to", known));
        let grid = steps.grid.map(|known| told("wake-ups on a grid of", known));
        let both: Vec<String> = rounding.into_iter().chain(grid).collect();
        (!both.is_empty()).then(|| {
            format!(
                "up to {}: {}",
                short_time(steps.up_to_ns as f64),
                both.join(", ")
            )
        })
    });
    let all: Vec<String> = scales.collect();
    if all.is_empty() {
        "not told by so few waits".into()
    } else {
        all.join("; ")
    }
}
