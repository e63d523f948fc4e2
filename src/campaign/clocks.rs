//! Characterises clocks: measures all timers of all agents in rounds of fresh processes, starts
//! further processes for the timers with the widest intervals, and gathers the evidence for
//! verdicts.

mod cost_in_context;
mod examiner;
mod measured;
mod narrowing;
mod process;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

use rand::RngExt;
use timers::{Deadline, Fault};

use crate::agents::agent::{Agent, connect};
use crate::agents::protocol::AgentTimer;
use crate::agents::subject;

use crate::campaign::choose::{Purpose, calibrate_candidate, choose_reference};
use crate::campaign::disturbances::CampaignWatch;
use crate::campaign::examination::Session;
use crate::campaign::reference_rate::RateMeasurement;
use crate::campaign::rounds::Rounds;
use crate::campaign::sampling::CampaignSettings;
use crate::campaign::slow_clocks::{BackgroundWatcher, SlowTimer, measure_together};
use crate::campaign::unit_check::Moment;
use crate::campaign::unless_interrupted;
use estimators::figures::resolution;
use estimators::model::{Estimate, Hertz};
use estimators::rate;
use estimators::resolution::Step;
use estimators::statistics::median_with_percentiles;
use estimators::trace::{Reference, StoredTrace};

pub use cost_in_context::context_questions;
use examiner::{Examinees, Series};
pub use measured::{ClockContender, MeasuredClock};
use narrowing::Narrowing;
pub use narrowing::is_worth_continuing;

/// Share of the time of a run that is reserved for the evidence for verdicts and for the analysis.
/// *Seen*: 5 to 6 s of a run next to a busy program.
const VERDICTS_SHARE: f64 = 0.3;
/// Rounds in which all timers, not only the timer of the process, are compared with their
/// references after each process. *Judgement*: this gives times between comparisons from 14 ms to a
/// round.
const CLOSE_COMPARISON_ROUNDS: Range<u32> = 1..2;
/// Declared tick or resolution, in nanoseconds, from which a clock is watched as a slow timer from
/// the beginning, because no process works long enough to find its step. *Computed*: twice the
/// longest work of the default plan.
const DECLARED_SLOW_NS: f64 = 1e6;

/// Measures all subjects, on that one of `cpus` whose core no other thread uses at the moment, first
/// on the first of them; on any CPU if there are none. Calls `progress` with a description of the next step, always when nothing
/// is being measured. Returns the frequency of the core during the campaign, in hertz: the median
/// of all samples, with the range of nine tenths of them. `None` if the frequency was not observed.
///
/// # Errors
/// Only [`Fault::Interrupted`]: the failure of a timer is recorded in its outcome.
pub fn run(
    agents: &[Agent],
    subjects: &mut [ClockContender],
    settings: &CampaignSettings,
    cpus: &[u32],
    progress: &dyn Fn(&str),
) -> Result<Option<Estimate>, Fault> {
    let mut campaign = Campaign::begin(agents, subjects, settings, cpus, progress)?;
    for index in campaign.rounds.all() {
        let timer = &campaign.rounds.subjects[index].timer;
        let declared = [timer.resolution_ns, timer.ns_per_tick];
        if (declared.into_iter().flatten()).any(|ns| ns >= DECLARED_SLOW_NS) {
            campaign.watch_slow(index);
        }
    }
    campaign.start_rate_measurements()?;
    for round in 0..settings.plan.rounds() {
        campaign.run_round(round)?;
    }
    campaign.add_undisturbed()?;
    campaign.narrow_intervals()?;
    let core_hz = campaign.store_agreed_results()?;
    campaign.gather_evidence()?;
    Ok(core_hz)
}

/// Lets the cycle counters of devices time the calls of their timers, as far as their agents can.
///
/// # Errors
/// Only [`Fault::Interrupted`].
fn time_by_cycles(rounds: &mut Rounds<MeasuredClock>) -> Result<(), Fault> {
    let (agents, settings) = (rounds.agents, rounds.settings);
    for (index, agent) in agents.iter().enumerate() {
        let is_counter = |timer: &&AgentTimer| {
            timer.device.as_ref().and_then(|it| it.cycles.as_ref()) == Some(&timer.id)
        };
        let Some(counter) = agent.timers.iter().find(is_counter) else {
            continue;
        };
        let connection = connect(agent, &[&counter.id], settings.cpu, settings.timeout);
        let calibrated = connection.and_then(|connection| {
            let random = &mut rounds.random;
            let reference = calibrate_candidate(agent, counter, &connection, random)?;
            Ok((connection, reference))
        });
        let Ok((connection, reference)) = unless_interrupted(calibrated)? else {
            continue;
        };
        let subjects = rounds.subjects.iter_mut();
        for subject in subjects.filter(|it| it.agent == index && it.timer.device.is_some()) {
            let mut timer = subject::subject(&connection, &subject.timer.id);
            let asked = unless_interrupted(timer.batches(&reference.id, 1, 1))?;
            if let Some(stored) = subject.stored_mut().filter(|_| asked.is_ok()) {
                stored.calls_reference = Some(reference.clone());
            }
        }
    }
    Ok(())
}

/// A running campaign: its subjects, settings and parallel activities.
struct Campaign<'a> {
    rounds: Rounds<'a, MeasuredClock>,
    /// The CPUs that this process may use.
    cpus: Vec<u32>,
    /// After this deadline, no further processes are started except for the verdicts.
    deadline: Deadline,
    /// Finds free cores, and detects disturbances of the measuring processes.
    watch: Rc<RefCell<CampaignWatch>>,
    /// The measurement of the reference rate of each agent, in the order of the agents; `None` if the
    /// reference declares its unit or cannot be measured.
    rate_measurements: Vec<Option<RateMeasurement>>,
    /// The processes that compare and examine the timers of an agent, or a single timer.
    sessions: BTreeMap<Examinees, Session>,
    /// The time of the runner before and after the first comparison of each timer, by the index of
    /// the timer.
    first_comparisons: BTreeMap<usize, [Moment; 2]>,
    background_watcher: BackgroundWatcher,
}

impl<'a> Campaign<'a> {
    fn begin(
        agents: &'a [Agent],
        subjects: &'a mut [ClockContender],
        settings: &'a CampaignSettings,
        measuring_cpus: &[u32],
        progress: &'a dyn Fn(&str),
    ) -> Result<Self, Fault> {
        let sampling = Duration::from_secs_f64(settings.plan.budget_s * (1.0 - VERDICTS_SHARE));
        let deadline = Deadline::after(sampling);
        let cpus = timers::allowed_cpus().unwrap_or_default();
        let watch = CampaignWatch::new(measuring_cpus);
        let empty =
            |subject: &ClockContender, reference| MeasuredClock::new(&subject.timer, reference);
        let purpose = Purpose::Clocks;
        let mut rounds = Rounds::begin(agents, subjects, settings, progress, purpose, empty)?;
        time_by_cycles(&mut rounds)?;
        Ok(Self {
            rounds,
            watch,
            deadline,
            rate_measurements: Vec::new(),
            sessions: BTreeMap::new(),
            first_comparisons: BTreeMap::new(),
            background_watcher: BackgroundWatcher::new(*settings, &cpus),
            cpus,
        })
    }

    /// Returns the references of the timers of an agent, one for each timer that has not failed.
    fn references_of(&mut self, agent: usize) -> impl Iterator<Item = &mut Reference> {
        (self.rounds.subjects.iter_mut())
            .filter(move |subject| subject.agent == agent)
            .filter_map(|subject| Some(&mut subject.stored_mut()?.reference))
    }

    /// Starts to measure the rate of each reference. If that is impossible, the reference keeps the
    /// rate that was found when it was chosen.
    fn start_rate_measurements(&mut self) -> Result<(), Fault> {
        for (index, agent) in self.rounds.agents.iter().enumerate() {
            let reference = self.references_of(index).next().cloned();
            let start = |reference| {
                RateMeasurement::start(agent, &reference, self.rounds.settings, &self.cpus)
            };
            let measurement = unless_interrupted(reference.map(start).transpose())?;
            self.rate_measurements
                .push(measurement.ok().flatten().flatten());
        }
        Ok(())
    }

    /// Samples the rate of the reference of an agent once more. If the process that compares is lost,
    /// the measurement of this rate ends.
    fn sample_rate(&mut self, agent: usize) -> Result<(), Fault> {
        let measurement = &mut self.rate_measurements[agent];
        if let Some(sample) = measurement.as_mut().map(RateMeasurement::sample)
            && unless_interrupted(sample)?.is_err()
        {
            *measurement = None;
        }
        Ok(())
    }

    /// Calibrates the reference of an agent once more if only an upper bound of its step is known.
    fn retry_reference_step(&mut self, agent: usize) -> Result<(), Fault> {
        if !(self.references_of(agent)).any(|known| known.step_at_most.is_some()) {
            return Ok(());
        }
        let (settings, cpu) = (self.rounds.settings, self.watch.borrow().cpu());
        let purpose = Purpose::Clocks;
        let random = &mut self.rounds.random;
        let found = choose_reference(&self.rounds.agents[agent], settings, cpu, purpose, random);
        // A failure is ignored because the reference was calibrated before.
        if let Ok(found) = unless_interrupted(found)?
            && found.step_at_most.is_none()
        {
            // The second choice may be another reference, whose step does not apply.
            for known in self
                .references_of(agent)
                .filter(|known| known.id == found.id)
            {
                if known.step_at_most.take().is_some() {
                    known.step = found.step;
                }
            }
        }
        Ok(())
    }

    /// Returns what is needed to watch a slow timer. `None` if the timer failed.
    fn slow_timer(&self, index: usize) -> Option<SlowTimer> {
        let subject = &self.rounds.subjects[index];
        Some(SlowTimer {
            agent: self.rounds.agents[subject.agent].clone(),
            timer: subject.timer.clone(),
            reference: subject.stored()?.reference.clone(),
        })
    }

    /// Starts to watch a slow timer in the background.
    fn watch_slow(&mut self, index: usize) {
        if let Some(slow) = self.slow_timer(index) {
            self.background_watcher.begin(index, slow);
        }
    }

    /// Runs one process for each timer, then the brief processes of this round for all timers.
    fn run_round(&mut self, round: u32) -> Result<(), Fault> {
        for agent in 0..self.rounds.agents.len() {
            self.retry_reference_step(agent)?;
            self.sample_rate(agent)?;
        }
        for index in 0..self.rounds.subjects.len() {
            let subject = &self.rounds.subjects[index];
            let has_brief = self.rounds.agents[subject.agent].takes_ids;
            let rounds = self.rounds.settings.plan.own_processes(has_brief);
            if subject.outcome.is_err() || round >= rounds {
                continue;
            }
            self.measure_alone(index)?;
            if self.rounds.subjects[index].is_slow() {
                self.watch_slow(index);
            }
            if CLOSE_COMPARISON_ROUNDS.contains(&round) {
                self.compare(Series::Close, self.rounds.all())?;
            }
        }
        // If the processes take longer than planned, fewer of them are run.
        for turn in self.rounds.settings.plan.brief_after(round) {
            if self.deadline.remaining().is_none() {
                break;
            }
            for agent in
                (0..self.rounds.agents.len()).filter(|agent| self.rounds.agents[*agent].takes_ids)
            {
                (self.rounds.progress)("all timers in one process");
                self.measure_briefly(
                    agent,
                    self.rounds.all(),
                    turn < self.rounds.settings.plan.searching,
                )?;
            }
        }
        Ok(())
    }

    /// Runs further brief processes for the timers that had a core to themselves too rarely, as long
    /// as more time may be spent on searching.
    fn add_undisturbed(&mut self) -> Result<(), Fault> {
        let watch = Rc::clone(&self.watch);
        for agent in
            (0..self.rounds.agents.len()).filter(|agent| self.rounds.agents[*agent].takes_ids)
        {
            loop {
                let mut lacking = self.rounds.all();
                lacking.retain(|&index| {
                    let subject = &self.rounds.subjects[index];
                    let measured = subject.outcome.as_ref();
                    subject.agent == agent && measured.is_ok_and(MeasuredClock::lacks_undisturbed)
                });
                let can_find = watch.borrow().full_width().is_some() && watch.borrow().has_time();
                if lacking.is_empty() || !can_find {
                    break;
                }
                (self.rounds.progress)("undisturbed processes");
                if CampaignWatch::spend(&watch, || self.measure_briefly(agent, lacking, false))?
                    .is_empty()
                {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Runs further processes for the timers with the widest intervals, until all intervals are
    /// narrow enough or the time is used up.
    fn narrow_intervals(&mut self) -> Result<(), Fault> {
        let plan = self.rounds.settings.plan;
        if plan.max_processes <= plan.processes + plan.brief {
            return Ok(());
        }
        let hertz =
            median_with_percentiles(self.watch.borrow().frequencies()).map(|hertz| hertz.value);
        let mut narrowing =
            (self.watch.borrow_mut()).on_all_cpus(|| Narrowing::new(self.rounds.subjects, hertz));
        let mut measured_since_sample = 0;
        while let Some(remaining) = self.deadline.remaining() {
            let wide = narrowing.select_wide(self.rounds.subjects, &plan);
            let Some(&widest) = wide.first() else { break };
            let agent = self.rounds.subjects[widest].agent;
            let has_brief = self.rounds.agents[agent].takes_ids;
            let block = if has_brief { plan.block } else { 1 };
            let mut processes = 0;
            while processes < block && self.deadline.remaining().is_some() {
                processes += 1;
                let id = &self.rounds.subjects[widest].timer.id;
                (self.rounds.progress)(&format!("{id}, to narrow its interval"));
                let updated = if has_brief {
                    self.measure_briefly(agent, wide.clone(), false)?
                } else {
                    self.measure_alone(widest)?;
                    vec![widest]
                };
                if updated.is_empty() {
                    narrowing.exclude(widest);
                    break;
                }
                narrowing.update(self.rounds.subjects, &updated);
                measured_since_sample += updated.len();
            }
            let elapsed = remaining.saturating_sub(self.deadline.remaining().unwrap_or_default());
            narrowing.limit_processes(remaining, elapsed / processes.max(1));
            // The references are sampled about as often as in the rounds.
            if measured_since_sample >= self.rounds.subjects.len() {
                measured_since_sample = 0;
                (0..self.rounds.agents.len()).try_for_each(|agent| self.sample_rate(agent))?;
            }
        }
        Ok(())
    }

    /// Stores the final rates of the references, and for each timer the results that its processes
    /// agree on. Returns the frequency of the core in hertz, as [`run`] does.
    fn store_agreed_results(&mut self) -> Result<Option<Estimate>, Fault> {
        for agent in 0..self.rounds.agents.len() {
            self.sample_rate(agent)?;
            let measurement = self.rate_measurements[agent].take();
            if let Some(rate) = measurement.and_then(|measurement| measurement.rate()) {
                let measured = (self.rounds.subjects.iter_mut())
                    .filter(|subject| subject.agent == agent)
                    .filter_map(|subject| subject.outcome.as_mut().ok());
                measured.for_each(|measured| measured.rescale(rate));
            }
        }
        let core_hz = median_with_percentiles(self.watch.borrow().frequencies());
        let hertz = core_hz.and_then(|hertz| Hertz::new(hertz.value));
        let full_width = self.watch.borrow().full_width();
        for subject in self.rounds.subjects.iter_mut() {
            // The state of the cores does not concern the processor of a device.
            let is_on_device = subject.timer.device.is_some();
            let state = (hertz, full_width);
            let (hertz, full_width) = if is_on_device { (None, None) } else { state };
            subject.update(|measured| measured.store_agreed_results(hertz, full_width))?;
        }
        self.complete_cycle_counters();
        self.watch.borrow_mut().release_runner();
        Ok(core_hz)
    }

    /// Gives the cycle counters that timed calls the rate and the step that the campaign found.
    fn complete_cycle_counters(&mut self) {
        let completed = |subject: &ClockContender| {
            let stored = subject.stored()?;
            let counter = stored.calls_reference.clone();
            let mut counter = counter.filter(|it| it.id == subject.timer.id)?;
            let (ns, uncertainty) = rate::tick(stored)?;
            counter.ns_per_work *= ns / counter.ns_per_tick;
            (counter.ns_per_tick, counter.rate_uncertainty) = (ns, uncertainty);
            if let Step::Resolved { step, .. } = resolution(&stored.open()) {
                (counter.step, counter.step_at_most) = (step.value, None);
            }
            Some((subject.agent, counter))
        };
        let counters: Vec<_> = self.rounds.subjects.iter().filter_map(completed).collect();
        for (agent, counter) in counters {
            let subjects = self
                .rounds
                .subjects
                .iter_mut()
                .filter(|it| it.agent == agent);
            subjects
                .filter_map(|subject| subject.stored_mut()?.calls_reference.as_mut())
                .for_each(|reference| reference.clone_from(&counter));
        }
    }

    /// Gathers the evidence for the verdicts. Slow timers come last because they are watched in the
    /// background until then.
    fn gather_evidence(&mut self) -> Result<(), Fault> {
        let (slow, fast): (Vec<usize>, Vec<usize>) = (self.rounds.all().into_iter())
            .partition(|index| self.rounds.subjects[*index].is_slow());
        self.examine(&fast)?;
        (self.rounds.progress)("waiting for slow clocks");
        for (index, result) in self.background_watcher.end() {
            if self.rounds.subjects[index].is_slow() {
                self.rounds.subjects[index].update(|measured| measured.add_slow_result(result))?;
            }
        }
        let is_resolved =
            |stored: &StoredTrace| matches!(resolution(&stored.open()), Step::Resolved { .. });
        let (indices, unresolved): (Vec<usize>, Vec<SlowTimer>) = (slow.iter())
            .filter(|&&index| {
                !self.rounds.subjects[index]
                    .stored()
                    .is_some_and(is_resolved)
            })
            .filter_map(|&index| Some((index, self.slow_timer(index)?)))
            .unzip();
        let seed = self.rounds.random.random();
        let results = measure_together(&unresolved, self.rounds.settings, &self.cpus, seed);
        for (index, result) in indices.into_iter().zip(results) {
            self.rounds.subjects[index].update(|measured| measured.add_slow_result(result))?;
        }
        self.examine(&slow)
    }
}
