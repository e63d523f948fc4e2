//! Gathers the evidence for the verdicts, in processes that live as long as the campaign.

use std::collections::BTreeMap;

use timers::{Answer, Fault};

use super::{Campaign, Subject};
use crate::campaign::examination::{Examined, Session};
use crate::campaign::outside::Moment;
use crate::campaign::survived;
use crate::cost;
use crate::hosts::host::connect;
use crate::profile::resolution;
use crate::trace::Claims;

/// Closely spaced comparisons of a timer, at most: enough for windows of a second, because a host
/// may have a thousand timers. *Judgement*.
const MOST_CLOSE: usize = 128;
/// Assumed cost of a read if it is unknown, in nanoseconds.
const UNKNOWN_COST_NS: f64 = 1_000.0;

/// The series that a comparison is added to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Comparisons over the whole campaign.
    Sparse,
    /// Comparisons that follow each other closely.
    Close,
}

/// The timers that one process measures: the index of the host, and the index of the timer if the
/// process measures a single one.
pub(super) type Group = (usize, Option<usize>);

impl Campaign<'_> {
    /// Compares timers with their references. Skips hosts that do not support comparisons and
    /// timers whose process ended before.
    ///
    /// # Errors
    /// Only [`Fault::Interrupted`].
    pub(super) fn compare(&mut self, kind: Look, mut which: Vec<usize>) -> Result<(), Fault> {
        which.retain(|&index| {
            let subject = &self.subjects[index];
            subject.outcome.as_ref().is_ok_and(|stored| {
                let evidence = &stored.evidence;
                let full = kind == Look::Close && evidence.close_comparisons.len() >= MOST_CLOSE;
                let lost = evidence.refusals.contains_key("comparisons");
                self.hosts[subject.host].compares && !full && !lost
            })
        });
        for (group, which) in self.grouped(&which) {
            let before = Moment::now();
            let compared = self.in_session(group, &which, "comparisons", |session, subjects| {
                let id = |&index: &usize| &*subjects[index].timer.id;
                session.compare_sparsely(&which.iter().map(id).collect::<Vec<_>>())
            })?;
            let around = before.zip(Moment::now());
            for (&index, comparison) in which.iter().zip(compared.unwrap_or_default()) {
                let (Ok(stored), Some(comparison)) =
                    (&mut self.subjects[index].outcome, comparison)
                else {
                    continue;
                };
                let evidence = &mut stored.evidence;
                if kind == Look::Close {
                    evidence.close_comparisons.push(comparison);
                    continue;
                }
                evidence.sparse_comparisons.push(comparison);
                if let Some((before, after)) = around.filter(|_| stored.reference.keeps_time) {
                    let [began, ended] = *self.began.entry(index).or_insert([before, after]);
                    // By the clock of this process: at least the time between the first comparison
                    // and this one, at most the time around both.
                    let (least, most) = (before.since(ended).0, after.since(began).1);
                    evidence.passed_ns = Some([least as u64, most as u64]);
                }
            }
        }
        Ok(())
    }

    /// Asks all other questions about these timers.
    ///
    /// # Errors
    /// Only [`Fault::Interrupted`].
    pub(super) fn complete(&mut self, which: &[usize]) -> Result<(), Fault> {
        (self.progress)("can they be trusted");
        for (group, which) in self.grouped(which) {
            self.in_session(group, &which, "process", |session, subjects| {
                let mut examined = Vec::new();
                for (index, subject) in subjects.iter_mut().enumerate() {
                    let [cost_ns, step_ns] = rough(subject);
                    let Subject { timer, outcome, .. } = subject;
                    let Some(trace) = outcome.as_mut().ok().filter(|_| which.contains(&index))
                    else {
                        continue;
                    };
                    trace.evidence.claims = Claims {
                        counts: timer.properties.counts,
                        resolution_ns: timer.resolution_ns,
                    };
                    examined.push(Examined {
                        id: &timer.id,
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

    /// Asks the process of a group, starting it if necessary. If the process ends, its timers stay
    /// valid and the question is recorded as refused.
    fn in_session<T>(
        &mut self,
        group: Group,
        which: &[usize],
        question: &str,
        ask: impl FnOnce(&mut Session, &mut [Subject]) -> Answer<T>,
    ) -> Result<Option<T>, Fault> {
        let session = match self.sessions.remove(&group) {
            Some(session) => Ok(session),
            None => self.session(group),
        };
        let asked = session.and_then(|mut session| {
            let answer = ask(&mut session, self.subjects)?;
            Ok((session, answer))
        });
        match survived(asked)? {
            Ok((session, answer)) => {
                self.sessions.insert(group, session);
                Ok(Some(answer))
            }
            Err(fault) => {
                for &index in which {
                    if let Ok(stored) = &mut self.subjects[index].outcome {
                        let refusals = &mut stored.evidence.refusals;
                        refusals.insert(question.into(), fault.to_string());
                    }
                }
                Ok(None)
            }
        }
    }

    fn session(&self, (host, one): Group) -> Answer<Session> {
        let members = || {
            let hosted = (self.subjects.iter().enumerate()).filter(move |(index, subject)| {
                subject.host == host && one.is_none_or(|one| one == *index)
            });
            hosted.filter_map(|(_, subject)| Some((subject, subject.outcome.as_ref().ok()?)))
        };
        let ids: Vec<&str> = members().map(|(subject, _)| &*subject.timer.id).collect();
        let reference = members()
            .next()
            .map(|(_, stored)| stored.reference.id.clone());
        Ok(Session {
            connection: connect(&self.hosts[host], &ids, None, self.settings.timeout)?,
            reference: reference.unwrap_or_default(),
            joint: self.hosts[host].answers_for_many,
            plan: self.settings.plan,
            cpus: self.cpus.clone(),
        })
    }

    /// Groups those of the given timers that did not fail by the process that measures them.
    fn grouped(&self, which: &[usize]) -> BTreeMap<Group, Vec<usize>> {
        let mut groups: BTreeMap<Group, Vec<usize>> = BTreeMap::new();
        for &index in which {
            let subject = &self.subjects[index];
            let alone = !self.hosts[subject.host].answers_for_many;
            if subject.outcome.is_ok() {
                let group = (subject.host, alone.then_some(index));
                groups.entry(group).or_default().push(index);
            }
        }
        groups
    }
}

/// Returns the lowest cost of a read in any process, and the step if the timer is slow (otherwise
/// 0), both in nanoseconds.
fn rough(subject: &Subject) -> [f64; 2] {
    let Ok(stored) = &subject.outcome else {
        return [UNKNOWN_COST_NS, 0.0];
    };
    let trace = stored.open();
    // The step only determines how long slow timers have to be watched.
    let step = || Some(resolution(&trace).at_most()? * trace.ns_per_tick?);
    let step_ns = subject.is_slow().then(step).flatten();
    let costs =
        (trace.runs.iter()).filter_map(|run| cost::approximate_cost(&run.batches, &run.bracket));
    let cost = costs.reduce(f64::min).filter(|cost| cost.is_finite());
    [
        cost.map_or(UNKNOWN_COST_NS, |cost| cost * trace.reference.ns_per_tick),
        step_ns.filter(|step| step.is_finite()).unwrap_or(0.0),
    ]
}
