//! A timer of a node as a report has it: what is true, scatter, and what a few processes see of it.

use std::collections::BTreeMap;

use rand::RngExt;
use rand::rngs::StdRng;
use rand_distr::{Distribution, StandardNormal};

use super::timers::Simulated;
use super::{BETWEEN_RUNS, Moment, Node};
use crate::analysis::statistics::{CONFIDENCE, student_quantile};
use crate::model::{
    Accuracy, AccuracyKind, Bulk, Cost, CpuOffset, Cycles, Declared, Following, Monotonic, Nature,
    Observations, Outcome, Path, ReadPath, Stable, Status, ThreadSafe, TimerRow, Verdicts, Warning,
};
use crate::quality::{ACCURACY_EXPONENT, COST_EXPONENT, SPREAD_EXPONENT, quality};

/// Fresh processes a timer.
pub(super) const PROCESSES: usize = 5;
/// Standard deviation of the logarithm of a cost between nodes, a timer, beside what all timers of the node have in common.
const OWN_COST: f64 = 0.015;
/// The same of the logit of a spread.
const OWN_SPREAD: f64 = 0.1;
/// Standard deviation of what a process sees: of the logarithm of a cost (on quiet nodes from one to the other), of the logit of a
/// spread, of the logarithm of a step.
const SEEN_COST: std::ops::Range<f64> = 0.005..0.03;
const SEEN_SPREAD: f64 = 0.1;
const SEEN_STEP: f64 = 1e-4;
/// How much more processes of a restless node differ.
const RESTLESSNESS: f64 = 6.0;

/// The quantile that makes an interval of what the processes differ by.
pub(super) fn quantile() -> f64 {
    student_quantile(CONFIDENCE, PROCESSES - 1)
}

/// A timer on a node, once.
#[derive(Clone, Copy)]
pub(super) struct Run<'a> {
    pub timer: &'a Simulated,
    pub node: &'a Node,
    pub moment: Moment,
    /// The frequency of the core.
    pub hz: f64,
    pub quantile: f64,
    /// What this run differs from others by, where calls follow the core; else runs of a node differ as those of a fleet do.
    pub of_run: Option<OfTimer>,
}

/// What a run differs from others by.
pub(super) struct Between {
    /// Standard deviation of the logarithm of the core's frequency.
    pub core: f64,
    /// Of each timer.
    pub timers: Vec<OfTimer>,
}

/// What the runs of one timer differ by.
#[derive(Clone, Copy, Debug)]
pub(super) struct OfTimer {
    /// The logarithm of what this run's calls take, over what they do on average.
    pub shift: f64,
    /// What the report can say of the core.
    pub follows: Option<Following>,
}

/// What processes found, on the scale they scatter on.
struct SeenCost {
    value: f64,
    half: f64,
}

impl SeenCost {
    fn map(&self, of: impl Fn(f64) -> f64) -> [f64; 3] {
        [self.value, self.value - self.half, self.value + self.half].map(of)
    }
}

fn normal(random: &mut StdRng) -> f64 {
    StandardNormal.sample(random)
}

impl Run<'_> {
    pub(super) fn row(self, own: &mut StdRng, run: &mut StdRng) -> TimerRow {
        // Drawn in any case, so that what one timer lacks changes no other.
        let (own_cost, own_spread) = (normal(own), normal(own));
        let seen_cost = own.random_range(SEEN_COST) * if self.node.restless { RESTLESSNESS } else { 1.0 };
        // So that runs differ by as much as is declared: each has half of the variance.
        let drift = BETWEEN_RUNS / 2_f64.sqrt() * normal(run);
        let of_core = (self.node.machine.core_hz / self.hz).ln();
        let drift = self.of_run.map_or(drift, |of_run| of_run.shift + of_core);
        let cost = (self.timer.true_cost(self.node, self.moment) * self.node.factor).ln();
        let cost = self.seen(cost + OWN_COST * own_cost + drift, seen_cost, run).map(f64::exp);
        let spread = (self.timer.spread / (1.0 - self.timer.spread)).ln() + OWN_SPREAD * own_spread;
        let spread = self.seen(spread, SEEN_SPREAD, run).map(|logit| 1.0 / (1.0 + (-logit).exp()));
        let step = self.timer.true_step(self.node, self.moment);
        let step = self.seen(step.unwrap_or(1e7).ln(), SEEN_STEP, run).map(f64::exp);
        let mut row = TimerRow::unmeasured(self.timer.id, self.timer.label, "native", Status::Unavailable);
        row.properties = Some(self.timer.properties.clone());
        if let Some(reason) = self.timer.reason(self.node, self.moment) {
            row.reason = Some(reason.into());
            return row;
        }
        self.fill(&mut row, cost, spread, step);
        row
    }

    /// The mean of what the processes see, with Student's interval.
    fn seen(&self, truth: f64, deviation: f64, random: &mut StdRng) -> SeenCost {
        let each: [f64; PROCESSES] = std::array::from_fn(|_| deviation * normal(random));
        let count = PROCESSES as f64;
        let mean = each.iter().sum::<f64>() / count;
        let squares: f64 = each.iter().map(|value| (value - mean).powi(2)).sum();
        let half = self.quantile * (squares / (count - 1.0) / count).sqrt();
        SeenCost { value: truth + mean, half }
    }

    fn fill(&self, row: &mut TimerRow, cost: [f64; 3], spread: [f64; 3], step: [f64; 3]) {
        let cycles = |ns: f64| ns * self.hz / 1e9;
        let resolved = self.timer.true_step(self.node, self.moment).is_some();
        let unit = if self.timer.is_of_counter() { 1e9 / self.node.machine.tsc_hz } else { 1.0 };
        row.ns_per_tick = Some(unit);
        row.accuracy = Some(Accuracy {
            ns: Some(step[0]),
            low_ns: resolved.then_some(step[1]),
            high_ns: Some(step[2]),
            ticks: step[0] / unit,
            cycles: Some(cycles(step[0])),
            kind: if resolved { AccuracyKind::Resolved } else { AccuracyKind::AtMost },
        });
        row.cost = Some(Cost {
            median_ns: Some(cost[0]),
            low_ns: Some(cost[1]),
            high_ns: Some(cost[2]),
            median_cycles: Some(cycles(cost[0])),
            amortised_ns: Some(cost[0] * 1.01),
            single_median_ns: Some(cost[0]),
            p99_ns: Some(cost[0] * 1.5),
            follows: self.of_run.and_then(|of_run| of_run.follows),
            adds: None,
            reference: "rdtsc-lfence".into(),
        });
        row.observations = Some(observations());
        if self.node.restless {
            row.warnings.push(restless());
        }
        if !resolved {
            row.status = Status::Unresolved;
            row.reason = Some("it stood still for longer than it was watched".into());
            return;
        }
        row.status = Status::Ok;
        let verdicts = self.verdicts(cost[0], step[0]);
        [row.spread, row.spread_low, row.spread_high] = spread.map(Some);
        let trusted = verdicts.disqualifying().next().is_none();
        let found = if trusted { self.quality(cost, spread, step) } else { Some([0.0; 3]) };
        if let Some(found) = found {
            [row.quality, row.quality_low, row.quality_high] = found.map(Some);
        }
        row.verdicts = Some(verdicts);
    }

    /// Formula (1), and what the parts leave open of it, in quadrature.
    fn quality(&self, cost: [f64; 3], spread: [f64; 3], step: [f64; 3]) -> Option<[f64; 3]> {
        let cycles = |ns: f64| Cycles(ns * self.hz / 1e9);
        let value = quality(cycles(step[0]), cycles(cost[0]), spread[0])?;
        let part = |exponent: f64, part: [f64; 3]| (exponent * (part[2] / part[1]).ln() / 2.0).powi(2);
        let half = part(COST_EXPONENT, cost) + part(SPREAD_EXPONENT, spread) + part(ACCURACY_EXPONENT, step);
        let half = half.sqrt();
        Some([value, value * (-half).exp(), (value * half.exp()).min(1.0)])
    }

    fn verdicts(&self, cost: f64, step: f64) -> Verdicts {
        let user_mode = self.timer.stays_in_user_mode(self.node, self.moment);
        let counts = self.timer.properties.counts;
        Verdicts {
            paths: None,
            monotonic: Monotonic {
                outcome: Outcome::Pass,
                finding: "130000 readings never stepped backwards".into(),
                readings: 130_000,
                backward_steps: 0,
                largest_ns: None,
                moves: 18,
            },
            thread_safe: self.thread_safe(),
            stable: self.stable(),
            counts: Nature {
                outcome: Outcome::Pass,
                finding: "it counts what it claims to".into(),
                found: counts,
                claimed: counts,
                spinning: Some(1.0),
                sleeping: Some(1.0),
                beside_busy_thread: Some(1.0),
            },
            declared: Declared {
                outcome: if step > 2.0 { Outcome::Fail } else { Outcome::Pass },
                finding: "the resolution that the system declares, against the step".into(),
                resolution_ns: Some(1.0),
                times_coarser: Some(step),
            },
            read_path: ReadPath {
                outcome: if user_mode || !self.promises_user_mode() { Outcome::Pass } else { Outcome::Fail },
                finding: if user_mode { "answered in user mode" } else { "answered by the kernel" }.into(),
                path: Some(if user_mode { Path::UserMode } else { Path::SystemCall }),
                system_call_ns: Some(cost.min(120.0)),
                trap_ns: None,
            },
        }
    }

    fn promises_user_mode(&self) -> bool {
        use crate::model::ReadsBy::{Instruction, Vdso};
        matches!(self.timer.properties.reads_by, Some(Instruction | Vdso))
    }

    /// Whether the timer goes wrong with the TSC of the node.
    fn drifts(&self) -> bool {
        self.timer.is_of_counter() && self.node.is_drifting(self.moment)
    }

    fn thread_safe(&self) -> ThreadSafe {
        let ahead = self.node.offset_ns.filter(|_| self.drifts());
        let last = self.node.machine.cpus - 1;
        let offsets = [(0, 0.0), (last, ahead.unwrap_or(5.0))].map(|(cpu, ns)| CpuOffset {
            cpu,
            ns,
            uncertainty_ns: if cpu == 0 { 0.0 } else { 55.0 },
        });
        let finding = match ahead {
            Some(ns) => format!(
                "212 of 4000 handoffs went backwards, by up to {:.0} ns: the clocks of the CPUs disagree",
                ns.abs()
            ),
            None => "4000 handoffs between threads went forward".into(),
        };
        ThreadSafe {
            outcome: if ahead.is_some() { Outcome::Fail } else { Outcome::Pass },
            finding,
            handoffs: 4_000,
            backward_steps: if ahead.is_some() { 212 } else { 0 },
            largest_ns: ahead.map(f64::abs),
            rounds: 1,
            pairs: 1,
            pairs_possible: last * (last + 1) / 2,
            offsets: offsets.to_vec(),
        }
    }

    fn stable(&self) -> Stable {
        let ppm = self.node.drift_ppm.filter(|_| self.drifts());
        let finding = match ppm {
            Some(ppm) => format!("it runs {ppm:+.1} ± 0.1 ppm off its reference"),
            None => "it keeps the rate of its reference to 0 ± 0.035 ppm over 5.7 s, without jumps of more than 1.1 ms".into(),
        };
        Stable {
            outcome: if ppm.is_some() { Outcome::Fail } else { Outcome::Pass },
            finding,
            offset_ppm: Some(ppm.unwrap_or(0.0)),
            offset_uncertainty_ppm: Some(if ppm.is_some() { 0.1 } else { 0.035 }),
            longest_window_s: Some(5.7),
            allan: Bulk::default(),
            jumps: 0,
            freezes: 0,
            largest_ns: None,
            smallest_jump_ns: Some(1.1e6),
            rate_processes: None,
            shares_oscillator: Some(true),
        }
    }
}

fn observations() -> Observations {
    Observations {
        processes: PROCESSES as u32,
        disturbed_processes: 0,
        discarded_processes: 0,
        dropped_windows: BTreeMap::new(),
        intervals: 18_620,
        batched_calls: 118_069,
        single_calls: 25_000,
        backward_steps: 0,
        reference_accuracy_ns: Some(10.015),
        resolution_rule: Some("lattice".into()),
    }
}

fn restless() -> Warning {
    Warning {
        code: "restless-core".into(),
        message: "only 0 of 5 processes had a core of their own at one frequency".into(),
        advice: "something else uses the core: repeat when it is quiet".into(),
    }
}
