//! Measures timers in rounds, one process at a time.

use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use timers::{Answer, Deadline, Fault, Pinned};

use super::choose::{Purpose, choose_reference};
use super::contender::Contender;
use super::sampling::CampaignSettings;
use super::unless_interrupted;
use crate::agents::agent::Agent;
use estimators::trace::Reference;

/// The rounds of a campaign, each of which runs a process for some subjects.
pub(super) struct Rounds<'a, T> {
    pub agents: &'a [Agent],
    pub subjects: &'a mut [Contender<T>],
    pub settings: &'a CampaignSettings,
    /// Shows the next step, always when nothing is being measured.
    pub progress: &'a dyn Fn(&str),
    pub random: SmallRng,
}

impl<'a, T> Rounds<'a, T> {
    /// Finds the reference of each agent, and begins the observations of each subject with `empty`.
    ///
    /// # Errors
    /// Only [`Fault::Interrupted`].
    pub fn begin(
        agents: &'a [Agent],
        subjects: &'a mut [Contender<T>],
        settings: &'a CampaignSettings,
        progress: &'a dyn Fn(&str),
        purpose: Purpose,
        empty: impl Fn(&Contender<T>, Reference) -> T,
    ) -> Result<Self, Fault> {
        let mut random = SmallRng::seed_from_u64(settings.seed);
        for (index, agent) in agents.iter().enumerate() {
            let mut hosted = subjects
                .iter_mut()
                .filter(|subject| subject.agent == index)
                .peekable();
            if hosted.peek().is_none() {
                continue;
            }
            progress("calibrating the reference");
            let found = choose_reference(agent, settings, settings.cpu, purpose, &mut random);
            let found = unless_interrupted(found)?;
            hosted.for_each(|subject| {
                let reference = found.clone();
                subject.outcome = reference.map(|reference| empty(subject, reference));
            });
        }
        Ok(Self {
            agents,
            subjects,
            settings,
            progress,
            random,
        })
    }

    /// Returns the indices of all subjects.
    pub fn all(&self) -> Vec<usize> {
        (0..self.subjects.len()).collect()
    }

    /// Runs a process for a subject that can be measured: `measure` starts it, with a seed, and adds
    /// the observations. Returns its result; `None` if it failed, which ends the measurement of the
    /// subject.
    ///
    /// # Errors
    /// Only [`Fault::Interrupted`].
    pub fn run_process<R>(
        &mut self,
        index: usize,
        measure: impl FnOnce(&mut Contender<T>, u64) -> Answer<R>,
    ) -> Result<Option<R>, Fault> {
        let subject = &mut self.subjects[index];
        (self.progress)(&subject.timer.id);
        if !subject.is_measurable() {
            return Ok(None);
        }
        // Keeps the runner and its threads off the measuring CPU, if there is another CPU.
        let _runner_pin = subject.conditions.cpu.and_then(Pinned::off);
        let seed = self.random.random();
        match unless_interrupted(measure(subject, seed))? {
            Ok(result) => {
                subject.has_run = true;
                Ok(Some(result))
            }
            Err(fault) => {
                subject.fail(fault);
                Ok(None)
            }
        }
    }

    /// Calls `run_round` with the number of each round, `count` times, or during a span of time if
    /// there is one.
    ///
    /// # Errors
    /// Only [`Fault::Interrupted`].
    pub fn repeat(
        &mut self,
        count: u32,
        span: Option<Duration>,
        mut run_round: impl FnMut(&mut Self, u32) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let deadline = span.map(Deadline::after);
        let mut number = 0;
        loop {
            run_round(self, number)?;
            number += 1;
            let has_next = match &deadline {
                Some(deadline) => {
                    deadline.remaining().is_some()
                        && self.subjects.iter().any(Contender::is_measurable)
                }
                None => number < count,
            };
            if !has_next {
                return Ok(());
            }
        }
    }
}
