//! Asks sleep primitives and periodic timers in fresh processes of their own. Long waits go on in
//! parallel, where all sleep primitives that block wait side by side, as one after the other would
//! take too long.

use std::thread;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use timers::{Answer, Fault};

use super::bench::bench;
use super::explore::explore;
use super::front::front;
use super::plan::WaitPlan;
pub use super::plan::WaitSettings;
pub use super::rounds::Broken;
use super::rounds::Rounds;
use super::side_by_side::{SideBySide, keep};
pub use super::subject::{Conditions, Subject};
use super::ticking::tick;
use crate::hosts::host::{Host, connect};
use crate::hosts::hosted::waiter;
use crate::model::Means;
use crate::trace::{PeriodRun, PeriodTrace, WaitRun, WaitTrace};

/// Lets all subjects wait: each as often as a first look takes, and then those further that others
/// are not both less late and cheaper than. `progress` is called with what comes next.
///
/// # Errors
/// Only [`Fault::Interrupted`]: what befalls a timer stands in its outcome.
pub fn wait(
    hosts: &[Host],
    subjects: &mut [Subject<WaitTrace>],
    settings: &WaitSettings,
    progress: &dyn Fn(&str),
) -> Result<Option<Broken>, Fault> {
    let mut rounds = Rounds::begin(hosts, subjects, settings, progress, |subject, reference| {
        WaitTrace {
            reference,
            blocks: subject.waiter.means == Means::Blocks,
            runs: Vec::new(),
        }
    })?;
    let plan = settings.plan;
    let seed: u64 = rounds.random.random();
    let first = one_process(hosts, settings, plan.first());
    let late = rounds.repeat(|rounds, round| {
        if round >= plan.long_rounds {
            return rounds.round(rounds.all(), &first);
        }
        // Long waits go on in parallel to the rounds, not after them: how late one is depends on how
        // deeply the CPU slept, which differs from time to time.
        let long = SideBySide::select(rounds.subjects);
        thread::scope(|scope| {
            let observe = || long.observe(hosts, settings, seed.wrapping_add(round.into()));
            let parallel = thread::Builder::new().spawn_scoped(scope, observe);
            let late = rounds.round(rounds.all(), &first)?;
            progress("long waits, side by side");
            let observed = parallel
                .ok()
                .and_then(|parallel| parallel.join().ok())
                .unwrap_or_default();
            keep(rounds.subjects, observed, round as usize)?;
            Ok(late)
        })
    })?;
    if late.is_some() {
        return Ok(late);
    }
    let further = one_process(hosts, settings, plan);
    for _ in 0..plan.further {
        let late = rounds.round(front(rounds.subjects), &further)?;
        if late.is_some() {
            return Ok(late);
        }
    }
    Ok(None)
}

/// What a process of a sleep primitive observes.
fn one_process<'a>(
    hosts: &'a [Host],
    settings: &'a WaitSettings,
    plan: WaitPlan,
) -> impl Fn(&Subject<WaitTrace>, &WaitTrace, u64) -> Answer<WaitRun> + 'a {
    move |subject, trace, seed| {
        let placement = subject.conditions.placement();
        let mut bench = bench(&hosts[subject.host], subject, placement, settings)?;
        explore(
            &mut bench,
            &trace.runs,
            &settings.lengths_ns,
            &plan,
            &mut StdRng::seed_from_u64(seed),
        )
    }
}

/// Lets all subjects tick with this period.
///
/// # Errors
/// As [`wait`].
pub fn tick_all(
    hosts: &[Host],
    subjects: &mut [Subject<PeriodTrace>],
    period_ns: u64,
    settings: &WaitSettings,
    progress: &dyn Fn(&str),
) -> Result<(), Fault> {
    let mut rounds = Rounds::begin(hosts, subjects, settings, progress, |_, reference| {
        PeriodTrace {
            reference,
            period_ns,
            runs: Vec::new(),
        }
    })?;
    let process = |subject: &Subject<PeriodTrace>, trace: &PeriodTrace, _| -> Answer<PeriodRun> {
        let (id, placement) = (&subject.waiter.id, subject.conditions.placement());
        let connection = connect(&hosts[subject.host], &[id], placement, settings.timeout)?;
        let mut timer = waiter(&connection, id);
        let ticking_ns = settings.plan.ticking_ns;
        tick(timer.as_mut(), &trace.reference, period_ns, ticking_ns)
    };
    rounds
        .repeat(|rounds, _| rounds.round(rounds.all(), &process))
        .map(|_| ())
}
