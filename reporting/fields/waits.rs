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
        .notation(TIME)
        .csv(21, "slack_ns"),
        both(
            "policy",
            Type::Text,
            "Of timers that wait: the scheduling policy of the thread",
            |own, _| some(&own.policy),
        )
        .column("policy", "policy")
        .csv(22, "policy"),
        both(
            "load",
            Type::Text,
            "Of timers that wait: what else ran",
            |own, _| Value::Word(own.load.name()),
        )
        .column("load", "load")
        .csv(23, "load"),
        both(
            "on_cpu",
            Type::Count,
            "Of timers that wait: the CPU",
            |own, _| own.cpu.map(f64::from).into(),
        )
        .column("on-cpu", "on CPU")
        .notation(COUNT)
        .csv(24, "cpu"),
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

fn kind_of(wait: &Waited, of: fn(&Steps) -> Option<Granularity>) -> Value {
    let kind = steps(wait, of).map(|found| {
        if found.step().is_some() {
            "step"
        } else {
            "at-most"
        }
    });
    kind.map(Value::Word).into()
}

/// A figure of the timer that only CSV has, with its interval, and metrics where they do.
fn in_csv(
    place: u16,
    keys: [&'static str; 3],
    about: &'static str,
    of: fn(&WaitFigures) -> Option<Interval>,
) -> [Field; 3] {
    let field = found(keys[0], about, of).csv(place, keys[0]);
    field
        .check(keys[0], Range::EITHER)
        .with_ends(keys[1], keys[2])
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
        .csv(200, "request_ns")
        .check("request_ns", Range::LENGTH),
        bare(
            "waits",
            Type::Count,
            "Of timers that wait: how many waits, or wake-ups",
            |late| Some(late.waits as f64),
        )
        .column("waits", "waits")
        .notation(COUNT)
        .csv(210, "waits"),
    ];
    type OfSteps = fn(&Steps) -> Option<Granularity>;
    let granularities: [(&str, &str, &str, &str, u16, u8, OfSteps); 2] = [
        (
            "rounding_ns",
            "rounding",
            "rounding_kind",
            "Of timers that wait: to what short requests are rounded",
            60,
            3,
            |steps| steps.rounding,
        ),
        (
            "grid_ns",
            "grid",
            "grid_kind",
            "Of timers that wait: the grid of absolute time that they wake on",
            80,
            4,
            |steps| steps.grid,
        ),
    ];
    for (key, name, kind, about, place, by_default, of) in granularities {
        fields.push(
            wait(key, Type::Figure, about, move |wait| granularity(wait, of))
                .column(name, name)
                .notation(TIME)
                .by_default(by_default, Room::Wide)
                .csv(place + 10, key),
        );
        fields.push(
            wait(
                kind,
                Type::Text,
                "Whether it is a step or a bound",
                move |wait| kind_of(wait, of),
            )
            .not_in_all()
            .csv(place, kind),
        );
    }
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
    let [floor, low, high] = found(
        "floor_ns",
        "Of timers that wait: the shortest wait",
        |found| found.floor_ns,
    )
    .notation(TIME)
    .csv(100, "floor_ns")
    .check("floor_ns", Range::EITHER)
    .with_ends("floor_low_ns", "floor_high_ns");
    fields.extend([
        floor
            .column("floor", "floor")
            .by_default(5, Room::Wide)
            .metric(
                "timermeter_wait_shortest",
                "seconds",
                "How long the shortest wait takes",
            )
            .compared(Comparable::FLOOR),
        low,
        high,
    ]);
    fields.extend(in_csv(
        110,
        ["zero_ns", "zero_low_ns", "zero_high_ns"],
        "A wait of 0",
        |found| found.zero_ns,
    ));
    let [arm, low, high] = in_csv(
        140,
        ["arm_cancel_ns", "arm_cancel_low_ns", "arm_cancel_high_ns"],
        "Arming and cancelling",
        |found| found.arm_cancel_ns,
    );
    fields.extend([
        arm.metric(
            "timermeter_wait_arm_cancel",
            "seconds",
            "What arming and cancelling takes together",
        ),
        low,
        high,
    ]);
    let keys = [
        "proportional_ppm",
        "proportional_low_ppm",
        "proportional_high_ppm",
    ];
    let [later, low, high] = in_csv(120, keys, "How much later longer waits are", |found| {
        found.proportional_ppm
    });
    fields.extend([
        later.metric(
            "timermeter_wait_proportional",
            "ratio",
            "How much later longer waits are, as a share of their length",
        ),
        low,
        high,
    ]);
    let keys = ["cpu_slope", "cpu_slope_low", "cpu_slope_high"];
    fields.extend(in_csv(130, keys, "CPU time over length", |found| {
        found.cpu_slope
    }));
    fields
}

/// A quantile of lateness: its keys in tables, its place in CSV and what it is called there.
fn quantile(
    [key, about, column, heading]: [&'static str; 4],
    (place, [csv, low, high]): (u16, [&'static str; 3]),
    percentile: &'static str,
    of: fn(&Lateness) -> Option<Interval>,
) -> [Field; 3] {
    let [field, low, high] = late(key, about, of)
        .csv(place, csv)
        .check(csv, Range::EITHER)
        .with_ends(low, high);
    let field = field
        .column(column, heading)
        .metric(
            "timermeter_wait_lateness",
            "seconds",
            "How late waits were: observed less asked",
        )
        .percentile(percentile)
        .of_length();
    [field, low, high]
}

fn of_lengths() -> Vec<Field> {
    let mut fields = Vec::new();
    let [p50, low, high] = quantile(
        [
            "late_p50_ns",
            "Of timers that wait: median lateness",
            "late-p50",
            "late p50",
        ],
        (220, ["p50_ns", "p50_low_ns", "p50_high_ns"]),
        "50",
        |late| late.p50_ns,
    );
    fields.extend([
        p50.by_default(7, Room::Always)
            .compared(Comparable::LATENESS),
        low,
        high,
    ]);
    let [p90, low, high] = quantile(
        [
            "late_p90_ns",
            "Of timers that wait: 90th percentile of lateness",
            "late-p90",
            "late p90",
        ],
        (230, ["p90_ns", "p90_low_ns", "p90_high_ns"]),
        "90",
        |late| late.p90_ns,
    );
    fields.extend([p90.by_default(8, Room::Always), low, high]);
    let [p99, low, high] = quantile(
        [
            "late_p99_ns",
            "Of timers that wait: 99th percentile of lateness",
            "late-p99",
            "late p99",
        ],
        (240, ["p99_ns", "p99_low_ns", "p99_high_ns"]),
        "99",
        |late| late.p99_ns,
    );
    fields.extend([
        p99.by_default(9, Room::Wide).compared(Comparable::TAIL),
        low,
        high,
    ]);
    fields.extend(quantile(
        [
            "late_p999_ns",
            "Of timers that wait: 99.9th percentile of lateness",
            "late-p999",
            "late p99.9",
        ],
        (250, ["p999_ns", "p999_low_ns", "p999_high_ns"]),
        "99.9",
        |late| late.p999_ns,
    ));
    let [part, low, high] = late("timers_part_ns", "What is not waiting for a CPU", |late| {
        late.timers_part_ns
    })
    .csv(270, "timers_part_ns")
    .check("timers_part_ns", Range::EITHER)
    .with_ends("timers_part_low_ns", "timers_part_high_ns");
    let [cpu, cpu_low, cpu_high] = late("cpu_ns", "Of timers that wait: CPU time a wait", |late| {
        late.cpu_ns
    })
    .csv(300, "cpu_ns")
    .check("cpu_ns", Range::EITHER)
    .with_ends("cpu_low_ns", "cpu_high_ns");
    fields.extend([
        bare(
            "late_max_ns",
            Type::Figure,
            "Of timers that wait: the latest",
            |late| Some(late.max_ns),
        )
        .column("late-max", "late max")
        .notation(TIME)
        .csv(260, "max_ns")
        .check("max_ns", Range::EITHER)
        .metric(
            "timermeter_wait_lateness_max",
            "seconds",
            "How late the latest wait was",
        )
        .of_length(),
        part,
        low,
        high,
        bare(
            "early",
            Type::Figure,
            "Of timers that wait: share of waits that returned early",
            |late| Some(late.early),
        )
        .column("early", "early")
        .notation(Notation::Fixed(3))
        .csv(280, "early")
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
        .csv(290, "earliest_ns")
        .check("earliest_ns", Range::LENGTH),
        cpu.column("cpu-time", "CPU time")
            .by_default(10, Room::Always)
            .metric(
                "timermeter_wait_cpu",
                "seconds",
                "CPU time of the waiting thread a wait",
            )
            .of_length()
            .compared(Comparable::CPU),
        cpu_low,
        cpu_high,
        bare(
            "cpu_cycles",
            Type::Figure,
            "Of timers that wait: CPU time a wait, in cycles",
            |late| late.cpu_cycles,
        )
        .column("cpu-time-cycles", "CPU cycles")
        .notation(Notation::Count)
        .csv(310, "cpu_cycles")
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
        .csv(320, "spread")
        .check("spread", Range::SHARE),
        bare(
            "quality",
            Type::Figure,
            "Formula (1) of waits, 0 to 1",
            |late| late.quality,
        )
        .csv(330, "quality")
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
    ]);
    fields
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
