//! `check --counter`: judges whether programs may read the CPU counter directly on this machine.

use std::io::Write;

use serde::Serialize;

use super::{CommandResult, emit, failed, machine_document, prepare_outputs, probe};
use crate::agents::children::with_remedy;
use crate::cli::CheckArgs;
use crate::plan::Plan;
use crate::requests::RunRequest;
use crate::selection::is_available;
use estimators::findings::counter::{COUNTER, Counter};
use estimators::findings::{Facts, apply};
use estimators::model::{Assessment, Estimate, Finding, Severity};
use estimators::trace::Pair;

/// The document of `check --counter`.
#[derive(Serialize)]
struct CounterDocument<'a> {
    schema: &'static str,
    counter: &'static str,
    verdict: &'static str,
    /// The rate in hertz.
    hz: Option<Estimate>,
    declared_hz: Option<f64>,
    /// The largest possible difference between the counters of two CPUs, in nanoseconds.
    apart_ns: Option<f64>,
    /// Costs of reads, in nanoseconds: of the counter, with a fence, of the kernel's clock.
    read_ns: [Option<f64>; 3],
    findings: &'a [Finding],
    assessment: &'a Assessment,
}

/// Runs the command. Returns `true` if programs may read the counter, at least until the machine is
/// moved.
///
/// # Errors
/// When the counter cannot be read at all, or the output cannot be written.
pub fn run(args: &CheckArgs, output: &mut dyn Write) -> CommandResult<bool> {
    let outputs = prepare_outputs(&args.output)?;
    let [bare_id, fenced_id] = timers::COUNTERS;
    if let Some(Err(why)) = timers::reader(bare_id) {
        return Err(failed(format!(
            "neither this program nor another one can read the counter here: {}",
            with_remedy(&why)
        )));
    }
    let ids = timers::COUNTERS.into_iter().chain(timers::COUNTER_CLOCKS);
    let request = RunRequest {
        plan: Plan {
            placement: args.cpu.into(),
            ..Plan::DEFAULT
        },
        ..RunRequest::of(ids.filter(|id| is_available(id)))
    };
    let report = probe::report(&request)?;
    let row = |id: &str| report.timers.iter().find(|row| row.id == id);
    let bare = row(bare_id).ok_or_else(|| failed("the counter was not measured"))?;
    let unfenced = timers::unfenced_handoffs(Plan::QUICK.handoffs);
    let counter = Counter {
        platform: &report.platform,
        bare,
        fenced: row(fenced_id).unwrap_or(bare),
        clocks: timers::COUNTER_CLOCKS.into_iter().filter_map(row).collect(),
        unfenced: unfenced.map(|list| Pair::from_handoffs(None, &list)),
        declared: timers::declared_counter_rate(),
    };
    let facts = Facts {
        counter: Some(&counter),
        ..Facts::default()
    };
    let findings = apply(COUNTER, &facts);
    let (verdict, sentence) = match findings.first().map(|finding| finding.severity) {
        Some(Severity::Ok) => ("safe", "safe with a fence"),
        Some(Severity::Note) => (
            "until-moved",
            "safe with a fence, until this machine is moved",
        ),
        Some(Severity::Problem) => ("unsafe", "unsafe"),
        Some(Severity::Unknown) | None => ("not-proven", "not proven"),
    };
    let judged = CounterDocument {
        schema: "timermeter.counter.v2",
        counter: bare_id,
        verdict,
        hz: counter.rate().map(|(hz, _)| hz),
        declared_hz: counter.declared.map(|(hz, _)| hz),
        apart_ns: counter.apart_ns(),
        read_ns: [
            Some(bare),
            Some(counter.fenced),
            counter.clocks.last().copied(),
        ]
        .map(|row| Some(row?.cost_ns?.value)),
        findings: &findings,
        assessment: &report.assessment,
    };
    let document = machine_document(None, &judged)
        .paragraphs(report.assessment.warnings())
        .paragraph(format!(
            "whether a program may read {bare_id} itself: {sentence}"
        ))
        .findings(&findings);
    emit(&document, outputs, output)?;
    Ok(["safe", "until-moved"].contains(&verdict))
}
