//! Quality of a timer by its profile, with its interval: what processes differ by, what no process
//! can tell of cost and spread, and what resolution and frequency are known to.

use crate::cost::Following;
use crate::distribution::shape::LawKind;
use crate::model::{Cycles, Hertz, Interval, Lateness, Nanos, WaitFigures};
use crate::profile::{Profile, one_more, profile};
use crate::quality::quality;
use crate::statistics::over_processes;
use crate::trace::{Run, Trace, WaitTrace};
use crate::waits;

/// Quality in [0, 1]. `frequency`, in hertz, turns time into cycles. `None` without resolution, cost
/// or spread.
pub fn scored(profile: &Profile, frequency: Interval) -> Option<Interval> {
    let (resolution, cost, spread) = (profile.resolution_ns()?, profile.cost?, profile.spread?);
    let here =
        |cost: f64, spread: f64| quality_of_ns(resolution.value, cost, spread, frequency.value);
    let value = here(cost.value, spread.value)?;
    let interval = over_processes(each(&profile.processes, resolution.value, frequency.value))?;
    let instead = profile
        .instead
        .iter()
        .filter_map(|&(cost, spread)| here(cost, spread));
    // What follows the core takes as many cycles at any frequency.
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
    let laws: Vec<f64> = profile
        .laws
        .iter()
        .filter_map(|&(cost, spread)| here(cost, spread))
        .collect();
    Some(interval.widened(&instead).or_around(&laws).within(0.0, 1.0))
}

/// What was found out of a timer that waits, Formula (1) for each length included. `hertz` turns
/// time into cycles.
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

/// What has to be known of a timer to see how far its processes agree, while further ones come in.
#[derive(Clone, Debug)]
pub struct Sketch {
    /// Cost and spread of each process.
    processes: Vec<(f64, f64)>,
    kind: LawKind,
    /// In ticks, where it is known.
    step: Option<f64>,
    /// The step in nanoseconds, or its bound.
    resolution_ns: f64,
    hertz: f64,
}

impl Sketch {
    /// Of a trace with some processes. `None` where they tell too little.
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

    /// Adds what one more process saw; it is the only one of `trace`.
    pub fn add(&mut self, trace: &Trace) {
        self.processes
            .extend(one_more(trace, self.kind, self.step, self.resolution_ns));
    }

    /// Half the width of that part of the interval of Quality which more processes make narrower.
    /// Infinite where one process is all there is.
    pub fn scatter(&self) -> f64 {
        let interval = over_processes(each(&self.processes, self.resolution_ns, self.hertz));
        interval.map_or(f64::INFINITY, half)
    }
}

/// Half the width of that part of the interval of Quality which more processes make narrower.
/// `None` where one process is all there is, or where there is no Quality.
pub fn scatter(profile: &Profile, hertz: f64) -> Option<f64> {
    let interval = over_processes(each(
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

/// Spreads that too few samples may have missed: of their interval what processes do not show.
fn missed(profile: &Profile, spread: Interval) -> Vec<f64> {
    let spreads: Vec<f64> = profile.processes.iter().map(|pair| pair.1).collect();
    let Some(seen) = over_processes(&spreads).filter(Interval::is_bounded) else {
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
