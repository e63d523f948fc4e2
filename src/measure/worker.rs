//! Defines the request that a process for the measurement of one operation gets, and carries it
//! out.

use std::error::Error;

use serde::{Deserialize, Serialize};

use super::instruments::{Instrument, measure};
use super::operations;
use super::summary::MeasuredOperation;
use super::trial::Goal;
use super::window::open_timed;
use judgement::choice::ClockFigures;

/// A measurement to be made.
#[derive(Debug, Serialize, Deserialize)]
pub struct WorkerRequest {
    /// The figures of the clock to measure with.
    pub clock: ClockFigures,
    /// Name of the operation to measure.
    pub operation: String,
    /// Size of the operation; ignored by operations without a size.
    pub size: u64,
    /// The instrument to measure with.
    pub instrument: Instrument,
    /// The allowed error, the number of samples and the time limit.
    pub goal: Goal,
    /// The CPU to measure on; `None` for any.
    pub cpu: Option<u32>,
}

/// The result of a request.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum WorkerOutcome {
    /// The duration of the operation.
    Measured(Box<MeasuredOperation>),
    /// The operation could not be measured.
    Failed {
        /// The reason.
        reason: String,
    },
}

/// Carries out a request.
pub fn answer(request: &WorkerRequest) -> WorkerOutcome {
    match measure_request(request) {
        Ok(measured) => WorkerOutcome::Measured(Box::new(measured)),
        Err(error) => WorkerOutcome::Failed {
            reason: error.to_string(),
        },
    }
}

fn measure_request(request: &WorkerRequest) -> Result<MeasuredOperation, Box<dyn Error>> {
    if let Some(cpu) = request.cpu {
        timers::pin_to(cpu)?;
    }
    let name = &request.operation;
    let mut operation = operations::create(name, request.size)
        .ok_or_else(|| format!("there is no operation `{name}`"))?;
    let id = &request.clock.id;
    let mut timed = open_timed(id, &mut *operation)
        .ok_or_else(|| format!("this program has no timer `{id}`"))??;
    let (clock, goal) = (&request.clock, &request.goal);
    Ok(measure(request.instrument, &mut *timed, clock, goal)?)
}
