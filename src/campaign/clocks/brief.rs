//! Runs processes that visit many timers and only time their calls, to show how processes differ.

use std::cell::RefCell;
use std::rc::Rc;

use rand::seq::SliceRandom;
use timers::{Answer, Fault};

use super::adds::adds;
use super::examiner::Look;
use super::own_process::own_rate;
use super::{Campaign, Subject};
use crate::campaign::explore::{Shortcuts, search};
use crate::campaign::survived;
use crate::campaign::watch::ProcessWatch;
use crate::cost;
use crate::hosts::bench::{Bench, Watcher};
use crate::hosts::calls::time_calls_briefly;
use crate::hosts::connection::Connection;
use crate::hosts::host::{bench, connect};
use crate::hosts::hosted::measure_calls;
use crate::hosts::protocol::Op;
use crate::model::Family;
use crate::trace::{Batches, Reference, Run};

impl Campaign<'_> {
    /// Runs one process for the `targets` on this host and returns the timers that were measured.
    /// Losing the process disqualifies no timer, because each timer also had processes of its own.
    ///
    /// # Errors
    /// Only [`Fault::Interrupted`].
    pub(super) fn visit(
        &mut self,
        host: usize,
        mut targets: Vec<usize>,
        searches: bool,
    ) -> Result<Vec<usize>, Fault> {
        let subjects = &self.subjects;
        targets.retain(|&index| subjects[index].host == host && subjects[index].outcome.is_ok());
        targets.shuffle(&mut self.random);
        // Perf events come last: once one is open, the kernel saves and restores its counter on
        // every thread switch.
        targets.sort_by_key(|&index| {
            subjects[index].timer.properties.family == Some(Family::PerfEvent)
        });
        let ids: Vec<&str> = (targets.iter())
            .map(|&index| &*subjects[index].timer.id)
            .collect();
        let (host, settings) = (&self.hosts[host], self.settings);
        let connected = connect(host, &ids, settings.cpu, settings.timeout);
        let Ok(connection) = survived(connected)? else {
            return Ok(Vec::new());
        };
        let (mut asked, mut floor) = (Vec::new(), None);
        // Opening the timers fixes the rate that a process finds for itself.
        let mut begun = Vec::new();
        for &index in &targets {
            match survived(own_rate(host, &connection, &self.subjects[index]))? {
                Ok(rate) => begun.extend(rate.map(|rate| (index, rate))),
                Err(_) => break,
            }
        }
        for index in targets {
            match survived(self.ask_briefly(&connection, index, searches, &mut floor))? {
                Ok(()) => asked.push(index),
                Err(Fault::Refused(_)) => {}
                Err(_) => break,
            }
        }
        for (index, begun) in begun {
            let ended = survived(own_rate(host, &connection, &self.subjects[index]))?;
            if let (Ok(Some(ended)), Ok(stored)) = (ended, &mut self.subjects[index].outcome) {
                stored.evidence.process_comparisons.push([begun, ended]);
            }
        }
        // The shorter the time between two comparisons, the smaller the jumps that they show.
        self.compare(Look::Sparse, self.all())?;
        Ok(asked)
    }

    /// Times the calls of a timer, searches for its step if `searches` is set, and measures its
    /// cost in context if too few processes have done so.
    fn ask_briefly(
        &mut self,
        connection: &Rc<RefCell<Connection>>,
        index: usize,
        searches: bool,
        floor: &mut Option<Batches>,
    ) -> Answer<()> {
        let subject = &mut self.subjects[index];
        let (plan, slow) = (&self.settings.plan, subject.is_found_slow());
        let Subject { timer, outcome, .. } = subject;
        let Ok(stored) = outcome else { return Ok(()) };
        let (id, reference) = (&*timer.id, &stored.reference);
        let mut window = ProcessWatch::impatient(&self.watch, connection);
        let mut bench = bench(connection, timer, &reference.id);
        let mut run = times_calls(connection, &mut window, id, &mut bench, reference, floor)?;
        let steps = connection.borrow().hello().offers(Op::Steps);
        let shortcuts = Shortcuts {
            brief: true,
            host: steps.then_some((connection, id)),
            slow,
        };
        let random = &mut self.random;
        let mut search = || search(&mut bench, reference, plan, random, shortcuts, &mut run);
        let found = searches.then(&mut search).transpose()?;
        let in_context = if stored.adds.len() < plan.brief as usize {
            let cost_ns = cost::approximate_cost_ns(&run, reference);
            adds(
                connection,
                Some(&mut window),
                [id, &reference.id],
                cost_ns,
                plan,
            )
        } else {
            Ok(Vec::new())
        };
        let (dropped, valid) = window.end();
        stored.count_dropped(dropped);
        if !valid {
            stored.set_aside(run);
            return in_context.map(|_| ());
        }
        stored.add(run);
        let rows = in_context?;
        stored.adds.extend((!rows.is_empty()).then_some(rows));
        if let Some((ns_per_tick, slow)) = found {
            subject.explored(ns_per_tick, slow);
        }
        Ok(())
    }
}

/// Times the calls of a timer in one window, with a single question if the host supports it. The
/// floor is the same for all timers of a process, so it is measured with the first timer only.
fn times_calls(
    connection: &Rc<RefCell<Connection>>,
    window: &mut ProcessWatch,
    id: &str,
    bench: &mut Bench,
    reference: &Reference,
    floor: &mut Option<Batches>,
) -> Answer<Run> {
    let at_once = connection.borrow().hello().offers(Op::Calls);
    let (run, seen) = window.around(&mut || {
        if !at_once {
            return time_calls_briefly(bench, reference, floor);
        }
        let mut run = measure_calls(connection, id, reference, floor.is_none())?;
        match floor {
            Some(floor) => run.floor.clone_from(floor),
            None => *floor = Some(run.floor.clone()),
        }
        Ok(run)
    })?;
    Ok(run.seen(seen.core_hz, seen.unstable))
}
