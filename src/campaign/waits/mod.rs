//! Measures sleep primitives and periodic timers in rounds: one in one process by `explore` or
//! `ticking`.

pub mod explore;
mod pareto;
mod possible;
pub mod ticking;

use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::StdRng;
use timers::{Answer, Fault};

use self::explore::{WaitBench, explore};
use self::pareto::pareto_optimal;
use self::ticking::run_periodic_timer;
use super::choose::Purpose;
use super::rounds::Rounds;
use super::sampling::CampaignSettings;
use super::sampling::WaitPlan;
use super::subject::CampaignSubject;
use crate::hosts::host::TimerHost;
use crate::hosts::hosted;
use crate::trace::{PeriodTrace, WaitTrace};

/// A sleep primitive with its observations.
pub type WaitSubject = CampaignSubject<WaitTrace>;

/// The waits to make, besides the numbers of the plan.
#[derive(Clone, Debug, Default)]
pub struct RequestedWaits {
    /// The requested lengths, in nanoseconds.
    pub lengths_ns: Vec<u64>,
    /// The time for which rounds are repeated; `None` for the number of rounds of the plan.
    pub span: Option<Duration>,
}

/// Measures sleep primitives: first all of them briefly, then in further rounds those for which no
/// other primitive is both less late and cheaper. Calls `progress` with a description of the next
/// step.
///
/// # Errors
/// Only [`Fault::Interrupted`]: the failure of a timer is recorded in its outcome.
pub fn measure_waits(
    hosts: &[TimerHost],
    subjects: &mut [WaitSubject],
    waits: &RequestedWaits,
    settings: &CampaignSettings,
    progress: &dyn Fn(&str),
) -> Result<(), Fault> {
    let empty = |_: &WaitSubject, reference| WaitTrace {
        reference,
        runs: Vec::new(),
    };
    let mut rounds = Rounds::begin(hosts, subjects, settings, progress, Purpose::Waits, empty)?;
    let plan = settings.plan.waits;
    let with_plan = |plan: WaitPlan| {
        move |subject: &mut WaitSubject, seed| {
            let mut bench = WaitBench::start(subject, hosts, settings)?;
            wait_in_process(&mut bench, subject.observed()?, waits, &plan, seed)
        }
    };
    let measure_first = with_plan(plan.first_rounds());
    rounds.repeat(plan.processes, waits.span, |rounds, _| {
        rounds.run_round(rounds.all(), &measure_first)
    })?;
    let measure_further = with_plan(plan);
    for _ in 0..plan.further {
        rounds.run_round(pareto_optimal(rounds.subjects), &measure_further)?;
    }
    Ok(())
}

/// Measures a sleep primitive in one process and adds the observations to its trace.
fn wait_in_process(
    bench: &mut WaitBench,
    trace: &mut WaitTrace,
    waits: &RequestedWaits,
    plan: &WaitPlan,
    seed: u64,
) -> Answer<()> {
    let mut random = StdRng::seed_from_u64(seed);
    let run = explore(bench, &trace.runs, waits, plan, &mut random)?;
    trace.runs.push(run);
    Ok(())
}

/// Measures periodic timers, all with the same period. Calls `progress` with a description of the
/// next step.
///
/// # Errors
/// Only [`Fault::Interrupted`]: the failure of a timer is recorded in its outcome.
pub fn measure_periods(
    hosts: &[TimerHost],
    subjects: &mut [CampaignSubject<PeriodTrace>],
    period_ns: u64,
    settings: &CampaignSettings,
    progress: &dyn Fn(&str),
) -> Result<(), Fault> {
    let empty = |_: &CampaignSubject<PeriodTrace>, reference| PeriodTrace {
        reference,
        period_ns,
        runs: Vec::new(),
    };
    let mut rounds = Rounds::begin(hosts, subjects, settings, progress, Purpose::Waits, empty)?;
    let plan = settings.plan.waits;
    let tick = |subject: &mut CampaignSubject<PeriodTrace>, _| -> Answer<()> {
        let connection = subject.connect(hosts, settings)?;
        let mut timer = hosted::subject(&connection, &subject.timer.id);
        let PeriodTrace {
            reference, runs, ..
        } = subject.observed()?;
        let run = run_periodic_timer(timer.as_mut(), reference, period_ns, plan.ticking_ns)?;
        runs.push(run);
        Ok(())
    };
    rounds.repeat(plan.processes, None, |rounds, _| {
        rounds.run_round(rounds.all(), &tick)
    })
}
