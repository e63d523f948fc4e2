//! Measures a timer in a process that measures only this timer.

use std::cell::RefCell;
use std::rc::Rc;

use rand::SeedableRng;
use rand::rngs::StdRng;
use timers::{Answer, Fault};

use super::cost_in_context::measure_contexts;
use super::examiner::Series;
use super::{Campaign, Measured};
use crate::campaign::disturbances::{ProcessWatch, Watch};
use crate::campaign::examination::COMPARISONS_PER_SAMPLE;
use crate::campaign::sampling::CampaignSettings;
use crate::campaign::subject::CampaignSubject;
use crate::campaign::unless_refused;
use crate::cost;
use crate::hosts::connection::SharedConnection;
use crate::hosts::host::{Host, bench, connect};
use crate::hosts::hosted;
use crate::model::Counted;
use crate::prober::{CallsPlan, Search, search_step, time_calls};
use crate::rate::tightest;
use crate::trace::Run;

impl Campaign<'_> {
    /// Measures a timer in a process of its own, then compares it with its reference. If the
    /// process fails, records the reason as the outcome of the timer.
    ///
    /// # Errors
    /// Only [`Fault::Interrupted`].
    pub(super) fn measure_alone(&mut self, index: usize) -> Result<(), Fault> {
        let (hosts, settings, watch) = (self.rounds.hosts, self.rounds.settings, &self.watch);
        let explore = |subject: &mut CampaignSubject<Measured>, seed| {
            explore_alone(&hosts[subject.host], settings, watch, subject, seed)
        };
        self.rounds.run_process(index, explore)?;
        // A clock that fails in any of its own processes has no figures.
        let subject = &mut self.rounds.subjects[index];
        if let Some(fault) = subject.lost.take() {
            subject.outcome = Err(fault);
        }
        self.compare(Series::Sparse, vec![index])
    }
}

/// Measures a timer in a process of its own and adds the observations to its outcome.
fn explore_alone(
    host: &Host,
    settings: &CampaignSettings,
    campaign_watch: &Rc<RefCell<Watch>>,
    subject: &mut CampaignSubject<Measured>,
    seed: u64,
) -> Answer<()> {
    let plan = &settings.plan;
    let measured = subject.observed()?;
    measured.own_processes += 1;
    let (slow, waits) = (measured.is_found_slow(), measured.lacks_undisturbed());
    let mut random = StdRng::seed_from_u64(seed);
    let cpu = campaign_watch.borrow_mut().begin_process();
    let connection = connect(host, &[&subject.timer.id], cpu, settings.timeout)?;
    let first_comparison = compare_in_process(host, &connection, subject)?;
    let (timer, Ok(measured)) = (&subject.timer, &mut subject.outcome) else {
        return Ok(());
    };
    let (id, reference) = (&*timer.id, &measured.stored.reference);
    let mut bench = bench(&connection, timer, &reference.id);
    let mut watch = ProcessWatch::repeating(campaign_watch, &connection, waits);
    let calls = if host.takes_ids {
        &CallsPlan::BRIEF
    } else {
        &plan.calls
    };
    let mut explore = || {
        let mut run = time_calls(&mut bench, &mut watch, reference, calls, &mut None)?;
        let (limits, random) = (plan.search_limits(), &mut random);
        let found = search_step(&mut bench, reference, limits, random, slow, &mut run)?;
        Ok((run, found))
    };
    let (run, found) = explore_until_stable(&connection, &mut explore)?;
    // If the host supports brief processes, these measure the cost in context.
    if !host.takes_ids {
        let cost_ns = cost::approximate_cost_ns(&run, reference);
        let rows = measure_contexts(&connection, None, [id, &reference.id], cost_ns, plan)?;
        let adds = &mut measured.stored.adds;
        adds.extend((!rows.is_empty()).then_some(rows));
    }
    let (dropped, valid) = watch.end();
    let comparisons = match first_comparison {
        Some(first) => compare_in_process(host, &connection, subject)?.map(|last| [first, last]),
        None => None,
    };
    let measured = subject.observed()?;
    let stored = &mut measured.stored;
    stored.evidence.process_comparisons.extend(comparisons);
    stored.count_dropped(dropped);
    stored.count_dropped(connection.borrow().windows().dropped.clone());
    if valid {
        measured.add_run(run, campaign_watch.borrow().full_width());
        measured.add_search(found);
    } else {
        // The run is stored separately, because too many of its windows were disturbed.
        stored.set_aside(run);
        measured.set_search_aside(found);
    }
    Ok(())
}

/// Compares a timer with its reference once if its rate may differ between processes: if it
/// declares a unit, may count wall time, and is not kept by the kernel or a device, which give all
/// processes the same time. `None` otherwise, and if the host refuses the question.
///
/// # Errors
/// When the process is lost or the run is interrupted.
pub(super) fn compare_in_process(
    host: &Host,
    connection: &SharedConnection,
    subject: &CampaignSubject<Measured>,
) -> Answer<Option<[i64; 3]>> {
    let timer = &subject.timer;
    let may_count_wall = matches!(timer.properties.counts, None | Some(Counted::Wall));
    let may_differ = host.compares
        && timer.ns_per_tick.is_some()
        && may_count_wall
        && !timer.properties.has_shared_rate();
    let Some(stored) = subject.stored().filter(|_| may_differ) else {
        return Ok(None);
    };
    let mut timer = hosted::subject(connection, &timer.id);
    let compared =
        unless_refused(timer.comparisons(&stored.reference.id, 0, COMPARISONS_PER_SAMPLE))?;
    Ok(compared.and_then(tightest))
}

/// Explores a timer. Repeats the exploration if it was voided: the runtime recompiled the measuring
/// loops during it, so that its first part measured different machine code.
fn explore_until_stable(
    connection: &SharedConnection,
    explore: &mut dyn FnMut() -> Answer<(Run, Search)>,
) -> Answer<(Run, Search)> {
    /// Attempts after which the runtime is not expected to stop recompiling.
    /// *Judgement*.
    const MAX_ATTEMPTS: u32 = 4;
    let mut attempt = 1;
    loop {
        let before = connection.borrow().windows().clone();
        let (mut run, found) = explore()?;
        let mut connection = connection.borrow_mut();
        let voided = connection.windows().voided - before.voided;
        if voided == 0 || attempt == MAX_ATTEMPTS {
            run.disturbed = connection.windows().disturbed + voided;
            return Ok((run, found));
        }
        connection.void_since(&before);
        attempt += 1;
    }
}
