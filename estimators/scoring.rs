//! Computes the Quality of a timer from its profile, with an interval from the variation between
//! processes, systematic uncertainties of cost and spread, and the uncertainties of resolution and
//! frequency.

use crate::cost::Following;
use crate::distribution::shape::ModelKind;
use crate::model::{Cycles, Hertz, Interval, Lateness, Nanos, WaitFigures};
use crate::profile::{Profile, one_more, profile};
use crate::quality::quality;
use crate::statistics::mean_over_processes;
use crate::trace::{Run, Trace, WaitTrace};
use crate::waits;

/// Computes Quality in [0, 1]. `frequency`, in hertz, converts time to cycles. `None` without
/// resolution, cost or spread.
pub fn scored(profile: &Profile, frequency: Interval) -> Option<Interval> {
    let (resolution, cost, spread) = (profile.resolution_ns()?, profile.cost?, profile.spread?);
    let here =
        |cost: f64, spread: f64| quality_of_ns(resolution.value, cost, spread, frequency.value);
    let value = here(cost.value, spread.value)?;
    let interval =
        mean_over_processes(each(&profile.processes, resolution.value, frequency.value))?;
    let instead = profile
        .instead
        .iter()
        .filter_map(|&(cost, spread)| here(cost, spread));
    // A cost that follows the core is the same number of cycles at any frequency.
    let cost_at = |hertz: f64| match profile.following {
        Following::Device => cost.value,
        Following::Core | Following::Unknown => cost.value * frequency.value / hertz,
    };
    let at = |hertz: f64| quality_of_ns(resolution.value, cost_at(hertz), spread.value, hertz);
    let with =
        |resolution: f64| quality_of_ns(resolution, cost.value, spread.value, frequency.value);
    let common = [
        at(frequency.low),
        at(frequency.high),
        with(resolution.low),
        with(resolution.high),
    ];
    let missed = missed(profile, spread)
        .into_iter()
        .filter_map(|spread| here(cost.value, spread));
    let instead: Vec<f64> = instead
        .chain(missed)
        .chain(common.into_iter().flatten())
        .collect();
    let interval = Interval {
        value,
        low: interval.low.min(value),
        high: interval.high.max(value),
    };
    let model_alternatives: Vec<f64> = profile
        .model_alternatives
        .iter()
        .filter_map(|&(cost, spread)| here(cost, spread))
        .collect();
    Some(
        interval
            .widened(&instead)
            .covering_alternatives(&model_alternatives)
            .within(0.0, 1.0),
    )
}

/// Computes all results for a sleep primitive, including Formula (1) for each length. `hertz`
/// converts time to cycles.
pub fn of_waits(trace: &WaitTrace, hertz: Option<f64>) -> WaitFigures {
    let mut figures = waits::figures(trace, hertz);
    let of = |row: &Lateness| {
        quality(
            Nanos(row.error_ns).cycles(Hertz(hertz?)),
            Cycles(row.cpu_cycles?),
            row.spread?,
        )
    };
    figures
        .lateness
        .iter_mut()
        .for_each(|row| row.quality = of(row));
    figures
}

/// The state needed to assess the agreement between processes while further processes are added.
#[derive(Clone, Debug)]
pub struct Sketch {
    /// Cost and spread of each process.
    processes: Vec<(f64, f64)>,
    kind: ModelKind,
    /// The step in ticks, if known.
    step: Option<f64>,
    /// The step in nanoseconds, or its upper limit.
    resolution_ns: f64,
    hertz: f64,
}

impl Sketch {
    /// Creates the state from a trace with some processes. `None` if there are too few
    /// observations.
    pub fn from_trace(trace: &Trace, hertz: f64) -> Option<Self> {
        let profile = profile(trace);
        let (step, kind, resolution_ns) =
            (profile.step(), profile.kind, profile.step_at_most_ns()?);
        let processes = if step.is_some() {
            profile.processes
        } else {
            let (mut rest, runs) = (trace.clone(), &trace.runs);
            rest.runs.clear();
            let alone = |run: &Run| Trace {
                runs: vec![run.clone()],
                ..rest.clone()
            };
            runs.iter()
                .filter_map(|run| one_more(&alone(run), kind, step, resolution_ns))
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

    /// Adds the only process of `trace`.
    pub fn add(&mut self, trace: &Trace) {
        self.processes
            .extend(one_more(trace, self.kind, self.step, self.resolution_ns));
    }

    /// The half-width of the part of the interval of Quality that more processes reduce. Infinite
    /// for a single process.
    pub fn scatter(&self) -> f64 {
        let interval = mean_over_processes(each(&self.processes, self.resolution_ns, self.hertz));
        interval.map_or(f64::INFINITY, half)
    }
}

/// The half-width of the part of the interval of Quality that more processes reduce. `None` for a
/// single process, or without Quality.
pub fn scatter(profile: &Profile, hertz: f64) -> Option<f64> {
    let interval = mean_over_processes(each(
        &profile.processes,
        profile.resolution_ns()?.value,
        hertz,
    ))?;
    interval.is_bounded().then(|| half(interval))
}

fn half(interval: Interval) -> f64 {
    (interval.high - interval.low) / 2.0
}

fn quality_of_ns(resolution: f64, cost: f64, spread: f64, hertz: f64) -> Option<f64> {
    let cycles = |ns: f64| Nanos(ns).cycles(Hertz(hertz));
    quality(cycles(resolution), cycles(cost), spread)
}

/// The Quality of each process.
fn each(processes: &[(f64, f64)], resolution: f64, hertz: f64) -> Vec<f64> {
    processes
        .iter()
        .filter_map(|&(cost, spread)| quality_of_ns(resolution, cost, spread, hertz))
        .collect()
}

/// Alternative spreads, because too few samples may have missed rare values: the part of the
/// interval that is not due to differences between processes.
fn missed(profile: &Profile, spread: Interval) -> Vec<f64> {
    let spreads: Vec<f64> = profile.processes.iter().map(|pair| pair.1).collect();
    let Some(seen) = mean_over_processes(&spreads).filter(Interval::is_bounded) else {
        return Vec::new();
    };
    let ends = [(spread.low, seen.low), (spread.high, seen.high)];
    let beyond = ends
        .into_iter()
        .filter(|(end, _)| end.is_finite())
        .map(|(end, seen)| end - seen.clamp(0.0, 1.0));
    beyond
        .map(|beyond| (spread.value + beyond).clamp(f64::EPSILON, 1.0))
        .collect()
}
