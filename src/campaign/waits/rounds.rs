//! Measures sleep primitives and periodic timers in rounds. In a round one process of each agent measures
//! all of its timers, one after the other.

use std::time::Duration;

use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use timers::{Answer, Deadline, Fault, Pinned, Subject};

use crate::agents::agent::{Agent, connect};
use crate::agents::connection::SharedConnection;
use crate::agents::protocol::AgentTimer;
use crate::agents::subject::subject;
use crate::campaign::choose::{Purpose, choose_reference};
use crate::campaign::unless_interrupted;
use crate::plan::Plan;
use estimators::model::WaitActivity;
use estimators::trace::{Reference, Wait};

/// The time that a process does nothing before its first wait. *Seen*: waits end earlier for 45 to 70 ms
/// after a CPU was busy, as it is when a process starts; a program that mostly waits sees the later state.
const SETTLING: Duration = Duration::from_millis(80);

/// A sleep primitive or periodic timer, and its outcome.
pub struct Waiter<T> {
    /// Index of its agent.
    pub agent: usize,
    /// The timer.
    pub timer: AgentTimer,
    /// The observations, or the reason why there are none.
    pub outcome: Answer<T>,
    /// The reason why it is not measured any further although earlier processes succeeded.
    pub lost: Option<Fault>,
    /// Whether at least one process measured it.
    has_run: bool,
}

impl<T> Waiter<T> {
    /// Begins with a timer of an agent that has not been measured.
    pub fn new(agent: usize, timer: AgentTimer) -> Self {
        Self {
            agent,
            timer,
            outcome: Err(Fault::Refused("it was not measured".into())),
            lost: None,
            has_run: false,
        }
    }

    fn is_measurable(&self) -> bool {
        self.outcome.is_ok() && self.lost.is_none()
    }

    /// Ends the measurement of the timer. The observations of earlier processes stay valid.
    fn fail(&mut self, fault: Fault) {
        if self.has_run {
            self.lost = Some(fault);
        } else {
            self.outcome = Err(fault);
        }
    }
}

/// What all rounds need.
pub(super) struct Rounds<'a> {
    pub agents: &'a [Agent],
    pub plan: &'a Plan,
    /// Shows the next step, always when nothing is being measured.
    pub progress: &'a dyn Fn(&str),
    random: SmallRng,
}

/// What the processes of a round do with their timers.
pub(super) trait Measure<T> {
    /// Prepares a process, which has the timer of these observations among others.
    fn begin(&self, _: &SharedConnection, _: &T) -> Answer<Vec<Wait>> {
        Ok(Vec::new())
    }

    /// Measures a timer in a process that was prepared so, and adds the observations. Random choices have
    /// this seed.
    fn measure(
        &self,
        timer: &mut dyn Subject,
        prepared: &[Wait],
        trace: &mut T,
        seed: u64,
    ) -> Answer<()>;
}

impl<'a> Rounds<'a> {
    /// Finds the reference of each agent, and begins the observations of each timer with `empty`.
    ///
    /// # Errors
    /// Only [`Fault::Interrupted`].
    pub(super) fn begin<T>(
        agents: &'a [Agent],
        waiters: &mut [Waiter<T>],
        plan: &'a Plan,
        progress: &'a dyn Fn(&str),
        empty: impl Fn(Reference) -> T,
    ) -> Result<Self, Fault> {
        let mut random = SmallRng::seed_from_u64(plan.seed);
        for of_agent in waiters.chunk_by_mut(|a, b| a.agent == b.agent) {
            progress("calibrating the reference");
            let (agent, cpu) = (&agents[of_agent[0].agent], plan.placement.cpu);
            let found = choose_reference(agent, plan, cpu, Purpose::Waits, &mut random);
            let found = unless_interrupted(found)?;
            for waiter in of_agent {
                waiter.outcome = found.clone().map(&empty);
            }
        }
        Ok(Self {
            agents,
            plan,
            progress,
            random,
        })
    }

    /// Measures those that are `wanted` in `count` rounds, or during a span of time if there is one.
    ///
    /// # Errors
    /// Only [`Fault::Interrupted`].
    pub(super) fn repeat<T>(
        &mut self,
        (count, span): (u32, Option<Duration>),
        waiters: &mut [Waiter<T>],
        wanted: impl Fn(&Waiter<T>) -> bool,
        task: &impl Measure<T>,
    ) -> Result<(), Fault> {
        let deadline = span.map(Deadline::after);
        for number in 1.. {
            self.run(waiters, &wanted, task)?;
            let has_next = match &deadline {
                Some(deadline) => {
                    deadline.remaining().is_some() && waiters.iter().any(Waiter::is_measurable)
                }
                None => number < count,
            };
            if !has_next {
                break;
            }
        }
        Ok(())
    }

    /// Measures those that are `wanted`, those of an agent in one process and in random order: first those
    /// that block, because the loops of others keep the CPU busy. After a fault the agent gets a new process.
    fn run<T>(
        &mut self,
        waiters: &mut [Waiter<T>],
        wanted: &impl Fn(&Waiter<T>) -> bool,
        task: &impl Measure<T>,
    ) -> Result<(), Fault> {
        let plan = self.plan;
        for of_agent in waiters.chunk_by_mut(|a, b| a.agent == b.agent) {
            let agent = &self.agents[of_agent[0].agent];
            let mut of_agent: Vec<_> = of_agent
                .iter_mut()
                .filter(|waiter| wanted(waiter))
                .collect();
            of_agent.shuffle(&mut self.random);
            of_agent.sort_by_key(|waiter| waiter.timer.means != WaitActivity::Blocks);
            let ids: Vec<String> = of_agent
                .iter()
                .map(|waiter| waiter.timer.id.clone())
                .collect();
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            let mut process = None;
            for waiter in of_agent {
                (self.progress)(&waiter.timer.id);
                let Some(trace) = waiter
                    .outcome
                    .as_mut()
                    .ok()
                    .filter(|_| waiter.lost.is_none())
                else {
                    continue;
                };
                // Keeps the runner and its threads off the measuring CPU, if there is another CPU.
                let _runner_pin = plan.placement.cpu.and_then(Pinned::off);
                let seed = self.random.random();
                let start = || {
                    let connection = connect(agent, &ids, plan.placement, plan.time_limit())?;
                    let prepared = task.begin(&connection, trace)?;
                    timers::pause(SETTLING);
                    Ok((connection, prepared))
                };
                let started = process.take().map_or_else(start, Ok);
                let measured = started.and_then(|(connection, prepared)| {
                    connection.borrow_mut().restart_timeout();
                    let mut timer = subject(&connection, &waiter.timer.id);
                    task.measure(timer.as_mut(), &prepared, trace, seed)?;
                    Ok((connection, prepared))
                });
                match unless_interrupted(measured)? {
                    Ok(used) => {
                        waiter.has_run = true;
                        process = Some(used);
                    }
                    Err(fault) => waiter.fail(fault),
                }
            }
        }
        Ok(())
    }
}
