//! Measures sleep primitives and periodic timers.

mod possible;
mod rounds;

use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use timers::waits::{FLOOR, WaitList};
use timers::{Answer, Fault, Subject};

pub use self::rounds::Waiter;
use self::rounds::{Measure, Rounds};
use crate::agents::agent::Agent;
use crate::agents::connection::SharedConnection;
use crate::agents::subject::subject as hosted;
use crate::plan::{MIN_WAITS_PER_LENGTH, MIN_WAKEUPS, Plan, WaitPlan};
use estimators::model::WaitActivity;
use estimators::statistics::{median, quantile, sorted};
use estimators::trace::{
    PeriodObservations, PeriodTrace, Reference, Wait, WaitObservations, WaitTrace,
};

/// Measures sleep primitives at these lengths: all of them briefly, then the leading ones for longer; or
/// all of them again and again for a span of time. Calls `progress` with a description of the next step.
///
/// # Errors
/// Only [`Fault::Interrupted`]: the failure of a timer is recorded in its outcome.
pub fn measure_waits(
    agents: &[Agent],
    waiters: &mut [Waiter<WaitTrace>],
    lengths_ns: &[u64],
    plan: &Plan,
    progress: &dyn Fn(&str),
) -> Result<(), Fault> {
    let empty = |reference| WaitTrace {
        reference,
        runs: Vec::new(),
    };
    let mut rounds = Rounds::begin(agents, waiters, plan, progress, empty)?;
    let (plan, span) = (plan.waits, plan.span);
    let task = Waits { lengths_ns, plan };
    rounds.repeat((plan.processes, span), waiters, |_| true, &task)?;
    for length_ns in lengths_ns.chunks(1).filter(|_| span.is_none()) {
        let leading = leading(waiters, length_ns[0]);
        let brief_ns = waiters.len() as f64 * plan.least_ns(length_ns[0]);
        if let Some(plan) = plan.for_leading(leading.len(), brief_ns) {
            let leads =
                |waiter: &Waiter<_>| leading.contains(&(waiter.agent, waiter.timer.id.clone()));
            let lengths_ns = length_ns;
            let task = Waits { lengths_ns, plan };
            rounds.repeat((plan.processes, None), waiters, leads, &task)?;
        }
    }
    Ok(())
}

/// Waits of these lengths.
struct Waits<'a> {
    lengths_ns: &'a [u64],
    plan: WaitPlan,
}

impl Measure<WaitTrace> for Waits<'_> {
    fn begin(&self, connection: &SharedConnection, trace: &WaitTrace) -> Answer<Vec<Wait>> {
        time_floor(connection, &trace.reference)
    }

    fn measure(
        &self,
        timer: &mut dyn Subject,
        floor: &[Wait],
        trace: &mut WaitTrace,
        seed: u64,
    ) -> Answer<()> {
        let random = &mut SmallRng::seed_from_u64(seed);
        trace.runs.push(WaitObservations {
            empty: floor.into(),
            ..explore(timer, &trace.reference, self.lengths_ns, &self.plan, random)?
        });
        Ok(())
    }
}

/// Times the loop that does not wait; returns no waits if the agent has no such loop.
fn time_floor(connection: &SharedConnection, reference: &Reference) -> Answer<Vec<Wait>> {
    /// Number of calls of the loop.
    const FLOOR_WAITS: usize = 200;
    let has_floor = (connection.borrow().hello().waiters.iter()).any(|timer| timer.id == FLOOR.id);
    if !has_floor {
        return Ok(Vec::new());
    }
    let mut floor = hosted(connection, FLOOR.id);
    make_waits(floor.as_mut(), reference, &[0; FLOOR_WAITS], 0.0)
}

/// Returns the agent and id of the primitives that are worth more waits: the least late of those that
/// block, and of those that take more of the CPU, if they are much less late than those that take less.
fn leading(waiters: &[Waiter<WaitTrace>], length_ns: u64) -> Vec<(usize, String)> {
    /// The largest ratio of the lateness of two primitives that are equally late. *Judgement*.
    const MAX_EQUAL_RATIO: f64 = 1.25;
    /// The largest ratio of the lateness of one that takes more of the CPU to that of the others.
    /// *Judgement*.
    const MAX_BUSY_RATIO: f64 = 0.2;
    let late_ns = |waiter: &Waiter<WaitTrace>| {
        let trace = waiter.outcome.as_ref().ok()?;
        let waits = trace.runs.iter().flat_map(|run| &run.lengths);
        let waits = waits.filter(|wait| wait.request_ns == length_ns);
        let late = waits.map(|wait| wait.late_ns(trace.reference.ns_per_tick));
        // Other programs make half of a few waits late, but hardly three quarters.
        quantile(&sorted(late), 0.25).map(f64::abs)
    };
    let (mut leading, mut most_ns) = (Vec::new(), f64::INFINITY);
    for kind in [
        WaitActivity::Blocks,
        WaitActivity::Hybrid,
        WaitActivity::Spins,
    ] {
        let of_kind = waiters.iter().filter(|waiter| waiter.timer.means == kind);
        let late = of_kind.filter_map(|waiter| Some((waiter, late_ns(waiter)?)));
        let late: Vec<(_, f64)> = late.collect();
        let best_ns = late.iter().map(|(_, ns)| *ns).fold(f64::INFINITY, f64::min);
        let equal_ns = most_ns.min(MAX_EQUAL_RATIO * best_ns);
        let equal = late.iter().filter(|(_, ns)| *ns <= equal_ns);
        leading.extend(equal.map(|(waiter, _)| (waiter.agent, waiter.timer.id.clone())));
        most_ns = most_ns.min(MAX_BUSY_RATIO * best_ns);
    }
    leading
}

/// Makes waits of these lengths after random pauses of at most `pause_ns`.
fn make_waits(
    timer: &mut dyn Subject,
    reference: &Reference,
    lengths_ns: &[u64],
    pause_ns: f64,
) -> Answer<Vec<Wait>> {
    let pause_ns = pause_ns as u64;
    let list = WaitList {
        lengths_ns,
        pause_ns,
    };
    let waits = timer.waits(&reference.id, list)?;
    let pairs: Vec<[i64; 2]> = waits.iter().map(|wait| [wait.before, wait.after]).collect();
    possible::check_times(&pairs, reference)?;
    Ok(waits)
}

/// Measures a primitive in one process: its lateness at the given lengths and, if the plan has scans
/// (waits of random lengths), its granularity.
///
/// # Errors
/// The errors of the subject.
pub fn explore(
    timer: &mut dyn Subject,
    reference: &Reference,
    lengths_ns: &[u64],
    plan: &WaitPlan,
    random: &mut SmallRng,
) -> Answer<WaitObservations> {
    /// Number and longest request of waits that show how late the primitive is.
    const TRIED: (u32, f64) = (8, 2e5);
    /// Longest request of each scan; a later one is made if steps are too long for those before.
    const SCANS_NS: [f64; 3] = [3e6, 1.2e7, 4.8e7];
    /// Number of steps that a scan has to span to show their length.
    const STEPS_PER_SCAN: f64 = 2.5;
    /// Limits of the longest random pause before a wait, in nanoseconds.
    const PAUSES_NS: [f64; 2] = [2e4, 2e7];
    let mut scan = |count: u32, longest_ns: f64| {
        let request = |_| random.random_range(0.0..longest_ns) as u64;
        let lengths: Vec<u64> = (0..count).map(request).collect();
        make_waits(timer, reference, &lengths, longest_ns / 2.0)
    };
    let late_ns = |waits: &[Wait]| {
        let late = median(waits.iter().map(|wait| wait.late_ns(reference.ns_per_tick)));
        late.unwrap_or(0.0).max(0.0)
    };
    let mut run = WaitObservations::default();
    let mut late = late_ns(&scan(TRIED.0, TRIED.1)?);
    for longest_ns in SCANS_NS.into_iter().filter(|_| plan.scan > 0) {
        // Requests take half the length of the scan on average, and the pauses a quarter.
        let affordable = plan.scan_ns / (0.75 * longest_ns + late);
        let waits = scan(
            (affordable as u32).clamp(plan.scan / 3, plan.scan),
            longest_ns,
        )?;
        late = late_ns(&waits);
        run.scans.push(waits);
        // A primitive with a step is late by half of it.
        if STEPS_PER_SCAN * 2.0 * late <= longest_ns {
            break;
        }
    }
    // Pauses of a step, which makes a primitive late by half of it, let waits begin at all of its
    // phases equally often.
    let least_ns = PAUSES_NS[0].max(reference.uncertainty_ns());
    let pause_ns = (2.0 * late).max(least_ns).min(PAUSES_NS[1]);
    let requests = lengths_ns.iter().flat_map(|&length| {
        let count = plan.length_ns / (length as f64 + late + pause_ns / 2.0);
        let count = (count as u32).min(plan.waits).max(MIN_WAITS_PER_LENGTH);
        std::iter::repeat_n(length, count as usize)
    });
    let mut requests: Vec<u64> = requests.collect();
    requests.shuffle(random);
    run.lengths = make_waits(timer, reference, &requests, pause_ns)?;
    Ok(run)
}

/// Measures periodic timers, all with the same period. Calls `progress` with a description of the
/// next step.
///
/// # Errors
/// Only [`Fault::Interrupted`]: the failure of a timer is recorded in its outcome.
pub fn measure_periods(
    agents: &[Agent],
    waiters: &mut [Waiter<PeriodTrace>],
    period_ns: u64,
    plan: &Plan,
    progress: &dyn Fn(&str),
) -> Result<(), Fault> {
    let empty = |reference| PeriodTrace {
        reference,
        period_ns,
        runs: Vec::new(),
    };
    let mut rounds = Rounds::begin(agents, waiters, plan, progress, empty)?;
    let count = (plan.waits.processes, None);
    rounds.repeat(count, waiters, |_| true, &Ticking(plan.waits.ticking_ns))
}

/// A periodic timer runs for this time in nanoseconds.
struct Ticking(f64);

impl Measure<PeriodTrace> for Ticking {
    fn measure(
        &self,
        timer: &mut dyn Subject,
        _: &[Wait],
        trace: &mut PeriodTrace,
        _: u64,
    ) -> Answer<()> {
        let run = run_periodic_timer(timer, &trace.reference, trace.period_ns, self.0)?;
        trace.runs.push(run);
        Ok(())
    }
}

/// Runs a timer with this period for about `ticking_ns` nanoseconds. Returns its wake-ups.
///
/// # Errors
/// The errors of the subject.
pub fn run_periodic_timer(
    timer: &mut dyn Subject,
    reference: &Reference,
    period_ns: u64,
    ticking_ns: f64,
) -> Answer<PeriodObservations> {
    /// Number of wake-ups that show the actual period, which is longer if it is made of single waits.
    const SAMPLED_WAKEUPS: u32 = 6;
    /// Largest number of wake-ups in a process.
    const MAX_WAKEUPS: u32 = 100_000;
    let sample = timer
        .periods(&reference.id, period_ns, SAMPLED_WAKEUPS)?
        .list;
    let [(first, _), .., (last, _)] = sample[..] else {
        return Err(Fault::Refused("the agent reported no wake-ups".into()));
    };
    let sampled_ns = reference.ns(first, last) / f64::from(SAMPLED_WAKEUPS - 1);
    let count = (ticking_ns / sampled_ns.max(period_ns as f64)) as u32;
    let count = count.clamp(MIN_WAKEUPS, MAX_WAKEUPS);
    let found = timer.periods(&reference.id, period_ns, count)?;
    possible::check_wakeups(&found.list, last, period_ns, reference)?;
    Ok(PeriodObservations {
        wakeups: found.list,
        start: found.start,
        cpu_ns: found.cpu_ns,
        signals: found.signals,
        ..PeriodObservations::default()
    })
}
