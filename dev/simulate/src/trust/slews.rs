//! Draws runs in which the kernel's clock is slewed or the counter changes its rate, and judges
//! which of the two is trusted.

use estimators::model::{Family, Outcome};
use estimators::rate::{rate_from_paired_readings, settle_deviation};
use estimators::trace::{Evidence, Reference};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use simulated::Model;
use timers::{Answer, Fault};

use super::{judged, verdicts};
use crate::FoundFigure;
use crate::tally::Judged;
use simulated::draw::log_uniform;

/// What moves during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moves {
    Nothing,
    KernelClock,
    Counter,
}

/// What else is known about the kernel's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Witness {
    /// A third clock, CLOCK_MONOTONIC_RAW.
    Third,
    /// The corrections of the kernel's clock (adjtimex), which were the same at all samples exactly
    /// if it was not slewed.
    Corrections,
    None,
}

/// The kinds of runs.
const KINDS: [(&str, Moves, Witness); 7] = [
    ("both are steady", Moves::Nothing, Witness::Third),
    (
        "kernel's clock slewed, RAW",
        Moves::KernelClock,
        Witness::Third,
    ),
    (
        "kernel's clock slewed, adjtimex",
        Moves::KernelClock,
        Witness::Corrections,
    ),
    (
        "kernel's clock slewed, no witness",
        Moves::KernelClock,
        Witness::None,
    ),
    ("counter changes, RAW", Moves::Counter, Witness::Third),
    (
        "counter changes, adjtimex",
        Moves::Counter,
        Witness::Corrections,
    ),
    ("counter changes, no witness", Moves::Counter, Witness::None),
];

/// A run with a raw counter as the reference, the kernel's clock, and perhaps a third clock.
#[derive(Clone, Debug)]
pub struct SlewedClock {
    kind: &'static str,
    moves: Moves,
    witness: Witness,
    /// Nanoseconds per tick of the counter.
    tick_ns: f64,
    /// Of each sample, the time in nanoseconds.
    samples: Vec<f64>,
    /// The change of the rate in ppm, and the times of its begin and end.
    ppm: f64,
    during: [f64; 2],
    seed: u64,
}

/// Draws `count` runs of each kind, of 2 to 60 seconds with 8 to 40 samples.
#[must_use]
pub fn slewed_clocks(count: usize, seed: u64) -> Vec<SlewedClock> {
    let mut random = StdRng::seed_from_u64(seed ^ 0x51_e3_ed);
    let mut draw = |(kind, moves, witness): (&'static str, Moves, Witness)| {
        let random = &mut random;
        let length = log_uniform(2e9, 60e9, random);
        let count = random.random_range(8..=40);
        let gap = length / f64::from(count);
        let sample = |at: i32| gap * (f64::from(at) + random.random_range(-0.3..0.3));
        let samples: Vec<f64> = (1..=count).map(sample).collect();
        let begin = length * random.random_range(0.1..0.7);
        // A time service slews for a while or keeps the new rate.
        let end = begin + length * random.random_range(0.2..1.0);
        let most = if moves == Moves::Counter { 5e4 } else { 500.0 };
        let ppm = log_uniform(20.0, most, random) * if random.random() { 1.0 } else { -1.0 };
        SlewedClock {
            kind,
            moves,
            witness,
            tick_ns: 1e9 / random.random_range(1e9..4e9),
            samples,
            ppm,
            during: [begin, end],
            seed: random.random(),
        }
    };
    KINDS
        .into_iter()
        .flat_map(|kind| (0..count).map(|_| draw(kind)).collect::<Vec<_>>())
        .collect()
}

/// A clock that a comparison reads.
#[derive(Clone, Copy, PartialEq)]
enum Read {
    Counter,
    Kernel,
    Raw,
}

impl SlewedClock {
    /// Settles the rate of the counter, and judges the counter and the kernel's clock.
    ///
    /// # Errors
    /// If the reference cannot be calibrated.
    pub fn judge(&self) -> Answer<Judged> {
        let mut random = StdRng::seed_from_u64(self.seed);
        let mut compare = |read| -> Vec<[i64; 3]> {
            let at = self.samples.iter();
            at.map(|&at| self.comparison(read, at, &mut random))
                .collect()
        };
        let [kernel, raw, counter] = [Read::Kernel, Read::Raw, Read::Counter].map(&mut compare);
        let length = kernel[kernel.len() - 1][1] - kernel[0][1];
        let by_third = (self.witness == Witness::Third)
            .then(|| rate_from_paired_readings(&raw, 1.0))
            .flatten();
        let steady = self.witness == Witness::Corrections && self.moves != Moves::KernelClock;
        let by_clock = rate_from_paired_readings(&kernel, 1.0);
        let by_clock = by_clock.ok_or_else(|| Fault::Refused("no clock moves".into()))?;
        let rate = settle_deviation(by_clock, by_third, steady, length as f64);
        let settle = |reference: &mut Reference| {
            reference.family = Some(Family::CpuCounter);
            reference.keeps_time = true;
            reference.ns_per_tick = rate.ns_per_tick;
            reference.rate_uncertainty = rate.uncertainty;
            reference.unexplained_deviation_ns = rate.unexplained_deviation_ns;
        };
        let elapsed = |of: &[[i64; 3]]| (of[of.len() - 1][1] - of[0][1]) as u64;
        let (least, most) = (
            elapsed(&kernel).min(elapsed(&raw)),
            elapsed(&kernel).max(elapsed(&raw)),
        );
        let stable = |name: &str, tick_ns: f64, declared: bool, samples: Vec<[i64; 3]>| {
            let reference = Model::regular("counter", self.tick_ns, self.tick_ns, 12.0);
            let timer = Model {
                declared,
                ..Model::regular(name, tick_ns, tick_ns, 25.0)
            };
            let evidence = Evidence {
                sparse_comparisons: samples,
                passed_ns: Some([least - 1_000, most + 1_000]),
                ..Evidence::default()
            };
            Ok(verdicts(&timer, &reference, evidence, settle, self.seed)?.stable)
        };
        let counter = stable("counter", self.tick_ns, false, counter)?;
        let clock = stable("kernel's clock", 1.0, true, kernel)?;
        let is_proven = self.moves == Moves::Counter && self.witness != Witness::None;
        let counter_fails = counter.outcome == Outcome::Fail;
        let right = counter_fails == is_proven && clock.outcome != Outcome::Fail;
        let ns = rate.ns_per_tick;
        // The rate of a counter that changes it is not known.
        let figure = (self.moves != Moves::Counter).then_some(FoundFigure {
            truth: Some(self.tick_ns),
            value: Some(ns),
            low: Some(ns * (1.0 - rate.uncertainty)),
            high: Some(ns * (1.0 + rate.uncertainty)),
        });
        let (ppm, evidence) = (
            self.ppm,
            [counter.evidence, clock.evidence].join("; clock: "),
        );
        let evidence = format!("{ppm} ppm: counter: {evidence}");
        Ok(judged(
            self.kind,
            right,
            figure.into_iter().collect(),
            evidence,
        ))
    }

    /// Reads the counter, a clock, and the counter again, from this time on.
    fn comparison(&self, read: Read, at: f64, random: &mut StdRng) -> [i64; 3] {
        let mut now = at;
        let mut next = |read| {
            now += random.random_range(20.0..60.0);
            // The tightest of some comparisons is rarely interrupted.
            if random.random_bool(0.01) {
                now += log_uniform(500.0, 5e4, random);
            }
            self.value(read, now)
        };
        [next(Read::Counter), next(read), next(Read::Counter)]
    }

    /// The value of a clock at a time, in its ticks.
    fn value(&self, read: Read, now: f64) -> i64 {
        let moves = match read {
            Read::Counter => self.moves == Moves::Counter,
            Read::Kernel => self.moves == Moves::KernelClock,
            Read::Raw => false,
        };
        let [begin, end] = self.during;
        let slewed = 1e-6 * self.ppm * (now.clamp(begin, end) - begin);
        let own = now + if moves { slewed } else { 0.0 };
        let tick_ns = if read == Read::Counter {
            self.tick_ns
        } else {
            1.0
        };
        (own / tick_ns) as i64
    }
}
