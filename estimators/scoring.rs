//! Computes the Quality of a timer, by Formula (1), from its figures. The interval of the Quality
//! includes the variation between processes, systematic errors of cost and spread, and the
//! uncertainties of resolution and core frequency.

use crate::cost::Following;
use crate::figures::{Figures, estimate_process, rough_figures};
use crate::model::{Estimate, Hertz, Nanos};
use crate::quality::quality;
use crate::statistics::mean_over_processes;
use crate::trace::Trace;

/// Returns the Quality, from 0 to 1, with its interval. `frequency`, in hertz, converts time to
/// cycles. `None` if resolution, cost or spread is unknown.
pub fn profile_quality(figures: &Figures, frequency: Estimate) -> Option<Estimate> {
    let (resolution, cost, spread) = (figures.resolution_ns()?, figures.cost?, figures.spread?);
    let hertz = frequency.value;
    let value = quality_of_ns(resolution.value, cost.value, spread.value, hertz)?;
    if !(cost.is_bounded() && spread.is_bounded()) {
        return Some(Estimate::unbounded(value));
    }
    // A cost that follows the frequency of the core is the same number of cycles at any frequency.
    let cost_at = |other: f64| match figures.following {
        Following::Device => cost.value,
        Following::Core | Following::Unknown => cost.value * hertz / other,
    };
    let ends = |figure: Estimate| [figure.low, figure.high];
    let by_resolution =
        ends(resolution).map(|step| quality_of_ns(step, cost.value, spread.value, hertz));
    let by_cost = ends(cost).map(|cost| quality_of_ns(resolution.value, cost, spread.value, hertz));
    let by_spread = ends(spread).map(|spread| {
        quality_of_ns(
            resolution.value,
            cost.value,
            spread.max(f64::EPSILON),
            hertz,
        )
    });
    let by_frequency = ends(frequency)
        .map(|hertz| quality_of_ns(resolution.value, cost_at(hertz), spread.value, hertz));
    let others = [by_resolution, by_cost, by_spread, by_frequency];
    let others: Vec<f64> = others.into_iter().flatten().flatten().collect();
    Some(Estimate::exact(value).widened(others).within(0.0, 1.0))
}

/// Cost and spread of the processes measured so far, from which a campaign decides whether more
/// processes are necessary.
#[derive(Clone, Debug)]
pub struct RunningScore {
    /// Cost, in nanoseconds, and spread of each process.
    processes: Vec<(f64, f64)>,
    /// The step of the timer in ticks, if known.
    step: Option<f64>,
    /// The step in nanoseconds, or its upper limit.
    resolution_ns: f64,
    /// The core frequency, in hertz.
    hertz: f64,
}

impl RunningScore {
    /// Starts with the processes of a trace. `None` if the length of its ticks is unknown.
    pub fn from_trace(trace: &Trace, hertz: f64) -> Option<Self> {
        let figures = rough_figures(trace);
        Some(Self {
            step: figures.step(),
            resolution_ns: figures.step_at_most_ns()?,
            processes: figures.processes,
            hertz,
        })
    }

    /// Adds the only process of `trace`, unless it was disturbed.
    pub fn add(&mut self, trace: &Trace) {
        self.processes
            .extend(estimate_process(trace, self.step, self.resolution_ns));
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
