//! Converts figures to a row of the report: units and Quality.

use estimators::figures::Figures;
use estimators::figures::plot_data::plot_data;
use estimators::model::{
    Cost, Estimate, Hertz, Nanos, ObservationCounts, Resolution, ResolutionKind, Status, TimerRow,
};
use estimators::resolution::Step;
use estimators::scoring::profile_quality;
use estimators::trace::Trace;

/// Fills the columns of the row from the observations and the figures. `frequency`, in hertz, of the
/// processor that reads the timer, converts time to cycles; without it, cycles and Quality are left empty.
pub fn fill_row(row: &mut TimerRow, trace: &Trace, figures: &Figures, frequency: Option<Estimate>) {
    row.ns_per_tick = figures.ns_per_tick;
    let hertz = frequency.map(|frequency| Hertz(frequency.value));
    if let Some((step_ns, step)) = resolution(figures, hertz) {
        match step.kind {
            ResolutionKind::Resolved => row.resolution_ns = step_ns,
            ResolutionKind::AtMost => row.resolution_at_most_ns = step_ns,
        }
        row.resolution = Some(step);
    }
    // The measured cost of a call without cost may be slightly negative.
    row.cost_ns = figures.cost.map(|cost| cost.within(0.0, f64::INFINITY));
    if let Some(cost_ns) = row.cost_ns {
        row.cost_cycles = hertz.map(|hertz| cost_ns.map(|ns| Nanos(ns).cycles(hertz).0));
        row.amortised_ns = figures.amortised.map(at_least_zero);
        row.adds_ns = figures.adds;
        row.cost = Some(cost(trace, figures));
    }
    row.spread = figures.spread;
    row.distribution.clone_from(&figures.distribution);
    row.processes.clone_from(&figures.all_processes);
    row.observations = Some(observations(trace, figures));
    row.figures = Some(plot_data(trace, figures.step()).without_non_finite());
    set_status(row, figures);
    if let (Status::Ok, Some(frequency)) = (row.status, frequency) {
        row.quality = profile_quality(figures, frequency);
    }
}

/// Sets the status of the row, and the reason and remedy if the timer is unresolved.
fn set_status(row: &mut TimerRow, figures: &Figures) {
    row.reason = figures.unresolved();
    row.status = match row.reason {
        Some(_) => Status::Unresolved,
        None => Status::Ok,
    };
    let remedy = match &figures.resolution {
        Step::AtMost { .. } => {
            Some("try --thorough; a clock that moves irregularly has no step to be found")
        }
        Step::Unmoved => Some("try --thorough, which watches longer"),
        Step::Resolved { .. } => None,
    };
    row.remedy = remedy.map(Into::into);
}

/// Returns the step or its upper bound in nanoseconds, and in ticks and cycles.
fn resolution(
    figures: &Figures,
    frequency: Option<Hertz>,
) -> Option<(Option<Estimate>, Resolution)> {
    let (step, kind) = match &figures.resolution {
        Step::Resolved { step, .. } => (*step, ResolutionKind::Resolved),
        Step::AtMost { bound, .. } if bound.is_finite() => {
            (Estimate::exact(*bound), ResolutionKind::AtMost)
        }
        _ => return None,
    };
    // Only a resolved step has a time with an interval; an upper limit has no lower end.
    let time = figures
        .resolution_ns()
        .or(figures.ns_per_tick.map(|ns| step.scaled(ns)));
    let time = time.map(|time| match kind {
        ResolutionKind::Resolved => time,
        ResolutionKind::AtMost => Estimate {
            low: f64::NEG_INFINITY,
            ..time
        },
    });
    let resolution = Resolution {
        ticks: step.value,
        cycles: time
            .zip(frequency)
            .map(|(time, frequency)| Nanos(time.value).cycles(frequency).0),
        kind,
    };
    Some((time, resolution))
}

fn at_least_zero(ns: f64) -> f64 {
    ns.max(0.0)
}

fn cost(trace: &Trace, figures: &Figures) -> Cost {
    Cost {
        single_median_ns: figures.single_median.map(at_least_zero),
        p90_ns: figures.p90.map(at_least_zero),
        p99_ns: figures.p99.map(at_least_zero),
        longest_ns: figures.longest.map(at_least_zero),
        // What the cost changes with, unknown without the frequency of the core.
        follows: trace.core_hz.map(|_| figures.following),
        reference: trace.calls_reference().id.clone(),
    }
}

fn observations(trace: &Trace, figures: &Figures) -> ObservationCounts {
    let runs = &trace.runs;
    ObservationCounts {
        processes: runs.len() as u32,
        disturbed_processes: figures.disturbed,
        discarded_processes: trace.discarded,
        dropped_windows: trace.dropped.clone(),
        intervals: (trace.groups())
            .map(|group| group.deltas.len() as u64)
            .sum(),
        batched_calls: runs
            .iter()
            .map(|run| run.batches.calls * run.batches.deltas.len() as u64)
            .sum(),
        single_calls: runs.iter().map(|run| run.singles.deltas.len() as u64).sum(),
        backward_steps: figures.backward.steps,
        reference_resolution_ns: Some(trace.calls_reference().uncertainty_ns()),
        resolution_rule: match &figures.resolution {
            Step::Resolved { rule, .. } => Some(rule.name().into()),
            _ => None,
        },
    }
}
