//! What a timer counts.

use serde::{Deserialize, Serialize};

/// What a timer counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Counted {
    /// Time that passes, whatever runs.
    Wall,
    /// Time that the process ran on any CPU.
    ProcessCpu,
    /// Time that the calling thread ran.
    ThreadCpu,
    /// Cycles of the core while the calling thread ran.
    ThreadCycles,
    /// None of these.
    SomethingElse,
}

impl Counted {
    /// Its name in the document.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Wall => "wall",
            Self::ProcessCpu => "process-cpu",
            Self::ThreadCpu => "thread-cpu",
            Self::ThreadCycles => "thread-cycles",
            Self::SomethingElse => "something-else",
        }
    }

    /// As a sentence goes on after "it counts".
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Wall => "wall time",
            Self::ProcessCpu => "CPU time of the process",
            Self::ThreadCpu => "CPU time of the thread",
            Self::ThreadCycles => "core cycles of the thread",
            Self::SomethingElse => "something else",
        }
    }
}
