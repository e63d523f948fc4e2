//! Defines the fields of clocks, and the fields that rows of all kinds have.

use super::{Field, Found, Kind, Range, Read, Room, Row, Scatter, field_table};
use crate::model::{Context, Finding, Interval, ResolutionKind, TimerRow, Verdicts};
use crate::table::Value;
use crate::text::numbers::{plus_minus, range_ns};

const CLOCKS: &[Kind] = &[Kind::Clocks];

pub(super) fn fields() -> Vec<Field> {
    let findings = field_table! { Read::Row, &Kind::ALL, |row| row;
        findings: Text = codes(row.findings()), "Codes of the findings";
    };
    [
        names(),
        properties(),
        costs(),
        quality(),
        trust(),
        contexts(),
        findings,
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn names() -> Vec<Field> {
    field_table! { Read::Row, &Kind::ALL, |row| row;
        timer: Text = row.id(), "Id of the timer", in_tables(Room::Always);
        label: Text = row.label(), "The call", column("label", "call");
        runtime: Text = row.runtime(), "Its runtime";
        status: Text = row.status().name(), "How its characterisation ended";
        reason: Text = reason(row), "Why, when it is not ok or its Quality is 0";
        remedy: Text = row.remedy().map(str::to_owned), "What to do about it";
    }
}

fn properties() -> Vec<Field> {
    field_table! { Read::Row, CLOCKS, |row| row.clock()?;
        legend: Text = &row.legend, "What the paper calls it";
        family: Text = row.properties.as_ref()?.family?.name(),
            "What it reads: `cpu-counter`, `system-clock`, `cpu-time`, `perf-event`, `other`";
        counted: Text = row.properties.as_ref()?.counts?.name(),
            "What it claims to count: `wall`, `process-cpu`, `thread-cpu`, `thread-cycles`, `something-else`";
        reads_by: Text = row.properties.as_ref()?.reads_by?.name(),
            "How it is meant to be read: `instruction`, `vdso`, `system-call`, `other`";
        ns_per_tick: Number = row.ns_per_tick, "Nanoseconds in a tick", range(Range::STEP);
    }
}

fn costs() -> Vec<Field> {
    field_table! { Read::Row, CLOCKS, |row| row.clock()?;
        resolution: Nanoseconds = match row.resolution_at_most_ns {
                Some(limit) => Found::AtMost(limit.value),
                None => Found::Figure(row.resolution_ns?),
            }, "Step in which the clock moves",
            interval(), range(Range::STEP), in_tables(Room::Always), metric("resolution"), compared("resolution", Scatter::Slew);
        resolution: Cycles = step(row, Interval::unbounded(row.resolution?.cycles?)), "The step in cycles",
            range(Range::STEP);
        resolution: Ticks = step(row, Interval::unbounded(row.resolution?.ticks)), "The step in ticks",
            range(Range::STEP);
        resolution_kind: Text = row.resolution?.kind.name(),
            "`resolved`, or `at_most` where the step is no longer than that";
        cost: Nanoseconds = row.cost_ns, "Median of what a read costs alone",
            interval(), in_tables(Room::Always), metric("cost"), compared("cost", Scatter::Cost);
        cost: Cycles = row.cost_cycles?.value, "The same in cycles", in_tables(Room::Wide);
        cost_amortised: Nanoseconds = row.amortised_ns,
            "What a read costs in a row of many, in which reads may overlap",
            column("amortised", "amortised cost (ns)"), metric("cost_amortised");
        cost_single_median: Nanoseconds = row.cost.as_ref()?.single_median_ns,
            "Median of single reads as the reference shows them";
        cost_p99: Nanoseconds = row.cost.as_ref()?.p99_ns,
            "99th percentile of single reads, as the reference shows them",
            column("p99", "cost, p99 (ns)"), metric("cost_p99");
        adds: Text = range_ns(row.adds_ns?.range()?),
            "What a read adds to the code around it, the least and the most over kinds of work",
            in_tables(Room::OneReport), derived();
        cost_reference: Text = &row.cost.as_ref()?.reference, "The timer that timed single reads";
        distribution_modes: Text = modes(row), "The costs of single reads in ns, with their shares";
        distribution_within: Nanoseconds = row.distribution.as_ref()?.within_ns,
            "Standard deviation of single reads within a process";
        distribution_between: Nanoseconds = row.distribution.as_ref()?.between_ns,
            "Standard deviation of the median between processes";
        distribution_tail_share: Share = row.distribution.as_ref()?.tail_share,
            "Share of single reads far above all others, as interrupted ones are";
        spread: Share = row.spread, "Share of single reads within one step of the median cost",
            interval(), in_tables(Room::Always), metric("spread"), compared("spread", Scatter::Spread);
    }
}

fn quality() -> Vec<Field> {
    field_table! { Read::Row, CLOCKS, |row| row.clock()?;
        quality: Percent = row.quality, "Quality (ICPE 2011)",
            column("quality", "Quality %"), interval(), in_tables(Room::Always), metric("quality"), compared("Quality", Scatter::Quality);
        quality_interval: Text = Some(plus_minus(row.quality?)).filter(|text| !text.is_empty()),
            "The 95 % interval of Quality in percent points, rounded outwards",
            column("interval", "interval"), in_tables(Room::OneReport), derived();
        quality_printed: Percent = row.printed_quality, "Quality as a publication prints it",
            column("printed", "Quality, printed %"), in_tables(Room::Wide);
        processes: Count = row.observations.as_ref()?.processes, "Fresh processes that measured it";
        intervals: Count = row.observations.as_ref()?.intervals, "Intervals between two reads";
        batched_calls: Count = row.observations.as_ref()?.batched_calls, "Reads in batches";
        single_calls: Count = row.observations.as_ref()?.single_calls, "Single reads that were timed";
        backward_steps: Count = row.observations.as_ref()?.backward_steps,
            "Negative differences between readings";
    }
}

fn trust() -> Vec<Field> {
    field_table! { Read::Row, CLOCKS, |row| row.clock()?.verdicts.as_ref()?;
        trust: Text = row.in_short(), "Whether it is monotonic, thread-safe and stable",
            in_tables(Room::Always);
        monotonic: Text = row.monotonic.outcome.name(),
            "Whether it is monotonic: `pass`, `fail`, `not applicable`, `not tested`";
        thread_safe: Text = row.thread_safe.outcome.name(),
            "Whether it is monotonic from thread to thread";
        stable: Text = row.stable.outcome.name(), "Whether it keeps its rate, without jumps";
        counts: Text = row.counts.outcome.name(), "Whether it counts what it claims to";
        declared: Text = row.declared.outcome.name(), "Whether it does what its platform declares";
        read_path: Text = row.read_path.outcome.name(), "Whether its reads go the way that they should";
        paths: Text = row.paths.as_ref()?.outcome.name(),
            "Whether it agrees with the same clock read in another way";
        answered_by: Text = row.read_path.path?.name(),
            "Who answers a read: `user-mode`, `system-call`, `trapped`";
        offset_max: Nanoseconds = row.thread_safe.furthest()?.ns.abs(),
            "Largest difference of this clock between the first CPU and another, without sign";
        offset_uncertainty: Nanoseconds = row.thread_safe.furthest()?.uncertainty_ns.abs(),
            "The true difference lies within this of that";
        rate_offset: Ppm = rate(row)?, "How much faster than its reference the clock runs",
            column("rate", "rate error (ppm)"), interval(), metric("rate_error"), compared("drift", Scatter::Slew);
        jumps: Count = row.stable.jumps, "Windows in which it gained more than can be explained";
        freezes: Count = row.stable.freezes, "Windows in which it lost more than that";
    }
}

/// The fields for the time that a read adds to the surrounding code.
fn contexts() -> Vec<Field> {
    let fields = field_table! { Read::Row, CLOCKS, |row| row.clock()?.adds_ns?;
        adds_latency: Nanoseconds = row.get(Context::Latency)?.ns,
            "What a read adds to work bound by latency: a chain of multiplications", metric("adds_latency");
        adds_throughput: Nanoseconds = row.get(Context::Throughput)?.ns,
            "What a read adds to work bound by throughput: four such chains", metric("adds_throughput");
        adds_memory: Nanoseconds = row.get(Context::Memory)?.ns,
            "What a read adds to work bound by memory: loads that miss the caches", metric("adds_memory");
        adds_ahead: Nanoseconds = row.get(Context::Ahead)?.ns,
            "What a read adds to code that the core runs far ahead in", metric("adds_ahead");
        adds_cold: Nanoseconds = row.get(Context::Cold)?.ns,
            "What the first read after a millisecond of other work takes", metric("adds_cold");
        adds_contended: Nanoseconds = row.get(Context::Contended)?.ns,
            "What a read adds to work bound by throughput while all other CPUs read the timer", metric("adds_contended");
    };
    fields
        .into_iter()
        .map(|field| field.interval().range(Range::ANY))
        .collect()
}

fn step(row: &TimerRow, figure: Interval) -> Found {
    match row.resolution.map(|found| found.kind) {
        Some(ResolutionKind::AtMost) => Found::AtMost(figure.value),
        _ => Found::Figure(figure),
    }
}

fn rate(verdicts: &Verdicts) -> Option<Interval> {
    let (offset, half) = (
        verdicts.stable.offset_ppm?,
        verdicts.stable.offset_uncertainty_ppm,
    );
    Some(Interval::with_ends(
        offset,
        half.map(|half| (offset - half, offset + half)),
    ))
}

/// The modes of the cost distribution, in nanoseconds with their shares, as in `22.5:0.81 41:0.18`.
fn modes(row: &TimerRow) -> Value {
    let modes = row.distribution.iter().flat_map(|costs| &costs.modes);
    let sound = modes.filter(|mode| (mode.ns + mode.share).is_finite());
    joined(sound.map(|mode| format!("{}:{}", mode.ns, mode.share)), " ")
}

/// The reason why the row has no results, or why its Quality is 0.
fn reason(row: Row) -> Value {
    let verdicts = row.clock().and_then(|row| row.verdicts.as_ref());
    let failed = verdicts.into_iter().flat_map(Verdicts::disqualifying);
    let failed = failed.map(|answer| answer.evidence.to_owned());
    joined(
        row.reason().map(str::to_owned).into_iter().chain(failed),
        "; ",
    )
}

pub(super) fn codes(findings: &[Finding]) -> Value {
    joined(findings.iter().map(|finding| finding.code.clone()), " ")
}

pub(super) fn joined(parts: impl Iterator<Item = String>, between: &str) -> Value {
    match parts.collect::<Vec<_>>() {
        none if none.is_empty() => Value::Nothing,
        parts => parts.join(between).into(),
    }
}
