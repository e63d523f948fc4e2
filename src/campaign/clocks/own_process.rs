//! Measures a timer in a process that measures only this timer.

use std::cell::RefCell;
use std::rc::Rc;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use timers::{Answer, Fault};

use super::cost_in_context::measure_contexts;
use super::examiner::Series;
use super::{Campaign, CampaignTimer};
use crate::campaign::disturbances::ProcessWatch;
use crate::campaign::examination::COMPARISONS_PER_SAMPLE;
use crate::campaign::{unless_interrupted, unless_refused};
use crate::cost;
use crate::hosts::connection::Connection;
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
        let seed = self.random.random();
        (self.progress)(&self.subjects[index].timer.id);
        let measured = unless_interrupted(self.explore_alone(index, seed))?;
        if let Err(fault) = measured {
            self.subjects[index].outcome = Err(fault.to_string());
        }
        self.compare(Series::Sparse, vec![index])
    }

    /// Measures a timer in a process of its own and adds the observations to its outcome.
    fn explore_alone(&mut self, index: usize, seed: u64) -> Answer<()> {
        let settings = self.settings;
        let (plan, subject) = (&settings.plan, &mut self.subjects[index]);
        let host = &self.hosts[subject.host];
        let slow = subject.is_found_slow();
        subject.own_processes += 1;
        let mut random = StdRng::seed_from_u64(seed);
        let cpu = self.watch.borrow_mut().begin_process();
        let connection = connect(host, &[&subject.timer.id], cpu, settings.timeout)?;
        let waits = subject.lacks_undisturbed();
        let first_comparison = compare_in_process(host, &connection, subject)?;
        let CampaignTimer { timer, outcome, .. } = &mut *subject;
        let Ok(stored) = outcome else { return Ok(()) };
        let (id, reference) = (&*timer.id, &stored.reference);
        let mut bench = bench(&connection, timer, &reference.id);
        let mut watch = ProcessWatch::repeating(&self.watch, &connection, waits);
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
            stored.adds.extend((!rows.is_empty()).then_some(rows));
        }
        let (dropped, valid) = watch.end();
        let comparisons = match first_comparison {
            Some(first) => {
                compare_in_process(host, &connection, subject)?.map(|last| [first, last])
            }
            None => None,
        };
        let Ok(stored) = &mut subject.outcome else {
            return Ok(());
        };
        stored.evidence.process_comparisons.extend(comparisons);
        stored.count_dropped(dropped);
        stored.count_dropped(connection.borrow().windows().dropped.clone());
        if valid {
            subject.add_run(run, self.watch.borrow().full_width());
            subject.add_search(found);
        } else {
            // The run is stored separately, because too many of its windows were disturbed.
            stored.set_aside(run);
            subject.disturbed_slow_searches += u32::from(found.slow);
            subject.disturbed_ticks_ns.extend(found.ns_per_tick);
        }
        Ok(())
    }
}

/// Compares a timer with its reference once if its rate may differ between processes: if it
/// declares a unit, may count wall time, and is not kept by the kernel or a device, which give all
/// processes the same time. `None` otherwise, and if the host refuses the question.
///
/// # Errors
/// When the process is lost or the run is interrupted.
pub(super) fn compare_in_process(
    host: &Host,
    connection: &Rc<RefCell<Connection>>,
    subject: &CampaignTimer,
) -> Answer<Option<[i64; 3]>> {
    let timer = &subject.timer;
    let may_count_wall = matches!(timer.properties.counts, None | Some(Counted::Wall));
    let may_differ = host.compares
        && timer.ns_per_tick.is_some()
        && may_count_wall
        && !timer.properties.has_shared_rate();
    let Some(stored) = subject.outcome.as_ref().ok().filter(|_| may_differ) else {
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
    connection: &Rc<RefCell<Connection>>,
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
