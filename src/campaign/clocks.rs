//! Characterises clocks: measures all clocks of all agents in rounds of fresh processes, starts
//! further processes for those with the widest intervals, and gathers the evidence for verdicts.

mod agent;
mod clock;
mod cost_in_context;
mod narrowing;
mod process;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use timers::{Answer, Deadline, Fault};

use self::agent::AgentClocks;
pub use self::clock::Clock;
pub use self::cost_in_context::context_question;
use self::narrowing::TimerScore;
pub use self::narrowing::is_worth_continuing;
use self::process::{MeasuringProcess, ProcessKind};
use crate::agents::agent::Agent;
use crate::agents::protocol::AgentTimer;
use crate::campaign::disturbances::CampaignWatch;
use crate::campaign::unless_interrupted;
use crate::plan::Plan;
use estimators::model::{Counted, Estimate, Family, Hertz};
use estimators::statistics::median_with_percentiles;
use reporting::parallel;

/// Share of the time of a run that is reserved for the evidence for verdicts and for the analysis.
/// *Seen*: 5 to 6 s of a run next to a busy program.
const VERDICTS_SHARE: f64 = 0.3;
/// The round in which all clocks, not only the clock of the process, are compared with their
/// references after each process. *Judgement*: this gives times between comparisons from 14 ms to a
/// round.
const CLOSE_COMPARISON_ROUND: u32 = 0;
/// Declared tick or resolution, in nanoseconds, from which a clock is watched as a slow one from
/// the beginning, because no process works long enough to find its step. *Computed*: twice the
/// longest work of the default plan.
const DECLARED_SLOW_NS: f64 = 1e6;
/// Core frequency that is assumed if it was not observed, in hertz. It affects only the Quality in
/// cycles.
const ASSUMED_HERTZ: f64 = 3e9;

/// Measures all `timers` of the agents with these indices, on that one of `cpus` whose core no other thread
/// uses at the moment, first on the first of them; on any CPU if there are none. Calls `progress` with a
/// description of the next step, always when nothing is being measured. Returns the clocks in the order of
/// their agents, and the frequency of the core during the campaign, in hertz: the median of all samples, with the range of
/// nine tenths of them. `None` if the frequency was not observed.
///
/// # Errors
/// Only [`Fault::Interrupted`]: the failure of a timer is recorded in its outcome.
pub fn run(
    agents: &[Agent],
    timers: &[(usize, AgentTimer)],
    plan: &Plan,
    cpus: &[u32],
    progress: &dyn Fn(&str),
) -> Result<(Vec<Clock>, Option<Estimate>), Fault> {
    let sampling = Duration::from_secs_f64(plan.budget_s * (1.0 - VERDICTS_SHARE));
    let deadline = Deadline::after(sampling);
    let all_cpus = timers::allowed_cpus().unwrap_or_default();
    let mut campaign = Campaign {
        agents: Vec::new(),
        plan,
        deadline,
        watch: CampaignWatch::new(cpus),
        random: SmallRng::seed_from_u64(plan.seed),
        progress,
    };
    for (index, agent) in agents.iter().enumerate() {
        let of_agent = timers.iter().filter(|(agent, _)| *agent == index);
        let of_agent: Vec<_> = of_agent.map(|(_, timer)| timer.clone()).collect();
        if !of_agent.is_empty() {
            progress("calibrating the reference");
            let random = &mut campaign.random;
            let agent = AgentClocks::begin(agent, of_agent, plan, &all_cpus, random)?;
            campaign.agents.push(agent);
        }
    }
    // Slow clocks are watched in the background where the campaign leaves a CPU.
    let can_watch = plan.placement.cpu.is_some() && all_cpus.len() > 1;
    campaign.watch_slow(can_watch, |clock| {
        let declared = [clock.timer.resolution_ns, clock.timer.ns_per_tick];
        declared
            .into_iter()
            .flatten()
            .any(|ns| ns >= DECLARED_SLOW_NS)
    });
    for round in 0..plan.rounds() {
        campaign.run_round(round)?;
        campaign.watch_slow(can_watch, Clock::is_slow);
    }
    campaign.add_undisturbed()?;
    campaign.narrow_intervals()?;
    let core_hz = campaign.agree()?;
    campaign.gather_evidence(&all_cpus)?;
    let clocks = campaign.agents.into_iter().flat_map(|agent| agent.clocks);
    Ok((clocks.collect(), core_hz))
}

/// A running campaign.
struct Campaign<'a> {
    agents: Vec<AgentClocks<'a>>,
    plan: &'a Plan,
    /// After this deadline, no further processes are started except for the verdicts.
    deadline: Deadline,
    /// Finds free cores, and detects disturbances of the measuring processes.
    watch: Rc<RefCell<CampaignWatch>>,
    random: SmallRng,
    progress: &'a dyn Fn(&str),
}

impl Campaign<'_> {
    /// Starts to watch those clocks that are `slow` and claim to count wall time, if it can be done and is
    /// not done already.
    fn watch_slow(&mut self, can_watch: bool, slow: impl Fn(&Clock) -> bool) {
        for agent in self.agents.iter_mut().filter(|_| can_watch) {
            for index in 0..agent.clocks.len() {
                let clock = &agent.clocks[index];
                let counts_wall = clock.timer.properties.counts == Some(Counted::Wall);
                if counts_wall && clock.watch.is_none() && slow(clock) {
                    agent.clocks[index].watch = agent.watch_slow(index, (true, None));
                }
            }
        }
    }

    /// Compares all clocks with their references once; see [`AgentClocks::compare`].
    fn compare_all(&mut self, closely: bool) -> Result<(), Fault> {
        (self.agents.iter_mut()).try_for_each(|agent| agent.compare(None, closely))
    }

    /// Runs one process for each clock, then the brief processes of this round for all clocks.
    fn run_round(&mut self, round: u32) -> Result<(), Fault> {
        let cpu = self.watch.borrow().cpu();
        for agent in &mut self.agents {
            agent.retry_reference_step(cpu, &mut self.random)?;
            agent.sample_rate()?;
        }
        for at in 0..self.agents.len() {
            if round >= self.plan.own_processes(self.agents[at].agent.takes_ids) {
                continue;
            }
            for index in 0..self.agents[at].clocks.len() {
                if self.agents[at].clocks[index].outcome.is_ok() {
                    self.measure_alone(at, index)?;
                    if round == CLOSE_COMPARISON_ROUND {
                        self.compare_all(true)?;
                    }
                }
            }
        }
        // If the processes take longer than planned, fewer of them are run.
        for turn in self.plan.brief_after(round) {
            if self.deadline.remaining().is_none() {
                break;
            }
            for at in 0..self.agents.len() {
                let searches = turn < self.plan.searching;
                self.measure_briefly(at, "all timers in one process", searches, |_, _| true)?;
            }
        }
        Ok(())
    }

    /// Measures a clock in a process of its own, then compares it with its reference. If the
    /// process fails, records the reason as the outcome of the clock.
    fn measure_alone(&mut self, at: usize, index: usize) -> Result<(), Fault> {
        let clock = &mut self.agents[at].clocks[index];
        (self.progress)(&clock.timer.id);
        clock.own_processes += 1;
        let measured = self.measure_in_process(at, &[index], ProcessKind::Own);
        let agent = &mut self.agents[at];
        agent.clocks[index].fail_unless(measured.map(|_| ()))?;
        agent.compare(Some(index), false)
    }

    /// Runs one brief process for those clocks of an agent that are `wanted`, if the agent has such processes
    /// and any is. `searches` says whether it searches for steps, `what` what it is for. Returns the
    /// indices of the clocks that were measured; a lost process has none.
    fn measure_briefly(
        &mut self,
        at: usize,
        what: &str,
        searches: bool,
        wanted: impl Fn(usize, &Clock) -> bool,
    ) -> Result<Vec<usize>, Fault> {
        let agent = &mut self.agents[at];
        let clocks = agent.clocks.iter().enumerate();
        let clocks = clocks.filter(|(index, clock)| clock.outcome.is_ok() && wanted(*index, clock));
        let mut targets: Vec<usize> = clocks.map(|(index, _)| index).collect();
        if targets.is_empty() || !agent.agent.takes_ids {
            return Ok(Vec::new());
        }
        (self.progress)(what);
        targets.shuffle(&mut self.random);
        // Perf events come last: while one is open, the kernel saves and restores its counter on
        // every thread switch, which disturbs the clocks after it.
        let family = |index: usize| agent.clocks[index].timer.properties.family;
        targets.sort_by_key(|&index| family(index) == Some(Family::PerfEvent));
        let measured = self.measure_in_process(at, &targets, ProcessKind::Brief { searches });
        let measured = unless_interrupted(measured)?;
        // All clocks of all agents are compared after each process, because comparisons that follow
        // each other sooner show smaller jumps.
        self.compare_all(false)?;
        Ok(measured.unwrap_or_default())
    }

    /// Measures clocks of an agent in one process of this kind. Returns the indices of those that it measured.
    fn measure_in_process(
        &mut self,
        at: usize,
        targets: &[usize],
        kind: ProcessKind,
    ) -> Answer<Vec<usize>> {
        let agent = &mut self.agents[at];
        let ids = targets.iter().map(|&index| &*agent.clocks[index].timer.id);
        let ids: Vec<&str> = ids.collect();
        let process = MeasuringProcess::start(agent.agent, &ids, self.plan, &self.watch, kind)?;
        process.measure(&mut agent.clocks, targets, &mut self.random)
    }

    /// Runs further brief processes for the clocks that had a core to themselves too rarely, as long
    /// as more time may be spent on searching.
    fn add_undisturbed(&mut self) -> Result<(), Fault> {
        let watch = Rc::clone(&self.watch);
        let can_find = || watch.borrow().full_width().is_some() && watch.borrow().has_time();
        for at in 0..self.agents.len() {
            let what = "undisturbed processes";
            let lacks = |_, clock: &Clock| clock.lacks_undisturbed();
            let mut measure = || self.measure_briefly(at, what, false, lacks);
            while can_find() && !CampaignWatch::spend(&watch, &mut measure)?.is_empty() {}
        }
        Ok(())
    }

    /// Runs further processes for the clocks with the widest intervals, until all intervals are
    /// narrow enough or the time is used up.
    fn narrow_intervals(&mut self) -> Result<(), Fault> {
        let plan = self.plan;
        if plan.max_processes <= plan.processes + plan.brief {
            return Ok(());
        }
        let hertz = self.begin_scores();
        let mut affordable = f64::INFINITY;
        while let Some(remaining) = self.deadline.remaining() {
            let Some((at, index)) = self.widest(affordable) else {
                break;
            };
            let has_brief = self.agents[at].agent.takes_ids;
            let id = &self.agents[at].clocks[index].timer.id;
            let what = format!("{id}, to narrow its interval");
            let block = if has_brief { plan.block } else { 1 };
            let clocks = self.agents[at].clocks.iter();
            let wide: Vec<bool> = clocks
                .map(|clock| clock.excess_width(affordable, plan).is_some())
                .collect();
            let mut processes = 0;
            while processes < block && self.deadline.remaining().is_some() {
                processes += 1;
                if has_brief {
                    let measured =
                        self.measure_briefly(at, &what, false, |index, _| wide[index])?;
                    if measured.is_empty() {
                        self.agents[at].clocks[index].score = None;
                        break;
                    }
                } else {
                    self.measure_alone(at, index)?;
                }
                (self.agents[at].clocks.iter_mut()).for_each(|clock| clock.update_score(hertz));
            }
            let elapsed = remaining.saturating_sub(self.deadline.remaining().unwrap_or_default());
            let one = elapsed.as_secs_f64() / f64::from(processes.max(1));
            affordable = remaining.as_secs_f64() / one.max(1e-6);
            self.agents
                .iter_mut()
                .try_for_each(AgentClocks::sample_rate)?;
        }
        Ok(())
    }

    /// Begins the Quality of all clocks. Returns the frequency of the core in hertz that it comes from.
    fn begin_scores(&mut self) -> f64 {
        let hertz = median_with_percentiles(self.watch.borrow().frequencies());
        let hertz = hertz.map_or(ASSUMED_HERTZ, |hertz| hertz.value);
        let clocks = self.agents.iter_mut().flat_map(|agent| &mut agent.clocks);
        let clocks: Vec<&mut Clock> = clocks.collect();
        let observed = clocks
            .iter()
            .map(|clock| (clock.stored(), clock.agreed_tick()));
        let observed: Vec<_> = observed.collect();
        let scores = (self.watch.borrow_mut()).on_all_cpus(|| {
            parallel::map(&observed, |(stored, tick)| {
                TimerScore::begin((*stored)?, *tick, hertz)
            })
        });
        for (clock, score) in clocks.into_iter().zip(scores) {
            clock.score = score;
        }
        hertz
    }

    /// Returns the agent and the index of the clock with the widest interval among those that should get
    /// further processes.
    fn widest(&self, affordable: f64) -> Option<(usize, usize)> {
        let clocks = self.agents.iter().enumerate().flat_map(|(at, agent)| {
            let clocks = agent.clocks.iter().enumerate();
            clocks.map(move |(index, clock)| (clock, (at, index)))
        });
        clocks
            .filter_map(|(clock, at)| Some((clock.excess_width(affordable, self.plan)?, at)))
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, at)| at)
    }

    /// Stores the final rates of the references, and for each clock the results that its processes
    /// agree on. Returns the frequency of the core in hertz, as [`run`] does.
    fn agree(&mut self) -> Result<Option<Estimate>, Fault> {
        let core_hz = median_with_percentiles(self.watch.borrow().frequencies());
        let hertz = core_hz.and_then(|hertz| Hertz::new(hertz.value));
        let full_width = self.watch.borrow().full_width();
        for agent in &mut self.agents {
            agent.agree(hertz, full_width)?;
        }
        self.watch.borrow_mut().release_runner();
        Ok(core_hz)
    }

    /// Gathers the evidence for the verdicts. Slow clocks come last because they are watched in the
    /// background until then. Those whose step is still unknown are watched at the same time, each by a
    /// process that computes on one of the `cpus` and another one that sleeps.
    fn gather_evidence(&mut self, cpus: &[u32]) -> Result<(), Fault> {
        (self.progress)("checking whether the timers can be trusted");
        self.agents
            .iter_mut()
            .try_for_each(|agent| agent.examine(false))?;
        (self.progress)("waiting for slow clocks");
        let mut watched = Vec::new();
        for (at, agent) in self.agents.iter_mut().enumerate() {
            for index in 0..agent.clocks.len() {
                let clock = &mut agent.clocks[index];
                let watch = clock.watch.take().filter(|_| clock.is_slow());
                if let Some(watch) = watch {
                    let watched = watch.join().map(|(intervals, moved)| {
                        clock.add_slow(intervals, Some(moved));
                    });
                    clock.fail_unless(watched)?;
                }
                if clock.is_slow() && clock.outcome.is_ok() && !clock.is_resolved() {
                    let cpu = cpus.get(watched.len() % cpus.len().max(1)).copied();
                    let [sleeper, computer] =
                        [(true, None), (false, cpu)].map(|how| agent.watch_slow(index, how));
                    watched.push((at, index, sleeper, computer));
                }
            }
        }
        for (at, index, sleeper, computer) in watched {
            let clock = &mut self.agents[at].clocks[index];
            let no_thread = || Fault::Lost("no thread can be started for it".into());
            let computed = computer
                .ok_or_else(no_thread)
                .and_then(|watch| watch.join());
            // Of the sleeping process, only the movement is used: it may have been stopped before
            // it observed enough steps.
            let slept = sleeper.and_then(|watch| watch.stop());
            let added = computed.map(|(intervals, _)| clock.add_slow(intervals, slept));
            clock.fail_unless(added)?;
        }
        self.agents
            .iter_mut()
            .try_for_each(|agent| agent.examine(true))
    }
}
