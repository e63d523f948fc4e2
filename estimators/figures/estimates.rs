//! Estimates the cost of a call (its median duration) and its spread (the share of calls whose
//! duration is within one resolution of that median) over all processes.

use crate::cost::singles::MeasuringClock;
use crate::cost::{Calls, CommonFrequency, Following, ProcessCost, cost, following, turn};
use crate::model::{Estimate, Nanos, ProcessFigures};
use crate::statistics::{Regimes, Z, find_regimes, mean, mean_over_processes, midmean};
use crate::trace::Trace;

/// The decimals to which costs of single processes are rounded in a report, in nanoseconds and in
/// cycles. *Judgement*: batches determine a cost to about 0.001 ns, and more digits would lengthen
/// the report.
const COST_DECIMALS: i32 = 4;

/// Cost and spread of one process.
pub struct ProcessEstimate<'a> {
    /// Its calls.
    pub calls: &'a Calls<'a>,
    /// Its costs.
    pub cost: ProcessCost,
    /// The share of calls within the reach of the median, with the ends that steps leave open; 1
    /// without a reach.
    pub spread: Estimate,
}

/// What the processes of a timer are estimated with.
pub struct Estimator<'a> {
    /// The observations.
    pub trace: &'a Trace,
    /// The finest clock that timed the calls.
    pub clock: MeasuringClock,
    /// The distance from the median within which calls count for the spread, in nanoseconds.
    pub reach_ns: Option<f64>,
}

impl<'a> Estimator<'a> {
    /// Returns cost and spread of each process at this core frequency.
    pub fn processes(
        &self,
        calls: &'a [Calls<'a>],
        core_frequency: CommonFrequency,
    ) -> Vec<ProcessEstimate<'a>> {
        let reference = self.trace.calls_reference();
        let turn = turn(&self.trace.runs, reference, core_frequency);
        let (interrupted, _) = self.interrupted_brackets(calls);
        let estimate = |calls: &'a Calls<'a>| {
            let step_ns = self.clock.step_ns(calls.run, core_frequency);
            let within = |reach: f64| calls.finest().share_within(reach / step_ns);
            let spread = self.reach_ns.map_or(Estimate::exact(1.0), within);
            Some(ProcessEstimate {
                calls,
                cost: cost(calls, &self.clock, reference, turn, core_frequency)?,
                spread: spread.map(|share| (share / (1.0 - interrupted)).min(1.0)),
            })
        };
        calls.iter().filter_map(estimate).collect()
    }

    /// Returns the share of interrupted brackets, and its standard error: interruptions at random
    /// times are equally frequent in the reads of the reference around a call. Successive readings
    /// have no such reads around them.
    fn interrupted_brackets(&self, calls: &[Calls]) -> (f64, f64) {
        let shares = calls.iter().map(|calls| calls.bracket.interruption_share());
        let all: usize = calls
            .iter()
            .map(|calls| calls.run.bracket.deltas.len())
            .sum();
        match mean(shares).filter(|_| !self.clock.self_measured) {
            Some(share) => (share, (share / all as f64).sqrt()),
            None => (0.0, 0.0),
        }
    }

    /// Returns cost and spread over all processes.
    pub fn estimate(&self, calls: &'a [Calls<'a>]) -> Estimates<'a> {
        let at = |hertz| self.processes(calls, CommonFrequency(hertz));
        let mut processes = at(self.trace.core_hz);
        let (mut follows, mut as_measured) = (Following::Unknown, None);
        if self.trace.core_hz.is_some() {
            let other = at(None);
            let hertz = calls.iter().filter_map(|calls| calls.run.batches.core_hz);
            let hertz: Vec<f64> = hertz.map(|hertz| hertz.0).collect();
            follows = following(&medians(&processes), &medians(&other), &hertz);
            match follows {
                Following::Device => processes = other,
                Following::Unknown => as_measured = midmean(medians(&other)),
                Following::Core => {}
            }
        }
        let regimes = find_regimes(&medians(&processes));
        let groups = regimes.iter().flat_map(|two| [two.low, two.high]);
        let others: Vec<f64> = groups.chain(as_measured).collect();
        Estimates {
            cost: cost_over(&processes).map(|cost| cost.widened(others)),
            spread: self.spread_over(calls, &processes),
            processes,
            regimes,
            following: follows,
        }
    }

    /// The spread over processes: the interval also contains the shares that the steps leave open.
    fn spread_over(&self, calls: &[Calls], processes: &[ProcessEstimate]) -> Option<Estimate> {
        let over = |end: fn(&Estimate) -> f64| {
            midmean(processes.iter().map(|process| end(&process.spread)))
        };
        let spreads = processes.iter().map(|process| process.spread.value);
        let ends = [over(|share| share.low)?, over(|share| share.high)?];
        let (_, error) = self.interrupted_brackets(calls);
        let samples = processes
            .iter()
            .map(|process| process.calls.finest().levels.count());
        let spread = mean_over_processes(spreads)?.widened_by(Z * error);
        let spread = spread.covering_alternatives(ends);
        Some(spread.with_counting_error(samples.sum()).within(0.0, 1.0))
    }
}

/// The costs of the processes.
pub fn medians(processes: &[ProcessEstimate]) -> Vec<f64> {
    processes
        .iter()
        .map(|process| process.cost.median)
        .collect()
}

/// The cost over processes: the interval also contains the medians of isolated calls and that of
/// batches, with how far steps and loops let the true median lie from each.
fn cost_over(processes: &[ProcessEstimate]) -> Option<Estimate> {
    let costs =
        |part: fn(&ProcessCost) -> f64| processes.iter().map(move |process| part(&process.cost));
    let ends = [
        midmean(costs(|cost| cost.isolated[0]))?,
        midmean(costs(|cost| cost.isolated[1]))?,
    ];
    let hidden = midmean(costs(|cost| cost.hidden))?;
    let by_batches = mean_over_processes(costs(|cost| cost.by_batches))?.widened_by(hidden);
    let cost = mean_over_processes(medians(processes))?.covering_alternatives(ends);
    let cost = cost.widened_by(hidden);
    Some(Estimate {
        low: cost.low.min(by_batches.low),
        high: cost.high.max(by_batches.high),
        ..cost
    })
}

/// Cost and spread over all processes.
pub struct Estimates<'a> {
    /// Those of each process.
    pub processes: Vec<ProcessEstimate<'a>>,
    /// The cost, in nanoseconds.
    pub cost: Option<Estimate>,
    /// The share of calls within the reach.
    pub spread: Option<Estimate>,
    /// The two groups of costs that the processes form, if any.
    pub regimes: Option<Regimes>,
    /// Whether the cost follows the frequency of the core.
    pub following: Following,
}

impl Estimates<'_> {
    /// Returns the midmean over all processes (the mean of the middle half) of a part of the cost.
    pub fn midmean_of(&self, part: fn(&ProcessCost) -> f64) -> Option<f64> {
        midmean(self.processes.iter().map(|process| part(&process.cost)))
    }
}

/// Returns the figures of each process. `measured` are its estimates without scaling to a core
/// frequency.
pub fn process_figures(
    estimator: &Estimator,
    calls: &[Calls],
    has_spread: bool,
) -> Vec<ProcessFigures> {
    let [scaled, measured] = [estimator.trace.core_hz, None]
        .map(|hertz| estimator.processes(calls, CommonFrequency(hertz)));
    let rounded = |number: f64| {
        let scale = 10_f64.powi(COST_DECIMALS);
        (number * scale).round() / scale
    };
    let full_width = estimator.trace.full_width;
    let figures = |(at, measured): (&ProcessEstimate, &ProcessEstimate)| {
        let run = at.calls.run;
        let amortised = Nanos(measured.cost.amortised);
        let cycles = run.batches.core_hz.map(|hertz| amortised.cycles(hertz));
        let width = run.width().zip(full_width);
        ProcessFigures {
            process: run.place.map(|place| place.process),
            cpu: run.place.and_then(|place| place.cpu),
            core: run.core(full_width),
            width: width.map(|(width, full)| rounded(width / full)),
            cost_ns: Some(rounded(at.cost.median)),
            p99_ns: Some(rounded(at.cost.p99)),
            amortised_ns: rounded(amortised.0),
            amortised_cycles: cycles.map(|cycles| rounded(cycles.0)),
            spread: has_spread.then_some(rounded(at.spread.value)),
        }
    };
    scaled.iter().zip(&measured).map(figures).collect()
}
