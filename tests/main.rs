//! Tests of the whole program, with a module per subject. They are one test binary, because each
//! binary is linked with all of timermeter:
//!
//! ```sh
//! cargo test --test main cli::gate     # those of tests/cli/gate.rs
//! ```
//!
//! Tests that change their process or the machine, or need a feature, are separate binaries, listed
//! in Cargo.toml.

mod assessment;
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
mod own_crates;
mod paper;
mod printed_code;
mod program;
mod published;
mod recommendation;
mod runtimes;
mod skipping;
mod sql;
mod steering;
mod stored;
