//! Tests of the whole, a module a subject. They are one program, as each more is linked with all of
//! timermeter once more:
//!
//! ```sh
//! cargo test --test main cli::gate     # those of tests/cli/gate.rs
//! ```
//!
//! Those that do something to their process or to the machine, or need a feature, are programs of
//! their own, named in Cargo.toml.

#[cfg(target_os = "linux")]
mod browser_hosts;
mod calls;
mod cli;
mod counter;
#[cfg(unix)]
mod edges;
mod findings;
mod fuzz;
mod native_agent;
mod paper;
mod printed_code;
mod program;
mod published;
mod recommendation;
mod runtimes;
mod skipping;
mod sql;
mod steering;
mod tasks;
