//! The clocks of one agent: their reference, and the processes that compare and examine them during the
//! whole campaign ([`Session`]).

use std::collections::BTreeMap;

use rand::rngs::SmallRng;
use timers::{Answer, Fault};

use super::clock::Clock;
use crate::agents::agent::{Agent, connect};
use crate::agents::protocol::AgentTimer;
use crate::agents::subject::{self, compare_in_rounds};
use crate::campaign::choose::{Purpose, calibrate_candidate, choose_reference};
use crate::campaign::examination::{COMPARISONS_PER_SAMPLE, Examined, Session};
use crate::campaign::reference_rate::RateMeasurement;
use crate::campaign::slow_clocks::SlowWatch;
use crate::campaign::unit_check::{kernel_clocks, passed_ns};
use crate::campaign::unless_interrupted;
use crate::plan::Plan;
use estimators::figures::resolution;
use estimators::model::Hertz;
use estimators::rate;
use estimators::trace::{Claims, Reference};

/// Largest number of closely spaced comparisons of a clock. It is limited because an agent may have a
/// thousand clocks. *Judgement*: enough for windows of a second.
const MAX_CLOSE_COMPARISONS: usize = 128;

/// An agent with its clocks.
pub(super) struct AgentClocks<'a> {
    pub agent: &'a Agent,
    pub clocks: Vec<Clock>,
    plan: &'a Plan,
    /// The CPUs that this program may use.
    cpus: &'a [u32],
    /// The measurement of the rate of the reference; `None` if the reference declares its unit or cannot
    /// be measured.
    rate: Option<RateMeasurement>,
    /// The process that compares and examines all clocks or, where each needs its own, those of the clocks
    /// with these indices.
    sessions: BTreeMap<Option<usize>, Session<'a>>,
}

impl<'a> AgentClocks<'a> {
    /// Finds the reference of an agent with these clocks.
    ///
    /// # Errors
    /// Only [`Fault::Interrupted`].
    pub(super) fn begin(
        agent: &'a Agent,
        timers: Vec<AgentTimer>,
        plan: &'a Plan,
        cpus: &'a [u32],
        random: &mut SmallRng,
    ) -> Result<Self, Fault> {
        let cpu = plan.placement.cpu;
        let reference = choose_reference(agent, plan, cpu, Purpose::Clocks, random);
        let reference = unless_interrupted(reference)?;
        let begin = |timer| Clock::new(timer, reference.clone());
        let mut begun = Self {
            agent,
            clocks: timers.into_iter().map(begin).collect(),
            plan,
            cpus,
            rate: None,
            sessions: BTreeMap::new(),
        };
        begun.time_by_cycles(random)?;
        if let Ok(reference) = &reference {
            let started = RateMeasurement::start(agent, reference, plan);
            begun.rate = unless_interrupted(started)?.ok().flatten();
        }
        Ok(begun)
    }

    /// Lets the cycle counter of a device time the calls of its clocks, as far as the agent can.
    fn time_by_cycles(&mut self, random: &mut SmallRng) -> Result<(), Fault> {
        let is_counter = |timer: &&AgentTimer| {
            timer.device.as_ref().and_then(|it| it.cycles.as_ref()) == Some(&timer.id)
        };
        let Some(counter) = self.agent.timers.iter().find(is_counter) else {
            return Ok(());
        };
        let (cpu, limit) = (self.plan.placement.cpu, self.plan.time_limit());
        let calibrated = connect(self.agent, &[&counter.id], cpu, limit).and_then(|connection| {
            let reference = calibrate_candidate(self.agent, counter, &connection, random)?;
            Ok((connection, reference))
        });
        let Ok((connection, reference)) = unless_interrupted(calibrated)? else {
            return Ok(());
        };
        for clock in self
            .clocks
            .iter_mut()
            .filter(|it| it.timer.device.is_some())
        {
            let mut timer = subject::subject(&connection, &clock.timer.id);
            let asked = unless_interrupted(timer.batches(&reference.id, 1, 1))?;
            if let Some(stored) = clock.stored_mut().filter(|_| asked.is_ok()) {
                stored.calls_reference = Some(reference.clone());
            }
        }
        Ok(())
    }

    /// Returns the reference of each clock that has not failed.
    fn references(&mut self) -> impl Iterator<Item = &mut Reference> {
        let clocks = self.clocks.iter_mut();
        clocks.filter_map(|clock| Some(&mut clock.stored_mut()?.reference))
    }

    /// Samples the rate of the reference once more. If the process that compares is lost, the measurement
    /// of this rate ends.
    ///
    /// # Errors
    /// Only [`Fault::Interrupted`].
    pub(super) fn sample_rate(&mut self) -> Result<(), Fault> {
        let sample = self.rate.as_mut().map(|rate| rate.sample(self.cpus));
        if let Some(sample) = sample
            && unless_interrupted(sample)?.is_err()
        {
            self.rate = None;
        }
        Ok(())
    }

    /// Calibrates the reference once more, on this CPU, if only an upper bound of its step is known.
    ///
    /// # Errors
    /// Only [`Fault::Interrupted`].
    pub(super) fn retry_reference_step(
        &mut self,
        cpu: Option<u32>,
        random: &mut SmallRng,
    ) -> Result<(), Fault> {
        if self.references().all(|known| known.step_at_most.is_none()) {
            return Ok(());
        }
        let found = choose_reference(self.agent, self.plan, cpu, Purpose::Clocks, random);
        // A failure is ignored because the reference was calibrated before. The second choice may be
        // another reference, whose step does not apply.
        if let Ok(found) = unless_interrupted(found)?
            && found.step_at_most.is_none()
        {
            for known in self.references().filter(|known| known.id == found.id) {
                (known.step, known.step_at_most) = (found.step, None);
            }
        }
        Ok(())
    }

    /// Gives the clocks the final rate of their reference and the results that their processes agree
    /// on, and the cycle counter that timed calls the rate and the step that the campaign found.
    pub(super) fn agree(
        &mut self,
        core_hz: Option<Hertz>,
        full_width: Option<f64>,
    ) -> Result<(), Fault> {
        self.sample_rate()?;
        let rate = self.rate.take().and_then(|measured| measured.rate());
        for clock in &mut self.clocks {
            rate.inspect(|rate| clock.rescale(*rate));
            clock.agree(core_hz, full_width);
        }
        let completed = self.clocks.iter().find_map(|clock| {
            let stored = clock.stored()?;
            let counter = stored.calls_reference.clone();
            let mut counter = counter.filter(|it| it.id == clock.timer.id)?;
            let (ns, uncertainty) = rate::tick(stored)?;
            counter.ns_per_work *= ns / counter.ns_per_tick;
            (counter.ns_per_tick, counter.rate_uncertainty) = (ns, uncertainty);
            if let Some(step) = resolution(stored).known() {
                (counter.step, counter.step_at_most) = (step.value, None);
            }
            Some(counter)
        });
        if let Some(counter) = completed {
            let clocks = self.clocks.iter_mut();
            clocks
                .filter_map(|clock| clock.stored_mut()?.calls_reference.as_mut())
                .for_each(|reference| reference.clone_from(&counter));
        }
        Ok(())
    }

    /// Starts to watch a slow clock: by a process that sleeps, or that computes on this CPU. `None` if the
    /// clock failed, or no thread can be started.
    pub(super) fn watch_slow(
        &self,
        index: usize,
        (sleeps, cpu): (bool, Option<u32>),
    ) -> Option<SlowWatch> {
        /// The time for which a clock is watched again that did not move, in nanoseconds. *Judgement*: what
        /// stands still during sleep is the CPU time of a thread, whose steps are 0.01 s.
        const AGAIN_NS: f64 = 3e8;
        let clock = &self.clocks[index];
        let stored = clock.stored()?;
        let mut watched = stored.slow.iter().flat_map(|group| &group.deltas);
        let slow_ns = if stored.slow.is_empty() || watched.any(|&delta| delta != 0) {
            self.plan.calls.slow_ns
        } else {
            AGAIN_NS
        };
        let seed = self
            .plan
            .seed
            .wrapping_add(2 * index as u64 + u64::from(sleeps));
        let (timer, how) = (&clock.timer, (sleeps, cpu, slow_ns));
        SlowWatch::start(self.agent, timer, &stored.reference, self.plan, how, seed).ok()
    }

    /// Compares clocks with their reference once: all, or `only` one. Leaves out those that failed or
    /// refused before. `closely` says to which series of comparisons the results belong: those that follow
    /// each other closely, or those over the whole campaign.
    ///
    /// # Errors
    /// Only [`Fault::Interrupted`].
    pub(super) fn compare(&mut self, only: Option<usize>, closely: bool) -> Result<(), Fault> {
        let is_compared = |index: usize, clock: &Clock| {
            let evidence = clock.stored().map(|stored| &stored.evidence);
            only.is_none_or(|only| only == index)
                && evidence.is_some_and(|evidence| {
                    let is_full = evidence.close_comparisons.len() >= MAX_CLOSE_COMPARISONS;
                    let has_refused = evidence.refusals.contains_key("comparisons");
                    !(closely && is_full || has_refused)
                })
        };
        if !self.agent.compares {
            return Ok(());
        }
        for members in self.groups(is_compared) {
            let before = kernel_clocks();
            let compared = self.ask(&members, "comparisons", |session, clocks| {
                let ids: Vec<&str> = members.iter().map(|&at| &*clocks[at].timer.id).collect();
                let counts = [COMPARISONS_PER_SAMPLE, 1];
                // A clock that refused while others answered has none.
                compare_in_rounds(&session.connection, &ids, &session.reference, counts, 0)
            })?;
            let around = before.zip(kernel_clocks());
            let compared = compared.into_iter().flatten().flatten();
            for (&index, comparison) in members.iter().zip(compared) {
                if let Some(comparison) = comparison {
                    self.clocks[index].add_comparison(comparison, closely, around);
                }
            }
        }
        Ok(())
    }

    /// Asks all questions about the clocks that are `slow`, or about the others, except the comparisons over
    /// the whole campaign ([`compare`](Self::compare)).
    ///
    /// # Errors
    /// Only [`Fault::Interrupted`].
    pub(super) fn examine(&mut self, slow: bool) -> Result<(), Fault> {
        let is_examined = |_, clock: &Clock| clock.outcome.is_ok() && clock.is_slow() == slow;
        for members in self.groups(is_examined) {
            self.ask(&members, "process", |session, clocks| {
                let clocks = clocks.iter_mut().enumerate();
                let clocks = clocks.filter(|(index, _)| members.contains(index));
                let mut examined: Vec<_> =
                    clocks.filter_map(|(_, clock)| clock.examined()).collect();
                session.examine(&mut examined)
            })?;
            // The process of a single clock is not needed any more.
            self.sessions.remove(&Some(members[0]));
        }
        Ok(())
    }

    /// Groups the clocks that are `wanted` by the process that examines them.
    fn groups(&self, wanted: impl Fn(usize, &Clock) -> bool) -> Vec<Vec<usize>> {
        let indices = self.clocks.iter().enumerate();
        let wanted = indices.filter(|(index, clock)| wanted(*index, clock));
        let wanted: Vec<usize> = wanted.map(|(index, _)| index).collect();
        match self.agent.answers_for_many {
            _ if wanted.is_empty() => Vec::new(),
            true => vec![wanted],
            false => wanted.into_iter().map(|index| vec![index]).collect(),
        }
    }

    /// Asks the process of a group a question, after starting the process if necessary. If that
    /// fails, records the reason as a refusal of the question by these `members` and returns
    /// `None`.
    fn ask<T>(
        &mut self,
        members: &[usize],
        question: &str,
        ask: impl FnOnce(&Session, &mut [Clock]) -> Answer<T>,
    ) -> Result<Option<T>, Fault> {
        let single = (!self.agent.answers_for_many).then_some(members[0]);
        let session = self.sessions.remove(&single);
        let session = session.map_or_else(|| self.start_session(single), Ok);
        let answered = session.and_then(|session| {
            let answer = ask(&session, &mut self.clocks)?;
            Ok((session, answer))
        });
        match unless_interrupted(answered)? {
            Ok((session, answer)) => {
                self.sessions.insert(single, session);
                Ok(Some(answer))
            }
            Err(fault) => {
                for &index in members {
                    if let Some(stored) = self.clocks[index].stored_mut() {
                        let refusals = &mut stored.evidence.refusals;
                        refusals.insert(question.into(), fault.to_string());
                    }
                }
                Ok(None)
            }
        }
    }

    /// Starts the process that examines all clocks, or a single one.
    fn start_session(&self, single: Option<usize>) -> Answer<Session<'a>> {
        let clocks = self.clocks.iter().enumerate();
        let members = clocks.filter(|(index, _)| single.is_none_or(|single| single == *index));
        let members = members.filter_map(|(_, clock)| Some((clock, clock.stored()?)));
        let ids: Vec<&str> = members.clone().map(|(clock, _)| &*clock.timer.id).collect();
        let reference = members
            .map(|(_, stored)| stored.reference.id.clone())
            .next();
        Ok(Session {
            connection: connect(self.agent, &ids, None, self.plan.time_limit())?,
            reference: reference.unwrap_or_default(),
            plan: self.plan,
            cpus: self.cpus,
        })
    }
}

impl Clock {
    /// Adds a comparison, with the clocks of the kernel before and after it.
    fn add_comparison(
        &mut self,
        comparison: [i64; 3],
        closely: bool,
        around: Option<([i64; 2], [i64; 2])>,
    ) {
        let Ok(stored) = &mut self.outcome else {
            return;
        };
        let evidence = &mut stored.evidence;
        if closely {
            evidence.close_comparisons.push(comparison);
            return;
        }
        evidence.sparse_comparisons.push(comparison);
        if let Some((before, after)) = around.filter(|_| stored.reference.keeps_time) {
            let [first, end] = *self.first_compared.get_or_insert([before, after]);
            // Bounds of the time that passed from the first comparison to this one, by the
            // clocks of the runner.
            let bounds = [passed_ns(end, before)[0], passed_ns(first, after)[1]];
            evidence.passed_ns = Some(bounds.map(i64::unsigned_abs));
        }
    }

    /// Records what the clock claims, and returns it for an examination; `None` if it failed.
    fn examined(&mut self) -> Option<Examined<'_>> {
        let [cost_ns, step_ns] = self.estimate_cost_and_step();
        let trace = self.outcome.as_mut().ok()?;
        trace.evidence.claims = Claims {
            counts: self.timer.properties.counts,
            resolution_ns: self.timer.resolution_ns,
        };
        Some(Examined {
            id: &self.timer.id,
            device: self.timer.device.as_ref(),
            cost_ns,
            step_ns,
            trace,
        })
    }
}
