//! Measures one timer in a process of its own.

use std::cell::RefCell;
use std::rc::Rc;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use timers::{Answer, Fault};

use super::adds::adds;
use super::examiner::Look;
use super::{Campaign, Subject};
use crate::campaign::explore::{Exploration, Shortcuts, explore};
use crate::campaign::watch::ProcessWatch;
use crate::campaign::{survived, unless_refused};
use crate::cost;
use crate::hosts::bench::Watcher;
use crate::hosts::connection::Connection;
use crate::hosts::host::{Host, bench, connect};
use crate::hosts::hosted;
use crate::hosts::protocol::Op;
use crate::model::Counted;
use crate::rate::tightest;

/// Comparisons, the tightest of which is kept.
/// *Judgement*: as `SPARSE_COMPARISON`.
const COMPARISONS: u32 = 7;

impl Campaign<'_> {
    /// Measures a timer in a process of its own.
    pub(super) fn ask(&mut self, index: usize) -> Result<(), Fault> {
        let seed = self.random.random();
        (self.progress)(&self.subjects[index].timer.id);
        let asked = survived(self.ask_alone(index, seed))?;
        if let Err(fault) = asked {
            self.subjects[index].outcome = Err(fault.to_string());
        }
        self.compare(Look::Sparse, vec![index])
    }

    fn ask_alone(&mut self, index: usize, seed: u64) -> Answer<()> {
        let settings = self.settings;
        let (plan, subject) = (&settings.plan, &mut self.subjects[index]);
        let host = &self.hosts[subject.host];
        let slow = subject.is_found_slow();
        subject.alone += 1;
        let mut random = StdRng::seed_from_u64(seed);
        let connection = connect(host, &[&subject.timer.id], settings.cpu, settings.timeout)?;
        let begun = own_rate(host, &connection, subject)?;
        let Subject { timer, outcome, .. } = &mut *subject;
        let Ok(stored) = outcome else { return Ok(()) };
        let (id, reference) = (&*timer.id, &stored.reference);
        let mut bench = bench(&connection, timer, &reference.id);
        bench.watch = Some(Box::new(ProcessWatch::patient(&self.watch, &connection)));
        let calls = connection.borrow().hello().offers(Op::Calls);
        let shortcuts = Shortcuts {
            brief: host.takes_ids,
            host: calls.then_some((&connection, id)),
            slow,
        };
        let mut explored = || explore(&mut bench, reference, plan, &mut random, shortcuts);
        let found = undisturbed(&connection, &mut explored)?;
        // For other hosts, brief processes measure the contexts.
        if !host.takes_ids {
            let cost_ns = cost::approximate_cost_ns(&found.run, reference);
            let rows = adds(&connection, None, [id, &reference.id], cost_ns, plan)?;
            stored.adds.extend((!rows.is_empty()).then_some(rows));
        }
        let watched = bench.watch.take().map(Watcher::end);
        let ended = match begun {
            Some(begun) => own_rate(host, &connection, subject)?.map(|ended| [begun, ended]),
            None => None,
        };
        let Ok(stored) = &mut subject.outcome else {
            return Ok(());
        };
        stored.evidence.process_comparisons.extend(ended);
        let (dropped, valid) = watched.unwrap_or_else(|| (Default::default(), true));
        stored.count_dropped(dropped.into_iter().chain(found.dropped));
        if valid {
            stored.add(found.run);
            subject.explored(found.ns_per_tick, found.slow);
        } else {
            // The run is stored separately, because the process was disturbed throughout.
            stored.set_aside(found.run);
            subject.disturbed.0 += u32::from(found.slow);
            subject.disturbed.1.extend(found.ns_per_tick);
        }
        Ok(())
    }
}

/// Compares a timer with its reference if its rate may differ between processes: the timer declares
/// a unit, claims wall time, and is not kept by a kernel or device, which is the same for all
/// processes. `None` otherwise, and if the question is refused, which disqualifies no timer.
///
/// # Errors
/// When the process is lost.
pub(super) fn own_rate(
    host: &Host,
    connection: &Rc<RefCell<Connection>>,
    subject: &Subject,
) -> Answer<Option<[i64; 3]>> {
    let timer = &subject.timer;
    let wall = matches!(timer.properties.counts, None | Some(Counted::Wall));
    let differs =
        host.compares && timer.ns_per_tick.is_some() && wall && !timer.properties.is_kept_for_all();
    let Some(stored) = subject.outcome.as_ref().ok().filter(|_| differs) else {
        return Ok(None);
    };
    let mut timer = hosted::subject(connection, &timer.id);
    let compared = unless_refused(timer.comparisons(&stored.reference.id, 0, COMPARISONS))?;
    Ok(compared.and_then(tightest))
}

/// Repeats the exploration if the runtime recompiled the loops during it, because the earlier
/// measurements are those of a different program.
fn undisturbed(
    connection: &Rc<RefCell<Connection>>,
    explore: &mut dyn FnMut() -> Answer<Exploration>,
) -> Answer<Exploration> {
    /// After this many attempts, the runtime is not expected to settle.
    /// *Judgement*.
    const MOST: u32 = 4;
    let mut turn = 1;
    loop {
        let before = connection.borrow().windows().clone();
        let mut exploration = explore()?;
        let mut connection = connection.borrow_mut();
        let voided = connection.windows().voided - before.voided;
        if voided == 0 || turn == MOST {
            let windows = connection.windows();
            exploration.dropped.clone_from(&windows.dropped);
            exploration.run.disturbed = windows.disturbed + voided;
            return Ok(exploration);
        }
        connection.void_since(&before);
        turn += 1;
    }
}
