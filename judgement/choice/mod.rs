//! Chooses the clock to measure with, and plans the measurement with an error budget computed from
//! the figures of a report.
//!
//! This module performs no measurements. A [`Requirement`] describes the measurement,
//! [`ClockFigures`] a clock, and a [`Recipe`] the method with its expected error.
//! [`choose`](clocks::choose) compares all clocks of a report. The error of a plan is the error of
//! the clock and the method: the difference between the result and the mean duration of the same
//! operation in the same campaign. The variation of the operation itself is not included; it is
//! found by measuring.

pub mod clock_figures;
pub mod clocks;
mod error;
pub mod language;
pub mod recipe;
pub mod requirement;
pub mod runtime;
pub mod snippet;
pub mod wait_snippet;
pub mod waits;

pub use clock_figures::{Budget, ClockFigures};
pub use clocks::{Choice, ClockChoice, ClockRecipe, RankedClock, RankedTimer, choose};
pub use error::ChoiceError;
pub use recipe::{Recipe, RecipeMethod};
pub use requirement::Requirement;

pub use language::Language;

use estimators::model::{Report, TimerRow};

/// The row of the clock with this id in a report.
pub fn clock_row<'a>(report: &'a Report, id: &str) -> Option<&'a TimerRow> {
    report.timers.iter().find(|row| row.id == id)
}
