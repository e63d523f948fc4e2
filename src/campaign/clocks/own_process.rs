//! A process that one timer has to itself: all that is asked of its calls, and of its step.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use rand::SeedableRng;
use rand::rngs::StdRng;
use timers::Fault;

use super::adds::adds;
use super::own_rate::{OwnRate, may_differ};
use super::subject::Subject;
use crate::campaign::choose::Settings;
use crate::hosts::bench::Watcher;
use crate::hosts::connection::Connection;
use crate::hosts::host::{Host, bench, connect};
use crate::hosts::protocol::Op;

use crate::campaign::explore::{Exploration, Shortcuts, explore};
use crate::campaign::watch::{ProcessWatch, Watch};
use crate::cost;

/// One process for one timer.
pub(super) fn ask(
    host: &Host,
    subject: &mut Subject,
    settings: &Settings,
    watch: &Rc<RefCell<Watch>>,
    seed: u64,
) -> Result<(), Fault> {
    let found_slow = subject.is_found_slow();
    let Ok(stored) = &mut subject.outcome else {
        return Ok(());
    };
    subject.alone += 1;
    let (timer, trace) = (&subject.timer, stored);
    let mut random = StdRng::seed_from_u64(seed);
    let asked =
        connect(host, &[&timer.id], settings.cpu, settings.timeout).and_then(|connection| {
            let mut bench = bench(&connection, timer, &trace.reference.id);
            bench.watch = Some(Box::new(ProcessWatch::patient(watch, &connection)));
            let own_rate = match may_differ(host, timer) {
                true => OwnRate::begin(&connection, timer, &trace.reference.id)?,
                false => None,
            };
            let shortcuts = Shortcuts {
                brief: host.takes_ids,
                host: connection
                    .borrow()
                    .hello()
                    .offers(Op::Calls)
                    .then_some((&connection, &*timer.id)),
                slow: found_slow,
            };
            let (reference, plan) = (&trace.reference, &settings.plan);
            let mut explored = || explore(&mut bench, reference, plan, &mut random, shortcuts);
            let found = undisturbed(&connection, &mut explored)?;
            // Brief processes ask the others.
            if !host.takes_ids {
                let ids = [&*timer.id, &reference.id];
                let rows = adds(
                    &connection,
                    None,
                    ids,
                    cost::rough_ns(&found.run, reference),
                    plan,
                )?;
                trace.adds.extend((!rows.is_empty()).then_some(rows));
            }
            let own_rate = own_rate.map(OwnRate::end).transpose()?.flatten();
            trace.evidence.process_comparisons.extend(own_rate);
            Ok((found, bench.watch.take().map(Watcher::end)))
        });
    match asked {
        Ok((found, watched)) => keep(subject, found, watched.unwrap_or((BTreeMap::new(), true))),
        Err(Fault::Interrupted) => return Err(Fault::Interrupted),
        Err(fault) => subject.outcome = Err(fault.to_string()),
    }
    Ok(())
}

/// Keeps what a process found; apart from the others where it was disturbed throughout.
fn keep(subject: &mut Subject, found: Exploration, watched: (BTreeMap<String, u32>, bool)) {
    let Ok(stored) = &mut subject.outcome else {
        return;
    };
    let (dropped, valid) = watched;
    stored.count_dropped(dropped.into_iter().chain(found.dropped));
    if valid {
        stored.add(found.run);
        subject.explored(found.ns_per_tick, found.slow);
    } else {
        stored.set_aside(found.run);
        subject.disturbed.0 += u32::from(found.slow);
        subject.disturbed.1.extend(found.ns_per_tick);
    }
}

/// Explores once more whenever the runtime compiled the loops anew meanwhile: what was measured
/// before that was another program.
fn undisturbed(
    connection: &Rc<RefCell<Connection>>,
    explore: &mut dyn FnMut() -> Result<Exploration, Fault>,
) -> Result<Exploration, Fault> {
    /// From there on it will not settle.
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
