//! Hosts for the clocks of other runtimes: programs in the languages of these that speak the agent protocol. They are
//! built into this one as text, and are compiled or interpreted by the runtime that is found.

/// A file of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub text: &'static str,
}

macro_rules! sources {
    ($folder:literal: $($name:literal),+) => {
        &[$(Source { name: $name, text: include_str!(concat!($folder, "/", $name)) }),+]
    };
}

/// Java 11 and later. `HighResCounter.java` needs a package that the platform does not export.
pub const JAVA: &[Source] = sources!(
    "java": "Agent.java", "Clock.java", "Clocks.java", "HighResCounter.java", "Json.java", "Loops.java", "NotHere.java",
    "Pairs.java", "Questions.java", "Together.java", "Waiter.java", "Waits.java"
);

/// C# 6, for Mono and for .NET.
pub const DOTNET: &[Source] = sources!("dotnet": "Agent.cs", "Clocks.cs", "Json.cs", "Loops.cs", "Waits.cs");

/// Python 3.8 and later.
pub const PYTHON: &[Source] = sources!("python": "agent.py", "waits.py");

/// Node 16 and later.
pub const NODE: &[Source] = sources!("node": "agent.js", "waits.js");
