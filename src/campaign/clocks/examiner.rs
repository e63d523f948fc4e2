//! Who is examined by which process: the processes are kept as long as they live, and what their
//! end means.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use timers::Fault;

use super::subject::Subject;
use crate::campaign::choose::Settings;
use crate::hosts::host::{Host, connect};

use crate::campaign::examination::{CampaignFacts, Examined, Session};
use crate::campaign::outside::Moment;
use crate::cost;
use crate::profile::resolution;
use crate::trace::{Claims, Evidence, Trace};

/// Comparisons that follow each other closely, at most: enough to tell windows of a second; a host
/// may have a thousand timers. *Judgement*.
const MOST_CLOSE: usize = 128;

/// Which comparisons a look adds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Those over the whole campaign.
    Sparse,
    /// Those that follow each other closely.
    Close,
}

/// The timers that one process is asked about: those of a host, or one of them.
type Group = (usize, Option<usize>);

/// All examinations of a campaign.
#[derive(Default)]
pub struct Examiner {
    sessions: BTreeMap<Group, Running>,
    /// The clock of this process before and after the first look at each timer.
    began: BTreeMap<usize, [Moment; 2]>,
}

struct Running {
    session: Session,
    /// The timer at each place of the session.
    members: Vec<usize>,
}

impl Examiner {
    /// Looks at how far these timers and their references have come, by processes that live as long
    /// as the campaign. Hosts that cannot compare them are not asked, nor is a process that ended
    /// before.
    ///
    /// # Errors
    /// Only [`Fault::Interrupted`].
    pub fn look(
        &mut self,
        kind: Look,
        which: &[usize],
        hosts: &[Host],
        subjects: &mut [Subject],
        settings: &Settings,
    ) -> Result<(), Fault> {
        let wanted = |index: &usize| {
            let Ok(stored) = &subjects[*index].outcome else {
                return false;
            };
            let evidence = &stored.evidence;
            let full = kind == Look::Close && evidence.close_comparisons.len() >= MOST_CLOSE;
            hosts[subjects[*index].host].compares
                && !full
                && !evidence.refusals.contains_key("comparisons")
        };
        let which: Vec<usize> = which.iter().copied().filter(wanted).collect();
        for (group, which) in grouped(&which, hosts, subjects) {
            let before = Moment::now();
            let compared = self
                .session(group, hosts, subjects, settings)
                .and_then(|running| {
                    let places: Vec<usize> = which
                        .iter()
                        .filter_map(|index| running.place(*index))
                        .collect();
                    running.session.compare_sparsely(&places)
                });
            let after = Moment::now();
            let Some(compared) =
                self.unless_lost(group, compared, "comparisons", &which, subjects)?
            else {
                continue;
            };
            for (index, comparison) in which.into_iter().zip(compared) {
                let (Ok(stored), Some(comparison)) = (&mut subjects[index].outcome, comparison)
                else {
                    continue;
                };
                let evidence = &mut stored.evidence;
                match kind {
                    Look::Close => evidence.close_comparisons.push(comparison),
                    Look::Sparse => {
                        evidence.sparse_comparisons.push(comparison);
                        let keeps_time = stored.reference.keeps_time;
                        if let Some(around) = before.zip(after).filter(|_| keeps_time) {
                            self.passed(index, around, evidence);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// What passed between the first look at a timer and the last one, by the clock of this
    /// process.
    fn passed(&mut self, index: usize, (before, after): (Moment, Moment), evidence: &mut Evidence) {
        let [began, ended] = *self.began.entry(index).or_insert([before, after]);
        // At least what lies between the two looks, at most what lies around them.
        let (least, most) = (before.since(ended).0, after.since(began).1);
        evidence.passed_ns = Some([least as u64, most as u64]);
    }

    /// All other questions to these timers.
    ///
    /// # Errors
    /// Only [`Fault::Interrupted`].
    pub fn complete(
        &mut self,
        which: &[usize],
        hosts: &[Host],
        subjects: &mut [Subject],
        settings: &Settings,
        cpus: &[u32],
    ) -> Result<(), Fault> {
        let well: Vec<usize> = which
            .iter()
            .copied()
            .filter(|index| subjects[*index].outcome.is_ok())
            .collect();
        for (group, which) in grouped(&well, hosts, subjects) {
            let rough: Vec<[f64; 2]> = which.iter().map(|&index| rough(&subjects[index])).collect();
            let examined = self
                .session(group, hosts, subjects, settings)
                .and_then(|running| {
                    let known = CampaignFacts {
                        plan: &settings.plan,
                        cpus,
                    };
                    let mut examined = Vec::new();
                    for (index, subject) in subjects.iter_mut().enumerate() {
                        let at = which.iter().position(|other| *other == index);
                        let (Some(at), Some(place)) = (at, running.place(index)) else {
                            continue;
                        };
                        let Ok(stored) = &mut subject.outcome else {
                            continue;
                        };
                        let (counts, resolution_ns) =
                            (subject.timer.properties.counts, subject.timer.resolution_ns);
                        stored.evidence.claims = Claims {
                            counts,
                            resolution_ns,
                        };
                        let [cost_ns, step_ns] = rough[at];
                        examined.push(Examined {
                            place,
                            cost_ns,
                            step_ns,
                            trace: stored,
                        });
                    }
                    running.session.examine(&known, &mut examined)
                });
            self.unless_lost(group, examined, "process", &which, subjects)?;
            if group.1.is_some() {
                // It is asked no more.
                self.sessions.remove(&group);
            }
        }
        Ok(())
    }

    fn session(
        &mut self,
        group: Group,
        hosts: &[Host],
        subjects: &[Subject],
        settings: &Settings,
    ) -> Result<&mut Running, Fault> {
        Ok(match self.sessions.entry(group) {
            Entry::Occupied(running) => running.into_mut(),
            Entry::Vacant(place) => place.insert(Running::start(group, hosts, subjects, settings)?),
        })
    }

    /// The end of the process that was to be asked is no end of its timers: the question stays
    /// open.
    fn unless_lost<T>(
        &mut self,
        group: Group,
        asked: Result<T, Fault>,
        question: &str,
        which: &[usize],
        subjects: &mut [Subject],
    ) -> Result<Option<T>, Fault> {
        match asked {
            Ok(answer) => Ok(Some(answer)),
            Err(Fault::Interrupted) => Err(Fault::Interrupted),
            Err(fault) => {
                self.sessions.remove(&group);
                for &index in which {
                    let Ok(stored) = &mut subjects[index].outcome else {
                        continue;
                    };
                    stored
                        .evidence
                        .refusals
                        .insert(question.into(), fault.to_string());
                }
                Ok(None)
            }
        }
    }
}

impl Running {
    fn start(
        (host, one): Group,
        hosts: &[Host],
        subjects: &[Subject],
        settings: &Settings,
    ) -> Result<Self, Fault> {
        let is_in = |index: &usize| {
            let subject = &subjects[*index];
            subject.host == host && subject.outcome.is_ok() && one.is_none_or(|one| one == *index)
        };
        let members: Vec<usize> = (0..subjects.len()).filter(is_in).collect();
        let ids: Vec<&str> = members
            .iter()
            .map(|&index| subjects[index].timer.id.as_str())
            .collect();
        let mut references = members
            .iter()
            .filter_map(|&index| subjects[index].outcome.as_ref().ok());
        let reference = references
            .next()
            .map(|stored| stored.reference.id.clone())
            .unwrap_or_default();
        let connection = connect(&hosts[host], &ids, None, settings.timeout)?;
        Ok(Self {
            session: Session::new(connection, &ids, &reference),
            members,
        })
    }

    fn place(&self, index: usize) -> Option<usize> {
        self.members.iter().position(|member| *member == index)
    }
}

/// These timers by the process that is asked about them.
fn grouped(which: &[usize], hosts: &[Host], subjects: &[Subject]) -> BTreeMap<Group, Vec<usize>> {
    let mut groups: BTreeMap<Group, Vec<usize>> = BTreeMap::new();
    for &index in which {
        let host = subjects[index].host;
        groups
            .entry((host, (!hosts[host].answers_for_many).then_some(index)))
            .or_default()
            .push(index);
    }
    groups
}

/// What a read costs in the process where it was cheapest, and the step where it is long, both in
/// nanoseconds.
fn rough(subject: &Subject) -> [f64; 2] {
    let Ok(stored) = &subject.outcome else {
        return [1_000.0, 0.0];
    };
    let trace = stored.open();
    // Only for slow ones does it matter how long they have to be watched.
    let step = || Some(resolution(&trace).at_most()? * trace.ns_per_tick?);
    let step_ns = subject.is_slow().then(step).flatten();
    [
        rough_cost(&trace),
        step_ns.filter(|step| step.is_finite()).unwrap_or(0.0),
    ]
}

fn rough_cost(trace: &Trace) -> f64 {
    let costs = trace
        .runs
        .iter()
        .filter_map(|run| cost::rough(&run.batches, &run.bracket));
    let least = costs.fold(f64::INFINITY, f64::min);
    if least.is_finite() {
        least * trace.reference.ns_per_tick
    } else {
        1_000.0
    }
}
