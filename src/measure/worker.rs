//! The process that measures one operation, and what it is asked.

use serde::{Deserialize, Serialize};

use super::instruments::{Instrument, measure};
use super::operations;
use super::summary::Measured;
use super::trial::Goal;
use super::window::timed_by;
use crate::method::ClockFigures;

/// What is to be measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The clock.
    pub clock: ClockFigures,
    /// Name of the operation.
    pub operation: String,
    /// Its size, where it has one.
    pub size: u64,
    /// How it is measured.
    pub instrument: Instrument,
    /// How well, how often and how long.
    pub goal: Goal,
    /// The CPU to measure on.
    pub cpu: Option<u32>,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum Outcome {
    /// It takes that long.
    Measured(Box<Measured>),
    /// It allocates that much.
    Allocated {
        /// Calls of the allocator.
        instances: f64,
        /// Bytes.
        bytes: f64,
    },
    /// It could not be measured.
    Failed {
        /// Why.
        reason: String,
    },
}

impl Outcome {
    /// The figures, or why there are none.
    pub fn of_trial(measured: Result<Measured, impl ToString>) -> Self {
        match measured {
            Ok(measured) => Self::Measured(Box::new(measured)),
            Err(error) => Self::Failed {
                reason: error.to_string(),
            },
        }
    }
}

/// Measures what is asked.
#[must_use]
pub fn answer(request: &Request) -> Outcome {
    tried(request).unwrap_or_else(|reason| Outcome::Failed { reason })
}

fn tried(request: &Request) -> Result<Outcome, String> {
    if let Some(cpu) = request.cpu {
        timers::pin_to(cpu).map_err(|error| error.to_string())?;
    }
    let mut operation = operations::of_name(&request.operation, request.size)
        .ok_or_else(|| format!("there is no operation `{}`", request.operation))?;
    let id = &request.clock.id;
    let mut timed = timed_by(id, &mut *operation)
        .ok_or_else(|| format!("this program hosts no timer `{id}`"))?
        .map_err(|why| why.to_string())?;
    #[cfg(feature = "allocations")]
    if request.instrument == Instrument::Allocations {
        let super::allocations::PerCall { instances, bytes } =
            super::allocations::per_call(&mut *timed);
        return Ok(Outcome::Allocated { instances, bytes });
    }
    Ok(Outcome::of_trial(measure(
        request.instrument,
        &mut *timed,
        &request.clock,
        &request.goal,
    )))
}
