//! Agents for the clocks of other runtimes (Java, Python, …). An agent is a program in the language of
//! the runtime that answers the questions of timermeter. Its source text is embedded in this
//! program and compiled or interpreted by the installed runtime. [`RUNTIMES`] lists all runtimes.
//!
//! Most agents consist of the loops and of `clocks.json`, which lists their clocks, the code of the
//! calls, and the declared properties. docs/agents.md describes both.

mod list;

pub use list::RUNTIMES;

/// A source file of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// The file name.
    pub name: &'static str,
    /// The content.
    pub text: &'static str,
}

/// A runtime whose clocks can be measured.
#[derive(Debug)]
pub struct Runtime {
    /// The name on the command line.
    pub name: &'static str,
    /// Other names in lower case, including the name that its agent reports.
    pub aliases: &'static [&'static str],
    /// The description in the list of runtimes.
    pub about: &'static str,
    /// How to install the runtime.
    pub remedy: &'static str,
    /// Environment variables by which a shell changes what code the runtime, or its compiler, runs.
    /// They are removed from the environment of agents; those of the form `NAME=VALUE` are set, where
    /// `$here/` stands for the folder with the sources. Each text has several, separated by spaces.
    pub variables: &'static [&'static str],
    /// The agents; at least one has to work.
    pub agents: &'static [RuntimeAgent],
}

impl Runtime {
    /// The variables that differ in the environment of the agents, with the values to which they are
    /// set; those without a value are removed.
    pub fn variable_changes(&self) -> impl Iterator<Item = (&'static str, Option<&'static str>)> {
        let variables = self.variables.iter().flat_map(|names| names.split(' '));
        variables.map(|variable| match variable.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (variable, None),
        })
    }
}

/// A program that answers for timers.
#[derive(Debug)]
pub struct RuntimeAgent {
    /// The prefix of the ids of its timers.
    pub prefix: &'static str,
    /// The source files.
    pub sources: &'static [SourceFile],
    /// The list of clocks to pass to the agent; `None` if the agent defines its clocks itself.
    pub clocks: Option<&'static str>,
    /// Ways to build and start the agent; the first one that works is used.
    pub recipes: &'static [Build],
}

/// The commands that build and start an agent, split into words as by a shell. They run in the folder
/// with the sources, because some tools read configuration from the current folder. `$0`, `$1`, … stand
/// for the programs, `$here` for the folder with the sources, `$said` for the output of the
/// previous step, and `$log` for a file in which the runtime logs events that disturb a measurement;
/// `$profile` and `$page` for the profile of a browser, and for the page in which its agent runs.
#[derive(Debug)]
pub struct Build {
    /// The necessary programs; alternative names of a program are separated by `|`.
    pub programs: &'static [&'static str],
    /// The commands that are run before the start, one after the other.
    pub steps: &'static [&'static str],
    /// The command that starts the agent.
    pub run: &'static str,
}

/// The runtime with the given name or alias, in any case; `None` if unknown.
pub fn runtime(name: &str) -> Option<&'static Runtime> {
    RUNTIMES.iter().find(|runtime| {
        let mut names = runtime.aliases.iter().chain([&runtime.name]);
        names.any(|known| known.eq_ignore_ascii_case(name))
    })
}
