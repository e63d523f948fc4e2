//! Converts a profile to a row of the report: units and Quality.

use crate::model::{
    Cost, Hertz, Interval, Nanos, Observations, Resolution, ResolutionKind, Status, TimerRow,
};
use crate::profile::Profile;
use crate::profile::plot_data::plot_data;
use crate::resolution::Resolution as Step;
use crate::scoring::profile_quality;
use crate::trace::Trace;

/// Fills the columns of the row from the observations and the profile. `frequency`, in hertz, of the
/// processor that reads the timer, converts time to cycles; without it, cycles and Quality are left empty.
pub fn fill_row(row: &mut TimerRow, trace: &Trace, profile: &Profile, frequency: Option<Interval>) {
    row.ns_per_tick = profile.ns_per_tick;
    let hertz = frequency.map(|frequency| Hertz(frequency.value));
    if let Some((step_ns, step)) = resolution(profile, hertz) {
        match step.kind {
            ResolutionKind::Resolved => row.resolution_ns = step_ns,
            ResolutionKind::AtMost => row.resolution_at_most_ns = step_ns,
        }
        row.resolution = Some(step);
    }
    // The measured cost of a call without cost may be slightly negative.
    row.cost_ns = profile.cost.map(|cost| cost.within(0.0, f64::INFINITY));
    if let Some(cost_ns) = row.cost_ns {
        row.cost_cycles = hertz.map(|hertz| cost_ns.map(|ns| Nanos(ns).cycles(hertz).0));
        row.amortised_ns = profile.amortised.map(at_least_zero);
        row.adds_ns = profile.adds;
        row.cost = Some(cost(trace, profile));
    }
    row.spread = profile.spread;
    row.distribution.clone_from(&profile.distribution);
    row.processes.clone_from(&profile.all_processes);
    row.observations = Some(observations(trace, profile));
    row.figures = Some(plot_data(trace, profile.step()).without_non_finite());
    set_status(row, profile);
    if let (Status::Ok, Some(frequency)) = (row.status, frequency) {
        row.quality = profile_quality(profile, frequency);
    }
}

/// Sets the status of the row, and the reason and remedy if the timer is unresolved.
fn set_status(row: &mut TimerRow, profile: &Profile) {
    row.reason = profile.unresolved();
    row.status = match row.reason {
        Some(_) => Status::Unresolved,
        None => Status::Ok,
    };
    let remedy = match &profile.resolution {
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
    profile: &Profile,
    frequency: Option<Hertz>,
) -> Option<(Option<Interval>, Resolution)> {
    let (step, kind) = match &profile.resolution {
        Step::Resolved { step, .. } => (*step, ResolutionKind::Resolved),
        Step::AtMost { bound, .. } if bound.is_finite() => {
            (Interval::exact(*bound), ResolutionKind::AtMost)
        }
        _ => return None,
    };
    let time = profile
        .resolution_ns()
        .or(profile.ns_per_tick.map(|ns| step.scaled(ns)));
    let time = time.map(|time| match kind {
        ResolutionKind::Resolved => time,
        ResolutionKind::AtMost => Interval {
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

fn cost(trace: &Trace, profile: &Profile) -> Cost {
    Cost {
        single_median_ns: profile.single_median.map(at_least_zero),
        p90_ns: profile.p90.map(at_least_zero),
        p99_ns: profile.p99.map(at_least_zero),
        longest_ns: profile.longest.map(at_least_zero),
        follows: trace.core_hz.map(|_| profile.following),
        reference: trace.calls_reference().id.clone(),
    }
}

fn observations(trace: &Trace, profile: &Profile) -> Observations {
    let runs = &trace.runs;
    let intervals = runs
        .iter()
        .flat_map(|run| &run.intervals)
        .chain(&trace.slow);
    Observations {
        processes: runs.len() as u32,
        disturbed_processes: profile.disturbed,
        discarded_processes: trace.discarded,
        dropped_windows: trace.dropped.clone(),
        intervals: intervals.map(|group| group.deltas.len() as u64).sum(),
        batched_calls: runs
            .iter()
            .map(|run| run.batches.calls * run.batches.deltas.len() as u64)
            .sum(),
        single_calls: runs.iter().map(|run| run.singles.deltas.len() as u64).sum(),
        backward_steps: profile.backward.steps,
        reference_resolution_ns: Some(trace.calls_reference().uncertainty_ns()),
        resolution_rule: match &profile.resolution {
            Step::Resolved { rule, .. } => Some(rule.name().into()),
            _ => None,
        },
    }
}
