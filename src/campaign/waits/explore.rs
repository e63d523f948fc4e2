//! Measures a sleep primitive in one process: granularity, floor, lateness, arming.

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

/// Longest request of the first scan, in nanoseconds.
const SCAN_NS: f64 = 3e6;
/// Steps that a scan spans, so that the grid of wake-up times becomes visible.
const STEPS_A_SCAN: f64 = 2.5;
/// Share of a uniform distribution between its 10 % and 90 % quantiles.
const MIDDLE_SHARE: f64 = 0.8;
/// Fewest waits of the first scan.
const MIN_SCAN_WAITS: u32 = 8;
/// Upper limit of random pauses, in steps of the timer; its lower and upper bound, in nanoseconds.
const STEPS_A_PAUSE: f64 = 2.0;
const SHORTEST_PAUSE_NS: f64 = 2e4;
const LONGEST_PAUSE_NS: f64 = 2e7;
/// Waits longer than this, in nanoseconds, get half the time of others.
const LONG_NS: u64 = 5_000_000;
/// Waits of the loop that does not wait.
const FLOOR_WAITS: u32 = 200;
/// Divisor of the waits of a length for the waits of 0 and of 1 ns.
const SHORT_WAIT_DIVISOR: u32 = 4;
/// Total length of the waits in one question, in nanoseconds; the user can interrupt between
/// questions.
const QUESTION_NS: f64 = 1e9;

/// A sleep primitive that is being measured.
pub struct WaitBench {
    /// The sleep primitive.
    pub timer: Box<dyn WaitSubject>,
    /// A loop that does not wait, if the host has one.
    pub floor: Option<Box<dyn WaitSubject>>,
    /// The clock that times the waits.
    pub reference: Reference,
    /// Whether the primitive can be armed and cancelled.
    pub arms: bool,
    /// Lateness that ends the run, in nanoseconds.
    pub break_ns: Option<u64>,
}

/// Quantiles of the lateness of some waits, which decide the next questions, in nanoseconds.
struct Rough {
    pub median: f64,
    /// Distance between the 10 % and the 90 % quantile, in nanoseconds.
    pub width: f64,
}

impl WaitBench {
    /// Makes the given waits once each, in questions of limited length, until one is later than
    /// `break_ns`.
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
            waits.extend(request_waits(
                self.timer.as_mut(),
                &self.reference,
                request,
            )?);
            let late = |wait: &Wait| wait.late_ns(self.reference.ns_per_tick);
            if break_ns.is_some_and(|most| waits.iter().any(|wait| late(wait) > most as f64)) {
                break;
            }
        }
        Ok(waits)
    }

    /// Makes waits with the loop that does not wait; empty if the host has no such loop.
    fn floor_waits(&mut self) -> Answer<Vec<Wait>> {
        let Some(floor) = &mut self.floor else {
            return Ok(Vec::new());
        };
        let request = WaitRequest {
            lengths_ns: &[0],
            repeat: FLOOR_WAITS,
            pause_ns: 0,
            break_ns: None,
        };
        request_waits(floor.as_mut(), &self.reference, request)
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

    /// Makes a few waits of the requested lengths to choose the pauses, if no scan is planned. The
    /// waits are not kept.
    fn try_lengths(&mut self, lengths_ns: &[u64], plan: &WaitPlan) -> Answer<Rough> {
        let all: u64 = lengths_ns.iter().sum();
        let fit = (plan.scan_ns / (all as f64).max(1.0)) as usize;
        let each = fit.clamp(
            1,
            (MIN_SCAN_WAITS as usize).div_ceil(lengths_ns.len().max(1)),
        );
        let waits = self.waits(&lengths_ns.repeat(each), SHORTEST_PAUSE_NS, None)?;
        self.rough(&waits).ok_or_else(no_waits_fault)
    }

    /// Makes waits of random lengths between `from` and `to` nanoseconds.
    fn scan(&mut self, [from, to]: [f64; 2], count: u32, random: &mut StdRng) -> Answer<Vec<Wait>> {
        let requests: Vec<u64> = (0..count)
            .map(|_| random.random_range(from..to) as u64)
            .collect();
        self.waits(&requests, (to - from) / 2.0, None)
    }
}

/// Returns the waits that a host reports, after checking that they are possible.
fn request_waits(
    timer: &mut dyn WaitSubject,
    reference: &Reference,
    request: WaitRequest,
) -> Answer<Vec<Wait>> {
    let lengths = request.lengths_ns;
    let rows = timer.waits(&reference.id, request)?;
    let answered = (lengths.iter().zip(&rows))
        .flat_map(|(&request_ns, row)| row.iter().map(move |wait| (request_ns, wait)));
    // Number of CPUs that threads of one process can use at the same time, as far as is known. The
    // measuring CPU may be missing from the allowed CPUs of this thread.
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

/// Splits requests into slices whose total length stays within `QUESTION_NS`.
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

/// Measures granularity, floor, lateness at the given lengths, arming and cancelling, without long
/// waits. If no scan is planned, only the given lengths are measured. `before` are earlier runs,
/// which may have shown the step.
///
/// # Errors
/// The errors of the subject.
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
        bench.try_lengths(lengths_ns, plan)?
    } else {
        scan(bench, before, plan, &mut run.scans, random)?
    };
    // Pauses that are a multiple of the grid start waits at all points of the grid equally often.
    let pause_ns = match grid_ns(&run, &bench.reference) {
        Some(grid) => grid * (pause(&rough) / grid).round().max(1.0),
        None => pause(&rough),
    };
    let mut several = |lengths: &[(u64, u32)]| {
        let mut all = requests(lengths, plan, &rough);
        all.shuffle(random);
        all
    };
    let floors = [0, 1].map(|length| (length, plan.waits / SHORT_WAIT_DIVISOR));
    let mut floors = if only { Vec::new() } else { floors.to_vec() };
    let mut chosen: Vec<(u64, u32)> = lengths_ns.iter().map(|&ns| (ns, plan.waits)).collect();
    if bench.break_ns.is_none() {
        // Requests that are rounded up are late. This ends the run only if the user set a limit.
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

/// Returns as many requests of each length as fit into its time, up to the count given with the
/// length.
fn requests(lengths: &[(u64, u32)], plan: &WaitPlan, rough: &Rough) -> Vec<u64> {
    let each = lengths.iter().flat_map(|&(length, most)| {
        // Long waits are few in any case.
        let most_ns = if length > LONG_NS {
            plan.length_ns / 2.0
        } else {
            plan.length_ns
        };
        let count = (most_ns / wait_time_ns(length as f64, rough)) as u32;
        let count = count.clamp(FEWEST_OF_LENGTH, most.max(FEWEST_OF_LENGTH));
        std::iter::repeat_n(length, count as usize)
    });
    each.collect()
}

/// Returns the expected time of a wait of that length including the pause before it, in
/// nanoseconds.
fn wait_time_ns(length: f64, rough: &Rough) -> f64 {
    length + rough.median.max(0.0) + pause(rough) / 2.0
}

fn no_waits_fault() -> Fault {
    Fault::Refused("it answered no wait".into())
}

fn pause(rough: &Rough) -> f64 {
    // The spread of the lateness indicates the length of a step.
    let step = rough.width / MIDDLE_SHARE;
    let pause = if STEPS_A_PAUSE * step <= LONGEST_PAUSE_NS {
        STEPS_A_PAUSE * step
    } else {
        step
    };
    pause.clamp(SHORTEST_PAUSE_NS, LONGEST_PAUSE_NS)
}

/// Measures long waits in a process that runs next to others. Returns the waits of the planned
/// lengths, and the scans.
///
/// # Errors
/// The errors of the subject.
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
        // A step longer than that of short waits appears as a wider spread of lateness.
        let length = length as f64;
        let span = bench.rough(&long).map_or(SCAN_NS, |rough| {
            (STEPS_A_SCAN * rough.width).clamp(SCAN_NS, length)
        });
        scans.push(bench.scan([length, length + span], count, random)?);
    }
    Ok((long, scans))
}
