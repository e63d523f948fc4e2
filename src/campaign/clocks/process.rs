//! Measures clocks in one process: one clock in a process of its own, or many clocks in a brief
//! process, which for most of them only times their calls and shows how much results differ between
//! processes.

use std::cell::RefCell;
use std::rc::Rc;

use rand::RngExt;
use rand::rngs::SmallRng;
use timers::{Answer, Fault};

use super::clock::{Clock, Search};
use super::cost_in_context::measure_contexts;
use crate::agents::agent::{Agent, connect};
use crate::agents::connection::SharedConnection;
use crate::agents::subject;
use crate::campaign::disturbances::{CampaignWatch, ProcessWatch};
use crate::campaign::examination::COMPARISONS_PER_SAMPLE;
use crate::campaign::{unless_interrupted, unless_refused};
use crate::plan::Plan;
use estimators::cost;
use estimators::model::{Counted, Family};
use estimators::rate::tightest;
use estimators::trace::{Observations, Reference};
use probe::prober::{find_step, step_question, time_calls};

/// What a process does with each of its clocks.
#[derive(Debug, PartialEq, Eq)]
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
            // The kernel determines the rate of its clocks, for all processes alike.
            && timer.properties.family != Some(Family::SystemClock);
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
        let reference = stored.calls_reference().clone();
        let references = [&stored.reference, &reference];
        let is_own = self.kind == ProcessKind::Own;
        let connection = Rc::clone(&self.connection);
        let mut window = ProcessWatch::new(self.watch, &connection, is_own);
        window.is_on_device = clock.timer.device.is_some();
        let (id, slow) = (&*clock.timer.id, clock.is_found_slow());
        let mut explore = || {
            let mut run = self.time_calls(id, &reference, &mut window)?;
            let found = match self.kind {
                ProcessKind::Brief { searches: false } => None,
                _ => Some(self.search_step(clock, references, slow, random, &mut run)?),
            };
            Ok((run, found))
        };
        let (run, found) = if is_own {
            explore_until_stable(&connection, &mut explore)?
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
            let ids = [id, &*reference.id];
            let window = (!is_own).then_some(&mut window);
            measure_contexts(&self.connection, window, ids, cost_ns)
        } else {
            Ok(Vec::new())
        };
        let (dropped, is_usable) = window.end();
        let of_runtime = (self
            .connection
            .borrow()
            .windows()
            .dropped
            .clone()
            .into_iter())
        .filter(|_| is_own);
        match found {
            Some(found) if is_usable => clock.searches.push(found),
            Some(found) if is_own => clock.disturbed_searches.push(found),
            _ => {}
        }
        clock.add_run(run, is_usable, self.watch.borrow().full_width());
        let Ok(stored) = &mut clock.outcome else {
            return Ok(());
        };
        for (cause, count) in dropped.into_iter().chain(of_runtime) {
            *stored.dropped.entry(cause).or_default() += count;
        }
        let rows = in_context?;
        let is_wanted = (is_own || is_usable) && !rows.is_empty();
        stored.adds.extend(is_wanted.then_some(rows));
        Ok(())
    }

    /// Times the calls of a clock, and those of the timer that reads nothing if the agent has one. A process
    /// that opens only these clocks takes all measurements in one window if it can, because one question
    /// takes less time than the parts. If it cannot, or each such window was disturbed, this program asks
    /// for each measurement in windows of its own, which are shorter.
    fn time_calls(
        &self,
        id: &str,
        reference: &Reference,
        window: &mut ProcessWatch,
    ) -> Answer<Observations> {
        let connection = &self.connection;
        let mut ask = || subject::time_calls(connection, id, reference);
        let whole = match self.agent.takes_ids {
            true => unless_refused(window.ask_whole(&mut ask))?.flatten(),
            false => None,
        };
        let mut run = match whole {
            Some((run, core)) => run.with_core_state(core.core_hz, core.unstable),
            None => {
                let has_floor = (connection.borrow().hello().timers.iter())
                    .any(|timer| timer.id == timers::FLOOR_ID);
                let mut floor = has_floor.then(|| subject::subject(connection, timers::FLOOR_ID));
                let mut timer = subject::subject(connection, id);
                let calls = self.plan.calls(self.agent.takes_ids);
                time_calls(timer.as_mut(), floor.as_mut(), window, reference, calls)?
            }
        };
        run.place = Some(window.place());
        Ok(run)
    }

    /// Searches for the step of a clock whose calls were timed, by its reference and that of its calls; in
    /// its process if that can do it. If earlier processes found the steps too long (`slow`), the search is
    /// skipped.
    fn search_step(
        &self,
        Clock { timer, .. }: &Clock,
        references: [&Reference; 2],
        slow: bool,
        random: &mut SmallRng,
        run: &mut Observations,
    ) -> Answer<Search> {
        let (limits, seed) = (self.plan.search_limits(), random.random());
        let mut subject = subject::subject(&self.connection, &timer.id);
        let (subject, tick) = (subject.as_mut(), timer.ns_per_tick);
        let question = step_question(subject, tick, references, limits, seed, run)?;
        let mut search = Search {
            ns_per_tick: question.ns_per_tick,
            slow,
        };
        if !slow {
            let asked = subject::find_step(&self.connection, &timer.id, &question);
            let one_by_one = || find_step::<SmallRng>(subject, &question);
            (run.intervals, search.slow) = unless_refused(asked)?.map_or_else(one_by_one, Ok)?;
        }
        Ok(search)
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
