//! Computes the Quality of a timer, by Formula (1), from its figures. The interval of the Quality
//! includes the variation between processes, systematic errors of cost and spread, and the
//! uncertainties of resolution and core frequency.

use crate::cost::Following;
use crate::distribution::shape::ModelKind;
use crate::figures::{Figures, estimate_process, figures};
use crate::model::{Estimate, Hertz, Nanos};
use crate::quality::quality;
use crate::statistics::mean_over_processes;
use crate::trace::{Observations, Trace};

/// Returns the Quality, from 0 to 1, with its interval. `frequency`, in hertz, converts time to
/// cycles. `None` if resolution, cost or spread is unknown.
pub fn profile_quality(figures: &Figures, frequency: Estimate) -> Option<Estimate> {
    let (resolution, cost, spread) = (figures.resolution_ns()?, figures.cost?, figures.spread?);
    let quality_for =
        |cost: f64, spread: f64| quality_of_ns(resolution.value, cost, spread, frequency.value);
    let value = quality_for(cost.value, spread.value)?;
    let interval = mean_over_processes(qualities(
        &figures.processes,
        resolution.value,
        frequency.value,
    ))?;
    let alternatives = figures
        .alternatives
        .iter()
        .filter_map(|&(cost, spread)| quality_for(cost, spread));
    // A cost that follows the frequency of the core is the same number of cycles at any frequency.
    let cost_at = |hertz: f64| match figures.following {
        Following::Device => cost.value,
        Following::Core | Following::Unknown => cost.value * frequency.value / hertz,
    };
    let at_frequency =
        |hertz: f64| quality_of_ns(resolution.value, cost_at(hertz), spread.value, hertz);
    let with_resolution =
        |resolution: f64| quality_of_ns(resolution, cost.value, spread.value, frequency.value);
    let with_uncertain_inputs = [
        at_frequency(frequency.low),
        at_frequency(frequency.high),
        with_resolution(resolution.low),
        with_resolution(resolution.high),
    ];
    let rare_values = spreads_with_rare_values(figures, spread)
        .into_iter()
        .filter_map(|spread| quality_for(cost.value, spread));
    let alternatives: Vec<f64> = alternatives
        .chain(rare_values)
        .chain(with_uncertain_inputs.into_iter().flatten())
        .collect();
    let interval = Estimate {
        value,
        low: interval.low.min(value),
        high: interval.high.max(value),
    };
    let model_alternatives: Vec<f64> = figures
        .model_alternatives
        .iter()
        .filter_map(|&(cost, spread)| quality_for(cost, spread))
        .collect();
    Some(
        interval
            .widened(&alternatives)
            .covering_alternatives(&model_alternatives)
            .within(0.0, 1.0),
    )
}

/// Cost and spread of the processes measured so far, from which a campaign decides whether more
/// processes are necessary.
#[derive(Clone, Debug)]
pub struct RunningScore {
    /// Cost, in nanoseconds, and spread of each process.
    processes: Vec<(f64, f64)>,
    /// The kind of distribution of single calls.
    kind: ModelKind,
    /// The step of the timer in ticks, if known.
    step: Option<f64>,
    /// The step in nanoseconds, or its upper limit.
    resolution_ns: f64,
    /// The core frequency, in hertz.
    hertz: f64,
}

impl RunningScore {
    /// Starts with the processes of a trace. `None` if neither the step of the timer nor its upper
    /// limit is known.
    pub fn from_trace(trace: &Trace, hertz: f64) -> Option<Self> {
        let figures = figures(trace);
        let (step, kind, resolution_ns) =
            (figures.step(), figures.kind, figures.step_at_most_ns()?);
        let processes = if step.is_some() {
            figures.processes
        } else {
            let (mut rest, runs) = (trace.clone(), &trace.runs);
            rest.runs.clear();
            let single_process = |run: &Observations| Trace {
                runs: vec![run.clone()],
                ..rest.clone()
            };
            runs.iter()
                .filter_map(|run| estimate_process(&single_process(run), kind, step, resolution_ns))
                .collect()
        };
        Some(Self {
            processes,
            kind,
            step,
            resolution_ns,
            hertz,
        })
    }

    /// Adds the only process of `trace`, unless it was disturbed.
    pub fn add(&mut self, trace: &Trace) {
        self.processes.extend(estimate_process(
            trace,
            self.kind,
            self.step,
            self.resolution_ns,
        ));
    }

    /// Returns half the width of the interval of the Quality that results from the variation
    /// between processes alone, which more processes reduce. Infinite if there are too few
    /// processes.
    pub fn scatter(&self) -> f64 {
        let interval =
            mean_over_processes(qualities(&self.processes, self.resolution_ns, self.hertz));
        interval.map_or(f64::INFINITY, |quality| quality.half_width())
    }
}

/// Returns half the width of the interval of the Quality that results from the variation between
/// processes alone. `None` if there are too few processes, or if the resolution is unknown.
pub fn scatter(figures: &Figures, hertz: f64) -> Option<f64> {
    let interval = mean_over_processes(qualities(
        &figures.processes,
        figures.resolution_ns()?.value,
        hertz,
    ))?;
    interval.is_bounded().then(|| interval.half_width())
}

/// Returns the Quality for times in nanoseconds.
fn quality_of_ns(resolution: f64, cost: f64, spread: f64, hertz: f64) -> Option<f64> {
    let cycles = |ns: f64| Nanos(ns).cycles(Hertz(hertz));
    quality(cycles(resolution), cycles(cost), spread)
}

/// Returns the Quality of each process from its cost in nanoseconds and its spread.
fn qualities(processes: &[(f64, f64)], resolution: f64, hertz: f64) -> Vec<f64> {
    processes
        .iter()
        .filter_map(|&(cost, spread)| quality_of_ns(resolution, cost, spread, hertz))
        .collect()
}

/// Returns alternative spreads for the case that the samples lack rare values because they are too
/// few. They follow from the part of the interval of the spread that is not due to differences
/// between processes. Empty if that part is unknown.
fn spreads_with_rare_values(figures: &Figures, spread: Estimate) -> Vec<f64> {
    let spreads: Vec<f64> = figures.processes.iter().map(|pair| pair.1).collect();
    let Some(between) = mean_over_processes(&spreads).filter(Estimate::is_bounded) else {
        return Vec::new();
    };
    let ends = [(spread.low, between.low), (spread.high, between.high)];
    let beyond = ends
        .into_iter()
        .filter(|(end, _)| end.is_finite())
        .map(|(end, between)| end - between.clamp(0.0, 1.0));
    beyond
        .map(|beyond| (spread.value + beyond).clamp(f64::EPSILON, 1.0))
        .collect()
}
