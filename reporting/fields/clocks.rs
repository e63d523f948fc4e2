//! Defines the fields of clocks, and the fields that rows of all kinds have.

use super::Visibility::{Always, Data, Wide};
use super::{Field, Kind, LabelOf, Range, Read, Row, field_table};
use crate::table::CellValue;
use crate::text::numbers::{range_ns, significant, time};
use estimators::model::{
    Context, Core, Estimate, Finding, Mode, ProcessFigures, ResolutionKind, TimerRow, Verdicts,
};
use estimators::statistics::median;

/// The kind of the rows that have the fields in this file, except identity and findings, which rows
/// of all kinds have.
const CLOCKS: &[Kind] = &[Kind::Clocks];

/// All fields of clocks, in column order.
pub(super) fn fields() -> Vec<Field> {
    let findings = field_table! { Read::Row, &Kind::ALL, |row| row;
        findings: Text = codes(row.findings()), "Codes of the findings", no_fact(), more("`problem`: results get worse or do not repeat; `note`: information; `unknown`: the machine does not report it");
    };
    [
        identity_fields(),
        property_fields(),
        cost_fields(),
        quality_fields(),
        trust_fields(),
        added_time_fields(),
        findings,
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Names, status and reason, which rows of all kinds have.
fn identity_fields() -> Vec<Field> {
    field_table! { Read::Row, &Kind::ALL, |row| row;
        timer: Text = row.id(), "Id of the timer", in_tables(Always), by_platform(Always), no_fact(), label(LabelOf::Timer, "timer");
        label: Text = row.label(), "Source text of the call", titled("call"), no_fact();
        runtime: Text = row.runtime(), "The runtime that hosts it, or `native`", label(LabelOf::Timer, "runtime");
        device: Text = row.device().map(str::to_owned), "The device whose processor reads it", more("nothing if a CPU does");
        status: Text = row.status().name(), "Status of its characterisation", more("`ok`; `unresolved`: its step could not be determined, because it moves irregularly, too rarely or not at all; `failed`: it, or its agent, crashed, hung or answered wrongly; `unavailable`: it cannot be read on this machine");
        reason: Text = reason(row), "The reason, if the status is not `ok` or the Quality is 0", in_short();
        remedy: Text = row.remedy().map(str::to_owned), "The remedy", in_short();
    }
}

/// Properties according to the documentation of the clock.
fn property_fields() -> Vec<Field> {
    field_table! { Read::Row, CLOCKS, |row| row.clock()?;
        legend: Text = &row.legend, "Its name in the paper (ICPE 2011)";
        family: Text = row.properties.as_ref()?.family?.name(), "The source that it reads", more("`cpu-counter`, `system-clock`, `cpu-time`, `perf-event`, `other`");
        counted: Text = row.properties.as_ref()?.counts?.name(), "The quantity that it claims to count", more("`wall`, `process-cpu`, `thread-cpu`, `thread-cycles`, `something-else`"), titled("kind of time");
        reads_by: Text = row.properties.as_ref()?.reads_by?.name(), "The declared way of reading it", more("`instruction`, `vdso`, `system-call`, `other`");
        ns_per_tick: Number = row.ns_per_tick, "Nanoseconds in a tick", range(Range::STEP);
    }
}

/// Resolution, cost and spread.
fn cost_fields() -> Vec<Field> {
    field_table! { Read::Row, CLOCKS, |row| row.clock()?;
        resolution: Nanoseconds = match row.resolution_at_most_ns {
                Some(limit) => CellValue::bounded(Some(limit.value), true),
                None => row.resolution_ns.into(),
            }, "Step by which its values move", more("`≤` marks an upper limit if no step could be determined"),
            interval(), range(Range::STEP), in_tables(Always), by_platform(Always), metric("resolution"), compared("resolution");
        resolution: Cycles = step_or_limit(row, row.resolution?.cycles?), "This step in cycles",
            range(Range::STEP);
        resolution: Ticks = step_or_limit(row, row.resolution?.ticks), "This step in ticks",
            range(Range::STEP);
        resolution_kind: Text = row.resolution?.kind.name(),
            "`resolved`, or `at_most` if the resolution is only an upper limit of the step";
        cost: Nanoseconds = cost(row), "Median of isolated reads", more("without the loop around it and the reads of the reference; `(amortised)`: the mean of consecutive reads, which may overlap, of publications that state no other"),
            interval(), in_tables(Always), by_platform(Always), metric("cost"), compared("cost");
        cost: Cycles = row.cost_cycles?.value, "Median cost of an isolated read, in cycles", in_tables(Wide);
        cost_amortised: Nanoseconds = row.amortised_ns,
            "Mean cost of many consecutive reads, which may overlap",
            column("amortised", "amortised cost"), in_tables(Data), by_platform(Data), metric("cost_amortised");
        cost_single_median: Nanoseconds = row.cost.as_ref()?.single_median_ns,
            "Median duration of single reads as measured by the reference", titled("single reads, median");
        cost_p90: Nanoseconds = row.cost.as_ref()?.p90_ns, "90th percentile of the duration of single reads",
            column("p90", "cost, p90"), in_short();
        cost_p99: Nanoseconds = row.cost.as_ref()?.p99_ns,
            "99th percentile of the duration of single reads as measured by the reference",
            column("p99", "cost, p99"), metric("cost_p99"), compared("p99"), in_short();
        cost_longest: Nanoseconds = row.cost.as_ref()?.longest_ns, "Longest of the single reads that were timed",
            column("longest", "cost, longest"), in_short();
        adds: Text = range_ns(row.adds_range_ns()?), "Time that a read adds to the code around it", more("the least over several kinds of work, and an upper bound for programs. It may be slightly negative if the read overlaps with the work; absent with --quick and for other runtimes"),
            in_tables(Wide), derived();
        cost_reference: Text = &row.cost.as_ref()?.reference, "The clock that timed single reads", titled("timed by");
        cost_p99_undisturbed: Nanoseconds = undisturbed_p99(row)?, "99th percentile of single reads in processes that had their core alone", titled("cost, p99 undisturbed");
        disturbed: Text = disturbances(row), "What disturbed the processes that measured it", in_short();
        distribution_modes: Text = modes(row, " ", |mode| format!("{}:{}", mode.ns, mode.share)),
            "The modes of the cost of single reads in ns, with their shares", no_fact();
        single_costs: Text = modes(row, ", ", |mode| format!("{} ({} %)", time(Some(mode.ns)), significant(100.0 * mode.share, 2))),
            "These modes in words", derived();
        distribution_within: Nanoseconds = row.distribution.as_ref()?.within_ns,
            "Standard deviation of the cost of single reads within a process", titled("deviation of costs within a process");
        distribution_between: Nanoseconds = row.distribution.as_ref()?.between_ns,
            "Standard deviation of the median cost between processes", titled("deviation of costs between processes");
        distribution_tail_share: Share = row.distribution.as_ref()?.tail_share,
            "Share of single reads far above all others, such as interrupted reads", titled("share of far costlier reads");
        spread: Share = row.spread, "Share of reads within a step of the median", more("1 if all isolated reads cost the same as far as the clock can show"),
            interval(), in_tables(Always), metric("spread"), compared("spread");
    }
}

/// Quality and the number of observations.
fn quality_fields() -> Vec<Field> {
    field_table! { Read::Row, CLOCKS, |row| row.clock()?;
        quality: Percent = row.quality, "Figure of merit (ICPE 2011), more is better", more("resolution^-0.1 · cost^-0.1 · spread^0.5, with resolution and cost in cycles; 100 % at best, and 0 for a clock that is wrong"),
            column("quality", "Quality %"), interval(), in_tables(Always), metric("quality"), compared("quality");
        quality_printed: Percent = row.printed_quality, "Quality as printed in the publication",
            column("printed", "Quality, printed %"), in_tables(Wide);
        processes: Count = row.observations.as_ref()?.processes, "Number of fresh processes that measured it",
            range(Range::PROCESSES);
        intervals: Count = row.observations.as_ref()?.intervals, "Number of intervals between two reads";
        batched_calls: Count = row.observations.as_ref()?.batched_calls, "Number of reads in batches";
        single_calls: Count = row.observations.as_ref()?.single_calls, "Number of single reads that were timed";
        backward_steps: Count = row.observations.as_ref()?.backward_steps,
            "Number of negative differences between successive readings";
    }
}

/// Verdicts on whether the clock can be trusted, with their numbers.
fn trust_fields() -> Vec<Field> {
    let trust = field_table! { Read::Row, CLOCKS, |row| row.clock()?;
        trust: Text = row.trust.as_ref()?.in_short(), "Whether durations can be taken with it", more("`yes`: no test failed; `settable`: it jumps when the time of day is set; `CPU time`, `CPU cycles`: it stands still while the program sleeps; `fenced`: put a fence before each read; `untested`: what follows (the order of readings, whether CPUs agree, the rate, the unit); `no`: what is wrong"),
            in_tables(Always);
        caution: Text = row.trust.as_ref()?.caution?.in_words(), "A warning, whatever the answer", in_short();
        because_of: Text = &row.trust.as_ref()?.part, "The part that is wrong, or may be, if another clock shows it", in_short();
    };
    let verdicts = field_table! { Read::Row, CLOCKS, |verdicts| verdicts.clock()?.verdicts.as_ref()?;
        monotonic: Text = verdicts.monotonic.outcome.name(), "Whether it is monotonic", more("`pass`, `fail`, `not applicable`, `not tested`"), no_fact();
        thread_safe: Text = verdicts.thread_safe.outcome.name(),
            "Whether it is monotonic from one thread to another", no_fact();
        stable: Text = verdicts.stable.outcome.name(), "Whether it keeps its rate, without jumps", no_fact();
        counts: Text = verdicts.counts.outcome.name(), "Whether it counts the claimed quantity", no_fact();
        declared: Text = verdicts.declared.outcome.name(), "Whether it conforms to the declarations of its platform", no_fact();
        read_path: Text = verdicts.read_path.outcome.name(), "Whether its reads take the expected path", no_fact();
        answered_by: Text = verdicts.read_path.path?.name(), "The component that answers a read", more("`user-mode`, `system-call`, `trapped`");
        offset_max: Nanoseconds = verdicts.thread_safe.largest_offset()?.ns.abs(),
            "Largest absolute difference of this clock between the first CPU or place of a device and another", titled("largest offset");
        offset_uncertainty: Nanoseconds = verdicts.thread_safe.largest_offset()?.uncertainty_ns.abs(),
            "Uncertainty of this difference";
        rate_offset: Ppm = rate_offset(verdicts)?, "Rate of the clock relative to its reference, minus 1",
            column("rate", "rate error (ppm)"), interval(), metric("rate_error"), compared("drift");
        jumps: Count = verdicts.stable.jumps, "Number of windows in which it gained more time than can be explained";
        freezes: Count = verdicts.stable.freezes, "Number of windows in which it lost more time than can be explained";
    };
    trust.into_iter().chain(verdicts).collect()
}

/// The fields for the time that a read adds to the code around it, by kind of code.
fn added_time_fields() -> Vec<Field> {
    let fields = field_table! { Read::Row, CLOCKS, |adds| adds.clock()?.adds_ns?;
        adds_latency: Nanoseconds = adds.get(Context::Latency)?.ns, "Time that a read adds to work bound by latency", more("a chain of multiplications"), metric("adds_latency"), titled("adds to latency-bound code");
        adds_throughput: Nanoseconds = adds.get(Context::Throughput)?.ns, "Time that a read adds to work bound by throughput", more("four such chains"), metric("adds_throughput"), titled("adds to throughput-bound code");
        adds_memory: Nanoseconds = adds.get(Context::Memory)?.ns, "Time that a read adds to work bound by memory", more("loads that miss the caches"), metric("adds_memory"), titled("adds to memory-bound code");
        adds_ahead: Nanoseconds = adds.get(Context::Ahead)?.ns,
            "Time that a read adds to code with much out-of-order execution", metric("adds_ahead"), titled("adds to out-of-order code");
        adds_cold: Nanoseconds = adds.get(Context::Cold)?.ns,
            "Duration of the first read after a millisecond of other work", metric("adds_cold"), titled("first read after other work");
        adds_contended: Nanoseconds = adds.get(Context::Contended)?.ns,
            "Time that a read adds to work bound by throughput while all other CPUs read the timer", metric("adds_contended"), titled("adds while all CPUs read it");
    };
    fields
        .into_iter()
        .map(|field| field.interval().range(Range::ANY))
        .collect()
}

/// The cost of isolated reads, or that of consecutive reads in publications that state no other.
fn cost(row: &TimerRow) -> CellValue {
    match (row.cost_ns, row.amortised_ns) {
        (None, Some(ns)) if ns.is_finite() => CellValue::Amortised(ns),
        (cost, _) => cost.into(),
    }
}

/// The step in ticks or cycles, marked as an upper limit if the step is unknown.
fn step_or_limit(row: &TimerRow, step: f64) -> CellValue {
    let kind = row.resolution.map(|resolution| resolution.kind);
    CellValue::bounded(Some(step), kind == Some(ResolutionKind::AtMost))
}

/// The rate error of a clock in ppm, with its uncertainty as interval.
fn rate_offset(verdicts: &Verdicts) -> Option<Estimate> {
    let (offset, half) = (
        verdicts.stable.offset_ppm?,
        verdicts.stable.offset_uncertainty_ppm,
    );
    Some(half.map_or(Estimate::unbounded(offset), |half| {
        Estimate::around(offset, half)
    }))
}

/// The modes of the cost distribution.
fn modes(row: &TimerRow, between: &str, write: fn(&Mode) -> String) -> CellValue {
    let modes = row.distribution.iter().flat_map(|costs| &costs.modes);
    let finite = modes.filter(|mode| (mode.ns + mode.share).is_finite());
    joined(finite.map(write), between)
}

/// What disturbed the processes that measured a clock; nothing if nothing did.
fn disturbances(row: &TimerRow) -> CellValue {
    let shared = row.processes.iter().filter(|one| one.core == Core::Shared);
    let shared = Some(shared.count())
        .filter(|count| *count > 0)
        .map(|count| {
            let all = row.processes.len();
            format!("{count} of {all} processes shared their core or changed its frequency")
        });
    let windows = row.observations.iter().flat_map(|it| &it.dropped_windows);
    let again =
        windows.map(|(why, count)| format!("{count} × {}: measured again", why.replace('-', " ")));
    joined(shared.into_iter().chain(again), "; ")
}

/// The median over the processes that had their core alone; `None` if all had.
fn undisturbed_p99(row: &TimerRow) -> Option<f64> {
    let all = row.processes.iter();
    let (alone, others): (Vec<&ProcessFigures>, Vec<_>) =
        all.partition(|one| one.core == Core::Alone);
    median(alone.iter().filter_map(|one| one.p99_ns)).filter(|_| !others.is_empty())
}

/// The reason why the row has no results, or why its Quality is 0.
fn reason(row: Row) -> CellValue {
    let verdicts = row.clock().and_then(|row| row.verdicts.as_ref());
    let evidence = verdicts
        .into_iter()
        .flat_map(Verdicts::disqualifying)
        .map(|answer| answer.evidence.to_owned());
    joined(
        row.reason().map(str::to_owned).into_iter().chain(evidence),
        "; ",
    )
}

/// The codes of findings, separated by blanks.
pub(super) fn codes(findings: &[Finding]) -> CellValue {
    joined(findings.iter().map(|finding| finding.code.clone()), " ")
}

/// The parts as one text; nothing if there are no parts.
pub(super) fn joined(parts: impl Iterator<Item = String>, between: &str) -> CellValue {
    match parts.collect::<Vec<_>>() {
        none if none.is_empty() => CellValue::Nothing,
        parts => parts.join(between).into(),
    }
}
