//! Measures clocks in one process: one clock in a process of its own, or many clocks in a brief
//! process, which for most of them only times their calls and shows how much results differ between
//! processes.

use std::cell::RefCell;
use std::rc::Rc;

use rand::rngs::SmallRng;
use timers::{Answer, Fault};

use super::clock::Clock;
use super::cost_in_context::measure_contexts;
use crate::agents::agent::{Agent, bench, connect};
use crate::agents::connection::SharedConnection;
use crate::agents::subject;
use crate::campaign::disturbances::{CampaignWatch, ProcessWatch};
use crate::campaign::examination::COMPARISONS_PER_SAMPLE;
use crate::campaign::plan::Plan;
use crate::campaign::{unless_interrupted, unless_refused};
use estimators::cost;
use estimators::model::Counted;
use estimators::rate::tightest;
use estimators::trace::{Batches, Observations};
use probe::prober::{Search, TIMER_WATCH_MS, measure_rate, search_step, time_calls};

/// What a process does with each of its clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProcessKind {
    /// It measures a single clock, and repeats all disturbed windows.
    Own,
    /// It times the calls of many clocks, and searches for their steps only if `searches`. Windows
    /// with a bearable disturbance are kept and marked.
    Brief {
        /// Whether it searches for steps.
        searches: bool,
    },
}

/// A process of an agent that measures.
pub(super) struct MeasuringProcess<'a> {
    pub agent: &'a Agent,
    pub plan: &'a Plan,
    pub watch: &'a Rc<RefCell<CampaignWatch>>,
    pub kind: ProcessKind,
    connection: SharedConnection,
    /// The calls of the clock that reads nothing, once they were timed.
    floor: Option<Batches>,
}

impl<'a> MeasuringProcess<'a> {
    /// Starts a process that opens these clocks.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) fn start(
        agent: &'a Agent,
        ids: &[&str],
        plan: &'a Plan,
        watch: &'a Rc<RefCell<CampaignWatch>>,
        kind: ProcessKind,
    ) -> Answer<Self> {
        let cpu = watch.borrow_mut().begin_process();
        Ok(Self {
            connection: connect(agent, ids, cpu, plan.time_limit())?,
            agent,
            plan,
            watch,
            kind,
            floor: None,
        })
    }

    /// Measures those of the `clocks` with these indices, one after the other. Returns the indices of those
    /// that were measured. If a brief process is lost, its clocks do not fail, because each also has
    /// processes of its own.
    ///
    /// # Errors
    /// When its only clock cannot be measured, the process is lost before it measures, or the run is
    /// interrupted.
    pub(super) fn measure(
        mut self,
        clocks: &mut [Clock],
        targets: &[usize],
        random: &mut SmallRng,
    ) -> Answer<Vec<usize>> {
        // A runtime may determine the rate of its clocks when it opens them, for the whole process.
        // The rate is therefore measured by comparisons at the start and at the end of the process.
        let mut first_comparisons = Vec::new();
        for &index in targets {
            let first = self.compare(&clocks[index])?;
            first_comparisons.extend(first.map(|first| (index, first)));
        }
        let mut measured = Vec::new();
        for &index in targets {
            match self.measure_clock(&mut clocks[index], random) {
                Ok(()) => measured.push(index),
                Err(Fault::Refused(_)) if self.kind != ProcessKind::Own => {}
                Err(Fault::Lost(_)) if self.kind != ProcessKind::Own => break,
                Err(fault) => return Err(fault),
            }
        }
        for (index, first) in first_comparisons {
            let clock = &mut clocks[index];
            if let (Ok(Some(last)), Some(stored)) =
                (unless_interrupted(self.compare(clock))?, clock.stored_mut())
            {
                stored.evidence.process_comparisons.push([first, last]);
            }
        }
        Ok(measured)
    }

    /// Compares a clock with its reference once if its rate may differ between processes: if it
    /// declares a unit, may count wall time, and is not kept by the kernel or a device, which give all
    /// processes the same time. `None` otherwise, and if the agent refuses the question.
    fn compare(&self, Clock { timer, outcome, .. }: &Clock) -> Answer<Option<[i64; 3]>> {
        let may_count_wall = matches!(timer.properties.counts, None | Some(Counted::Wall));
        let may_differ = self.agent.compares
            && timer.ns_per_tick.is_some()
            && may_count_wall
            && !timer.properties.has_shared_rate();
        let Some(stored) = outcome.as_ref().ok().filter(|_| may_differ) else {
            return Ok(None);
        };
        let mut timer = subject::subject(&self.connection, &timer.id);
        let compared = timer.comparisons(&stored.reference.id, 0, COMPARISONS_PER_SAMPLE);
        Ok(unless_refused(compared)?.and_then(tightest))
    }

    /// Times the calls of a clock, searches for its step, and measures its cost in context if that
    /// is wanted.
    fn measure_clock(&mut self, clock: &mut Clock, random: &mut SmallRng) -> Answer<()> {
        let Some(stored) = clock.stored() else {
            return Ok(());
        };
        let (compared, reference) = (&stored.reference, stored.calls_reference().clone());
        let is_own = self.kind == ProcessKind::Own;
        let mut window = ProcessWatch::new(self.watch, &self.connection, is_own);
        window.is_on_device = clock.timer.device.is_some();
        let mut bench = bench(&self.connection, &clock.timer, &reference.id);
        // The rate of the cycle counter of a device by itself shows nothing.
        if bench.ns_per_tick.is_none() && reference != *compared {
            let (timer, ns) = (bench.timer.as_mut(), compared.ns_per_tick);
            bench.ns_per_tick = measure_rate(timer, &compared.id, ns, TIMER_WATCH_MS)?;
        }
        let calls = self.plan.calls(self.agent.takes_ids);
        let (limits, slow) = (self.plan.search_limits(), clock.is_found_slow());
        let mut explore = || {
            if is_own {
                self.floor = None;
            }
            let mut run = time_calls(&mut bench, &mut window, &reference, calls, &mut self.floor)?;
            let found = match self.kind {
                ProcessKind::Brief { searches: false } => None,
                _ => Some(search_step(
                    &mut bench, &reference, limits, random, slow, &mut run,
                )?),
            };
            Ok((run, found))
        };
        let (run, found) = if is_own {
            explore_until_stable(&self.connection, &mut explore)?
        } else {
            explore()?
        };
        // Own processes measure the cost in context only if there are no brief ones.
        let is_turn = match is_own {
            true => !self.agent.takes_ids,
            false => stored.adds.len() < self.plan.brief as usize,
        };
        let in_context = if self.plan.adds && is_turn {
            let cost_ns = cost::approximate_cost_ns(&run, &reference);
            let ids = [&*clock.timer.id, &*reference.id];
            let window = (!is_own).then_some(&mut window);
            measure_contexts(&self.connection, window, ids, cost_ns)
        } else {
            Ok(Vec::new())
        };
        let (mut dropped, is_usable) = window.end();
        if is_own {
            for (cause, count) in &self.connection.borrow().windows().dropped {
                *dropped.entry(cause.clone()).or_default() += count;
            }
        }
        match found {
            Some(found) if is_usable => clock.searches.push(found),
            Some(found) if is_own => clock.disturbed_searches.push(found),
            _ => {}
        }
        if is_usable {
            clock.add_run(run, self.watch.borrow().full_width());
        } else if let Ok(stored) = &mut clock.outcome {
            // Too many of its windows were disturbed.
            stored.set_aside(run);
        }
        let Ok(stored) = &mut clock.outcome else {
            return Ok(());
        };
        stored.count_dropped(dropped);
        let rows = in_context?;
        let is_wanted = (is_own || is_usable) && !rows.is_empty();
        stored.adds.extend(is_wanted.then_some(rows));
        Ok(())
    }
}

/// The run of a clock, and the result of the search for its step.
type Explored = (Observations, Option<Search>);

/// Explores a clock. Repeats the exploration if it was voided: the runtime recompiled the measuring
/// loops during it, so that its first part measured different machine code.
fn explore_until_stable(
    connection: &SharedConnection,
    explore: &mut dyn FnMut() -> Answer<Explored>,
) -> Answer<Explored> {
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
