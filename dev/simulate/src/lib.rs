//! Judges the estimators: probes simulated timers whose true resolution, cost and spread are known,
//! and compares the rows of the report with the truth.

pub mod clocks;
pub mod comparing;
mod core;
pub mod figure;
mod observer;
pub mod population;
pub mod samples;
pub mod steps;
pub mod tally;
pub mod trust;
mod truth;
mod verdict;
pub mod waits;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use simulated::{Model, Neighbours, REFERENCE_ID, Role, Shared, Surroundings, World};
use timers::Answer;

use self::core::SimulatedCore;
pub use self::figure::FoundFigure;
pub use self::truth::{Slowdowns, Truth};
pub use self::verdict::Verdict;
use estimators::model::{Estimate, Hertz};
use estimators::rate;
use estimators::scoring::RunningScore;
use estimators::statistics::median_with_percentiles;
use estimators::trace::{Place, Trace};
use probe::prober::calibrate;
use probe::prober::{
    CallsPlan, find_step, step_question, time_calls, time_calls_briefly, watch_steps,
};
use timermeter::campaign::clocks::is_worth_continuing;
use timermeter::plan::Plan;

/// The nominal frequency of the simulated CPU in hertz, which turns time into cycles.
pub const FREQUENCY: f64 = 3e9;
/// The width of the simulated core alone, in additions per cycle.
const FULL_WIDTH: f64 = 4.0;
/// The time from the start of a process of a timer to that of the next one, in nanoseconds.
/// *Seen*: a round of 30 timers.
const PROCESS_INTERVAL_NS: f64 = 5e8;

/// A simulated timer, the reference that times it, and the machine that both run on.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The timer that is probed.
    pub timer: Model,
    /// The reference that times it.
    pub reference: Model,
    /// The machine: its processes, interruptions and core frequency.
    pub surroundings: Surroundings,
    /// The number of processes after which the budget of the run is spent; `None` if it suffices
    /// for all.
    pub cut: Option<u32>,
    /// The seed of the simulation.
    pub seed: u64,
}

impl Case {
    /// Probes the case in virtual time. Returns the observations and the core frequency during the
    /// probe in hertz.
    ///
    /// # Errors
    /// If the reference cannot be calibrated, for example because it never moves.
    pub fn probe(&self, plan: &Plan) -> Answer<(Trace, Estimate)> {
        let (trace, hertz, _) = self.probe_with_slowdowns(plan)?;
        Ok((trace, hertz))
    }

    /// Also returns how much slower than alone the core of each process was, with the time for which
    /// it was.
    fn probe_with_slowdowns(&self, plan: &Plan) -> Answer<(Trace, Estimate, Vec<Slowdowns>)> {
        let mut random = StdRng::seed_from_u64(self.seed);
        let frequencies = Rc::new(RefCell::new(Vec::new()));
        let world = self.world(0, self.seed);
        let reference = calibrate(
            REFERENCE_ID,
            world.subject(Role::Reference).as_mut(),
            self.reference.unit,
            &mut random,
        )?;
        let mut trace = Trace {
            ns_per_tick: None,
            declared: self.timer.declared,
            reference,
            full_width: Some(FULL_WIDTH),
            ..Trace::default()
        };
        let (mut slow, mut rates, mut slowdowns) = (0, Vec::new(), Vec::new());
        let mut running_score: Option<RunningScore> = None;
        for process in 1..=self
            .cut
            .unwrap_or(u32::MAX)
            .clamp(plan.processes, plan.max_processes)
        {
            let (searching, certain) =
                (plan.processes + plan.searching, plan.processes + plan.brief);
            let wide = |running_score: &RunningScore| {
                is_worth_continuing(
                    running_score.scatter(),
                    trace.runs.len(),
                    f64::INFINITY,
                    plan,
                )
            };
            if checks_width_before(process, plan) && !running_score.as_ref().is_some_and(wide) {
                break;
            }
            let process_seed = self.seed.wrapping_mul(1_000).wrapping_add(process.into());
            let world = self.world(process, process_seed);
            let mut timer = world.subject(Role::Timer);
            let mut floor = (!self.surroundings.unrolled).then(|| world.subject(Role::Floor));
            let (core, width) = (world.clone(), world.width());
            let mut watch = SimulatedCore::new(world, &frequencies);
            let (timer, floor, reference) = (timer.as_mut(), floor.as_mut(), &trace.reference);
            // The first processes are asked one question after the other, as those are whose only
            // question was disturbed.
            let mut run;
            if process <= searching {
                let calls = &CallsPlan::BRIEF;
                run = time_calls(timer, floor, &mut watch, reference, calls)?;
                let mut is_slow = slow > 0 && slow + 1 == process;
                let question = step_question(
                    timer,
                    self.timer.declared.then_some(self.timer.unit),
                    [reference; 2],
                    plan.search_limits(),
                    random.random(),
                    &mut run,
                )?;
                if !is_slow {
                    (run.intervals, is_slow) = find_step::<StdRng>(timer, &question)?;
                }
                rates.extend(question.ns_per_tick);
                slow += u32::from(is_slow);
            } else {
                let mut floor = floor;
                let time = || time_calls_briefly(timer, floor.as_deref_mut(), reference);
                let (timed, state) = watch.ask_undisturbed(time)?;
                run = timed.with_core_state(state.core_hz, state.unstable);
            }
            run.place = Some(Place {
                process: process - 1,
                cpu: Some(0),
                width: Some(FULL_WIDTH * width.min(core.width())),
            });
            slowdowns.push(core.slowdowns());
            trace.runs.push(run);
            // A campaign adds processes to the timers with the widest intervals; so does this loop.
            let hertz = median_with_percentiles(&frequencies.borrow())
                .map_or(FREQUENCY, |hertz| hertz.value);
            let known = Trace {
                ns_per_tick: rate::tick_over_processes(&rates).map(|(ns, _)| ns),
                core_hz: Hertz::new(hertz),
                runs: Vec::new(),
                ..trace.clone()
            };
            match &mut running_score {
                Some(running_score) => running_score.add(&Trace {
                    runs: trace.runs.last().cloned().into_iter().collect(),
                    ..known
                }),
                None if process == certain && plan.max_processes > process => {
                    running_score = RunningScore::from_trace(
                        &Trace {
                            runs: trace.runs.clone(),
                            ..known
                        },
                        hertz,
                    );
                }
                None => {}
            }
        }
        if 2 * slow > plan.processes + plan.searching {
            let (slow_ns, stop) = (plan.calls.slow_ns, AtomicBool::new(false));
            let reference = &trace.reference;
            let mut clocks = [Role::Timer, Role::Reference].map(|role| world.subject(role));
            (trace.slow, _) =
                watch_steps(&mut clocks, reference, slow_ns, false, &mut random, &stop)?;
        }
        let agreed = rate::tick_over_processes(&rates);
        trace.ns_per_tick = agreed.map(|(ns, _)| ns);
        trace.ns_per_tick_uncertainty = agreed.map_or(0.0, |(_, uncertainty)| uncertainty);
        let hertz =
            median_with_percentiles(&frequencies.borrow()).unwrap_or(Estimate::exact(FREQUENCY));
        trace.core_hz = Hertz::new(hertz.value);
        Ok((trace, hertz, slowdowns))
    }

    /// Probes the case and compares the result with the truth.
    ///
    /// # Errors
    /// If [`probe`](Self::probe) fails.
    pub fn judge(&self, plan: &Plan) -> Answer<Verdict> {
        let (trace, hertz, slowdowns) = self.probe_with_slowdowns(plan)?;
        Ok(Verdict::from_trace(self, trace, hertz, &slowdowns))
    }

    fn world(&self, process: u32, seed: u64) -> Shared {
        let neighbours = self.surroundings.neighbours.map(|neighbours| Neighbours {
            start: PROCESS_INTERVAL_NS * f64::from(process),
            ..neighbours
        });
        let surroundings = Surroundings {
            neighbours,
            ..self.surroundings
        };
        World::new(&self.timer, &self.reference, &surroundings, seed).share()
    }
}

/// Whether the campaign checks, before it starts process number `process` (from 1), that the
/// interval of the timer is still too wide.
fn checks_width_before(process: u32, plan: &Plan) -> bool {
    let certain = plan.processes + plan.brief;
    process > certain && (process - certain - 1).is_multiple_of(plan.block)
}
