//! Tests the built program under hostile conditions: signals, full disks, faulty agents, malformed
//! files.

#![cfg(unix)]

mod c_compiler;
mod data_loss;
mod deploy;
mod files;
#[path = "../cli/folder.rs"]
mod folder;
mod left_running;
mod liars;
mod limits;
mod memory;
mod namespaces;
mod others;
#[path = "../program/mod.rs"]
mod program;
mod run;
#[path = "../skipping/mod.rs"]
mod skipping;
#[path = "../steering/mod.rs"]
mod steering;
#[path = "../stored.rs"]
mod stored;
