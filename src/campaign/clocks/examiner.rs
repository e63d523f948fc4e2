//! Gathers the evidence for the verdicts. Asks processes that only examine ([`Session`]) and that
//! compare timers with their references during the whole campaign.

use std::collections::BTreeMap;

use timers::{Answer, Fault};

use super::{Campaign, ClockContender};
use crate::agents::agent::connect;
use crate::agents::subject::compare_in_rounds;
use crate::campaign::examination::{COMPARISONS_PER_SAMPLE, Examined, Session};
use crate::campaign::unit_check::Moment;
use crate::campaign::unless_interrupted;
use estimators::cost;
use estimators::figures::resolution;
use estimators::trace::Claims;

/// Largest number of closely spaced comparisons of a timer. It is limited because an agent may have a
/// thousand timers. *Judgement*: enough for windows of a second.
const MAX_CLOSE_COMPARISONS: usize = 128;
/// Cost of a read that is assumed if it is unknown, in nanoseconds.
const ASSUMED_COST_NS: f64 = 1_000.0;

/// The series of comparisons that a comparison is added to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Series {
    /// Comparisons over the whole campaign.
    Sparse,
    /// Comparisons that follow each other closely.
    Close,
}

/// The timers that one process examines: the index of their agent, and the index of the timer if the
/// process examines only one.
pub(super) type Examinees = (usize, Option<usize>);

impl Campaign<'_> {
    /// Compares the timers with these indices with their references once and adds the results to
    /// the series. Skips agents that do not support comparisons, timers that refused them before,
    /// and full series.
    ///
    /// # Errors
    /// Only [`Fault::Interrupted`].
    pub(super) fn compare(&mut self, series: Series, mut indices: Vec<usize>) -> Result<(), Fault> {
        indices.retain(|&index| {
            let subject = &self.rounds.subjects[index];
            subject.stored().is_some_and(|stored| {
                let evidence = &stored.evidence;
                let is_full = series == Series::Close
                    && evidence.close_comparisons.len() >= MAX_CLOSE_COMPARISONS;
                let has_refused = evidence.refusals.contains_key("comparisons");
                self.rounds.agents[subject.agent].compares && !is_full && !has_refused
            })
        });
        for (group, members) in self.group_by_process(&indices) {
            let before = Moment::now();
            let compared =
                self.ask_session(group, &members, "comparisons", |session, subjects| {
                    let id = |&index: &usize| &*subjects[index].timer.id;
                    let ids: Vec<&str> = members.iter().map(id).collect();
                    let counts = [COMPARISONS_PER_SAMPLE, 1];
                    let (connection, reference) = (&session.connection, &session.reference);
                    // A timer that refused while others answered has none.
                    compare_in_rounds(connection, &ids, reference, counts, 0)
                })?;
            let around = before.zip(Moment::now());
            for (&index, comparison) in members.iter().zip(compared.into_iter().flatten().flatten())
            {
                let stored = self.rounds.subjects[index].stored_mut();
                let (Some(stored), Some(comparison)) = (stored, comparison) else {
                    continue;
                };
                let evidence = &mut stored.evidence;
                if series == Series::Close {
                    evidence.close_comparisons.push(comparison);
                    continue;
                }
                evidence.sparse_comparisons.push(comparison);
                if let Some((before, after)) = around.filter(|_| stored.reference.keeps_time) {
                    let [first_before, first_after] = *self
                        .first_comparisons
                        .entry(index)
                        .or_insert([before, after]);
                    // Bounds of the time that passed from the first comparison to this one, by the
                    // clocks of the runner.
                    let (least, most) = (before.since(first_after).0, after.since(first_before).1);
                    evidence.passed_ns = Some([least as u64, most as u64]);
                }
            }
        }
        Ok(())
    }

    /// Asks all questions about the timers with these indices, except the comparisons over the
    /// whole campaign ([`compare`](Self::compare)).
    ///
    /// # Errors
    /// Only [`Fault::Interrupted`].
    pub(super) fn examine(&mut self, indices: &[usize]) -> Result<(), Fault> {
        (self.rounds.progress)("checking whether the timers can be trusted");
        for (group, members) in self.group_by_process(indices) {
            self.ask_session(group, &members, "process", |session, subjects| {
                let mut examined = Vec::new();
                for (index, subject) in subjects.iter_mut().enumerate() {
                    let [cost_ns, step_ns] = estimate_cost_and_step(subject);
                    let ClockContender { timer, outcome, .. } = subject;
                    let measured = outcome.as_mut().ok();
                    let Some(measured) = measured.filter(|_| members.contains(&index)) else {
                        continue;
                    };
                    let trace = &mut measured.stored;
                    trace.evidence.claims = Claims {
                        counts: timer.properties.counts,
                        resolution_ns: timer.resolution_ns,
                    };
                    examined.push(Examined {
                        id: &timer.id,
                        device: timer.device.as_ref(),
                        cost_ns,
                        step_ns,
                        trace,
                    });
                }
                session.examine(&mut examined)
            })?;
            if group.1.is_some() {
                // The process is not needed any more.
                self.sessions.remove(&group);
            }
        }
        Ok(())
    }

    /// Asks the process of a group a question, after starting the process if necessary. If that
    /// fails, records the reason as a refusal of the question by these `members` and returns
    /// `None`.
    ///
    /// # Errors
    /// Only [`Fault::Interrupted`].
    fn ask_session<T>(
        &mut self,
        group: Examinees,
        members: &[usize],
        question: &str,
        ask: impl FnOnce(&mut Session, &mut [ClockContender]) -> Answer<T>,
    ) -> Result<Option<T>, Fault> {
        let session = match self.sessions.remove(&group) {
            Some(session) => Ok(session),
            None => self.start_session(group),
        };
        let answered = session.and_then(|mut session| {
            let answer = ask(&mut session, self.rounds.subjects)?;
            Ok((session, answer))
        });
        match unless_interrupted(answered)? {
            Ok((session, answer)) => {
                self.sessions.insert(group, session);
                Ok(Some(answer))
            }
            Err(fault) => {
                for &index in members {
                    if let Some(stored) = self.rounds.subjects[index].stored_mut() {
                        let refusals = &mut stored.evidence.refusals;
                        refusals.insert(question.into(), fault.to_string());
                    }
                }
                Ok(None)
            }
        }
    }

    /// Starts the process that examines the timers of a group.
    fn start_session(&self, (agent, single): Examinees) -> Answer<Session> {
        let members = || {
            (self.rounds.subjects.iter().enumerate())
                .filter(move |(index, subject)| {
                    subject.agent == agent && single.is_none_or(|single| single == *index)
                })
                .filter_map(|(_, subject)| Some((subject, subject.stored()?)))
        };
        let ids: Vec<&str> = members().map(|(subject, _)| &*subject.timer.id).collect();
        let reference = members()
            .next()
            .map(|(_, stored)| stored.reference.id.clone());
        Ok(Session {
            connection: connect(
                &self.rounds.agents[agent],
                &ids,
                None,
                self.rounds.settings.timeout,
            )?,
            reference: reference.unwrap_or_default(),
            plan: self.rounds.settings.plan,
            cpus: self.cpus.clone(),
        })
    }

    /// Groups the timers with these indices by the process that examines them. Leaves out timers
    /// that failed.
    fn group_by_process(&self, indices: &[usize]) -> BTreeMap<Examinees, Vec<usize>> {
        let mut groups: BTreeMap<Examinees, Vec<usize>> = BTreeMap::new();
        for &index in indices {
            let subject = &self.rounds.subjects[index];
            let has_own_process = !self.rounds.agents[subject.agent].answers_for_many;
            if subject.outcome.is_ok() {
                let group = (subject.agent, has_own_process.then_some(index));
                groups.entry(group).or_default().push(index);
            }
        }
        groups
    }
}

/// Estimates the lowest cost of a read in any process, and the step if the timer is slow (otherwise
/// 0), both in nanoseconds.
fn estimate_cost_and_step(subject: &ClockContender) -> [f64; 2] {
    let Some(stored) = subject.stored() else {
        return [ASSUMED_COST_NS, 0.0];
    };
    let trace = stored.open();
    // The step is only needed to decide how long a slow timer has to be observed.
    let step = || Some(resolution(&trace).step_or_limit()? * trace.ns_per_tick?);
    let step_ns = subject.is_slow().then(step).flatten();
    let cost = (trace.runs.iter())
        .filter_map(|run| cost::approximate_cost(&run.batches, &run.bracket))
        .reduce(f64::min)
        .filter(|cost| cost.is_finite());
    [
        cost.map_or(ASSUMED_COST_NS, |cost| {
            cost * trace.calls_reference().ns_per_tick
        }),
        step_ns.filter(|step| step.is_finite()).unwrap_or(0.0),
    ]
}
