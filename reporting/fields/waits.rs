//! Fields of timers that wait, and those that periodic ones have too.

use std::sync::Arc;

use super::{Comparable, Field, FieldSource, Of, Part, Range, Room, Waited};
use crate::model::{Granularity, Interval, Lateness, Steps, WaitConditions, WaitFigures};
use crate::table::{Notation, Type, Value};

const TIME: Notation = Notation::Time;
const COUNT: Notation = Notation::Fixed(0);

pub(super) fn fields() -> Vec<Field> {
    [conditions(), of_timers(), of_lengths(), bounds()]
        .into_iter()
        .flatten()
        .collect()
}

/// What rows of both kinds have.
fn both(
    key: &'static str,
    kind: Type,
    about: &'static str,
    of: fn(&WaitConditions, &str) -> Value,
) -> Field {
    Field::new(
        key,
        kind,
        about,
        FieldSource::Row(Of {
            clock: None,
            wait: Some(Arc::new(move |wait| {
                of(&wait.row.conditions, wait.conditions)
            })),
            period: Some(Arc::new(move |tick| {
                of(&tick.row.conditions, tick.conditions)
            })),
        }),
    )
}

fn conditions() -> Vec<Field> {
    vec![
        both(
            "conditions",
            Type::Text,
            "Of timers that wait: the conditions by which rows of a report differ",
            |_, told| some(told),
        )
        .column("conditions", "conditions")
        .by_default(2, Room::Always),
        both(
            "slack_ns",
            Type::Figure,
            "Of timers that wait: the timer slack of the thread",
            |own, _| own.slack_ns.map(|ns| ns as f64).into(),
        )
        .column("slack", "slack")
        .notation(TIME),
        both(
            "policy",
            Type::Text,
            "Of timers that wait: the scheduling policy of the thread",
            |own, _| some(&own.policy),
        )
        .column("policy", "policy"),
        both(
            "load",
            Type::Text,
            "Of timers that wait: what else ran",
            |own, _| Value::Word(own.load.name()),
        )
        .column("load", "load"),
        both(
            "on_cpu",
            Type::Count,
            "Of timers that wait: the CPU",
            |own, _| own.cpu.map(f64::from).into(),
        )
        .column("on-cpu", "on CPU")
        .notation(COUNT),
    ]
}

fn some(text: &str) -> Value {
    if text.is_empty() {
        Value::Nothing
    } else {
        text.into()
    }
}

fn wait(
    key: &'static str,
    kind: Type,
    about: &'static str,
    of: impl Fn(&Waited) -> Value + Send + Sync + 'static,
) -> Field {
    Field::new(key, kind, about, FieldSource::Row(Of::wait(of)))
}

fn figure(
    key: &'static str,
    about: &'static str,
    of: impl Fn(&Waited) -> Option<Interval> + Send + Sync + 'static,
) -> Field {
    Field::new(
        key,
        Type::Figure,
        about,
        FieldSource::Figure(Of::wait(of), Part::Value),
    )
}

/// A figure of the timer.
fn found(
    key: &'static str,
    about: &'static str,
    of: fn(&WaitFigures) -> Option<Interval>,
) -> Field {
    figure(key, about, move |wait| {
        wait.row.figures.as_ref().and_then(of)
    })
}

/// A figure of waits of one length.
fn late(key: &'static str, about: &'static str, of: fn(&Lateness) -> Option<Interval>) -> Field {
    figure(key, about, move |wait| wait.late.and_then(of)).notation(TIME)
}

/// The same without an interval.
fn bare(
    key: &'static str,
    kind: Type,
    about: &'static str,
    of: fn(&Lateness) -> Option<f64>,
) -> Field {
    wait(key, kind, about, move |wait| wait.late.and_then(of).into())
}

fn steps(wait: &Waited, of: fn(&Steps) -> Option<Granularity>) -> Option<Granularity> {
    wait.row
        .figures
        .as_ref()
        .and_then(|figures| figures.steps.first())
        .and_then(of)
}

fn granularity(wait: &Waited, of: fn(&Steps) -> Option<Granularity>) -> Value {
    match steps(wait, of) {
        Some(Granularity::Step(known)) => known.value.into(),
        Some(Granularity::AtMost(ns)) => Value::bounded(Some(ns), true),
        None => Value::Nothing,
    }
}

/// A figure of the timer that stands in the document under the same name.
fn checked(
    key: &'static str,
    about: &'static str,
    of: fn(&WaitFigures) -> Option<Interval>,
) -> Field {
    found(key, about, of).check(key, Range::EITHER)
}

fn of_timers() -> Vec<Field> {
    let mut fields = vec![
        bare(
            "request_ns",
            Type::Figure,
            "Of timers that wait: the length asked for, or the period",
            |late| Some(late.request_ns as f64),
        )
        .column("request", "asked")
        .notation(TIME)
        .by_default(6, Room::Always)
        .check("request_ns", Range::LENGTH),
        bare(
            "waits",
            Type::Count,
            "Of timers that wait: how many waits, or wake-ups",
            |late| Some(late.waits as f64),
        )
        .column("waits", "waits")
        .notation(COUNT),
    ];
    type OfSteps = fn(&Steps) -> Option<Granularity>;
    let granularities: [(&str, &str, &str, u8, OfSteps); 2] = [
        (
            "rounding_ns",
            "rounding",
            "Of timers that wait: to what short requests are rounded",
            3,
            |steps| steps.rounding,
        ),
        (
            "grid_ns",
            "grid",
            "Of timers that wait: the grid of absolute time that they wake on",
            4,
            |steps| steps.grid,
        ),
    ];
    fields.extend(granularities.map(|(key, name, about, by_default, of)| {
        wait(key, Type::Figure, about, move |wait| granularity(wait, of))
            .column(name, name)
            .notation(TIME)
            .by_default(by_default, Room::Wide)
    }));
    fields.push(
        figure(
            "granularity_ns",
            "The step of lengths or wake-ups",
            |wait| {
                let figures = wait.row.figures.as_ref();
                figures.and_then(|figures| figures.granularities().find_map(Granularity::step))
            },
        )
        .not_in_all()
        .compared(Comparable::GRANULARITY),
    );
    fields.extend([
        checked(
            "floor_ns",
            "Of timers that wait: the shortest wait",
            |found| found.floor_ns,
        )
        .notation(TIME)
        .column("floor", "floor")
        .by_default(5, Room::Wide)
        .metric(
            "timermeter_wait_shortest",
            "seconds",
            "How long the shortest wait takes",
        )
        .compared(Comparable::FLOOR),
        checked("zero_ns", "A wait of 0", |found| found.zero_ns),
        checked("arm_cancel_ns", "Arming and cancelling", |found| {
            found.arm_cancel_ns
        })
        .metric(
            "timermeter_wait_arm_cancel",
            "seconds",
            "What arming and cancelling takes together",
        ),
        checked(
            "proportional_ppm",
            "How much later longer waits are",
            |found| found.proportional_ppm,
        )
        .metric(
            "timermeter_wait_proportional",
            "ratio",
            "How much later longer waits are, as a share of their length",
        ),
        checked("cpu_slope", "CPU time over length", |found| found.cpu_slope),
    ]);
    fields
}

/// A quantile of lateness: its names in tables and its place in the document.
fn quantile(
    [key, about, column, heading]: [&'static str; 4],
    place: &'static str,
    percentile: &'static str,
    of: fn(&Lateness) -> Option<Interval>,
) -> Field {
    late(key, about, of)
        .check(place, Range::EITHER)
        .column(column, heading)
        .metric(
            "timermeter_wait_lateness",
            "seconds",
            "How late waits were: observed less asked",
        )
        .percentile(percentile)
        .of_length()
}

fn of_lengths() -> Vec<Field> {
    vec![
        quantile(
            [
                "late_p50_ns",
                "Of timers that wait: median lateness",
                "late-p50",
                "late p50",
            ],
            "p50_ns",
            "50",
            |late| late.p50_ns,
        )
        .by_default(7, Room::Always)
        .compared(Comparable::LATENESS),
        quantile(
            [
                "late_p90_ns",
                "Of timers that wait: 90th percentile of lateness",
                "late-p90",
                "late p90",
            ],
            "p90_ns",
            "90",
            |late| late.p90_ns,
        )
        .by_default(8, Room::Always),
        quantile(
            [
                "late_p99_ns",
                "Of timers that wait: 99th percentile of lateness",
                "late-p99",
                "late p99",
            ],
            "p99_ns",
            "99",
            |late| late.p99_ns,
        )
        .by_default(9, Room::Wide)
        .compared(Comparable::TAIL),
        quantile(
            [
                "late_p999_ns",
                "Of timers that wait: 99.9th percentile of lateness",
                "late-p999",
                "late p99.9",
            ],
            "p999_ns",
            "99.9",
            |late| late.p999_ns,
        ),
        bare(
            "late_max_ns",
            Type::Figure,
            "Of timers that wait: the latest",
            |late| Some(late.max_ns),
        )
        .column("late-max", "late max")
        .notation(TIME)
        .check("max_ns", Range::EITHER)
        .metric(
            "timermeter_wait_lateness_max",
            "seconds",
            "How late the latest wait was",
        )
        .of_length(),
        late("timers_part_ns", "What is not waiting for a CPU", |late| {
            late.timers_part_ns
        })
        .check("timers_part_ns", Range::EITHER),
        bare(
            "early",
            Type::Figure,
            "Of timers that wait: share of waits that returned early",
            |late| Some(late.early),
        )
        .column("early", "early")
        .notation(Notation::Fixed(3))
        .check("early", Range::SHARE)
        .metric(
            "timermeter_wait_early",
            "ratio",
            "Share of waits that returned before their time",
        )
        .of_length(),
        bare(
            "earliest_ns",
            Type::Figure,
            "By how much the earliest did",
            |late| Some(late.earliest_ns),
        )
        .check("earliest_ns", Range::LENGTH),
        late("cpu_ns", "Of timers that wait: CPU time a wait", |late| {
            late.cpu_ns
        })
        .check("cpu_ns", Range::EITHER)
        .column("cpu-time", "CPU time")
        .by_default(10, Room::Always)
        .metric(
            "timermeter_wait_cpu",
            "seconds",
            "CPU time of the waiting thread a wait",
        )
        .of_length()
        .compared(Comparable::CPU),
        bare(
            "cpu_cycles",
            Type::Figure,
            "Of timers that wait: CPU time a wait, in cycles",
            |late| late.cpu_cycles,
        )
        .column("cpu-time-cycles", "CPU cycles")
        .notation(Notation::Count)
        .check("cpu_cycles", Range::EITHER),
        bare(
            "error_ns",
            Type::Figure,
            "Median of |observed − asked|",
            |late| Some(late.error_ns),
        )
        .check("error_ns", Range::LENGTH),
        bare(
            "spread",
            Type::Figure,
            "Share of waits within that of the median",
            |late| late.spread,
        )
        .check("spread", Range::SHARE),
        bare(
            "quality",
            Type::Figure,
            "Formula (1) of waits, 0 to 1",
            |late| late.quality,
        )
        .check("quality", Range::SHARE),
        bare(
            "wait_quality_percent",
            Type::Figure,
            "Of timers that wait: Formula (1), not to be compared with the Quality of clocks",
            |late| late.quality.map(|quality| 100.0 * quality),
        )
        .column("wait-quality", "F(1) of waits (%)")
        .notation(Notation::Fixed(1))
        .largest_first()
        .by_default(11, Room::Wide),
    ]
}

fn bounds() -> Vec<Field> {
    let bound = |key, about, of: fn(&Steps) -> Option<Granularity>| {
        wait(key, Type::Truth, about, move |wait| {
            steps(wait, of)
                .map(|found| matches!(found, Granularity::AtMost(_)))
                .into()
        })
    };
    vec![
        bound(
            "rounding_at_most",
            "Whether `rounding_ns` is a bound: finer steps drown",
            |steps| steps.rounding,
        ),
        bound("grid_at_most", "Whether `grid_ns` is a bound", |steps| {
            steps.grid
        }),
    ]
}
