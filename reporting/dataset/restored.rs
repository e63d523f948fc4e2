//! A report as its rows in a dataset hold it: what fleets are judged and compared by, and no evidence.

use serde_json::{Value, json};

use super::cells::Cells;
use crate::model::{
    Accuracy, AccuracyKind, ClockSource, Cost, Cpu, Frequency, Kernel, Limits, Load, Observations, Os,
    Platform, Provenance, ProvenanceKind, Report, SCHEMA, Settings, Status, TimerRow, Tool, Verdicts,
    Warning,
};

/// What stands where a report has evidence.
const NO_EVIDENCE: &str = "the dataset does not hold why";

/// The report of a row, without rows.
pub fn report_of(cells: Cells) -> Report {
    let owned = |name| cells.text(name).map(str::to_owned);
    let known = |name| owned(name).unwrap_or_default();
    let published = cells.text("provenance") == Some("published");
    let kind = if published { ProvenanceKind::Published } else { ProvenanceKind::Measured };
    Report {
        schema: SCHEMA.to_owned(),
        tool: Tool { version: known("tool_version"), ..Tool::this() },
        created: cells.time("created").unwrap_or_default(),
        node: owned("host"),
        provenance: Provenance { kind, ..Provenance::default() },
        platform: platform_of(cells),
        frequency: Frequency {
            nominal_hz: cells.figure("nominal_hz"),
            tsc_hz: cells.figure("tsc_hz"),
            effective_hz: cells.figure("effective_hz"),
            cycles_hz: cells.figure("frequency_ghz").map(|ghz| ghz * 1e9),
            ..Frequency::default()
        },
        settings: Settings {
            profile: known("profile"),
            cpu: cells.count("measuring_cpu"),
            seed: cells.text("seed").and_then(|seed| seed.parse().ok()).unwrap_or_default(),
            processes: 0,
            precision_points: None,
            budget_seconds: None,
            timeout_seconds: 0,
        },
        warnings: warnings(cells.text("report_warnings")),
        timers: Vec::new(),
        waits: Vec::new(),
        periods: Vec::new(),
    }
}

fn platform_of(cells: Cells) -> Platform {
    let owned = |name| cells.text(name).map(str::to_owned);
    let known = |name| owned(name).unwrap_or_default();
    let load = |one_minute| Load { one_minute, ..Load::default() };
    Platform {
        cpu: Cpu {
            architecture: known("architecture"),
            vendor: owned("cpu_vendor"),
            model: owned("cpu"),
            family: cells.count("cpu_family"),
            model_number: cells.count("cpu_model"),
            stepping: cells.count("cpu_stepping"),
            microcode: owned("microcode"),
            online: cells.count("cpus_online"),
            smt: cells.truth("smt"),
            governor: owned("governor"),
            turbo: cells.truth("turbo"),
            invariant_tsc: cells.truth("invariant_tsc"),
            ..Cpu::default()
        },
        os: Os { family: known("os_family"), name: owned("os") },
        kernel: Kernel { release: owned("kernel"), tick_hz: cells.count("tick_hz"), ..Kernel::default() },
        hypervisor: owned("hypervisor"),
        clocksource: ClockSource {
            current: owned("clock_source"),
            available: known("clock_sources").split_whitespace().map(str::to_owned).collect(),
            ..ClockSource::default()
        },
        load: cells.figure("load_one_minute").map(load),
        steal_share: cells.figure("steal_share"),
        limits: Limits { container: owned("container"), ..Limits::default() },
        ..Platform::default()
    }
}

/// The timer of a row; nothing where it names none.
pub fn row_of(cells: Cells) -> Option<TimerRow> {
    let status = [Status::Ok, Status::Unresolved, Status::Unavailable, Status::Failed]
        .into_iter()
        .find(|status| cells.text("status") == Some(status.name()))?;
    let named = |name| cells.text(name).unwrap_or_default();
    let row = TimerRow::unmeasured(cells.text("timer")?, named("label"), named("runtime"), status);
    let kind = if cells.text("accuracy_kind") == Some("at_most") {
        AccuracyKind::AtMost
    } else {
        AccuracyKind::Resolved
    };
    let accuracy = cells.figure("accuracy_ns").map(|ns| Accuracy {
        ns: Some(ns),
        low_ns: cells.figure("accuracy_low_ns"),
        high_ns: cells.figure("accuracy_high_ns"),
        ticks: cells.figure("ns_per_tick").filter(|tick| *tick > 0.0).map_or(0.0, |tick| ns / tick),
        cycles: cells.figure("accuracy_cycles"),
        kind,
    });
    let cost = cells.figure("cost_ns").map(|ns| Cost {
        median_ns: Some(ns),
        low_ns: cells.figure("cost_low_ns"),
        high_ns: cells.figure("cost_high_ns"),
        median_cycles: cells.figure("cost_cycles"),
        amortised_ns: cells.figure("cost_amortised_ns"),
        single_median_ns: None,
        p99_ns: cells.figure("cost_p99_ns"),
        follows: None,
        adds: None,
        reference: named("cost_reference").to_owned(),
    });
    Some(TimerRow {
        reason: cells.text("reason").map(str::to_owned),
        ns_per_tick: cells.figure("ns_per_tick"),
        accuracy,
        cost,
        spread: cells.figure("spread"),
        spread_low: cells.figure("spread_low"),
        spread_high: cells.figure("spread_high"),
        quality: cells.figure("quality"),
        quality_low: cells.figure("quality_low"),
        quality_high: cells.figure("quality_high"),
        verdicts: verdicts(cells),
        observations: cells.count("processes").map(|processes| observations(cells, processes)),
        warnings: warnings(cells.text("warnings")),
        ..row
    })
}

fn observations(cells: Cells, processes: u32) -> Observations {
    Observations {
        processes,
        disturbed_processes: 0,
        discarded_processes: 0,
        dropped_windows: Default::default(),
        intervals: 0,
        batched_calls: 0,
        single_calls: cells.count("single_calls").unwrap_or_default(),
        backward_steps: 0,
        reference_accuracy_ns: None,
        resolution_rule: None,
    }
}

/// Its answers; nothing where none was asked. They are read as a document, as reports are: what it lacks is unknown.
fn verdicts(cells: Cells) -> Option<Verdicts> {
    // Failures that take the Quality away are the reason.
    let finding = cells.text("reason").unwrap_or(NO_EVIDENCE);
    let outcome =
        |column: &str| cells.text(column).map(|outcome| json!({ "outcome": outcome, "finding": finding }));
    let with = |column: &str, more: Value| {
        let mut answer = outcome(column)?;
        more.as_object()?.iter().for_each(|(key, value)| answer[key] = value.clone());
        Some(answer)
    };
    let mut answers = json!({
        "monotonic": with("monotonic", json!({ "readings": 0, "backward_steps": 0, "moves": 0 }))?,
        "thread_safe": with("thread_safe", json!({
            "handoffs": 0, "backward_steps": 0, "rounds": 0, "pairs": 0, "pairs_possible": 0, "offsets": [],
        }))?,
        "stable": with("stable", json!({
            "allan": [],
            "jumps": cells.count::<u32>("jumps").unwrap_or_default(),
            "freezes": cells.count::<u32>("freezes").unwrap_or_default(),
            "offset_ppm": cells.figure("rate_offset_ppm"),
            "offset_uncertainty_ppm": cells.figure("rate_offset_uncertainty_ppm"),
        }))?,
        "counts": outcome("counts")?,
        "declared": outcome("declared")?,
        "read_path": with("read_path", json!({ "path": cells.text("answered_by") }))?,
    });
    if let Some(paths) = with("paths", json!({ "beside": [] })) {
        answers["paths"] = paths;
    }
    serde_json::from_value(answers).ok()
}

/// Warnings by their codes; what they said is not kept.
fn warnings(codes: Option<&str>) -> Vec<Warning> {
    let warning =
        |code: &str| Warning { code: code.to_owned(), message: String::new(), advice: String::new() };
    codes.unwrap_or_default().split_whitespace().map(warning).collect()
}
