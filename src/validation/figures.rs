//! Figures that contradict each other. What each of them may be alone is checked when a report is read.

use super::Flaw;
use crate::fields::{Kind, Row, Ticked, Waited, of_kind};
use crate::model::{AccuracyKind, Cycles, Report, TimerRow, WaitRow};
use crate::quality::quality;
use crate::text::clipped;
use crate::text::numbers::significant;

/// Two figures of which one is computed from the other agree to this share: decimal numbers are written with all their digits.
/// *Numerical*.
const ALIKE: f64 = 1e-9;
const LONGEST: usize = 80;

pub(super) fn flaws(report: &Report) -> Vec<Flaw> {
    let hertz = report.frequency.cycles_hz;
    let clocks = report.timers.iter().enumerate().flat_map(|(at, row)| {
        let place = format!("timers[{at}] ('{}')", clipped(&row.id, LONGEST));
        let whats = of_clock(row, hertz).into_iter().chain(outside(&Row::Clock(row), Kind::Clocks));
        whats.map(|what| Flaw::of(place.clone(), what)).collect::<Vec<_>>()
    });
    let waits = report.waits.iter().enumerate().flat_map(|(at, row)| {
        let place = format!("waits[{at}] ('{}')", clipped(&row.id, LONGEST));
        of_wait(row, hertz).into_iter().map(|what| Flaw::of(place.clone(), what)).collect::<Vec<_>>()
    });
    let periods = report.periods.iter().enumerate().flat_map(|(at, row)| {
        let place = format!("periods[{at}] ('{}')", clipped(&row.id, LONGEST));
        let row = Row::Period(Ticked { row, conditions: "" });
        outside(&row, Kind::Periods).into_iter().map(|what| Flaw::of(place.clone(), what)).collect::<Vec<_>>()
    });
    clocks.chain(waits).chain(periods).collect()
}

/// What is wrong with a timer that is read.
fn of_clock(row: &TimerRow, hertz: Option<f64>) -> Vec<String> {
    let (step, cost) = (row.accuracy.as_ref(), row.cost.as_ref());
    let cycles = [
        ("accuracy", step.and_then(|step| step.ns), step.and_then(|step| step.cycles)),
        ("cost", cost.and_then(|cost| cost.median_ns), cost.and_then(|cost| cost.median_cycles)),
    ];
    let cycles = cycles.into_iter().filter_map(|(name, ns, cycles)| in_cycles(name, ns, cycles, hertz));
    let of_row = [formula(row), finer_than_a_tick(row), without_samples(row)];
    cycles.chain(of_row.into_iter().flatten()).collect()
}

/// Cycles are nanoseconds times the frequency that the report names.
fn in_cycles(name: &str, ns: Option<f64>, cycles: Option<f64>, hertz: Option<f64>) -> Option<String> {
    let cycles = cycles?;
    let Some((ns, hertz)) = ns.zip(hertz) else {
        return Some(format!("{name} has cycles, and nothing that they follow from"));
    };
    let follows = ns * hertz / 1e9;
    (!alike(follows, cycles)).then(|| {
        format!(
            "{name} is {} ns, which at {hertz} Hz are {} cycles, and the report says {}",
            written(ns),
            written(follows),
            written(cycles)
        )
    })
}

/// Formula (1) of accuracy, cost and spread.
fn formula(row: &TimerRow) -> Option<String> {
    let told = row.quality?;
    let disqualified =
        row.verdicts.as_ref().is_some_and(|verdicts| verdicts.disqualifying().next().is_some());
    if told == 0.0 || disqualified {
        let fits = disqualified && told == 0.0;
        return (!fits).then(|| match disqualified {
            true => {
                format!("Quality is {} %, and the timer fails a question that takes it away", percent(told))
            }
            false => "Quality is 0, and the timer fails no question that takes it away".to_owned(),
        });
    }
    let accuracy = row.accuracy.as_ref().and_then(|step| step.cycles);
    let cost = row.cost.as_ref().and_then(|cost| cost.median_cycles);
    let Some(follows) = accuracy
        .zip(cost)
        .zip(row.spread)
        .and_then(|((step, cost), spread)| quality(Cycles(step), Cycles(cost), spread))
    else {
        return Some(
            "it has a Quality without accuracy, cost and spread, which it is computed from".to_owned(),
        );
    };
    (!alike(follows, told)).then(|| {
        format!(
            "Quality is {} %, and Formula (1) of its accuracy, cost and spread gives {} %",
            percent(told),
            percent(follows)
        )
    })
}

/// Readings are whole ticks, so that no step is less than one.
fn finer_than_a_tick(row: &TimerRow) -> Option<String> {
    let step = row.accuracy.as_ref().filter(|step| step.kind == AccuracyKind::Resolved)?;
    let (ns, tick) = (step.ns?, row.ns_per_tick?);
    if ns < tick * (1.0 - ALIKE) {
        return Some(format!(
            "its step of {} ns is finer than its tick of {} ns",
            written(ns),
            written(tick)
        ));
    }
    (!alike(step.ticks * tick, ns)).then(|| {
        format!("its step is {} ticks of {} ns, and {} ns", written(step.ticks), written(tick), written(ns))
    })
}

/// A share of single calls needs single calls.
fn without_samples(row: &TimerRow) -> Option<String> {
    row.spread?;
    let seen = row.observations.as_ref();
    let counted =
        seen.is_some_and(|seen| seen.processes > 0 && (seen.single_calls > 0 || seen.batched_calls > 0));
    (!counted).then(|| "it has a spread, and no samples that this could be one of".to_owned())
}

fn of_wait(row: &WaitRow, hertz: Option<f64>) -> Vec<String> {
    let mut found = Vec::new();
    crate::report::waits::each_length(row, |late| {
        found.extend(outside(&Row::Wait(Waited { row, late, conditions: "" }), Kind::Waits));
        let Some(late) = late else { return };
        let length = format!("a wait of {} ns", late.request_ns);
        let ns = late.cpu_ns.map(|cpu| cpu.value);
        found.extend(late.cpu_cycles.and_then(|cycles| in_cycles(&length, ns, Some(cycles), hertz)));
        let given = late.cpu_cycles.zip(late.spread).zip(hertz);
        let follows = given.and_then(|((cost, spread), hertz)| {
            quality(Cycles(late.accuracy_ns * hertz / 1e9), Cycles(cost), spread)
        });
        if let Some(told) = late.quality.filter(|told| !follows.is_some_and(|follows| alike(follows, *told)))
        {
            found
                .push(format!("Quality of {length} is {} %, which Formula (1) does not give", percent(told)));
        }
    });
    found.dedup();
    found
}

/// Figures that do not lie in their own intervals.
fn outside(row: &Row, kind: Kind) -> Vec<String> {
    let each = |field: &'static crate::fields::Field| {
        let check = field.check?;
        let [value, low, high] = field.three(row);
        let (value, low, high) = (value?, low?, high?);
        let slack = ALIKE * value.abs().max(low.abs()).max(high.abs());
        (value < low - slack || value > high + slack).then(|| {
            format!(
                "{} is {}, outside its own interval from {} to {}",
                check.name,
                written(value),
                written(low),
                written(high)
            )
        })
    };
    of_kind(kind).filter_map(each).collect()
}

fn alike(one: f64, other: f64) -> bool {
    (one - other).abs() <= ALIKE * one.abs().max(other.abs())
}

fn percent(share: f64) -> String {
    written(100.0 * share)
}

fn written(figure: f64) -> String {
    significant(figure, 6)
}
