//! Measures clocks in one process: one clock in a process of its own, or many clocks in a brief
//! process, which for most of them only times their calls and shows how much results differ between
//! processes.

use rand::seq::SliceRandom;
use timers::{Answer, Fault};

use super::cost_in_context::measure_contexts;
use super::examiner::Series;
use super::{Campaign, ClockContender};
use crate::agents::agent::{Agent, bench, connect};
use crate::agents::connection::SharedConnection;
use crate::agents::subject;
use crate::campaign::disturbances::{CampaignWatch, ProcessWatch};
use crate::campaign::examination::COMPARISONS_PER_SAMPLE;
use crate::campaign::{unless_interrupted, unless_refused};
use estimators::cost;
use estimators::model::{Counted, Family};
use estimators::rate::tightest;
use estimators::trace::{Batches, Observations};
use probe::prober::{CallsPlan, Search, TIMER_WATCH_MS, measure_rate, search_step, time_calls};

/// What a process does with each of its timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProcessKind {
    /// It measures a single timer, and repeats all disturbed windows.
    Own,
    /// It times the calls of many timers, and searches for their steps only if `searches`. Windows
    /// with a bearable disturbance are kept and marked.
    Brief {
        /// Whether it searches for steps.
        searches: bool,
    },
}

impl Campaign<'_> {
    /// Measures a timer in a process of its own, then compares it with its reference. If the
    /// process fails, records the reason as the outcome of the timer.
    ///
    /// # Errors
    /// Only [`Fault::Interrupted`].
    pub(super) fn measure_alone(&mut self, index: usize) -> Result<(), Fault> {
        let subject = &mut self.rounds.subjects[index];
        let agent = subject.agent;
        (self.rounds.progress)(&subject.timer.id);
        if let Ok(measured) = &mut subject.outcome {
            measured.own_processes += 1;
        }
        let measured = self.measure_in_process(agent, &[index], ProcessKind::Own);
        if let Err(fault) = unless_interrupted(measured)? {
            self.rounds.subjects[index].outcome = Err(fault);
        }
        self.compare(Series::Sparse, vec![index])
    }

    /// Runs one brief process for those of the `targets` that belong to this agent. `searches` says
    /// whether it searches for steps. Returns the indices of the timers that were measured. If the
    /// process is lost, its timers do not fail, because each also has processes of its own.
    ///
    /// # Errors
    /// Only [`Fault::Interrupted`].
    pub(super) fn measure_briefly(
        &mut self,
        agent: usize,
        mut targets: Vec<usize>,
        searches: bool,
    ) -> Result<Vec<usize>, Fault> {
        let subjects = &self.rounds.subjects;
        targets.retain(|&index| subjects[index].agent == agent && subjects[index].outcome.is_ok());
        targets.shuffle(&mut self.rounds.random);
        // Perf events come last: while one is open, the kernel saves and restores its counter on
        // every thread switch, which disturbs the timers after it.
        targets.sort_by_key(|&index| {
            subjects[index].timer.properties.family == Some(Family::PerfEvent)
        });
        let process = ProcessKind::Brief { searches };
        let measured = unless_interrupted(self.measure_in_process(agent, &targets, process))?;
        // All timers of all agents are compared after each process, because comparisons that follow
        // each other sooner show smaller jumps.
        self.compare(Series::Sparse, self.rounds.all())?;
        Ok(measured.unwrap_or_default())
    }

    /// Starts a process for these timers of an agent, and measures each. Returns the indices of those
    /// that were measured.
    fn measure_in_process(
        &mut self,
        agent: usize,
        targets: &[usize],
        process: ProcessKind,
    ) -> Answer<Vec<usize>> {
        let agent = &self.rounds.agents[agent];
        let subjects = &self.rounds.subjects;
        let ids: Vec<&str> = targets.iter().map(|&at| &*subjects[at].timer.id).collect();
        let cpu = self.watch.borrow_mut().begin_process();
        let connection = connect(agent, &ids, cpu, self.rounds.settings.timeout)?;
        // A runtime may determine the rate of its clocks when it opens them, for the whole process.
        // The rate is therefore measured by comparisons at the start and at the end of the process.
        let mut first_comparisons = Vec::new();
        for &index in targets {
            let first = compare_in_process(agent, &connection, &self.rounds.subjects[index])?;
            first_comparisons.extend(first.map(|first| (index, first)));
        }
        let (mut measured, mut floor) = (Vec::new(), None);
        for &index in targets {
            match self.measure_timer(&connection, index, process, &mut floor) {
                Ok(()) => measured.push(index),
                Err(Fault::Refused(_)) if process != ProcessKind::Own => {}
                Err(Fault::Lost(_)) if process != ProcessKind::Own => break,
                Err(fault) => return Err(fault),
            }
        }
        for (index, first) in first_comparisons {
            let subject = &mut self.rounds.subjects[index];
            let last = compare_in_process(agent, &connection, subject);
            if let (Ok(Some(last)), Some(stored)) =
                (unless_interrupted(last)?, subject.stored_mut())
            {
                stored.evidence.process_comparisons.push([first, last]);
            }
        }
        Ok(measured)
    }

    /// Times the calls of a timer, searches for its step, and measures its cost in context if that
    /// is wanted. `floor` is the floor of the process, if it is known.
    fn measure_timer(
        &mut self,
        connection: &SharedConnection,
        index: usize,
        process: ProcessKind,
        floor: &mut Option<Batches>,
    ) -> Answer<()> {
        let subject = &mut self.rounds.subjects[index];
        let (agent, plan) = (
            &self.rounds.agents[subject.agent],
            &self.rounds.settings.plan,
        );
        let (timer, Ok(measured)) = (&subject.timer, &mut subject.outcome) else {
            return Ok(());
        };
        let (is_own, slow) = (process == ProcessKind::Own, measured.is_found_slow());
        let (watch, waits) = (&self.watch, measured.lacks_undisturbed());
        let mut window = ProcessWatch::new(watch, connection, is_own, waits);
        window.is_on_device = timer.device.is_some();
        let compared = &measured.stored.reference;
        let reference = measured.stored.calls_reference();
        let mut bench = bench(connection, timer, &reference.id);
        // The rate of the cycle counter of a device by itself shows nothing.
        if bench.ns_per_tick.is_none() && reference != compared {
            let (timer, ns) = (bench.timer.as_mut(), compared.ns_per_tick);
            bench.ns_per_tick = measure_rate(timer, &compared.id, ns, TIMER_WATCH_MS)?;
        }
        // Brief processes, if the agent has them, time calls for all others.
        let calls = if agent.takes_ids {
            &CallsPlan::BRIEF
        } else {
            &plan.calls
        };
        let (limits, random) = (plan.search_limits(), &mut self.rounds.random);
        let mut explore = || {
            if is_own {
                *floor = None;
            }
            let mut run = time_calls(&mut bench, &mut window, reference, calls, floor)?;
            // What was measured next to another thread is kept too: it shows what that adds.
            let mut disturbed = None;
            if !is_own && waits && !run.is_calm() && window.may_repeat() {
                let repeated = CampaignWatch::spend(watch, || {
                    time_calls(&mut bench, &mut window, reference, calls, floor)
                })?;
                disturbed = Some(std::mem::replace(&mut run, repeated));
            }
            let found = match process {
                ProcessKind::Brief { searches: false } => None,
                _ => Some(search_step(
                    &mut bench, reference, limits, random, slow, &mut run,
                )?),
            };
            Ok((run, disturbed, found))
        };
        let (run, disturbed, found) = if is_own {
            explore_until_stable(connection, &mut explore)?
        } else {
            explore()?
        };
        // Own processes measure the cost in context only if there are no brief ones.
        let measures_contexts = match is_own {
            true => !agent.takes_ids,
            false => measured.stored.adds.len() < plan.brief as usize,
        };
        let in_context = if measures_contexts {
            let cost_ns = cost::approximate_cost_ns(&run, reference);
            let ids = [&*timer.id, &*reference.id];
            let window = (!is_own).then_some(&mut window);
            measure_contexts(connection, window, ids, cost_ns, plan)
        } else {
            Ok(Vec::new())
        };
        let (dropped, is_usable) = window.end();
        measured.stored.count_dropped(dropped);
        if is_own {
            let dropped = connection.borrow().windows().dropped.clone();
            measured.stored.count_dropped(dropped);
        }
        let full_width = watch.borrow().full_width();
        for run in disturbed.into_iter().chain([run]) {
            if is_usable {
                measured.add_run(run, full_width);
            } else {
                // Too many of its windows were disturbed.
                measured.stored.set_aside(run);
            }
        }
        match found {
            Some(found) if is_usable => measured.searches.push(found),
            Some(found) if is_own => measured.disturbed_searches.push(found),
            _ => {}
        }
        let rows = in_context?;
        let is_wanted = (is_own || is_usable) && !rows.is_empty();
        measured.stored.adds.extend(is_wanted.then_some(rows));
        Ok(())
    }
}

/// Compares a timer with its reference once if its rate may differ between processes: if it
/// declares a unit, may count wall time, and is not kept by the kernel or a device, which give all
/// processes the same time. `None` otherwise, and if the agent refuses the question.
///
/// # Errors
/// When the process is lost or the run is interrupted.
fn compare_in_process(
    agent: &Agent,
    connection: &SharedConnection,
    subject: &ClockContender,
) -> Answer<Option<[i64; 3]>> {
    let timer = &subject.timer;
    let may_count_wall = matches!(timer.properties.counts, None | Some(Counted::Wall));
    let may_differ = agent.compares
        && timer.ns_per_tick.is_some()
        && may_count_wall
        && !timer.properties.has_shared_rate();
    let Some(stored) = subject.stored().filter(|_| may_differ) else {
        return Ok(None);
    };
    let mut timer = subject::subject(connection, &timer.id);
    let compared =
        unless_refused(timer.comparisons(&stored.reference.id, 0, COMPARISONS_PER_SAMPLE))?;
    Ok(compared.and_then(tightest))
}

/// The run of a timer, an earlier one that was disturbed, and the result of the search for its step.
type Explored = (Observations, Option<Observations>, Option<Search>);

/// Explores a timer. Repeats the exploration if it was voided: the runtime recompiled the measuring
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
        let mut explored = explore()?;
        let mut connection = connection.borrow_mut();
        let voided = connection.windows().voided - before.voided;
        if voided == 0 || attempt == MAX_ATTEMPTS {
            explored.0.disturbed = connection.windows().disturbed + voided;
            return Ok(explored);
        }
        connection.void_since(&before);
        attempt += 1;
    }
}
