//! Brief processes: each times calls of many timers, and nothing else.
//!
//! Only many processes tell what processes differ by, and one that is started for a single timer
//! spends most of its time starting. So besides those that a timer has to itself, which look for
//! its step as well, there are processes that visit the timers of a host one after the other, in
//! another order each time. Some of them look for steps, too.

use std::cell::RefCell;
use std::rc::Rc;

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use timers::Fault;

use super::adds::adds;
use super::own_rate::{OwnRate, may_differ};
use super::subject::Subject;
use crate::hosts::bench::Bench;
use crate::hosts::bench::Watcher;
use crate::hosts::calls::explore_calls;
use crate::hosts::connection::Connection;
use crate::hosts::host::{Host, bench, connect};
use crate::hosts::hosted::calls;
use crate::hosts::protocol::{HostedTimer, Op};

use crate::campaign::choose::Settings;
use crate::campaign::explore::{Shortcuts, search};
use crate::campaign::sampling::Plan;
use crate::campaign::watch::{ProcessWatch, Watch};
use crate::cost;
use crate::model::Family;
use crate::trace::{Batches, Reference, Run, Stored};

/// One process for the timers of `host` among `targets`; returns those that it asked. One that is lost
/// disqualifies no timer: each was asked by processes of its own before.
///
/// # Errors
/// Only [`Fault::Interrupted`].
pub(super) fn visit(
    host: &Host,
    subjects: &mut [Subject],
    mut targets: Vec<usize>,
    settings: &Settings,
    watch: &Rc<RefCell<Watch>>,
    random: &mut StdRng,
    searches: bool,
) -> Result<Vec<usize>, Fault> {
    targets.retain(|index| subjects[*index].outcome.is_ok());
    targets.shuffle(random);
    // The kernel saves and restores these counters from then on, whenever it switches threads.
    targets
        .sort_by_key(|index| subjects[*index].timer.properties.family == Some(Family::PerfEvent));
    let ids: Vec<&str> = targets
        .iter()
        .map(|index| subjects[*index].timer.id.as_str())
        .collect();
    let connection = match connect(host, &ids, settings.cpu, settings.timeout) {
        Ok(connection) => connection,
        Err(Fault::Interrupted) => return Err(Fault::Interrupted),
        Err(_) => return Ok(Vec::new()),
    };
    let (mut asked, mut floor) = (Vec::new(), None);
    let own_rates = begun(host, &connection, subjects, &targets)?;
    for index in targets {
        let slow = subjects[index].is_found_slow();
        let Subject {
            timer,
            outcome: Ok(stored),
            ..
        } = &mut subjects[index]
        else {
            continue;
        };
        let mut window = ProcessWatch::impatient(watch, &connection);
        let reference = &stored.reference;
        let mut bench = bench(&connection, timer, &reference.id);
        let id = timer.id.as_str();
        let answered = times_calls(
            &connection,
            &mut window,
            id,
            &mut bench,
            reference,
            &mut floor,
        )
        .and_then(|mut run| {
            let shortcuts = Shortcuts {
                brief: true,
                host: connection
                    .borrow()
                    .hello()
                    .offers(Op::Steps)
                    .then_some((&connection, id)),
                slow,
            };
            let plan = &settings.plan;
            let search = || search(&mut bench, reference, plan, random, shortcuts, &mut run);
            let found = searches.then(search).transpose()?;
            Ok((run, found))
        });
        match answered {
            Ok((run, found)) => {
                let Some(valid) = kept(stored, run, &connection, window, timer, &settings.plan)?
                else {
                    break;
                };
                if let Some((ns_per_tick, slow)) = found.filter(|_| valid) {
                    subjects[index].explored(ns_per_tick, slow);
                }
                asked.push(index);
            }
            Err(Fault::Interrupted) => return Err(Fault::Interrupted),
            Err(Fault::Refused(_)) => {}
            Err(_) => break,
        }
    }
    end(own_rates, subjects)?;
    Ok(asked)
}

/// Keeps how those moved whose rate the process may have found for itself.
fn end(own_rates: Vec<(usize, OwnRate)>, subjects: &mut [Subject]) -> Result<(), Fault> {
    for (index, own_rate) in own_rates {
        match (own_rate.end(), &mut subjects[index].outcome) {
            (Err(Fault::Interrupted), _) => return Err(Fault::Interrupted),
            (Ok(ends), Ok(stored)) => stored.evidence.process_comparisons.extend(ends),
            (Err(_), _) | (_, Err(_)) => {}
        }
    }
    Ok(())
}

/// Keeps what a timer answered, and asks what it adds in context where that is not known well
/// enough. Returns whether it counts; nothing where the process is lost.
///
/// # Errors
/// Only [`Fault::Interrupted`].
fn kept(
    stored: &mut Stored,
    run: Run,
    connection: &Rc<RefCell<Connection>>,
    mut window: ProcessWatch,
    timer: &HostedTimer,
    plan: &Plan,
) -> Result<Option<bool>, Fault> {
    let trace = &*stored;
    let in_context = if trace.adds.len() < plan.brief as usize {
        let (ids, cost_ns) = (
            [&*timer.id, &trace.reference.id],
            cost::rough_ns(&run, &trace.reference),
        );
        adds(connection, Some(&mut window), ids, cost_ns, plan)
    } else {
        Ok(Vec::new())
    };
    let (dropped, valid) = window.end();
    stored.count_dropped(dropped);
    if valid {
        stored.add(run)
    } else {
        stored.set_aside(run)
    }
    match in_context {
        Ok(rows) if valid && !rows.is_empty() => stored.adds.push(rows),
        Ok(_) => {}
        Err(Fault::Interrupted) => return Err(Fault::Interrupted),
        Err(_) => return Ok(None),
    }
    Ok(Some(valid))
}

/// Times the calls of a timer, by one question where the host answers that, all in one window. The
/// floor is the same for all timers of a process: the first one finds it.
fn times_calls(
    connection: &Rc<RefCell<Connection>>,
    window: &mut ProcessWatch,
    id: &str,
    bench: &mut Bench,
    reference: &Reference,
    floor: &mut Option<Batches>,
) -> Result<Run, Fault> {
    let at_once = connection.borrow().hello().offers(Op::Calls);
    let (run, seen) = window.around(&mut || {
        if !at_once {
            return explore_calls(bench, reference, floor);
        }
        let mut run = calls(connection, id, reference, floor.is_none())?;
        match floor {
            Some(floor) => run.floor.clone_from(floor),
            None => *floor = Some(run.floor.clone()),
        }
        Ok(run)
    })?;
    Ok(run.seen(seen.core_hz, seen.unstable))
}

/// Those whose rate this process may find for itself, compared with their references at its
/// beginning. Opening them finds the rate.
fn begun(
    host: &Host,
    connection: &Rc<RefCell<Connection>>,
    subjects: &[Subject],
    targets: &[usize],
) -> Result<Vec<(usize, OwnRate)>, Fault> {
    let mut begun = Vec::new();
    for &index in targets {
        let Subject {
            timer,
            outcome: Ok(stored),
            ..
        } = &subjects[index]
        else {
            continue;
        };
        if may_differ(host, timer) {
            match OwnRate::begin(connection, timer, &stored.reference.id) {
                Ok(own_rate) => begun.extend(own_rate.map(|own_rate| (index, own_rate))),
                Err(Fault::Interrupted) => return Err(Fault::Interrupted),
                Err(_) => break,
            }
        }
    }
    Ok(begun)
}
