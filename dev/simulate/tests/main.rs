//! Judgements by simulated timers in addition to those of the command, a module a subject.

mod adds;
mod coarse_reference;
mod command;
mod comparing;
mod coverage;
mod estimators;
mod small_steps;
mod steps;
mod waits;
