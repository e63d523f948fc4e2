//! Hosts for the clocks of other runtimes: programs in the languages of these, built into this one
//! as text and compiled or interpreted by the runtime that is found. [`RUNTIMES`] is the list of
//! them.
//!
//! Most hosts are written *in words*: an agent with the loops, and `clocks.json` with the clocks,
//! the code of their calls and what they declare. All else that the agent protocol needs is done by
//! the runner. docs/agents.md describes both.

mod list;

pub use list::RUNTIMES;

/// A file of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub text: &'static str,
}

/// A runtime whose clocks can be asked.
#[derive(Debug)]
pub struct Runtime {
    /// What the command line calls it, and what leads the ids of its timers.
    pub name: &'static str,
    /// What else it is called, in lower case, among it how its host introduces itself.
    pub called: &'static [&'static str],
    /// What it is, for who asks which there are.
    pub about: &'static str,
    /// How to get it.
    pub remedy: &'static str,
    /// How its hosts are made ready.
    pub hosts: Hosts,
}

/// How hosts are made ready.
#[derive(Debug)]
pub enum Hosts {
    /// By what is written of them here: each has recipes, of which the first that works is taken.
    /// One of them has to be there.
    Made(&'static [&'static [Recipe]]),
    /// By code of the prober, for the Java platform.
    Java(&'static [Source]),
    /// By code of the prober, for .NET and Mono.
    Dotnet(&'static [Source]),
}

/// How a host is made ready and started. In `steps` and `run`, `$0`, `$1` and so on stand for the
/// programs, `$here` for the folder with the sources, `$self` as the first for this program,
/// `$said` for what the last step printed, if that is the path of a program, else for the first
/// program, `$settings` for what the user wants to be set otherwise.
#[derive(Debug)]
pub struct Recipe {
    /// What leads the ids of its timers.
    pub prefix: &'static str,
    /// The programs it needs, each by all of its names.
    pub programs: &'static [&'static [&'static str]],
    /// Its files.
    pub sources: &'static [Source],
    /// The list of its clocks, where it is written in words.
    pub clocks: Option<&'static str>,
    /// What is run before, each to its end.
    pub steps: &'static [&'static [&'static str]],
    /// How it is started.
    pub run: &'static [&'static str],
}

/// The runtime that is called so, if this program brings a host for it along.
#[must_use]
pub fn runtime(name: &str) -> Option<&'static Runtime> {
    RUNTIMES.iter().find(|runtime| runtime.name == name)
}
