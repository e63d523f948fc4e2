//! One operation in a process of its own: what it is asked, and what it answers.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use timers::Timer;
use timers::clocks::Monotonic;

use super::clock::Registered;
use super::instruments;
use super::operations;
use super::rehearsal::{Kind, Rehearsed, Truth, rehearse};
use super::summary::{Sample, Summary};
use super::trial::{Goal, Measured, TrialError};
use super::window::{Operation, Pair};
use crate::method::ClockFigures;

/// How to measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Instrument {
    /// Batches that double until they are long enough for the clock.
    Adaptive,
    /// How often in so many nanoseconds.
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
        kinds: Vec<Kind>,
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
    Measured(Vec<Row>),
    /// Memory a call.
    Allocated {
        /// Calls of the allocator, a call of the operation.
        instances: f64,
        /// Bytes, a call of the operation.
        bytes: f64,
    },
    /// Promises and outcomes; a reason where a method could not be used.
    Rehearsed(Vec<(Kind, Result<Rehearsed, String>)>),
    /// It came to nothing.
    Failed(String),
}

/// One way in which an operation was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The way.
    pub way: String,
    /// Calls between two reads, or single calls in a group.
    pub calls: u64,
    /// What it came to.
    pub summary: Summary,
    /// All samples.
    pub samples: Vec<Sample>,
}

impl Row {
    /// The row of a measurement.
    #[must_use]
    pub fn of(way: &str, measured: Measured) -> Self {
        Self { way: way.into(), calls: measured.calls, summary: measured.summary, samples: measured.samples }
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
    let unknown = || Reply::Failed(format!("this program hosts no timer `{}`", request.clock.id));
    match timers::visit(&request.clock.id, WithClock(request)) {
        None => unknown(),
        Some(Ok(reply)) => reply,
        Some(Err(why)) => Reply::Failed(format!("{} cannot be read: {why}", request.clock.id)),
    }
}

struct WithClock<'a>(&'a Request);

impl timers::Visitor for WithClock<'_> {
    type Output = Reply;

    fn visit<T: Timer>(self, timer: T) -> Reply {
        match Registered::of(timer) {
            Err(error) => Reply::Failed(error.to_string()),
            Ok(clock) => {
                operations::visit(&self.0.operation, self.0.size, WithOperation { request: self.0, clock })
                    .unwrap_or_else(|| Reply::Failed(format!("there is no operation `{}`", self.0.operation)))
            }
        }
    }
}

struct WithOperation<'a, C> {
    request: &'a Request,
    clock: C,
}

impl<C: super::clock::Clock> operations::Visitor for WithOperation<'_, C> {
    type Output = Reply;

    fn visit<O: Operation>(self, operation: O) -> Reply {
        // All that follows is compiled once, and not for each clock and operation.
        answer_with(self.request, &mut Pair { clock: &self.clock, operation })
    }
}

fn answer_with(request: &Request, timed: &mut dyn super::Timed) -> Reply {
    let Instrument::Rehearse { kinds, truth } = &request.instrument else { return measure(request, timed) };
    if timed.needs_set_up() {
        return Reply::Failed("operations that need a set-up before each call cannot be rehearsed".into());
    }
    let Ok(clock) = Registered::<Monotonic>::open() else {
        return Reply::Failed("CLOCK_MONOTONIC, which tells the truth, cannot be read".into());
    };
    let rehearsal = Rehearsal { request, timed, clock, kinds, truth };
    operations::visit(&request.operation, request.size, rehearsal)
        .unwrap_or_else(|| Reply::Failed(format!("there is no operation `{}`", request.operation)))
}

fn measure(request: &Request, timed: &mut dyn super::Timed) -> Reply {
    let (clock, goal) = (&request.clock, request.goal());
    let rows = match &request.instrument {
        Instrument::Adaptive => {
            instruments::adaptive(timed, clock, &goal).map(|found| vec![Row::of("adaptive", found)])
        }
        Instrument::Throughput { span_ns } => {
            instruments::throughput(timed, clock, &goal, Duration::from_nanos(*span_ns))
                .map(|found| vec![Row::of("throughput", found)])
        }
        Instrument::Discrete => both(timed, clock, &goal),
        Instrument::Micro => {
            instruments::micro(timed, clock, &goal).map(|found| vec![Row::of("micro", found)])
        }
        Instrument::Macro => {
            instruments::macro_trial(timed, clock, &goal).map(|found| vec![Row::of("macro", found)])
        }
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
fn both(timed: &mut dyn super::Timed, clock: &ClockFigures, goal: &Goal) -> Result<Vec<Row>, TrialError> {
    let in_a_row = instruments::adaptive(timed, clock, goal)?;
    let apart = instruments::adaptive(&mut Apart(timed), clock, goal)?;
    let (_, discrete) = instruments::discrete(timed, clock, goal, apart.summary.mean_ns)?;
    let rows = [("classic", in_a_row), ("classic, apart", apart), ("edge-crossing", discrete)];
    Ok(rows.into_iter().map(|(way, found)| Row::of(way, found)).collect())
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

/// The same operation once more, under the clock that tells the truth.
struct Rehearsal<'a> {
    request: &'a Request,
    timed: &'a mut dyn super::Timed,
    clock: Registered<Monotonic>,
    kinds: &'a [Kind],
    truth: &'a ClockFigures,
}

impl operations::Visitor for Rehearsal<'_> {
    type Output = Reply;

    fn visit<O: Operation>(self, operation: O) -> Reply {
        let mut truth = Truth { timed: &mut Pair { clock: &self.clock, operation }, clock: self.truth };
        let goal = self.request.goal();
        let mut one = |kind| {
            rehearse(self.timed, &self.request.clock, &mut truth, kind, &goal)
                .map_err(|error| error.to_string())
        };
        Reply::Rehearsed(self.kinds.iter().map(|&kind| (kind, one(kind))).collect())
    }
}
