//! The built program among those that mean it harm: signals, full disks, agents that lie, files
//! that are none.

#![cfg(unix)]

mod data_loss;
mod deploy;
mod files;
#[path = "../cli/folder.rs"]
mod folder;
mod impossible;
mod left_running;
mod liars;
mod limits;
mod memory;
mod misleading;
mod namespaces;
#[path = "../program/mod.rs"]
mod program;
mod refused;
mod run;
#[path = "../skipping/mod.rs"]
mod skipping;
mod waiting;
