//! What a clock may have to be: what it counts, and what must not happen to it.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// What passes while a clock moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Counts {
    /// Time on the wall, whatever computes
    #[default]
    Wall,
    /// CPU time of the process, all threads together
    Process,
    /// CPU time of the calling thread
    Thread,
}

impl Counts {
    /// In words.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Wall => "wall time",
            Self::Process => "CPU time of the process",
            Self::Thread => "CPU time of the thread",
        }
    }
}

/// What a clock may have to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// Readings of two threads can be compared
    Threads,
    /// It cannot be set, so it never steps back
    Monotonic,
    /// Its rate is not slewed (NTP)
    NoSlew,
    /// It goes on while the machine sleeps
    Suspend,
}

impl Need {
    /// What is unmet by a clock that does not have this.
    #[must_use]
    pub fn unmet_need(self) -> &'static str {
        match self {
            Self::Threads => "readings of two threads cannot be compared",
            Self::Monotonic => "wall-clock time can jump, which would corrupt a duration",
            Self::NoSlew => "its rate is slewed (adjtimex), so that seconds differ in length",
            Self::Suspend => "it stands still while the machine sleeps",
        }
    }

    /// The word on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Threads => "threads",
            Self::Monotonic => "monotonic",
            Self::NoSlew => "no-slew",
            Self::Suspend => "suspend",
        }
    }
}
