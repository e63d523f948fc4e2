//! Measures a sleep primitive in one process: the granularity of its wake-up times, its lateness
//! and the floor (the time of a loop that does not wait).

mod scan;

use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use timers::waits::WaitList;
use timers::{Answer, Fault};

use super::{RequestedWaits, WaitSubject, possible};
use crate::campaign::sampling::CampaignSettings;
use crate::campaign::sampling::{MIN_WAITS_PER_LENGTH, WaitPlan};
use crate::hosts::host::TimerHost;
use crate::hosts::hosted;
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
const FLOOR_WAITS: usize = 200;
/// The number of waits of 1 ns is that of another length divided by this number.
const SHORT_WAIT_DIVISOR: u32 = 4;
/// Largest total length of the waits in one question, in nanoseconds. It is limited because the
/// user can interrupt only between questions.
const MAX_QUESTION_NS: f64 = 1e9;

/// A sleep primitive with what is needed to measure it.
pub struct WaitBench {
    /// The sleep primitive.
    pub timer: Box<dyn timers::Subject>,
    /// A loop that does not wait, if the host has one.
    pub floor: Option<Box<dyn timers::Subject>>,
    /// The clock that times the waits.
    pub reference: Reference,
}

/// Quantiles of the lateness of some waits, which determine how further waits are made.
struct RoughLateness {
    /// The median, in nanoseconds.
    median_ns: f64,
    /// The distance between the 10 % and the 90 % quantile, in nanoseconds.
    width_ns: f64,
    /// The longest random pause before a wait, in nanoseconds.
    pause_ns: f64,
}

impl RoughLateness {
    /// Returns the expected time of a wait of `length` nanoseconds with the pause before it, in
    /// nanoseconds.
    fn wait_time_ns(&self, length: f64) -> f64 {
        length + self.median_ns.max(0.0) + self.pause_ns / 2.0
    }
}

impl WaitBench {
    /// Starts a process for a sleep primitive.
    ///
    /// # Errors
    /// When the process cannot be started, or the subject has failed.
    pub(super) fn start(
        subject: &WaitSubject,
        hosts: &[TimerHost],
        settings: &CampaignSettings,
    ) -> Answer<Self> {
        let trace = subject.outcome.as_ref().map_err(Clone::clone)?;
        let connection = subject.connect(hosts, settings)?;
        let hosted = |id: &str| hosted::subject(&connection, id);
        let floor = timers::waits::FLOOR_ID;
        let has_floor = (connection.borrow().hello().waiters.iter()).any(|timer| timer.id == floor);
        Ok(Self {
            timer: hosted(&subject.timer.id),
            floor: has_floor.then(|| hosted(floor)),
            reference: trace.reference.clone(),
        })
    }

    /// Makes a wait of each requested length, in questions of limited length, with random pauses of
    /// at most `pause_ns`.
    fn make_waits(&mut self, requests: &[u64], pause_ns: f64) -> Answer<Vec<Wait>> {
        let mut waits = Vec::with_capacity(requests.len());
        for lengths_ns in split_requests(requests) {
            let list = WaitList {
                lengths_ns,
                pause_ns: pause_ns as u64,
            };
            waits.extend(request_waits(self.timer.as_mut(), &self.reference, list)?);
        }
        Ok(waits)
    }

    /// Times the loop that does not wait; returns no waits if the host has no such loop.
    fn time_floor(&mut self) -> Answer<Vec<Wait>> {
        let Some(floor) = &mut self.floor else {
            return Ok(Vec::new());
        };
        let list = WaitList {
            lengths_ns: &[0; FLOOR_WAITS],
            pause_ns: 0,
        };
        request_waits(floor.as_mut(), &self.reference, list)
    }

    /// Returns quantiles of the lateness of these waits.
    ///
    /// # Errors
    /// When there are no waits.
    fn rough_lateness(&self, waits: &[Wait]) -> Answer<RoughLateness> {
        let late: Vec<f64> = waits
            .iter()
            .map(|wait| wait.late_ns(self.reference.ns_per_tick))
            .collect();
        let late = sorted(&late);
        let [Some(low), Some(median_ns), Some(high)] =
            [0.1, 0.5, 0.9].map(|share| quantile(&late, share))
        else {
            return Err(Fault::Refused("the host reported no waits".into()));
        };
        let width_ns = high - low;
        // If wake-up times are one step apart, lateness is spread evenly over a step.
        let step_ns = width_ns / QUANTILE_DISTANCE;
        let pause_ns = if STEPS_PER_PAUSE * step_ns <= MAX_PAUSE_NS {
            STEPS_PER_PAUSE * step_ns
        } else {
            step_ns
        };
        // The pause is not shorter than a step of the reference, so that waits begin at any phase of
        // it.
        let shortest_ns = MIN_PAUSE_NS.max(self.reference.uncertainty_ns());
        Ok(RoughLateness {
            median_ns,
            width_ns,
            pause_ns: pause_ns.max(shortest_ns).min(MAX_PAUSE_NS),
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
        let waits = self.make_waits(&lengths_ns.repeat(repeat), MIN_PAUSE_NS)?;
        self.rough_lateness(&waits)
    }

    /// Makes waits of random lengths between `from` and `to` nanoseconds.
    fn scan(&mut self, [from, to]: [f64; 2], count: u32, random: &mut StdRng) -> Answer<Vec<Wait>> {
        let requests: Vec<u64> = (0..count)
            .map(|_| random.random_range(from..to) as u64)
            .collect();
        self.make_waits(&requests, (to - from) / 2.0)
    }
}

/// Asks a host for waits and checks that the reported values are possible.
fn request_waits(
    timer: &mut dyn timers::Subject,
    reference: &Reference,
    list: WaitList,
) -> Answer<Vec<Wait>> {
    let waits = timer.waits(&reference.id, list)?;
    possible::check_waits(&waits, reference)?;
    Ok(waits)
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

/// Measures a primitive in one process: its floor, granularity and lateness at the given
/// lengths. If the plan has no scan, measures the lateness at the given lengths only,
/// and no granularity. `before` are the runs of earlier processes, which may have shown the step.
///
/// # Errors
/// The errors of the subject.
pub fn explore(
    bench: &mut WaitBench,
    before: &[WaitRun],
    waits: &RequestedWaits,
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
        bench.try_lengths(&waits.lengths_ns, plan)?
    };
    // If the longest random pause is a multiple of the distance between wake-up times, waits begin
    // at all points between two wake-up times equally often.
    let pause_ns = match grid_ns(&run, &bench.reference) {
        Some(grid) => grid * (rough.pause_ns / grid).round().max(1.0),
        None => rough.pause_ns,
    };
    let shortest: &[u64] = if has_scan { &[1] } else { &[] };
    for (lengths_ns, max_count) in [
        (shortest, plan.waits / SHORT_WAIT_DIVISOR),
        (&waits.lengths_ns, plan.waits),
    ] {
        let mut requests = choose_requests(lengths_ns, max_count, plan, &rough);
        requests.shuffle(random);
        let made = bench.make_waits(&requests, pause_ns)?;
        run.lengths.extend(made);
    }
    Ok(run)
}

/// Returns the length of each wait to make, in nanoseconds. Each of the `lengths` occurs as often
/// as the time of the plan allows, but at most `max_count` times.
fn choose_requests(
    lengths_ns: &[u64],
    max_count: u32,
    plan: &WaitPlan,
    rough: &RoughLateness,
) -> Vec<u64> {
    lengths_ns
        .iter()
        .flat_map(|&length| {
            let time_ns = if length > LONG_WAIT_NS {
                plan.length_ns / 2.0
            } else {
                plan.length_ns
            };
            let count = (time_ns / rough.wait_time_ns(length as f64)) as u32;
            let count = count.clamp(MIN_WAITS_PER_LENGTH, max_count.max(MIN_WAITS_PER_LENGTH));
            std::iter::repeat_n(length, count as usize)
        })
        .collect()
}
