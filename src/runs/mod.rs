//! Carries out requests: selects the timers, measures them, and returns a recording.

mod context;
mod probe;
mod waits;

use timers::{AffinityError, Fault};

pub use context::{choose_cpu, watch_machine};
pub use probe::probe;
pub use waits::wait;

use crate::agents::children::StartError;
use crate::recording::TraceFile;
use crate::selection::SelectionError;

/// A run that has ended.
pub struct FinishedRun {
    /// What was observed.
    pub recording: TraceFile,
    /// Whether all agents were reachable, all runtimes given by name are installed, and no wait was
    /// later than allowed.
    pub is_complete: bool,
}

/// The reason why a request could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The timers cannot be selected.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// This process cannot run on the requested CPU.
    #[error("--cpu {cpu}: {why}")]
    Cpu {
        /// The CPU.
        cpu: u32,
        /// Why not.
        why: AffinityError,
    },
    /// No thread can be started that tests the requested CPU.
    #[error("--cpu {0}: the CPU could not be tested, because no thread can be started")]
    Untested(u32),
    /// The system does not permit the requested timer slack or policy.
    #[error("{0}")]
    Conditions(StartError),
    /// The campaign ended.
    #[error(transparent)]
    Fault(#[from] Fault),
}
