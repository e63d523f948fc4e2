//! Asks one process about one sleep primitive: granularity, floor, lateness, arming.

mod scan;

use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use timers::waits::{WaitRequest, WaitSubject};
use timers::{Answer, Fault};

use super::plan::{FEWEST_OF_LENGTH, WaitPlan};
use super::possible;
use crate::statistics::{quantile, sorted};
use crate::trace::{Reference, Wait, WaitRun};
use crate::waits::grid_ns;
use scan::scan;

/// Requests of the first scan are up to so long, in nanoseconds.
const SCAN_NS: f64 = 3e6;
/// A scan is over this many steps, so that the lattice shows.
const STEPS_A_SCAN: f64 = 2.5;
/// The middle four fifths of what is spread evenly.
const EVENLY: f64 = 0.8;
/// Waits of the first scan that are made in any case.
const FEWEST: u32 = 8;
/// Pauses are random up to this many steps, and never less or more than this, in nanoseconds.
const STEPS_A_PAUSE: f64 = 2.0;
const SHORTEST_PAUSE_NS: f64 = 2e4;
const LONGEST_PAUSE_NS: f64 = 2e7;
/// Waits longer than this, in nanoseconds, have half the time of others.
const LONG_NS: u64 = 5_000_000;
/// Waits of the loop that waits for nothing.
const EMPTY: u32 = 200;
/// Waits of 0 and of 1 ns, as a share of those of a length.
const FLOORS: u32 = 4;
/// Nanoseconds of the waits in one question: between two of them the user may interrupt.
const QUESTION_NS: f64 = 1e9;

/// A timer that waits on the bench.
pub struct WaitBench {
    /// The timer.
    pub timer: Box<dyn WaitSubject>,
    /// One that waits for nothing, where the host has it.
    pub floor: Option<Box<dyn WaitSubject>>,
    /// The clock that times the waits.
    pub reference: Reference,
    /// Whether it can be armed and cancelled.
    pub arms: bool,
    /// Lateness that ends the run, in nanoseconds.
    pub break_ns: Option<u64>,
}

/// Latenesses of some waits: the quantiles that decide what is asked next, in nanoseconds.
struct Rough {
    pub median: f64,
    /// The middle four fifths.
    pub width: f64,
}

impl WaitBench {
    /// Asks for `requests`, each once, in pieces that do not take long, up to the first wait that is
    /// later than `break_ns`.
    fn waits(
        &mut self,
        requests: &[u64],
        pause_ns: f64,
        break_ns: Option<u64>,
    ) -> Answer<Vec<Wait>> {
        let mut waits = Vec::with_capacity(requests.len());
        for lengths_ns in pieces(requests) {
            let request = WaitRequest {
                lengths_ns,
                repeat: 1,
                pause_ns: pause_ns as u64,
                break_ns,
            };
            waits.extend(asked(self.timer.as_mut(), &self.reference, request)?);
            let late = |wait: &Wait| wait.late_ns(self.reference.ns_per_tick);
            if break_ns.is_some_and(|most| waits.iter().any(|wait| late(wait) > most as f64)) {
                break;
            }
        }
        Ok(waits)
    }

    /// Waits of the loop that waits for nothing; none where the host has no such loop.
    fn floor_waits(&mut self) -> Answer<Vec<Wait>> {
        let Some(floor) = &mut self.floor else {
            return Ok(Vec::new());
        };
        let request = WaitRequest {
            lengths_ns: &[0],
            repeat: EMPTY,
            pause_ns: 0,
            break_ns: None,
        };
        asked(floor.as_mut(), &self.reference, request)
    }

    fn rough(&self, waits: &[Wait]) -> Option<Rough> {
        let late: Vec<f64> = waits
            .iter()
            .map(|wait| wait.late_ns(self.reference.ns_per_tick))
            .collect();
        let late = sorted(&late);
        let [low, median, high] = [0.1, 0.5, 0.9].map(|share| quantile(&late, share));
        Some(Rough {
            median: median?,
            width: high? - low?,
        })
    }

    /// A few waits of the lengths themselves, where nothing else is to be waited, from which pauses
    /// follow; they are not kept.
    fn tried(&mut self, lengths_ns: &[u64], plan: &WaitPlan) -> Answer<Rough> {
        let all: u64 = lengths_ns.iter().sum();
        let fit = (plan.scan_ns / (all as f64).max(1.0)) as usize;
        let each = fit.clamp(1, (FEWEST as usize).div_ceil(lengths_ns.len().max(1)));
        let waits = self.waits(&lengths_ns.repeat(each), SHORTEST_PAUSE_NS, None)?;
        self.rough(&waits).ok_or_else(unanswered)
    }

    /// Waits of random lengths from `from` to `to` nanoseconds.
    fn scan(&mut self, [from, to]: [f64; 2], count: u32, random: &mut StdRng) -> Answer<Vec<Wait>> {
        let requests: Vec<u64> = (0..count)
            .map(|_| random.random_range(from..to) as u64)
            .collect();
        self.waits(&requests, (to - from) / 2.0, None)
    }
}

/// What a timer answers, if it is possible.
fn asked(
    timer: &mut dyn WaitSubject,
    reference: &Reference,
    request: WaitRequest,
) -> Answer<Vec<Wait>> {
    let lengths = request.lengths_ns;
    let rows = timer.waits(&reference.id, request)?;
    let answered = (lengths.iter().zip(&rows))
        .flat_map(|(&request_ns, row)| row.iter().map(move |wait| (request_ns, wait)));
    // The CPUs that threads of one process may be on at once, as far as is known. One of them may
    // be left to the thread that is measured.
    let cpus = 1 + timers::allowed_cpus().map_or(1, |cpus| cpus.len());
    possible::waits(answered.clone(), reference, cpus)?;
    let waits = answered.map(|(request_ns, wait)| Wait {
        request_ns,
        before: wait.before,
        after: wait.after,
        cpu_ns: wait.cpu_ns,
        run_delay_ns: wait.run_delay_ns,
    });
    Ok(waits.collect())
}

/// Runs of requests that together take no longer than a question may.
fn pieces(requests: &[u64]) -> impl Iterator<Item = &[u64]> {
    let mut rest = requests;
    std::iter::from_fn(move || {
        let mut total = 0.0;
        let fits = |length: &&u64| {
            total += **length as f64 + SHORTEST_PAUSE_NS;
            total <= QUESTION_NS
        };
        let count = rest.iter().take_while(fits).count().max(1).min(rest.len());
        let (piece, left) = rest.split_at(count);
        rest = left;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Everything that does not take long (where no scan is planned, only the given lengths):
/// granularity, the floor, lateness at the given lengths, arming and cancelling. Processes `before`
/// this one may have shown the step.
///
/// # Errors
/// As the subject.
pub fn explore(
    bench: &mut WaitBench,
    before: &[WaitRun],
    lengths_ns: &[u64],
    plan: &WaitPlan,
    random: &mut StdRng,
) -> Answer<WaitRun> {
    let mut run = WaitRun {
        empty: bench.floor_waits()?,
        ..WaitRun::default()
    };
    let only = plan.scan == 0;
    let rough = if only {
        bench.tried(lengths_ns, plan)?
    } else {
        scan(bench, before, plan, &mut run.scans, random)?
    };
    // Pauses of whole steps of a grid begin waits anywhere on it, as often.
    let pause_ns = match grid_ns(&run, &bench.reference) {
        Some(grid) => grid * (pause(&rough) / grid).round().max(1.0),
        None => pause(&rough),
    };
    let mut several = |lengths: &[(u64, u32)]| {
        let mut all = requests(lengths, plan, &rough);
        all.shuffle(random);
        all
    };
    let floors = [0, 1].map(|length| (length, plan.waits / FLOORS));
    let mut floors = if only { Vec::new() } else { floors.to_vec() };
    let mut chosen: Vec<(u64, u32)> = lengths_ns.iter().map(|&ns| (ns, plan.waits)).collect();
    if bench.break_ns.is_none() {
        // A request that is rounded up is late, which ends nothing unless that was asked for.
        floors.append(&mut chosen);
    }
    run.lengths = bench.waits(&several(&floors), pause_ns, None)?;
    let waits = bench.waits(&several(&chosen), pause_ns, bench.break_ns)?;
    run.lengths.extend(waits);
    if bench.arms {
        run.arms = bench.timer.arms(&bench.reference.id, plan.arms)?;
        possible::arms(&run.arms, &bench.reference)?;
    }
    Ok(run)
}

/// As many requests of each length as fit into its time, up to the number next to it.
fn requests(lengths: &[(u64, u32)], plan: &WaitPlan, rough: &Rough) -> Vec<u64> {
    let each = lengths.iter().flat_map(|&(length, most)| {
        // Long ones are few either way.
        let most_ns = if length > LONG_NS {
            plan.length_ns / 2.0
        } else {
            plan.length_ns
        };
        let count = (most_ns / takes(length as f64, rough)) as u32;
        let count = count.clamp(FEWEST_OF_LENGTH, most.max(FEWEST_OF_LENGTH));
        std::iter::repeat_n(length, count as usize)
    });
    each.collect()
}

/// How long a wait of that length takes with the pause before it, in nanoseconds.
fn takes(length: f64, rough: &Rough) -> f64 {
    length + rough.median.max(0.0) + pause(rough) / 2.0
}

fn unanswered() -> Fault {
    Fault::Refused("it answered no wait".into())
}

fn pause(rough: &Rough) -> f64 {
    // Whole steps, as long as a step seems to be.
    let step = rough.width / EVENLY;
    let pause = if STEPS_A_PAUSE * step <= LONGEST_PAUSE_NS {
        STEPS_A_PAUSE * step
    } else {
        step
    };
    pause.clamp(SHORTEST_PAUSE_NS, LONGEST_PAUSE_NS)
}

/// Long waits, for a process that waits beside others. Returns the waits of chosen lengths, and the
/// scans.
///
/// # Errors
/// As the subject.
pub fn explore_long(
    bench: &mut WaitBench,
    plan: &WaitPlan,
    random: &mut StdRng,
) -> Answer<(Vec<Wait>, Vec<Vec<Wait>>)> {
    let mut requests = plan.long_ns.repeat(FEWEST_OF_LENGTH as usize);
    requests.shuffle(random);
    let long = bench.waits(&requests, LONGEST_PAUSE_NS, None)?;
    let mut scans = Vec::new();
    for &(length, count) in plan.long_scans {
        // A longer step than that of short waits shows where latenesses differ by more.
        let length = length as f64;
        let span = bench.rough(&long).map_or(SCAN_NS, |rough| {
            (STEPS_A_SCAN * rough.width).clamp(SCAN_NS, length)
        });
        scans.push(bench.scan([length, length + span], count, random)?);
    }
    Ok((long, scans))
}
