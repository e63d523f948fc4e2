//! One operation in a process of its own: what it is asked, and what it answers.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use timers::Timer;
use timers::clocks::Monotonic;

use super::rehearsal::{RehearsalKind, Rehearsed, Truth, rehearse};
use super::stability::Stability;
use super::summary::{Sample, Summary};
use super::trial::{Goal, Measured, TrialError};
use super::window::timed_by;
use super::{instruments, operations};
use crate::method::ClockFigures;

/// How to measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Instrument {
    /// Batches that double until they are long enough for the clock.
    Adaptive,
    /// How often in a number of nanoseconds.
    Throughput {
        /// The time.
        span_ns: u64,
    },
    /// Edge-crossing beside classic.
    Discrete,
    /// Instances and bytes a call.
    Allocations,
    /// Weighted samples around one length.
    Micro,
    /// Single calls.
    Macro,
    /// Promise against outcome of these methods.
    Rehearse {
        /// The methods.
        kinds: Vec<RehearsalKind>,
        /// The clock that tells the truth.
        truth: Box<ClockFigures>,
    },
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
    /// The error that the clock may make.
    pub error: f64,
    /// How sure.
    pub confidence: f64,
    /// Samples that have to be valid.
    pub samples: u32,
    /// Nanoseconds after which the trial has failed.
    pub limit_ns: u64,
    /// The CPU to run on.
    pub cpu: Option<u32>,
    /// Seed of what is random.
    pub seed: u64,
}

/// What it answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// Rows, one a way in which the operation was measured.
    Measured(Vec<MeasuredRow>),
    /// Memory a call.
    Allocated {
        /// Calls of the allocator, a call of the operation.
        instances: f64,
        /// Bytes, a call of the operation.
        bytes: f64,
    },
    /// Promises and outcomes; a reason where a method could not be used.
    Rehearsed(Vec<(RehearsalKind, Result<Rehearsed, String>)>),
    /// It came to nothing.
    Failed(String),
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
        let Measured { calls, summary, samples } = measured;
        let stability = Stability::of(&samples, goal);
        Self { way: way.into(), calls, summary, stability, samples }
    }
}

/// Does what is asked, in this process.
#[must_use]
pub fn answer(request: &Request) -> Reply {
    if let Some(cpu) = request.cpu
        && let Err(error) = timers::pin_to(cpu)
    {
        return Reply::Failed(error.to_string());
    }
    let Some(mut operation) = operations::of_name(&request.operation, request.size) else {
        return Reply::Failed(format!("there is no operation `{}`", request.operation));
    };
    match timed_by(&request.clock.id, &mut *operation) {
        None => Reply::Failed(format!("this program hosts no timer `{}`", request.clock.id)),
        Some(Ok(mut timed)) => answer_with(request, &mut *timed),
        Some(Err(why)) => Reply::Failed(why.to_string()),
    }
}

fn answer_with(request: &Request, timed: &mut dyn super::Timed) -> Reply {
    let Instrument::Rehearse { kinds, truth } = &request.instrument else { return measure(request, timed) };
    if timed.needs_set_up() {
        return Reply::Failed("operations that need a set-up before each call cannot be rehearsed".into());
    }
    // The same operation once more, under the clock that tells the truth.
    let Some(mut operation) = operations::of_name(&request.operation, request.size) else {
        return Reply::Failed(format!("there is no operation `{}`", request.operation));
    };
    let Some(Ok(mut timed_truly)) = timed_by(Monotonic::INFO.id, &mut *operation) else {
        return Reply::Failed("CLOCK_MONOTONIC, which tells the truth, cannot be read".into());
    };
    let mut truth = Truth { timed: &mut *timed_truly, clock: truth };
    let goal = request.goal();
    let mut one =
        |kind| rehearse(timed, &request.clock, &mut truth, kind, &goal).map_err(|error| error.to_string());
    Reply::Rehearsed(kinds.iter().map(|&kind| (kind, one(kind))).collect())
}

fn measure(request: &Request, timed: &mut dyn super::Timed) -> Reply {
    let (clock, goal) = (&request.clock, request.goal());
    let rows = match &request.instrument {
        Instrument::Adaptive => instruments::adaptive(timed, clock, &goal)
            .map(|found| vec![MeasuredRow::of("adaptive", found, &goal)]),
        Instrument::Throughput { span_ns } => {
            instruments::throughput(timed, clock, &goal, Duration::from_nanos(*span_ns))
                .map(|found| vec![MeasuredRow::of("throughput", found, &goal)])
        }
        Instrument::Discrete => both(timed, clock, &goal),
        Instrument::Micro => {
            instruments::micro(timed, clock, &goal).map(|found| vec![MeasuredRow::of("micro", found, &goal)])
        }
        Instrument::Macro => instruments::macro_trial(timed, clock, &goal)
            .map(|found| vec![MeasuredRow::of("macro", found, &goal)]),
        #[cfg(feature = "allocations")]
        Instrument::Allocations => {
            let found = super::allocations::per_call(timed);
            return Reply::Allocated { instances: found.instances, bytes: found.bytes };
        }
        #[cfg(not(feature = "allocations"))]
        Instrument::Allocations => {
            return Reply::Failed("this program was built without the feature `allocations`".into());
        }
        Instrument::Rehearse { .. } => Err(TrialError::Unseen),
    };
    rows.map_or_else(|error| Reply::Failed(error.to_string()), Reply::Measured)
}

/// Classic first: its result tells how many single calls are needed. A single call begins when all before it has ended, and
/// calls in a row overlap; so the classic run that edge-crossing has to agree with is the one that keeps its calls apart.
fn both(
    timed: &mut dyn super::Timed,
    clock: &ClockFigures,
    goal: &Goal,
) -> Result<Vec<MeasuredRow>, TrialError> {
    let in_a_row = instruments::adaptive(timed, clock, goal)?;
    let apart = instruments::adaptive(&mut Apart(timed), clock, goal)?;
    let (_, discrete) = instruments::discrete(timed, clock, goal, apart.summary.mean_ns)?;
    let rows = [("classic", in_a_row), ("classic, apart", apart), ("edge-crossing", discrete)];
    Ok(rows.into_iter().map(|(way, found)| MeasuredRow::of(way, found, goal)).collect())
}

/// The same with calls that fences keep apart. Where each call needs a set-up they are apart anyway.
struct Apart<'a>(&'a mut dyn super::Timed);

impl super::Timed for Apart<'_> {
    fn window(&mut self, calls: u64) -> f64 {
        let floor = self.0.window(0);
        if calls == 0 || self.0.needs_set_up() { self.0.window(calls) } else { self.0.apart(calls) + floor }
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

impl Request {
    fn goal(&self) -> Goal {
        Goal {
            error: self.error,
            confidence: self.confidence,
            samples: self.samples,
            limit: Duration::from_nanos(self.limit_ns),
            seed: self.seed,
            watched: true,
        }
    }
}
