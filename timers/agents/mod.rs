//! Hosts for the clocks of other runtimes: programs in the languages of these, built into this one
//! as text and compiled or interpreted by the runtime that is found. [`RUNTIMES`] is the list of
//! them.
//!
//! Most hosts have the loops and `clocks.json`: their clocks, the code of the calls, and what they
//! declare. docs/agents.md describes both.

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
    /// Its hosts, of which one has to work.
    pub hosts: &'static [Host],
}

/// A program that hosts timers.
#[derive(Debug)]
pub struct Host {
    /// What leads the ids of its timers.
    pub prefix: &'static str,
    /// Its files.
    pub sources: &'static [Source],
    /// The list of its clocks, where it does not know them itself.
    pub clocks: Option<&'static str>,
    /// Ways to make it ready, of which the first that works is taken.
    pub recipes: &'static [Recipe],
}

/// How a host is made ready and started, by lines of words as a shell has them. In these, `$0`, `$1`
/// and so on stand for the programs, `$here` for the folder with the sources, `$self` as the first
/// for this program, `$said` for what the last step printed, `$log` for a file in which the runtime
/// logs what may disturb a measurement, `$settings` for what the user wants to be set otherwise.
#[derive(Debug)]
pub struct Recipe {
    /// The programs it needs, each by all of its names, with `|` between them.
    pub programs: &'static [&'static str],
    /// What is run before, each to its end.
    pub steps: &'static [&'static str],
    /// How it is started.
    pub run: &'static str,
}

/// The runtime that is called so, if this program brings a host for it along.
#[must_use]
pub fn runtime(name: &str) -> Option<&'static Runtime> {
    RUNTIMES.iter().find(|runtime| runtime.name == name)
}
