//! Other runtimes: whether they are on this machine, and how their hosts are made ready and started.
//!
//! The hosts are part of this program (`timers/agents/`). They are written to a private folder, compiled there where
//! the runtime does not read source, and forgotten with the folder.

mod dotnet;
mod java;
mod node;
mod python;

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use timers::agents::Source;

use super::events::LogSpec;
use super::process::Command;

/// A runtime that this program knows a host for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Runtime {
    /// The Java platform.
    Java,
    /// .NET and Mono.
    Dotnet,
    /// Python.
    Python,
    /// Node.
    Node,
}

impl Runtime {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Java, Self::Dotnet, Self::Python, Self::Node];

    /// What leads the ids of its timers.
    #[must_use]
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Java => "java",
            Self::Dotnet => "dotnet",
            Self::Python => "python",
            Self::Node => "node",
        }
    }

    /// Makes its host ready in `folder`. .NET may be there twice, as itself and as Mono.
    ///
    /// # Errors
    /// When the runtime is not on this machine, or too old, or cannot be used; with what to do about it.
    pub fn prepare(self, folder: &Path) -> Result<Vec<Ready>, NotThere> {
        match self {
            Self::Java => java::prepare(folder).map(|ready| vec![ready]),
            Self::Dotnet => dotnet::prepare(folder),
            Self::Python => python::prepare(folder).map(|ready| vec![ready]),
            Self::Node => node::prepare(folder).map(|ready| vec![ready]),
        }
    }
}

/// A host that can be started. It takes ids of timers as arguments.
#[derive(Clone, Debug)]
pub struct Ready {
    /// What leads the ids of its timers.
    pub prefix: &'static str,
    /// How it is started.
    pub command: Command,
    /// Where the runtime logs what may disturb a measurement.
    pub log: Option<LogSpec>,
}

/// Why a runtime cannot be used, and what the user can do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}; {remedy}")]
pub struct NotThere {
    /// Why.
    pub reason: String,
    /// What to do.
    pub remedy: String,
}

fn not_there(reason: impl Into<String>, remedy: &str) -> NotThere {
    NotThere { reason: reason.into(), remedy: remedy.into() }
}

/// Writes the files of a host to a folder of its own.
fn write(sources: &[Source], folder: &Path) -> Result<(), NotThere> {
    let written = fs::create_dir_all(folder).and_then(|()| {
        sources.iter().try_for_each(|source| fs::write(folder.join(source.name), source.text))
    });
    written.map_err(|error| {
        let place = folder.display();
        not_there(format!("its host cannot be written to {place}: {error}"), "make room, or set TMPDIR")
    })
}

fn command(name: &str, program: &Path, args: Vec<OsString>) -> Command {
    Command { name: name.into(), program: program.into(), args }
}
