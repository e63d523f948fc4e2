//! Tests of the estimators on simulated timers, in addition to the command `simulate`: one module
//! for each subject.

mod adds;
mod calls;
mod coarse_reference;
mod command;
mod coverage;
mod estimators;
mod library;
mod small_steps;
mod steps;
mod waits;
