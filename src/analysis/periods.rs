//! Periodic timers: from wake-ups to rate, jitter and what becomes of missed expirations.

use crate::model::PeriodFigures;
use crate::trace::PeriodTrace;

/// What was found out of a periodic timer.
#[must_use]
pub fn figures(trace: &PeriodTrace) -> PeriodFigures {
    PeriodFigures { processes: trace.runs.len() as u32, ..PeriodFigures::default() }
}
