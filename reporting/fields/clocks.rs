//! Fields of clocks, and those that rows of all kinds have.

use std::sync::Arc;

use super::{Check, Comparable, Field, FieldSource, Of, Range, Room};
use crate::model::{
    Adds, Context, Cost, Distribution, Finding, Interval, Observations, Properties, Question,
    Resolution, ResolutionKind, TimerRow, Verdicts,
};
use crate::table::{Notation, Type, Value};
use crate::text::numbers::{half_interval, range_ns};

const PERCENT: Notation = Notation::Fixed(2);
const SHARE: Notation = Notation::Fixed(3);
/// Finer than any run of some seconds knows it.
const PPM: Notation = Notation::Fixed(3);

/// What rows of each kind have.
macro_rules! each {
    ($key:literal, $about:literal, |$row:ident| $value:expr) => {
        Field::new(
            $key,
            Type::Text,
            $about,
            FieldSource::Row(Of {
                clock: Some(Arc::new(|$row| $value)),
                wait: Some(Arc::new(|wait| {
                    let $row = wait.row;
                    $value
                })),
                period: Some(Arc::new(|tick| {
                    let $row = tick.row;
                    $value
                })),
            }),
        )
    };
}

/// What a read adds to the code around it.
macro_rules! added {
    ($context:ident, $name:literal, $help:literal) => {
        Field::clock_figure(
            concat!("adds_", $name, "_ns"),
            concat!($help, ", in ns"),
            |row| Some(adds(row)?.of(Context::$context)?.ns),
        )
        .check(concat!("cost.adds.", $name, ".ns"), Range::EITHER)
        .column(concat!("adds-", $name), concat!("adds, ", $name, " (ns)"))
        .metric(concat!("timermeter_timer_adds_", $name), "seconds", $help)
    };
}

pub(super) fn fields() -> Vec<Field> {
    [names(), steps(), costs(), contexts(), spreads(), trust()]
        .into_iter()
        .flatten()
        .collect()
}

fn names() -> Vec<Field> {
    vec![
        each!("timer", "Id of the timer", |row| row.id.as_str().into())
            .column("timer", "timer")
            .by_default(1, Room::Always),
        each!("label", "The call", |row| row.label.as_str().into()).column("label", "call"),
        each!("runtime", "Its runtime", |row| row.runtime.as_str().into())
            .column("runtime", "runtime"),
        declared(
            "family",
            "What it reads: `cpu-counter`, `system-clock`, `cpu-time`, `perf-event`, `other`",
            |of| of.family.map(|family| family.name()),
        ),
        declared(
            "counted",
            "What it claims to count: `wall`, `process-cpu`, `thread-cpu`, `thread-cycles`, `something-else`",
            |of| of.counts.map(|counted| counted.name()),
        ),
        declared(
            "reads_by",
            "How it is meant to be read: `instruction`, `vdso`, `system-call`, `other`",
            |of| of.reads_by.map(|way| way.name()),
        ),
        each!("status", "How its characterisation ended", |row| {
            Value::Word(row.status.name())
        })
        .column("status", "status"),
        Field::new(
            "reason",
            Type::Text,
            "Why, when it is not ok or its Quality is 0",
            FieldSource::Row(Of {
                clock: Some(Arc::new(reason)),
                wait: Some(Arc::new(|wait| (&wait.row.reason).into())),
                period: Some(Arc::new(|tick| (&tick.row.reason).into())),
            }),
        )
        .column("reason", "reason"),
        each!("remedy", "What to do about it", |row| (&row.remedy).into()),
        Field::of_clocks("legend", Type::Text, "What the paper calls it", |row| {
            (&row.legend).into()
        }),
    ]
}

fn steps() -> Vec<Field> {
    let kind = |row: &TimerRow| {
        row.resolution
            .as_ref()
            .map(|step| Value::Word(step.kind.name()))
            .into()
    };
    vec![
        Field {
            check: Some(Check {
                place: "resolution_ns",
                range: Range::STEP,
                low: Range::LENGTH,
            }),
            ..Field::clock_figure("resolution_ns", "One step, in ns", |row| row.resolution_ns)
        },
        Field::of_clocks("resolution_ns", Type::Figure, "One step, in ns", |row| {
            bounded(row, row.resolution_ns.map(|ns| ns.value))
        })
        .not_in_all()
        .column("resolution", "resolution (ns)")
        .by_default(2, Room::Always)
        .screen(
            ["resolution", "resolution", "resolution"],
            Notation::Time,
            "",
        ),
        Field::clock_figure("step_ns", "One step, where it is known", |row| {
            of_kind(row, ResolutionKind::Resolved)
        })
        .not_in_all()
        .metric(
            "timermeter_timer_resolution",
            "seconds",
            "Step in which the clock moves",
        )
        .compared(Comparable::RESOLUTION),
        Field::clock_figure(
            "step_bound_ns",
            "Bound of a step that is not known",
            |row| {
                of_kind(row, ResolutionKind::AtMost).map(|bound| Interval::unbounded(bound.value))
            },
        )
        .not_in_all()
        .metric(
            "timermeter_timer_resolution_bound",
            "seconds",
            "Bound of the step in which the clock moves, where the step is not known",
        ),
        Field::of_clocks(
            "resolution_cycles",
            Type::Figure,
            "One step, in cycles",
            |row| bounded(row, row.resolution.and_then(|step| step.cycles)),
        )
        .column("resolution-cycles", "resolution (cycles)")
        .check("resolution.cycles", Range::STEP),
        Field::of_clocks(
            "resolution_cycles",
            Type::Figure,
            "One step or its bound, in cycles",
            |row| row.resolution.as_ref().and_then(|step| step.cycles).into(),
        )
        .not_in_all()
        .screen(
            ["res. cycles", "res.\u{a0}cycles", "cycles"],
            Notation::Count,
            "wide",
        ),
        Field::of_clocks(
            "resolution_kind",
            Type::Text,
            "`resolved`, or `at_most` where the step is no longer than that",
            kind,
        ),
        Field::of_clocks(
            "resolution_ticks",
            Type::Figure,
            "One step, in ticks",
            |row| row.resolution.as_ref().map(|step| step.ticks).into(),
        )
        .check("resolution.ticks", Range::STEP),
        Field::of_clocks(
            "ns_per_tick",
            Type::Figure,
            "Nanoseconds in a tick",
            |row| row.ns_per_tick.into(),
        )
        .check("ns_per_tick", Range::STEP),
    ]
}

fn contexts() -> Vec<Field> {
    vec![
        added!(
            Latency,
            "latency",
            "What a read adds to work bound by latency"
        ),
        added!(
            Throughput,
            "throughput",
            "What a read adds to work bound by throughput"
        ),
        added!(Memory, "memory", "What a read adds to work bound by memory"),
        added!(
            Ahead,
            "ahead",
            "What a read adds to code that the core runs far ahead in"
        ),
        added!(
            Cold,
            "cold",
            "What the first read after a millisecond of other work takes"
        ),
        added!(
            Contended,
            "contended",
            "What a read adds to work bound by throughput while all other CPUs read the same timer"
        ),
    ]
}

fn adds(row: &TimerRow) -> Option<Adds> {
    row.cost.as_ref()?.adds
}

fn costs() -> Vec<Field> {
    let cost = Field::clock_figure(
        "cost_ns",
        "What a call costs alone: the median of single invocations, in ns",
        |row| row.cost_ns,
    );
    let range = Range::LENGTH;
    vec![
        cost.check("cost_ns", range)
            .column("cost", "cost (ns)")
            .by_default(3, Room::Always)
            .screen(["cost", "cost", "cost"], Notation::Time, "")
            .metric("timermeter_timer_cost", "seconds", "Median of what a read takes alone")
            .compared(Comparable::COST),
        of_cost("cost_cycles", "What a call costs alone, in cycles", |cost| cost.median_cycles)
            .column("cost-cycles", "cost (cycles)")
            .by_default(4, Room::Wide)
            .screen(["cost cycles", "cost cycles", "cycles"], Notation::Count, "wide")
            .check("cost.median_cycles", range),
        of_cost("cost_amortised_ns", "What a call costs in a row of many, in ns", |cost| cost.amortised_ns)
            .column("amortised", "cost in a row (ns)")
            .metric("timermeter_timer_cost_amortised", "seconds", "What a read takes in a row of many")
            .check("cost.amortised_ns", range),
        of_cost("cost_single_median_ns", "Median of single calls as the reference shows them", |cost| {
            cost.single_median_ns
        })
        .check("cost.single_median_ns", range),
        of_cost("cost_p99_ns", "99th percentile of single invocations, in ns", |cost| cost.p99_ns)
            .column("p99", "cost, p99 (ns)")
            .metric(
                "timermeter_timer_cost_p99",
                "seconds",
                "99th percentile of what single reads take, as the reference shows them",
            )
            .check("cost.p99_ns", range),
        Field::of_clocks(
            "adds",
            Type::Text,
            "What a read adds to the code around it, the least and the most over kinds of work, in ns",
            |row| adds(row).and_then(|adds| adds.range()).map(range_ns).into(),
        )
        .not_in_all()
        .screen(["adds", "adds", "adds"], Notation::Time, "medium")
        .where_told(),
        Field::of_clocks("cost_reference", Type::Text, "The timer that timed the invocations", |row| {
            row.cost.as_ref().map(|cost| &cost.reference).into()
        }),
        Field::of_clocks("distribution_modes", Type::Text, "The costs there are, with their shares", modes),
        distributed("distribution_within_ns", |costs| Some(costs.within_ns))
            .check("distribution.within_ns", range),
        distributed("distribution_between_ns", |costs| costs.between_ns)
            .check("distribution.between_ns", range),
        distributed("distribution_tail_share", |costs| Some(costs.tail_share))
            .check("distribution.tail_share", Range::SHARE),
    ]
}

fn spreads() -> Vec<Field> {
    let spread = "Share of single invocations within one step of the median";
    let spread = Field::clock_figure("spread", spread, |row| row.spread)
        .notation(SHARE)
        .largest_first();
    vec![
        spread
            .check("spread", Range::SHARE)
            .column("spread", "spread")
            .by_default(5, Room::Always)
            .screen(["spread", "spread", "spread"], SHARE, "medium")
            .metric(
                "timermeter_timer_spread",
                "ratio",
                "Share of single reads within one step of the median cost",
            )
            .compared(Comparable::SPREAD),
        Field::clock_figure("quality", "Quality, 0 to 1", |row| row.quality)
            .check("quality", Range::SHARE)
            .metric("timermeter_timer_quality", "ratio", "Quality (ICPE 2011)"),
        Field::clock_figure("quality_percent", "Quality, in percent", |row| {
            row.quality.map(|quality| quality.scaled(100.0))
        })
        .notation(PERCENT)
        .largest_first()
        .not_in_all()
        .column("quality", "Quality (%)")
        .by_default(6, Room::Always)
        .compared(Comparable::QUALITY),
        // As the other tables print it: rounded up, so that the interval holds the one that was
        // found.
        Field::of_clocks(
            "quality_half_interval_points",
            Type::Figure,
            "Half the 95 % interval of Quality, in points: its longer side",
            |row| row.quality.and_then(half_interval).into(),
        )
        .column("interval", "± (points)")
        .notation(PERCENT)
        .by_default(7, Room::OfOneReport)
        .not_in_all(),
        Field::of_clocks(
            "quality_printed_percent",
            Type::Figure,
            "Quality as a publication prints it",
            |row| percent(row.printed_quality).into(),
        )
        .column("printed", "Quality, printed (%)")
        .notation(PERCENT)
        .largest_first()
        .not_in_all(),
        Field::of_clocks(
            "quality_printed",
            Type::Figure,
            "Quality as a publication prints it, 0 to 1",
            |row| row.printed_quality.into(),
        )
        .check("printed_quality", Range::SHARE),
        seen("processes", "Fresh processes that measured it", |seen| {
            u64::from(seen.processes)
        }),
        seen("intervals", "Intervals", |seen| seen.intervals),
        seen("batched_calls", "Invocations in batches", |seen| {
            seen.batched_calls
        }),
        seen(
            "single_calls",
            "Single invocations that were timed",
            |seen| seen.single_calls,
        ),
        seen(
            "backward_steps",
            "Negative differences between readings",
            |seen| seen.backward_steps,
        ),
    ]
}

macro_rules! outcome {
    ($name:literal, $about:literal, $question:ident) => {
        verdict($name, Type::Text, $about, |all| {
            Value::Word(all.answer(Question::$question).outcome.in_words())
        })
    };
}

fn trust() -> Vec<Field> {
    let rate = Field::clock_figure(
        "rate_offset_ppm",
        "How much faster than the reference it ran",
        rate,
    );
    vec![
        verdict(
            "trust",
            Type::Text,
            "Whether it is monotonic, thread-safe and stable",
            |all| Value::Word(all.in_short()),
        )
        .column("trust", "trust")
        .by_default(8, Room::Always),
        outcome!(
            "monotonic",
            "Whether it is monotonic: `pass`, `fail`, `not applicable`, `not tested`",
            Monotonic
        ),
        outcome!(
            "thread_safe",
            "Whether it is monotonic from thread to thread, in the same words",
            ThreadSafe
        ),
        outcome!(
            "stable",
            "Whether it keeps its rate, without jumps, in the same words",
            Stable
        ),
        outcome!(
            "counts",
            "Whether it counts what it claims to, in the same words",
            Counts
        ),
        outcome!(
            "declared",
            "Whether it does what its platform declares, in the same words",
            Declared
        ),
        outcome!(
            "read_path",
            "Whether its reads go the way that they should, in the same words",
            ReadPath
        ),
        verdict(
            "paths",
            Type::Text,
            "Whether it says the same as the same clock read in another way, in the same words",
            |all| {
                all.paths
                    .as_ref()
                    .map(|paths| Value::Word(paths.outcome.in_words()))
                    .into()
            },
        ),
        verdict(
            "answered_by",
            Type::Text,
            "Who answers a read: `user-mode`, `system-call`, `trapped`",
            |all| {
                all.read_path
                    .path
                    .map(|path| Value::Word(path.name()))
                    .into()
            },
        ),
        verdict(
            "offset_max_ns",
            Type::Figure,
            "Largest difference of this clock between the first CPU and another, without sign",
            |all| {
                all.thread_safe
                    .furthest()
                    .map(|offset| offset.ns.abs())
                    .into()
            },
        ),
        verdict(
            "offset_uncertainty_ns",
            Type::Figure,
            "The true difference lies within this of that",
            |all| {
                all.thread_safe
                    .furthest()
                    .map(|offset| offset.uncertainty_ns.abs())
                    .into()
            },
        ),
        rate.column("rate", "rate error (ppm)")
            .screen(["", "rate ppm", ""], PPM, "wide")
            .metric(
                "timermeter_timer_rate_error",
                "ratio",
                "How much faster than its reference the clock runs, as a share",
            )
            .check("verdicts.stable.offset_ppm", Range::EITHER)
            .compared(Comparable::DRIFT),
        verdict(
            "rate_offset_uncertainty_ppm",
            Type::Figure,
            "The true figure lies within this of that",
            |all| all.stable.offset_uncertainty_ppm.into(),
        ),
        verdict(
            "jumps",
            Type::Count,
            "Windows in which it gained more than can be explained",
            |all| all.stable.jumps.into(),
        ),
        verdict(
            "freezes",
            Type::Count,
            "Windows in which it lost more than that",
            |all| all.stable.freezes.into(),
        ),
        each!("warnings", "Codes of the warnings", |row| codes(
            &row.warnings
        ))
        .column("warnings", "warnings"),
    ]
}

fn percent(share: Option<f64>) -> Option<f64> {
    share.map(|share| share * 100.0)
}

/// What is declared of it.
fn declared(
    key: &'static str,
    about: &'static str,
    of: fn(&Properties) -> Option<&'static str>,
) -> Field {
    Field::of_clocks(key, Type::Text, about, move |row| {
        row.properties.as_ref().and_then(of).map(Value::Word).into()
    })
}

fn of_cost(key: &'static str, about: &'static str, of: fn(&Cost) -> Option<f64>) -> Field {
    Field::of_clocks(key, Type::Figure, about, move |row| {
        row.cost.as_ref().and_then(of).into()
    })
}

fn distributed(key: &'static str, of: fn(&Distribution) -> Option<f64>) -> Field {
    Field::of_clocks(key, Type::Figure, "Of single costs", move |row| {
        row.distribution.as_ref().and_then(of).into()
    })
}

fn seen(key: &'static str, about: &'static str, of: fn(&Observations) -> u64) -> Field {
    Field::of_clocks(key, Type::Count, about, move |row| {
        row.observations.as_ref().map(of).into()
    })
}

fn verdict(
    key: &'static str,
    kind: Type,
    about: &'static str,
    of: fn(&Verdicts) -> Value,
) -> Field {
    Field::of_clocks(key, kind, about, move |row| {
        row.verdicts.as_ref().map_or(Value::Nothing, of)
    })
}

fn of_kind(row: &TimerRow, kind: ResolutionKind) -> Option<Interval> {
    row.resolution_ns
        .filter(|_| row.resolution.is_some_and(|found| found.kind == kind))
}

fn rate(row: &TimerRow) -> Option<Interval> {
    let stable = &row.verdicts.as_ref()?.stable;
    let offset = stable.offset_ppm?;
    let half = stable.offset_uncertainty_ppm;
    let ends = half.map(|half| (offset - half, offset + half));
    Some(Interval::with_ends(offset, ends))
}

/// A step, or a bound of it.
fn bounded(row: &TimerRow, figure: Option<f64>) -> Value {
    let is_bound = |found: Resolution| found.kind == ResolutionKind::AtMost;
    Value::bounded(figure, row.resolution.is_some_and(is_bound))
}

/// The costs there are, each in nanoseconds with its share, as in `22.5:0.81 41:0.18`.
fn modes(row: &TimerRow) -> Value {
    let modes = row.distribution.iter().flat_map(|costs| &costs.modes);
    let sound = modes.filter(|mode| (mode.ns + mode.share).is_finite());
    sound
        .map(|mode| format!("{}:{}", mode.ns, mode.share))
        .collect::<Vec<_>>()
        .join(" ")
        .into()
}

/// Why it has no Quality, or why that is 0.
fn reason(row: &TimerRow) -> Value {
    let failed = row
        .verdicts
        .iter()
        .flat_map(Verdicts::disqualifying)
        .map(|answer| answer.finding);
    joined(
        row.reason.as_deref().into_iter().chain(failed).collect(),
        "; ",
    )
}

pub(super) fn codes(warnings: &[Finding]) -> Value {
    joined(
        warnings
            .iter()
            .map(|warning| warning.code.as_str())
            .collect(),
        " ",
    )
}

fn joined(parts: Vec<&str>, between: &str) -> Value {
    if parts.is_empty() {
        Value::Nothing
    } else {
        parts.join(between).into()
    }
}
