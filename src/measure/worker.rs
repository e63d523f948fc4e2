//! One operation in a process of its own: what it is asked, and what it answers.

use std::time::Duration;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use super::stability::Stability;
use super::summary::{Sample, Summary};
use super::trial::{Goal, Measured, TrialError};
use super::window::{Timed, timed_by};
use super::{instruments, operations};
use crate::method::ClockFigures;

/// How to measure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Instrument {
    /// Batches that double until they are long enough for the clock (Sestoft)
    #[default]
    Adaptive,
    /// How often in a given time (Kabutz)
    Throughput,
    /// Edge-crossing beside classic
    Discrete,
    /// Instances and bytes a call (Caliper)
    Allocations,
    /// Weighted samples around one length, varied at random (Caliper)
    Micro,
    /// Single calls, each a sample (Caliper)
    Macro,
}

/// What a worker is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The clock with its figures.
    pub clock: ClockFigures,
    /// The name of the operation.
    pub operation: String,
    /// Its size.
    pub size: u64,
    /// How to measure.
    pub instrument: Instrument,
    /// Length of a run of the throughput instrument.
    pub span: Duration,
    /// How well, how often and how long.
    pub goal: Goal,
    /// The CPU to run on.
    pub cpu: Option<u32>,
}

/// What became of one way to measure an operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum MeasurementOutcome {
    /// It was measured.
    Measured(Box<MeasuredRow>),
    /// Memory a call.
    Allocated {
        /// Calls of the allocator, a call of the operation.
        instances: f64,
        /// Bytes, a call of the operation.
        bytes: f64,
    },
    /// It came to nothing.
    Failed {
        /// Why.
        reason: String,
    },
}

/// One way in which an operation was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredRow {
    /// The way.
    pub way: String,
    /// Calls between two reads, or single calls in a group.
    pub calls: u64,
    /// What it came to.
    pub summary: Summary,
    /// Whether the samples agree.
    pub stability: Stability,
    /// All samples.
    pub samples: Vec<Sample>,
}

impl MeasuredRow {
    /// The row of a measurement.
    #[must_use]
    pub fn of(way: &str, measured: Measured, goal: &Goal) -> Self {
        let Measured {
            calls,
            summary,
            samples,
        } = measured;
        let stability = Stability::of(&samples, goal);
        Self {
            way: way.into(),
            calls,
            summary,
            stability,
            samples,
        }
    }
}

/// Does what is asked, in this process: one outcome for each way in which the operation was
/// measured.
#[must_use]
pub fn answer(request: &Request) -> Vec<MeasurementOutcome> {
    measured(request).unwrap_or_else(|reason| vec![MeasurementOutcome::Failed { reason }])
}

fn measured(request: &Request) -> Result<Vec<MeasurementOutcome>, String> {
    let Request { clock, goal, .. } = request;
    if let Some(cpu) = request.cpu {
        timers::pin_to(cpu).map_err(|error| error.to_string())?;
    }
    let mut operation = operations::of_name(&request.operation, request.size)
        .ok_or_else(|| format!("there is no operation `{}`", request.operation))?;
    let mut timed = timed_by(&clock.id, &mut *operation)
        .ok_or_else(|| format!("this program hosts no timer `{}`", clock.id))?
        .map_err(|why| why.to_string())?;
    let timed = &mut *timed;
    let one = |way, found: Result<Measured, TrialError>| found.map(|found| vec![(way, found)]);
    let ways = match request.instrument {
        Instrument::Adaptive => one("adaptive", instruments::adaptive(timed, clock, goal)),
        Instrument::Throughput => one(
            "throughput",
            instruments::throughput(timed, clock, goal, request.span),
        ),
        Instrument::Discrete => both(timed, clock, goal),
        Instrument::Micro => one("micro", instruments::micro(timed, clock, goal)),
        Instrument::Macro => one("macro", instruments::macro_trial(timed, clock, goal)),
        #[cfg(feature = "allocations")]
        Instrument::Allocations => {
            let super::allocations::PerCall { instances, bytes } =
                super::allocations::per_call(timed);
            return Ok(vec![MeasurementOutcome::Allocated { instances, bytes }]);
        }
        #[cfg(not(feature = "allocations"))]
        Instrument::Allocations => {
            return Err("this program was built without the feature `allocations`".into());
        }
    };
    let ways = ways.map_err(|error| error.to_string())?.into_iter();
    let row =
        |(way, found)| MeasurementOutcome::Measured(Box::new(MeasuredRow::of(way, found, goal)));
    Ok(ways.map(row).collect())
}

/// Classic first: its result tells how many single calls are needed. A single call begins when all
/// before it has ended, and calls in a row overlap; so the classic run that edge-crossing has to
/// agree with is the one that keeps its calls apart.
fn both(
    timed: &mut dyn Timed,
    clock: &ClockFigures,
    goal: &Goal,
) -> Result<Vec<(&'static str, Measured)>, TrialError> {
    let in_a_row = instruments::adaptive(timed, clock, goal)?;
    let apart = instruments::adaptive(&mut Apart(timed), clock, goal)?;
    let (_, discrete) = instruments::discrete(timed, clock, goal, apart.summary.mean_ns)?;
    Ok(vec![
        ("classic", in_a_row),
        ("classic, apart", apart),
        ("edge-crossing", discrete),
    ])
}

/// The same with calls that fences keep apart. Where each call needs a set-up they are apart
/// anyway.
struct Apart<'a>(&'a mut dyn Timed);

impl Timed for Apart<'_> {
    fn window(&mut self, calls: u64) -> f64 {
        let floor = self.0.window(0);
        if calls == 0 || self.0.needs_set_up() {
            self.0.window(calls)
        } else {
            self.0.apart(calls) + floor
        }
    }

    fn apart(&mut self, calls: u64) -> f64 {
        self.0.apart(calls)
    }

    fn needs_set_up(&self) -> bool {
        self.0.needs_set_up()
    }

    fn set_up(&mut self) {
        self.0.set_up();
    }
}
