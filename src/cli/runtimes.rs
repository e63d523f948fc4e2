//! The flag that names runtimes.

use clap::{Args, ValueEnum};

use crate::prober::runtimes::Runtime;

/// Runtimes whose clocks are asked too.
#[derive(Clone, Debug, Default, Args)]
pub struct RuntimeArgs {
    /// Ask the timers of these runtimes too; their ids are java:ID and so on (repeatable, or with commas)
    #[arg(long = "runtime", value_name = "RUNTIME", value_enum, value_delimiter = ',')]
    pub names: Vec<RuntimeName>,
}

/// A runtime, or all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RuntimeName {
    /// The Java platform
    Java,
    /// .NET, or Mono
    Dotnet,
    /// Python
    Python,
    /// Node
    Node,
    /// All of them that are installed
    All,
}

impl RuntimeArgs {
    /// Each runtime that is meant, once, and whether it was named itself.
    #[must_use]
    pub fn wanted(&self) -> Vec<(Runtime, bool)> {
        let own = |name: RuntimeName| match name {
            RuntimeName::Java => Some(Runtime::Java),
            RuntimeName::Dotnet => Some(Runtime::Dotnet),
            RuntimeName::Python => Some(Runtime::Python),
            RuntimeName::Node => Some(Runtime::Node),
            RuntimeName::All => None,
        };
        let named: Vec<Runtime> = self.names.iter().filter_map(|name| own(*name)).collect();
        let all = self.names.contains(&RuntimeName::All);
        let meant = Runtime::ALL.into_iter().filter(|runtime| all || named.contains(runtime));
        meant.map(|runtime| (runtime, named.contains(&runtime))).collect()
    }
}
