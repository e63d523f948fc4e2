//! Measures a sleep primitive in one process: the granularity of its wake-up times, its lateness,
//! the floor (the time of a loop that does not wait), and the time of arming and cancelling it.

mod scan;

use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use timers::waits::WaitRequest;
use timers::{Answer, Fault, Subject};

use super::plan::{MIN_WAITS_PER_LENGTH, WaitPlan};
use super::possible;
use crate::statistics::{quantile, sorted};
use crate::trace::{Reference, Wait, WaitRun};
use crate::waits::grid_ns;
use scan::scan;

/// Longest request of the first scan, in nanoseconds. A scan consists of waits of random lengths.
const FIRST_SCAN_NS: f64 = 3e6;
/// Number of steps that a scan has to span to show their length. A step of a sleep primitive is the
/// distance between its possible wake-up times.
const STEPS_PER_SCAN: f64 = 2.5;
/// Share of the width of a uniform distribution that lies between its 10 % and 90 % quantiles.
const QUANTILE_DISTANCE: f64 = 0.8;
/// Fewest waits of the first scan.
const MIN_SCAN_WAITS: u32 = 8;
/// Longest random pause before a wait, in steps of the primitive.
const STEPS_PER_PAUSE: f64 = 2.0;
/// Lower bound of the longest pause, in nanoseconds.
const MIN_PAUSE_NS: f64 = 2e4;
/// Upper bound of the longest pause, in nanoseconds.
const MAX_PAUSE_NS: f64 = 2e7;
/// Length in nanoseconds above which the waits of a length get half as much time as those of a
/// shorter length.
const LONG_WAIT_NS: u64 = 5_000_000;
/// Number of calls of the loop that does not wait.
const FLOOR_WAITS: u32 = 200;
/// The number of waits of 0 ns, and of 1 ns, is that of another length divided by this number.
const SHORT_WAIT_DIVISOR: u32 = 4;
/// Largest total length of the waits in one question, in nanoseconds. It is limited because the
/// user can interrupt only between questions.
const MAX_QUESTION_NS: f64 = 1e9;

/// A sleep primitive with what is needed to measure it.
pub struct WaitBench {
    /// The sleep primitive.
    pub timer: Box<dyn Subject>,
    /// A loop that does not wait, if the host has one.
    pub floor: Option<Box<dyn Subject>>,
    /// The clock that times the waits.
    pub reference: Reference,
    /// Whether the primitive can be armed and cancelled.
    pub arms: bool,
    /// Lateness above which a wait ends the run, in nanoseconds; `None` for no limit.
    pub break_ns: Option<u64>,
}

/// Quantiles of the lateness of some waits, which determine how further waits are made.
struct RoughLateness {
    /// The median, in nanoseconds.
    pub median_ns: f64,
    /// The distance between the 10 % and the 90 % quantile, in nanoseconds.
    pub width_ns: f64,
    /// The step of the reference that timed them, in nanoseconds.
    pub reference_step_ns: f64,
}

impl WaitBench {
    /// Makes a wait of each requested length, in questions of limited length, with random pauses of
    /// at most `pause_ns`. Ends early after a wait that is more than `break_ns` late.
    fn make_waits(
        &mut self,
        requests: &[u64],
        pause_ns: f64,
        break_ns: Option<u64>,
    ) -> Answer<Vec<Wait>> {
        let mut waits = Vec::with_capacity(requests.len());
        for lengths_ns in split_requests(requests) {
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
            let late_ns = |wait: &Wait| wait.late_ns(self.reference.ns_per_tick);
            if break_ns.is_some_and(|limit| waits.iter().any(|wait| late_ns(wait) > limit as f64)) {
                break;
            }
        }
        Ok(waits)
    }

    /// Times the loop that does not wait; returns no waits if the host has no such loop.
    fn time_floor(&mut self) -> Answer<Vec<Wait>> {
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

    /// Returns quantiles of the lateness of these waits; `None` if there are no waits.
    fn rough_lateness(&self, waits: &[Wait]) -> Option<RoughLateness> {
        let late: Vec<f64> = waits
            .iter()
            .map(|wait| wait.late_ns(self.reference.ns_per_tick))
            .collect();
        let late = sorted(&late);
        let [low, median, high] = [0.1, 0.5, 0.9].map(|share| quantile(&late, share));
        Some(RoughLateness {
            median_ns: median?,
            width_ns: high? - low?,
            reference_step_ns: self.reference.uncertainty_ns(),
        })
    }

    /// Makes a few waits of the requested lengths, which are not kept, and returns their lateness.
    fn try_lengths(&mut self, lengths_ns: &[u64], plan: &WaitPlan) -> Answer<RoughLateness> {
        let total_ns: u64 = lengths_ns.iter().sum();
        let affordable = (plan.scan_ns / (total_ns as f64).max(1.0)) as usize;
        let repeat = affordable.clamp(
            1,
            (MIN_SCAN_WAITS as usize).div_ceil(lengths_ns.len().max(1)),
        );
        let waits = self.make_waits(&lengths_ns.repeat(repeat), MIN_PAUSE_NS, None)?;
        self.rough_lateness(&waits).ok_or_else(no_waits_fault)
    }

    /// Makes waits of random lengths between `from` and `to` nanoseconds.
    fn scan(&mut self, [from, to]: [f64; 2], count: u32, random: &mut StdRng) -> Answer<Vec<Wait>> {
        let requests: Vec<u64> = (0..count)
            .map(|_| random.random_range(from..to) as u64)
            .collect();
        self.make_waits(&requests, (to - from) / 2.0, None)
    }
}

/// Asks a host for waits and checks that the reported values are possible.
fn request_waits(
    timer: &mut dyn Subject,
    reference: &Reference,
    request: WaitRequest,
) -> Answer<Vec<Wait>> {
    let lengths = request.lengths_ns;
    let rows = timer.waits(&reference.id, request)?;
    let answered = (lengths.iter().zip(&rows))
        .flat_map(|(&request_ns, row)| row.iter().map(move |wait| (request_ns, wait)));
    // The number of CPUs that the threads of the host may use at the same time. The measuring CPU
    // is added because it may be missing from the allowed CPUs of this thread.
    let cpus = 1 + timers::allowed_cpus().map_or(1, |cpus| cpus.len());
    possible::check_waits(answered.clone(), reference, cpus)?;
    let waits = answered.map(|(request_ns, wait)| Wait {
        request_ns,
        before: wait.before,
        after: wait.after,
        cpu_ns: wait.cpu_ns,
        run_delay_ns: wait.run_delay_ns,
    });
    Ok(waits.collect())
}

/// Splits requests into slices with a total length of at most `MAX_QUESTION_NS` each.
fn split_requests(requests: &[u64]) -> impl Iterator<Item = &[u64]> {
    let mut rest = requests;
    std::iter::from_fn(move || {
        let mut total_ns = 0.0;
        let fits = |length: &&u64| {
            total_ns += **length as f64 + MIN_PAUSE_NS;
            total_ns <= MAX_QUESTION_NS
        };
        let count = rest.iter().take_while(fits).count().max(1).min(rest.len());
        let (piece, left) = rest.split_at(count);
        rest = left;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Measures a primitive in one process: its floor, granularity, lateness at the given lengths,
/// arming and cancelling. If the plan has no scan, measures the lateness at the given lengths only,
/// and no granularity. `before` are the runs of earlier processes, which may have shown the step.
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
        empty: bench.time_floor()?,
        ..WaitRun::default()
    };
    let has_scan = plan.scan > 0;
    let rough = if has_scan {
        scan(bench, before, plan, &mut run.scans, random)?
    } else {
        bench.try_lengths(lengths_ns, plan)?
    };
    // If the longest random pause is a multiple of the distance between wake-up times, waits begin
    // at all points between two wake-up times equally often.
    let pause_ns = match grid_ns(&run, &bench.reference) {
        Some(grid) => grid * (longest_pause_ns(&rough) / grid).round().max(1.0),
        None => longest_pause_ns(&rough),
    };
    let mut shuffled_requests = |lengths: &[(u64, u32)]| {
        let mut all = choose_requests(lengths, plan, &rough);
        all.shuffle(random);
        all
    };
    let shortest = [0, 1].map(|length| (length, plan.waits / SHORT_WAIT_DIVISOR));
    let mut unlimited_lengths = if has_scan {
        shortest.to_vec()
    } else {
        Vec::new()
    };
    let mut chosen: Vec<(u64, u32)> = lengths_ns.iter().map(|&ns| (ns, plan.waits)).collect();
    if bench.break_ns.is_none() {
        unlimited_lengths.append(&mut chosen);
    }
    // A limit of the lateness applies only to the lengths that the user chose: waits of 0 and 1 ns
    // may be late because the primitive rounds them up.
    run.lengths = bench.make_waits(&shuffled_requests(&unlimited_lengths), pause_ns, None)?;
    let waits = bench.make_waits(&shuffled_requests(&chosen), pause_ns, bench.break_ns)?;
    run.lengths.extend(waits);
    if bench.arms {
        run.arms = bench.timer.arms(&bench.reference.id, plan.arms)?;
        possible::check_arms(&run.arms, &bench.reference)?;
    }
    Ok(run)
}

/// Returns the length of each wait to make, in nanoseconds. Each of the `lengths` occurs as often
/// as the time of the plan allows, but at most as often as the count given with it.
fn choose_requests(lengths: &[(u64, u32)], plan: &WaitPlan, rough: &RoughLateness) -> Vec<u64> {
    let requests = lengths.iter().flat_map(|&(length, max_count)| {
        let time_ns = if length > LONG_WAIT_NS {
            plan.length_ns / 2.0
        } else {
            plan.length_ns
        };
        let count = (time_ns / wait_time_ns(length as f64, rough)) as u32;
        let count = count.clamp(MIN_WAITS_PER_LENGTH, max_count.max(MIN_WAITS_PER_LENGTH));
        std::iter::repeat_n(length, count as usize)
    });
    requests.collect()
}

/// Returns the expected time of a wait of `length` nanoseconds with the pause before it, in
/// nanoseconds.
fn wait_time_ns(length: f64, rough: &RoughLateness) -> f64 {
    length + rough.median_ns.max(0.0) + longest_pause_ns(rough) / 2.0
}

fn no_waits_fault() -> Fault {
    Fault::Refused("the host reported no waits".into())
}

/// Returns the length of the longest random pause before a wait, in nanoseconds. It is not shorter
/// than a step of the reference, so that waits begin at any phase of it.
fn longest_pause_ns(rough: &RoughLateness) -> f64 {
    // If wake-up times are one step apart, lateness is spread evenly over a step.
    let step_ns = rough.width_ns / QUANTILE_DISTANCE;
    let pause_ns = if STEPS_PER_PAUSE * step_ns <= MAX_PAUSE_NS {
        STEPS_PER_PAUSE * step_ns
    } else {
        step_ns
    };
    let shortest_ns = MIN_PAUSE_NS.max(rough.reference_step_ns);
    pause_ns.max(shortest_ns).min(MAX_PAUSE_NS)
}

/// Makes the long waits of the plan in one process, while processes of other primitives do the
/// same. Returns the waits of the planned lengths, and the scans.
///
/// # Errors
/// The errors of the subject.
pub fn explore_long(
    bench: &mut WaitBench,
    plan: &WaitPlan,
    random: &mut StdRng,
) -> Answer<(Vec<Wait>, Vec<Vec<Wait>>)> {
    let mut requests = plan.long_ns.repeat(MIN_WAITS_PER_LENGTH as usize);
    requests.shuffle(random);
    let long = bench.make_waits(&requests, MAX_PAUSE_NS, None)?;
    let mut scans = Vec::new();
    for &(length, count) in plan.long_scans {
        // If long waits have a longer step than short ones, their lateness is spread more widely,
        // and the scan has to be longer.
        let length = length as f64;
        let span = bench.rough_lateness(&long).map_or(FIRST_SCAN_NS, |rough| {
            (STEPS_PER_SCAN * rough.width_ns).clamp(FIRST_SCAN_NS, length)
        });
        scans.push(bench.scan([length, length + span], count, random)?);
    }
    Ok((long, scans))
}
