//! Draws clocks whose values on several CPUs agree or differ, and judges what is found by handoffs
//! between threads.

use estimators::model::Outcome;
use estimators::trace::{Evidence, Pair, Threads};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use simulated::{CounterFault, CounterModel, Model};
use timermeter::plan::Plan;
use timers::Answer;

use super::{judged, verdicts};
use crate::FoundFigure;
use crate::tally::Judged;
use simulated::draw::log_uniform;

/// A clock that is read on several CPUs.
#[derive(Clone, Debug)]
pub struct ClockOnCpus {
    kind: &'static str,
    /// The step in nanoseconds, which is the unit of the clock.
    step_ns: f64,
    machine: CounterModel,
    seed: u64,
}

/// How the clock of one CPU differs, given the times in nanoseconds of a handoff and of a step.
type DrawFault = fn(u32, [f64; 2], &mut StdRng) -> Option<CounterFault>;

/// The kinds of clocks, each with the fault of one CPU.
const KINDS: [(&str, DrawFault); 4] = [
    ("CPUs agree", |_, _, _| None),
    (
        "a CPU differs by less than a handoff",
        |cpu, [handoff, _], random| {
            let ns = handoff * sign(random) * random.random_range(0.02..0.3);
            Some(CounterFault::Offset { cpu, ns })
        },
    ),
    (
        "a CPU is ahead or behind",
        |cpu, [handoff, step], random| {
            let ns = (handoff + step) * sign(random) * log_uniform(3.0, 3_000.0, random);
            Some(CounterFault::Offset { cpu, ns })
        },
    ),
    (
        "a CPU runs at another rate",
        |cpu, [handoff, step], random| {
            // A second before the first handoff the clocks agreed.
            let ppm = 1e-3 * (handoff + step) * sign(random) * log_uniform(3.0, 3_000.0, random);
            Some(CounterFault::Rate { cpu, ppm })
        },
    ),
];

fn sign(random: &mut StdRng) -> f64 {
    if random.random() { 1.0 } else { -1.0 }
}

/// Draws `count` clocks of each kind, on 2 to 12 CPUs.
#[must_use]
pub fn clocks_on_cpus(count: usize, seed: u64) -> Vec<ClockOnCpus> {
    let mut random = StdRng::seed_from_u64(seed ^ 0xc9_05_d1_ff);
    let mut draw = |(kind, fault): (&'static str, DrawFault)| {
        let random = &mut random;
        let step_ns = log_uniform(1.0, 1e4, random).round();
        let cpus = random.random_range(2..=12);
        let handoff_ns = log_uniform(40.0, 1_000.0, random);
        let faulty = random.random_range(0..cpus);
        let machine = CounterModel {
            hz: 1e9 / step_ns,
            cpus,
            handoff_ns,
            fault: fault(faulty, [handoff_ns, step_ns], random),
        };
        ClockOnCpus {
            kind,
            step_ns,
            machine,
            seed: random.random(),
        }
    };
    KINDS
        .into_iter()
        .flat_map(|kind| (0..count).map(|_| draw(kind)).collect::<Vec<_>>())
        .collect()
}

impl ClockOnCpus {
    /// Probes the clock and hands its readings from CPU to CPU.
    ///
    /// # Errors
    /// If the reference cannot be calibrated.
    pub fn judge(&self) -> Answer<Judged> {
        let cpus = self.machine.cpus;
        let all = (0..cpus).flat_map(|a| (a + 1..cpus).map(move |b| [a, b]));
        let all: Vec<[u32; 2]> = all.collect();
        let handoffs = (self.machine).handoffs(&all, Plan::QUICK.handoffs, self.seed);
        let pairs = all.iter().zip(&handoffs);
        let threads = Threads {
            rounds: 1,
            possible_pairs: all.len() as u32,
            pairs: pairs
                .map(|(&cpus, list)| Pair::from_handoffs(Some(cpus), list))
                .collect(),
        };
        let evidence = Evidence {
            threads: Some(threads),
            ..Evidence::default()
        };
        let timer = Model::regular(self.kind, self.step_ns, self.step_ns, 25.0);
        let reference = Model::regular("fine", 0.385, 0.385, 12.0);
        let found = verdicts(&timer, &reference, evidence, |_| (), self.seed)?.thread_safe;
        let differs = found.same_on_all_cpus() == Some(false);
        let right = match self.machine.fault {
            None => found.same_on_all_cpus() == Some(true),
            Some(_) if self.is_hidden() => found.outcome == Outcome::Pass,
            Some(_) => differs,
        };
        let figures = found.offsets.iter().filter_map(|offset| {
            Some(FoundFigure {
                truth: Some(self.offset_ns(offset.cpu)? - self.offset_ns(0)?),
                value: Some(offset.ns),
                low: Some(offset.ns - offset.uncertainty_ns),
                high: Some(offset.ns + offset.uncertainty_ns),
            })
        });
        let evidence = format!("{:?}: {}", self.machine.fault, found.evidence);
        Ok(judged(self.kind, right, figures.collect(), evidence))
    }

    /// Whether no reading can lie before an earlier one of another CPU.
    fn is_hidden(&self) -> bool {
        self.kind == KINDS[1].0
    }

    /// The offset of a CPU in nanoseconds; `None` if it changes.
    fn offset_ns(&self, of: u32) -> Option<f64> {
        match self.machine.fault {
            Some(CounterFault::Offset { cpu, ns }) if cpu == of => Some(ns),
            Some(CounterFault::Rate { .. }) => None,
            _ => Some(0.0),
        }
    }
}
