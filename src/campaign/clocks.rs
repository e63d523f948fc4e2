//! Characterises clocks: measures all timers of all hosts in rounds of fresh processes, then starts
//! further processes for the timers with the widest intervals.

mod adds;
mod brief;
mod examiner;
mod narrowing;
mod own_process;
mod subject;

use std::cell::RefCell;
use std::collections::BTreeMap;
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
use crate::campaign::examination::Session;
use crate::campaign::outside::Moment;
use crate::campaign::slow_clocks::{BackgroundWatcher, Slow, together};
use crate::campaign::survived;
use crate::campaign::watch::Watch;
use crate::model::Interval;
use crate::parallel;
use crate::profile::resolution;
use crate::resolution::Resolution;
use crate::statistics::median_with_percentiles;
use crate::trace::{Reference, Stored};

pub use adds::questions;
use examiner::{Group, Look};
use narrowing::Narrowing;
pub use narrowing::goes_on;
pub use subject::Subject;

/// Share of the time budget that is reserved for the verdicts and the analysis. *Seen*: 5 to 6 s of
/// a run next to a busy program.
const VERDICTS_SHARE: f64 = 0.3;
/// Rounds in which all timers are compared with their references after each process, not only the
/// timer of that process. *Judgement*: windows between 14 ms and a round.
const CLOSE_COMPARISON_ROUNDS: Range<u32> = 1..2;
/// A clock whose declared tick or resolution is at least this long, in nanoseconds, is watched from
/// the beginning: no work that a process can afford shows its steps. *Computed*: twice the longest
/// work of the default plan.
const DECLARED_SLOW_NS: f64 = 1e6;

/// Measures all subjects. `progress` is called with the next step between processes, when nothing
/// is being measured. Returns the frequency of the core during the campaign, in hertz: the median,
/// and the range of nine tenths of all windows.
///
/// # Errors
/// Only [`Fault::Interrupted`]: the failure of a timer is recorded in its outcome.
pub fn run(
    hosts: &[Host],
    subjects: &mut [Subject],
    settings: &Settings,
    progress: &dyn Fn(&str),
) -> Result<Option<Interval>, Fault> {
    let mut campaign = Campaign::new(hosts, subjects, settings, progress);
    campaign.choose_references()?;
    for index in 0..campaign.subjects.len() {
        let timer = &campaign.subjects[index].timer;
        let declared = [timer.resolution_ns, timer.ns_per_tick];
        if (declared.into_iter().flatten()).any(|ns| ns >= DECLARED_SLOW_NS) {
            campaign.watch_slow(index);
        }
    }
    campaign.calibrate()?;
    for round in 0..settings.plan.rounds() {
        campaign.round(round)?;
    }
    campaign.narrow()?;
    let core_hz = campaign.settle()?;
    campaign.examine()?;
    Ok(core_hz)
}

/// A running campaign: its subjects, settings and parallel activities.
struct Campaign<'a> {
    hosts: &'a [Host],
    subjects: &'a mut [Subject],
    settings: &'a Settings,
    progress: &'a dyn Fn(&str),
    random: StdRng,
    cpus: Vec<u32>,
    /// The time after which no further processes are started except for the verdicts.
    over: Deadline,
    /// Keeps the runner and its threads off the measuring CPU, if there is another CPU.
    apart: Option<Pinned>,
    watch: Rc<RefCell<Watch>>,
    /// The measurement of the reference rate of each host, in the order of the hosts.
    calibrations: Vec<Option<Calibration>>,
    /// The processes that compare and examine the timers of a host, or a single timer.
    sessions: BTreeMap<Group, Session>,
    /// The clock of this process before and after the first comparison of each timer, by the index
    /// of the timer.
    began: BTreeMap<usize, [Moment; 2]>,
    background_watcher: BackgroundWatcher,
}

impl<'a> Campaign<'a> {
    fn new(
        hosts: &'a [Host],
        subjects: &'a mut [Subject],
        settings: &'a Settings,
        progress: &'a dyn Fn(&str),
    ) -> Self {
        let sampling = Duration::from_secs_f64(settings.plan.budget_s * (1.0 - VERDICTS_SHARE));
        let over = Deadline::after(sampling);
        let cpus = timers::allowed_cpus().unwrap_or_default();
        // Later analysis must not keep threads on the CPU that measures now.
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
            sessions: BTreeMap::new(),
            began: BTreeMap::new(),
            background_watcher: BackgroundWatcher::new(*settings, &cpus),
            cpus,
        }
    }

    fn all(&self) -> Vec<usize> {
        (0..self.subjects.len()).collect()
    }

    /// Returns the reference that each timer of a host has recorded.
    fn references(&mut self, host: usize) -> impl Iterator<Item = &mut Reference> {
        let hosted = (self.subjects.iter_mut()).filter(move |subject| subject.host == host);
        hosted.filter_map(|subject| Some(&mut subject.outcome.as_mut().ok()?.reference))
    }

    /// Finds the reference of each host.
    fn choose_references(&mut self) -> Result<(), Fault> {
        for (index, host) in self.hosts.iter().enumerate() {
            (self.progress)("calibrating the reference");
            let found = survived(choose_reference(host, self.settings, &mut self.random))?;
            let outcome = found.map_err(|fault| fault.to_string());
            let outcome = outcome.map(|reference| Stored {
                reference,
                ..Stored::default()
            });
            let hosted = (self.subjects.iter_mut()).filter(|subject| subject.host == index);
            hosted.for_each(|subject| subject.outcome = outcome.clone());
        }
        Ok(())
    }

    /// Starts to measure the rate of each reference. A reference that cannot be measured keeps the
    /// rate found when it was chosen.
    fn calibrate(&mut self) -> Result<(), Fault> {
        for (index, host) in self.hosts.iter().enumerate() {
            let reference = self.references(index).next().cloned();
            let start = |reference| Calibration::start(host, &reference, self.settings, &self.cpus);
            let calibration = survived(reference.map(start).transpose())?;
            self.calibrations.push(calibration.ok().flatten().flatten());
        }
        Ok(())
    }

    /// Samples the rate of a reference once more. After its process is lost, no more samples are
    /// taken.
    fn sample_rate(&mut self, host: usize) -> Result<(), Fault> {
        let calibration = &mut self.calibrations[host];
        if let Some(sample) = calibration.as_mut().map(Calibration::sample)
            && survived(sample)?.is_err()
        {
            *calibration = None;
        }
        Ok(())
    }

    /// Calibrates the reference of a host once more if its step is still unknown.
    fn clarify(&mut self, host: usize) -> Result<(), Fault> {
        if !(self.references(host)).any(|known| known.step_at_most.is_some()) {
            return Ok(());
        }
        let found = choose_reference(&self.hosts[host], self.settings, &mut self.random);
        // The reference worked before, so a failure here is temporary and ignored.
        if let Ok(found) = survived(found)?
            && found.step_at_most.is_none()
        {
            // A different reference would have a different rate.
            for known in self.references(host).filter(|known| known.id == found.id) {
                if known.step_at_most.take().is_some() {
                    known.step = found.step;
                }
            }
        }
        Ok(())
    }

    /// Returns the data that is needed to watch a timer with long steps. `None` if the timer
    /// failed.
    fn slow(&self, index: usize) -> Option<Slow> {
        let subject = &self.subjects[index];
        Some(Slow {
            host: self.hosts[subject.host].clone(),
            timer: subject.timer.clone(),
            reference: subject.outcome.as_ref().ok()?.reference.clone(),
        })
    }

    /// Starts to watch a timer with long steps in the background.
    fn watch_slow(&mut self, index: usize) {
        if let Some(slow) = self.slow(index) {
            self.background_watcher.begin(index, slow);
        }
    }

    /// Runs one process for each timer, then brief processes for all timers.
    fn round(&mut self, round: u32) -> Result<(), Fault> {
        for host in 0..self.hosts.len() {
            self.clarify(host)?;
            self.sample_rate(host)?;
        }
        for index in 0..self.subjects.len() {
            let subject = &self.subjects[index];
            let alone = self.settings.plan.alone(self.hosts[subject.host].takes_ids);
            if subject.outcome.is_err() || round >= alone {
                continue;
            }
            self.ask(index)?;
            if self.subjects[index].is_slow() {
                self.watch_slow(index);
            }
            if CLOSE_COMPARISON_ROUNDS.contains(&round) {
                self.compare(Look::Close, self.all())?;
            }
        }
        // If processes take so long that the time is used up, fewer of them are run.
        for turn in self.settings.plan.brief_after(round) {
            if self.over.remaining().is_none() {
                break;
            }
            for host in (0..self.hosts.len()).filter(|host| self.hosts[*host].takes_ids) {
                (self.progress)("timers of one process");
                self.visit(host, self.all(), turn < self.settings.plan.searching)?;
            }
        }
        Ok(())
    }

    /// Runs further processes for the timers with the widest intervals.
    fn narrow(&mut self) -> Result<(), Fault> {
        let plan = self.settings.plan;
        if plan.most_processes <= plan.processes + plan.brief {
            return Ok(());
        }
        let hertz =
            median_with_percentiles(self.watch.borrow().frequencies()).map(|hertz| hertz.value);
        let mut narrowing = Narrowing::new(self.subjects, hertz);
        let mut asked = 0;
        while let Some(left) = self.over.remaining() {
            let wide = narrowing.wide(self.subjects, &plan);
            let Some(&widest) = wide.first() else { break };
            let host = self.subjects[widest].host;
            let visits = self.hosts[host].takes_ids;
            // A process started for a single timer measures only that timer.
            let most = if visits { plan.block } else { 1 };
            let mut block = 0;
            while block < most && self.over.remaining().is_some() {
                block += 1;
                let id = &self.subjects[widest].timer.id;
                (self.progress)(&format!("{id}, to narrow its interval"));
                let again = if visits {
                    self.visit(host, wide.clone(), false)?
                } else {
                    self.ask(widest)?;
                    vec![widest]
                };
                if again.is_empty() {
                    narrowing.give_up(widest);
                    break;
                }
                narrowing.update(self.subjects, &again);
                asked += again.len();
            }
            let taken = left.saturating_sub(self.over.remaining().unwrap_or_default());
            narrowing.afford(left, taken / block.max(1));
            if asked >= self.subjects.len() {
                asked = 0;
                (0..self.hosts.len()).try_for_each(|host| self.sample_rate(host))?;
            }
        }
        Ok(())
    }

    /// Stores the rates and results that the processes agree on. Returns the frequency of the core,
    /// in hertz.
    fn settle(&mut self) -> Result<Option<Interval>, Fault> {
        for host in 0..self.hosts.len() {
            self.sample_rate(host)?;
            let calibration = self.calibrations[host].take();
            if let Some(rate) = calibration.and_then(|calibration| calibration.rate()) {
                let hosted = (self.subjects.iter_mut()).filter(|subject| subject.host == host);
                hosted.for_each(|subject| subject.rescale(rate));
            }
        }
        let core_hz = median_with_percentiles(self.watch.borrow().frequencies());
        let hertz = core_hz.map(|hertz| hertz.value);
        (self.subjects.iter_mut()).for_each(|subject| subject.settle(hertz));
        self.apart = None;
        Ok(core_hz)
    }

    /// Gathers the evidence for the verdicts. Slow timers come last because they are watched in the
    /// background until then.
    fn examine(&mut self) -> Result<(), Fault> {
        let (slow, fast): (Vec<usize>, Vec<usize>) =
            (self.all().into_iter()).partition(|index| self.subjects[*index].is_slow());
        self.complete(&fast)?;
        (self.progress)("waiting for slow clocks");
        for (index, waited) in self.background_watcher.end() {
            if self.subjects[index].is_slow() {
                self.subjects[index].keep(waited)?;
            }
        }
        let is_resolved =
            |stored: &Stored| matches!(resolution(&stored.open()), Resolution::Resolved { .. });
        let (indices, unresolved): (Vec<usize>, Vec<Slow>) = (slow.iter())
            .filter(|&&index| !self.subjects[index].outcome.as_ref().is_ok_and(is_resolved))
            .filter_map(|&index| Some((index, self.slow(index)?)))
            .unzip();
        let waited = together(&unresolved, self.settings, &self.cpus, self.random.random());
        for (index, waited) in indices.into_iter().zip(waited) {
            self.subjects[index].keep(waited)?;
        }
        self.complete(&slow)
    }
}
