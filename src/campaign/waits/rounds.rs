//! Runs a process for each sleep primitive or periodic timer, round after round, in another order
//! each round.

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use timers::{Answer, Deadline, Fault, Pinned};

use super::plan::WaitSettings;
use super::subject::Subject;
use crate::campaign::choose::choose_reference;
use crate::campaign::clocks::Settings;
use crate::campaign::sampling::Plan;
use crate::hosts::host::Host;
use crate::trace::{PeriodRun, PeriodTrace, Reference, WaitRun, WaitTrace};

/// A wait that was so late that it ended the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Broken {
    /// Which of the subjects.
    pub subject: usize,
    /// What was asked for, in nanoseconds.
    pub request_ns: u64,
    /// How late it was, in nanoseconds.
    pub late_ns: f64,
}

/// What the processes of a subject observe together.
pub(super) trait Observed {
    /// What one process observes.
    type Run;

    fn runs(&mut self) -> &mut Vec<Self::Run>;

    /// The latest wait of those that were asked for, where it ends the run: its length and its
    /// lateness, in nanoseconds.
    fn too_late(&self, _run: &Self::Run, _settings: &WaitSettings) -> Option<(u64, f64)> {
        None
    }
}

impl Observed for WaitTrace {
    type Run = WaitRun;

    fn runs(&mut self) -> &mut Vec<WaitRun> {
        &mut self.runs
    }

    fn too_late(&self, run: &WaitRun, settings: &WaitSettings) -> Option<(u64, f64)> {
        let most = settings.break_ns? as f64;
        let chosen = run
            .lengths
            .iter()
            .filter(|wait| settings.lengths_ns.contains(&wait.request_ns));
        let late = chosen.map(|wait| (wait.request_ns, wait.late_ns(self.reference.ns_per_tick)));
        late.max_by(|a, b| a.1.total_cmp(&b.1))
            .filter(|(_, late)| *late > most)
    }
}

impl Observed for PeriodTrace {
    type Run = PeriodRun;

    fn runs(&mut self) -> &mut Vec<PeriodRun> {
        &mut self.runs
    }
}

/// The rounds of a campaign.
pub(super) struct Rounds<'a, T> {
    pub subjects: &'a mut [Subject<T>],
    pub random: StdRng,
    settings: &'a WaitSettings,
    progress: &'a dyn Fn(&str),
}

impl<'a, T: Observed> Rounds<'a, T> {
    /// Finds the reference of each host, and begins a trace for each subject.
    pub fn begin(
        hosts: &[Host],
        subjects: &'a mut [Subject<T>],
        settings: &'a WaitSettings,
        progress: &'a dyn Fn(&str),
        trace: impl Fn(&Subject<T>, Reference) -> T,
    ) -> Result<Self, Fault> {
        let mut random = StdRng::seed_from_u64(settings.seed);
        let references = references(hosts, settings, &mut random)?;
        for subject in subjects.iter_mut() {
            let reference = references[subject.host].clone();
            subject.outcome = reference.map(|reference| trace(subject, reference));
        }
        Ok(Self {
            subjects,
            random,
            settings,
            progress,
        })
    }

    /// The places of all subjects.
    pub fn all(&self) -> Vec<usize> {
        (0..self.subjects.len()).collect()
    }

    /// As many rounds as were asked for, each with its number, up to the wait that ends the run.
    pub fn repeat(
        &mut self,
        mut round: impl FnMut(&mut Self, u32) -> Result<Option<Broken>, Fault>,
    ) -> Result<Option<Broken>, Fault> {
        let over = self.settings.span.map(Deadline::after);
        let mut number = 0;
        loop {
            let broken = round(self, number)?;
            number += 1;
            let goes_on = match &over {
                Some(over) => {
                    over.remaining().is_some() && self.subjects.iter().any(Subject::goes_on)
                }
                None => number < self.settings.plan.processes,
            };
            if broken.is_some() || !goes_on {
                return Ok(broken);
            }
        }
    }

    /// A process for each of these subjects, in random order.
    pub fn round(
        &mut self,
        mut order: Vec<usize>,
        process: &impl Fn(&Subject<T>, &T, u64) -> Answer<T::Run>,
    ) -> Result<Option<Broken>, Fault> {
        order.shuffle(&mut self.random);
        for index in order {
            let subject = &mut self.subjects[index];
            (self.progress)(&subject.waiter.id);
            let Some(trace) = subject.outcome.as_ref().ok().filter(|_| subject.goes_on()) else {
                continue;
            };
            // The runner and its threads leave the CPU that measures to the agents, where there is
            // another one.
            let _apart = subject.conditions.cpu.and_then(Pinned::off);
            let seed = self.random.random();
            let load = subject.conditions.start_load();
            let run = load
                .map_err(|error| Fault::Refused(error.to_string()))
                .and_then(|_load| process(subject, trace, seed));
            let late = run
                .as_ref()
                .ok()
                .and_then(|run| trace.too_late(run, self.settings));
            subject.keep(run, T::runs)?;
            if let Some((request_ns, late_ns)) = late {
                return Ok(Some(Broken {
                    subject: index,
                    request_ns,
                    late_ns,
                }));
            }
        }
        Ok(None)
    }
}

/// The clock of each host that times waits: one that counts time in a declared unit, as timers that
/// wait count the same time.
fn references(
    hosts: &[Host],
    settings: &WaitSettings,
    random: &mut StdRng,
) -> Result<Vec<Result<Reference, String>>, Fault> {
    let looked = Settings {
        plan: Plan::QUICK,
        seed: settings.seed,
        cpu: None,
        timeout: settings.timeout,
    };
    hosts
        .iter()
        .map(|host| {
            let mut host = host.clone();
            let native = host
                .timers
                .iter()
                .any(|timer| timer.id == timers::waits::REFERENCE_ID);
            host.timers.retain(|timer| {
                if native {
                    timer.id == timers::waits::REFERENCE_ID
                } else {
                    timer.ns_per_tick.is_some()
                }
            });
            match choose_reference(&host, &looked, random) {
                Err(Fault::Interrupted) => Err(Fault::Interrupted),
                found => Ok(found.map_err(|fault| fault.to_string())),
            }
        })
        .collect()
}
