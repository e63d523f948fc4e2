//! Asks every clock of every host, each in fresh processes of its own, in rounds.
//!
//! A round asks each timer once, in one process; the rounds are spread over the whole campaign, so
//! that what one moment did to the machine does not fall on one timer. Between them come
//! [brief](brief) processes. Timers whose steps are too long for that are watched meanwhile by
//! processes that sleep, or wait together at the end.

mod adds;
mod brief;
mod ending;
mod examiner;
mod further;
mod narrowing;
mod own_process;
mod own_rate;
mod references;
mod subject;

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use timers::{Deadline, Fault, Pinned};

pub use crate::hosts::host::Host;

use crate::campaign::calibration::Calibration;
pub use crate::campaign::choose::Settings;
use crate::campaign::choose::choose_reference;
use crate::campaign::slow_clocks::BackgroundWatcher;
use crate::campaign::watch::Watch;
use crate::model::Interval;
use crate::parallel;
use crate::trace::Trace;

pub use adds::questions;
use brief::visit;
use examiner::{Examiner, Look};
pub use narrowing::goes_on;
use own_process::ask;
use references::{calibrate, clarify, look, references_of};
pub use subject::Subject;

/// What the verdicts and the analysis take of the time of a run, as a share: so much of the budget
/// is left to them. *Seen*: 5 to 6 s of a run beside a busy program.
const FOR_VERDICTS: f64 = 0.3;

/// In these rounds all timers are compared with their references after each process, not only after
/// their own. *Judgement*: windows between 14 ms and a round.
const CLOSELY: Range<u32> = 1..2;

/// A clock whose declared tick or resolution is as long, in nanoseconds, is watched from the
/// beginning: no work that a process can afford shows its steps. *Computed*: twice the longest work
/// of the default plan.
const DECLARED_SLOW_NS: f64 = 1e6;

/// Questions all subjects. `progress` is called between processes with what comes next, when
/// nothing is being measured. Returns the frequency of the core meanwhile, in hertz: the median,
/// and what nine tenths of all windows lay between.
///
/// # Errors
/// Only [`Fault::Interrupted`]: what befalls a timer stands in its outcome.
pub fn run(
    hosts: &[Host],
    subjects: &mut [Subject],
    settings: &Settings,
    progress: &dyn Fn(&str),
) -> Result<Option<Interval>, Fault> {
    let mut campaign = Campaign::new(hosts, subjects, settings, progress);
    campaign.choose_references()?;
    campaign.watch_declared_slow();
    campaign.calibrate()?;
    for round in 0..settings.plan.rounds() {
        campaign.round(round)?;
    }
    campaign.narrow()?;
    let core_hz = campaign.settle()?;
    campaign.examine()?;
    Ok(core_hz)
}

/// A campaign that goes on: what it asks, how, and what runs in parallel.
struct Campaign<'a> {
    hosts: &'a [Host],
    subjects: &'a mut [Subject],
    settings: &'a Settings,
    progress: &'a dyn Fn(&str),
    random: StdRng,
    cpus: Vec<u32>,
    /// When no further processes are started but for the verdicts.
    over: Deadline,
    /// The runner and its threads leave the CPU that measures to the agents, where there is another
    /// one.
    apart: Option<Pinned>,
    watch: Rc<RefCell<Watch>>,
    /// Who watches the rate of the reference of each host.
    calibrations: Vec<Option<Calibration>>,
    examiner: Examiner,
    background_watcher: BackgroundWatcher,
}

impl<'a> Campaign<'a> {
    fn new(
        hosts: &'a [Host],
        subjects: &'a mut [Subject],
        settings: &'a Settings,
        progress: &'a dyn Fn(&str),
    ) -> Self {
        let sampling = Duration::from_secs_f64(settings.plan.budget_s * (1.0 - FOR_VERDICTS));
        let over = Deadline::after(sampling);
        let cpus = timers::allowed_cpus().unwrap_or_default();
        // What is analysed later is not to keep off the CPU that measures now.
        parallel::prepare();
        let apart = settings.cpu.and_then(Pinned::off);
        let patience = Duration::from_nanos(settings.plan.patience_ns as u64);
        Self {
            hosts,
            subjects,
            settings,
            progress,
            random: StdRng::seed_from_u64(settings.seed),
            watch: Watch::new(settings.cpu, apart.is_some(), patience),
            over,
            apart,
            calibrations: Vec::new(),
            examiner: Examiner::default(),
            background_watcher: BackgroundWatcher::new(*settings, &cpus),
            cpus,
        }
    }

    /// The reference of each host.
    fn choose_references(&mut self) -> Result<(), Fault> {
        for (index, host) in self.hosts.iter().enumerate() {
            (self.progress)("calibrating the reference");
            let reference = choose_reference(host, self.settings, &mut self.random);
            if matches!(reference, Err(Fault::Interrupted)) {
                return Err(Fault::Interrupted);
            }
            for subject in self
                .subjects
                .iter_mut()
                .filter(|subject| subject.host == index)
            {
                subject.outcome = match &reference {
                    Ok(reference) => Ok(Trace {
                        reference: reference.clone(),
                        ..Trace::default()
                    }
                    .into()),
                    Err(fault) => Err(fault.to_string()),
                };
            }
        }
        Ok(())
    }

    /// Has the rate of each reference watched from now on.
    fn calibrate(&mut self) -> Result<(), Fault> {
        for (index, host) in self.hosts.iter().enumerate() {
            let references = references_of(self.subjects, index);
            self.calibrations
                .push(calibrate(host, references, self.settings, &self.cpus)?);
        }
        Ok(())
    }

    /// Has those watched from now on whose steps are declared to be long.
    fn watch_declared_slow(&mut self) {
        for (index, subject) in self.subjects.iter().enumerate() {
            let declared = [subject.timer.resolution_ns, subject.timer.ns_per_tick];
            if declared
                .into_iter()
                .flatten()
                .any(|ns| ns >= DECLARED_SLOW_NS)
                && let Some(slow) = subject.waiting(self.hosts)
            {
                self.background_watcher
                    .begin(index, slow, subject.timer.properties.counts);
            }
        }
    }

    /// A process for each timer, and brief ones for all.
    fn round(&mut self, round: u32) -> Result<(), Fault> {
        for (index, host) in self.hosts.iter().enumerate() {
            clarify(
                host,
                references_of(self.subjects, index),
                self.settings,
                &mut self.random,
            )?;
            look(&mut self.calibrations[index])?;
        }
        for index in 0..self.subjects.len() {
            let subject = &self.subjects[index];
            let alone = self.settings.plan.alone(self.hosts[subject.host].takes_ids);
            if subject.outcome.is_err() || round >= alone {
                continue;
            }
            self.ask(index)?;
            let subject = &self.subjects[index];
            if subject.is_slow()
                && let Some(slow) = subject.waiting(self.hosts)
            {
                self.background_watcher
                    .begin(index, slow, subject.timer.properties.counts);
            }
            if CLOSELY.contains(&round) {
                self.compare(Look::Close, None)?;
            }
        }
        // Where processes take so long that the time is used, fewer have to do.
        for turn in self.settings.plan.brief_after(round) {
            if self.over.remaining().is_none() {
                break;
            }
            for host in (0..self.hosts.len()).filter(|host| self.hosts[*host].takes_ids) {
                (self.progress)("timers of one process");
                let searches = turn < self.settings.plan.searching;
                self.visit(host, (0..self.subjects.len()).collect(), searches)?;
            }
        }
        Ok(())
    }

    /// A process of its own for a timer.
    fn ask(&mut self, index: usize) -> Result<(), Fault> {
        let subject = &mut self.subjects[index];
        (self.progress)(&subject.timer.id);
        ask(
            &self.hosts[subject.host],
            subject,
            self.settings,
            &self.watch,
            self.random.random(),
        )?;
        self.compare(Look::Sparse, Some(index))
    }

    /// A brief process for those of `targets` that this host has; returns those that it asked.
    fn visit(
        &mut self,
        host: usize,
        mut targets: Vec<usize>,
        searches: bool,
    ) -> Result<Vec<usize>, Fault> {
        targets.retain(|index| self.subjects[*index].host == host);
        let (random, watch) = (&mut self.random, &self.watch);
        let asked = visit(
            &self.hosts[host],
            self.subjects,
            targets,
            self.settings,
            watch,
            random,
            searches,
        )?;
        // The closer such looks lie, the smaller the jumps that they show.
        self.compare(Look::Sparse, None)?;
        Ok(asked)
    }

    /// Holds a timer against its reference, or all of them.
    fn compare(&mut self, kind: Look, one: Option<usize>) -> Result<(), Fault> {
        let which = one.map_or_else(|| (0..self.subjects.len()).collect(), |one| vec![one]);
        self.examiner
            .look(kind, &which, self.hosts, self.subjects, self.settings)
    }
}
