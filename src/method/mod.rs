//! Which clock to measure with, and how: methods with an error budget, computed from the figures of
//! a report.
//!
//! Pure: figures in, plans out. A [`Requirement`] says what is to be measured, [`ClockFigures`]
//! what is known of a clock, a [`Plan`] how to measure with it and what error to expect,
//! [`choose`](choice::choose) compares all clocks of a report. What a plan promises is the error of
//! the clock and the method: how much the result differs from the mean duration of the same
//! operation in the same campaign. That the operation itself varies comes on top, and is found by
//! measuring ([`measure`](crate::measure)).

pub mod answer;
pub mod choice;
pub mod clock_facts;
pub mod clock_figures;
pub mod plan;
pub mod requirement;
pub mod runtime;
mod sentence;
pub mod snippet;
pub mod waiting;

pub use answer::ClockAnswer;
pub use choice::{Candidate, Choice, ClockChoice, ClockPlan, choose};
pub use clock_facts::Facts;
pub use clock_figures::{Budget, ClockFigures};
pub use plan::{Method, Plan, Shortfall};
pub use requirement::{Need, Requirement};
pub use sentence::{OPERATION, in_a_sentence, usual_choice};
pub use snippet::Language;
