//! Other runtimes: whether they are on this machine, and how their hosts are made ready and
//! started.
//!
//! The hosts are part of this program (`timers/agents/`), and so is the list of runtimes. They are
//! written to a private folder, compiled there where the runtime does not read source, and
//! forgotten with the folder.

mod book;
mod dotnet;
mod java;
mod recipe;

pub use book::Book;

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use timers::agents::{Hosts, Runtime, Source};

use super::events::LogSpec;
use super::process::Command;

/// Makes the hosts of a runtime ready in `folder`, with the settings of the user, each
/// `NAME=VALUE`, where they take any. Some have several, as .NET, which may be there as itself and
/// as Mono.
///
/// # Errors
/// When the runtime is not on this machine, or too old, or cannot be used; with what to do about
/// it.
pub fn prepare(
    runtime: &Runtime,
    folder: &Path,
    settings: &[String],
) -> Result<Vec<Ready>, NotThere> {
    match runtime.hosts {
        Hosts::Made(hosts) => recipe::prepare(hosts, &folder.join(runtime.name), settings),
        Hosts::Java(sources) => java::prepare(sources, folder).map(|ready| vec![ready]),
        Hosts::Dotnet(sources) => dotnet::prepare(sources, folder),
    }
    .map_err(|reason| NotThere {
        reason,
        remedy: runtime.remedy.into(),
    })
}

/// Whether the hosts of a runtime take settings of the user.
#[must_use]
pub fn takes_settings(runtime: &Runtime) -> bool {
    matches!(runtime.hosts, Hosts::Made(hosts) if recipe::takes_settings(hosts))
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

/// Writes the files of a host to a folder of its own.
fn write<'a>(
    sources: impl IntoIterator<Item = (&'a Source, String)>,
    folder: &Path,
) -> Result<(), String> {
    let mut sources = sources.into_iter();
    let written = fs::create_dir_all(folder).and_then(|()| {
        sources.try_for_each(|(source, text)| fs::write(folder.join(source.name), text))
    });
    written.map_err(|error| {
        let place = folder.display();
        format!("its host cannot be written to {place}: {error}; make room, or set TMPDIR")
    })
}

/// Files as they are.
fn plain(sources: &'static [Source]) -> impl Iterator<Item = (&'static Source, String)> {
    sources
        .iter()
        .map(|source| (source, source.text.to_owned()))
}

fn command(name: &str, program: &Path, args: Vec<OsString>) -> Command {
    Command::new(name, program, args)
}

#[cfg(test)]
mod tests;
