//! Measures sleep primitives and periodic timers in rounds, one in one process.

mod possible;

use std::collections::HashMap;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use timers::waits::{Expiration, WaitList, Wakeups};
use timers::{Answer, Fault, Subject};

use super::choose::Purpose;
use super::rounds::Rounds;
use super::sampling::{CampaignSettings, MIN_WAITS_PER_LENGTH, MIN_WAKEUPS, WaitPlan};
use super::subject::CampaignSubject;
use crate::hosts::host::TimerHost;
use crate::hosts::hosted;
use crate::model::WaitActivity;
use crate::statistics::{quantile, sorted};
use crate::trace::{PeriodRun, PeriodTrace, Reference, Wait, WaitRun, WaitTrace};

/// A sleep primitive with its observations.
pub type WaitSubject = CampaignSubject<WaitTrace>;

/// The waits to make, besides the numbers of the plan.
#[derive(Clone, Debug, Default)]
pub struct RequestedWaits {
    /// The requested lengths, in nanoseconds.
    pub lengths_ns: Vec<u64>,
    /// The time for which rounds are repeated; `None` for the number of rounds of the plan.
    pub span: Option<Duration>,
}

/// Measures sleep primitives: all of them briefly, then the leading ones for longer. Calls `progress`
/// with a description of the next step.
///
/// # Errors
/// Only [`Fault::Interrupted`]: the failure of a timer is recorded in its outcome.
pub fn measure_waits(
    hosts: &[TimerHost],
    subjects: &mut [WaitSubject],
    waits: &RequestedWaits,
    settings: &CampaignSettings,
    progress: &dyn Fn(&str),
) -> Result<(), Fault> {
    let empty = |_: &WaitSubject, reference| WaitTrace {
        reference,
        runs: Vec::new(),
    };
    let mut rounds = Rounds::begin(hosts, subjects, settings, progress, Purpose::Waits, empty)?;
    let with_plan = |plan: WaitPlan, lengths_ns: Vec<u64>| {
        move |subject: &mut WaitSubject, seed| -> Answer<()> {
            let mut bench = WaitBench::start(subject, hosts, settings)?;
            let runs = &mut subject.observed()?.runs;
            let mut random = StdRng::seed_from_u64(seed);
            let run = explore(&mut bench, runs, &lengths_ns, &plan, &mut random)?;
            runs.push(run);
            Ok(())
        }
    };
    let plan = settings.plan.waits;
    let measure = with_plan(plan, waits.lengths_ns.clone());
    rounds.repeat(plan.processes, waits.span, |rounds, _| {
        rounds.run_round(rounds.all(), &measure)
    })?;
    let has_leading = plan.leading > 0 && waits.span.is_none();
    for &length_ns in waits.lengths_ns.iter().filter(|_| has_leading) {
        let leading = leading(rounds.subjects, length_ns);
        let measure = with_plan(plan.for_leading(leading.len()), vec![length_ns]);
        for _ in 0..plan.processes {
            rounds.run_round(leading.clone(), &measure)?;
        }
    }
    Ok(())
}

/// Returns the indices of the least late primitives of those that block on each CPU, and of those
/// that do not and are much less late.
fn leading(subjects: &[WaitSubject], length_ns: u64) -> Vec<usize> {
    /// The largest ratio of the lateness of two primitives that are equally late. *Judgement*.
    const MAX_EQUAL_RATIO: f64 = 1.25;
    /// The largest lateness of a primitive that does not block, as a share of that of the best
    /// one that does. *Judgement*: it takes a CPU for it.
    const MAX_SPINNING_SHARE: f64 = 0.2;
    let late_ns = |subject: &WaitSubject| {
        let trace = subject.outcome.as_ref().ok()?;
        let waits = trace.runs.iter().flat_map(|run| &run.lengths);
        let waits = waits.filter(|wait| wait.request_ns == length_ns);
        let late = waits.map(|wait| wait.late_ns(trace.reference.ns_per_tick));
        // Other programs make half of a few waits late, but hardly three quarters.
        let early = quantile(&sorted(late), 0.25).map(f64::abs);
        early.filter(|_| subject.is_measurable())
    };
    let late_ns: Vec<Option<f64>> = subjects.iter().map(late_ns).collect();
    let blocks = |subject: &WaitSubject| subject.timer.means == WaitActivity::Blocks;
    let mut best = HashMap::new();
    for (subject, late) in subjects.iter().zip(&late_ns) {
        if let Some(late) = late.filter(|_| blocks(subject)) {
            let best = best.entry(subject.conditions.cpu).or_insert(late);
            *best = late.min(*best);
        }
    }
    let is_leading = |at: &usize| {
        let subject = &subjects[*at];
        let share = if blocks(subject) {
            MAX_EQUAL_RATIO
        } else {
            MAX_SPINNING_SHARE
        };
        let best = best.get(&subject.conditions.cpu);
        late_ns[*at].is_some_and(|late| best.is_none_or(|best| late <= share * best))
    };
    (0..subjects.len()).filter(is_leading).collect()
}

/// A sleep primitive with what is needed to measure it.
pub struct WaitBench {
    /// The sleep primitive.
    pub timer: Box<dyn Subject>,
    /// A loop that does not wait, if the host has one.
    pub floor: Option<Box<dyn Subject>>,
    /// The clock that times the waits.
    pub reference: Reference,
}

impl WaitBench {
    /// Starts a process for a sleep primitive.
    fn start(
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

    /// Makes waits of these lengths after random pauses of at most `pause_ns`. The user can interrupt
    /// only between questions, so that each has a limited length.
    fn wait(&mut self, lengths_ns: &[u64], pause_ns: f64) -> Answer<Vec<Wait>> {
        /// Largest total length of the waits in one question, in nanoseconds.
        const MAX_QUESTION_NS: u64 = 1_000_000_000;
        let longest = lengths_ns
            .iter()
            .max()
            .map_or(1, |length| length + pause_ns as u64);
        let count = (MAX_QUESTION_NS / longest.max(1)).clamp(1, lengths_ns.len().max(1) as u64);
        let mut waits = Vec::with_capacity(lengths_ns.len());
        for lengths_ns in lengths_ns.chunks(count as usize) {
            let list = WaitList {
                lengths_ns,
                pause_ns: pause_ns as u64,
            };
            waits.extend(self.timer.waits(&self.reference.id, list)?);
        }
        possible::check_waits(&waits, &self.reference)?;
        Ok(waits)
    }

    /// Times the loop that does not wait; returns no waits if the host has no such loop.
    fn time_floor(&mut self) -> Answer<Vec<Wait>> {
        /// Number of calls of the loop.
        const FLOOR_WAITS: usize = 200;
        let list = WaitList {
            lengths_ns: &[0; FLOOR_WAITS],
            pause_ns: 0,
        };
        let floor = self.floor.as_mut();
        let waits = floor.map_or(Ok(Vec::new()), |floor| {
            floor.waits(&self.reference.id, list)
        })?;
        possible::check_waits(&waits, &self.reference)?;
        Ok(waits)
    }

    /// The median lateness of some waits, and the time over which it would be spread evenly, in
    /// nanoseconds: the step of a primitive with a step.
    fn spread_ns<'a>(&self, waits: impl Iterator<Item = &'a Wait>) -> [f64; 2] {
        let late = sorted(waits.map(|wait| wait.late_ns(self.reference.ns_per_tick)));
        let [low, middle, high] = [0.25, 0.5, 0.75].map(|at| quantile(&late, at).unwrap_or(0.0));
        [middle.max(0.0), 2.0 * (high - low)]
    }
}

/// Measures a primitive in one process: its floor, its lateness at the given lengths and, if the plan
/// has a scan (waits of random lengths), its granularity. `before` are the runs of earlier processes.
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
    /// Number of waits that show the spread of the lateness if nothing else does.
    const TRIED_WAITS: usize = 4;
    /// Longest request of the first scan, ratio of successive ones, and the longest.
    const SCANS_NS: [f64; 3] = [3e6, 4.0, 3e7];
    /// Number of steps that a scan has to span to show their length.
    const STEPS_PER_SCAN: f64 = 2.5;
    /// Limits of the longest random pause before a wait, in nanoseconds.
    const PAUSES_NS: [f64; 2] = [2e4, 2e7];
    /// The number of waits of 1 ns is that of another length divided by this number.
    const SHORT_WAIT_DIVISOR: u32 = 4;
    let mut run = WaitRun {
        empty: bench.time_floor()?,
        ..WaitRun::default()
    };
    let known = before.iter().flat_map(|run| &run.lengths);
    let mut spread = if known.clone().next().is_none() {
        let shortest = lengths_ns.iter().min().copied().unwrap_or(1);
        let tried = bench.wait(&[shortest; TRIED_WAITS], PAUSES_NS[0])?;
        bench.spread_ns(tried.iter())
    } else {
        bench.spread_ns(known)
    };
    let [mut longest_ns, growth, most_ns] = SCANS_NS;
    let mut is_long_enough = plan.scan == 0;
    while !is_long_enough {
        // Requests take half the length of the scan on average, and the pauses a quarter.
        let affordable = plan.scan_ns / (0.75 * longest_ns + spread[0]);
        let count = (affordable as u32).clamp(plan.scan / 3, plan.scan);
        let lengths: Vec<u64> = (0..count)
            .map(|_| random.random_range(0.0..longest_ns) as u64)
            .collect();
        let scan = bench.wait(&lengths, longest_ns / 2.0)?;
        spread = bench.spread_ns(scan.iter());
        run.scans.push(scan);
        is_long_enough = STEPS_PER_SCAN * spread[1] <= longest_ns || longest_ns >= most_ns;
        longest_ns *= growth;
    }
    // Pauses of two steps, or one, let waits begin at all phases of a step equally often; those of a
    // step of the reference, at all of its phases.
    let steps = if 2.0 * spread[1] <= PAUSES_NS[1] {
        2.0
    } else {
        1.0
    };
    let least_ns = PAUSES_NS[0].max(bench.reference.uncertainty_ns());
    let pause_ns = (steps * spread[1]).max(least_ns).min(PAUSES_NS[1]);
    let count = |length: f64| {
        let count = (plan.length_ns / (length + spread[0] + pause_ns / 2.0)) as u32;
        count.clamp(MIN_WAITS_PER_LENGTH, plan.waits.max(MIN_WAITS_PER_LENGTH))
    };
    let short = if plan.scan > 0 {
        plan.waits / SHORT_WAIT_DIVISOR
    } else {
        0
    };
    let requests = lengths_ns
        .iter()
        .map(|&length| (length, count(length as f64)));
    let mut requests: Vec<u64> = requests
        .chain([(1, short)])
        .flat_map(|(length, count)| std::iter::repeat_n(length, count as usize))
        .collect();
    requests.shuffle(random);
    run.lengths = bench.wait(&requests, pause_ns)?;
    Ok(run)
}

/// Measures periodic timers, all with the same period. Calls `progress` with a description of the
/// next step.
///
/// # Errors
/// Only [`Fault::Interrupted`]: the failure of a timer is recorded in its outcome.
pub fn measure_periods(
    hosts: &[TimerHost],
    subjects: &mut [CampaignSubject<PeriodTrace>],
    period_ns: u64,
    settings: &CampaignSettings,
    progress: &dyn Fn(&str),
) -> Result<(), Fault> {
    let empty = |_: &CampaignSubject<PeriodTrace>, reference| PeriodTrace {
        reference,
        period_ns,
        runs: Vec::new(),
    };
    let mut rounds = Rounds::begin(hosts, subjects, settings, progress, Purpose::Waits, empty)?;
    let plan = settings.plan.waits;
    let tick = |subject: &mut CampaignSubject<PeriodTrace>, _| -> Answer<()> {
        let connection = subject.connect(hosts, settings)?;
        let mut timer = hosted::subject(&connection, &subject.timer.id);
        let PeriodTrace {
            reference, runs, ..
        } = subject.observed()?;
        let run = run_periodic_timer(timer.as_mut(), reference, period_ns, plan.ticking_ns)?;
        runs.push(run);
        Ok(())
    };
    rounds.repeat(plan.processes, None, |rounds, _| {
        rounds.run_round(rounds.all(), &tick)
    })
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
) -> Answer<PeriodRun> {
    /// Number of wake-ups that show the actual period, which is longer if it is made of single waits.
    const SAMPLED_WAKEUPS: u32 = 6;
    /// Largest number of wake-ups in a process.
    const MAX_WAKEUPS: u32 = 100_000;
    let sample = timer
        .periods(&reference.id, period_ns, SAMPLED_WAKEUPS)?
        .list;
    let [first, .., last] = sample.as_slice() else {
        return Err(Fault::Refused("the host reported no wake-ups".into()));
    };
    possible::check_wakeups(&sample, first.at, period_ns, reference)?;
    let sampled_ns = reference.ns(first.at, last.at) / f64::from(SAMPLED_WAKEUPS - 1);
    let count = (ticking_ns / sampled_ns.max(period_ns as f64)) as u32;
    let count = count.clamp(MIN_WAKEUPS, MAX_WAKEUPS);
    let Wakeups { start, list } = timer.periods(&reference.id, period_ns, count)?;
    possible::check_wakeups(&list, last.at, period_ns, reference)?;
    let wakeups = list
        .into_iter()
        .map(|Expiration { at, expirations }| (at, expirations))
        .collect();
    Ok(PeriodRun {
        wakeups,
        start,
        ..PeriodRun::default()
    })
}
