//! The flags that name runtimes, and the arguments of `browser` and `agent-check`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use timers::agents::{RUNTIMES, Runtime, runtime};

use super::{AgentSpec, OutputArgs, values};
use crate::hosts::browser::{BrowserKind, Page};

/// Flags that add hosts of timers.
#[derive(Clone, Debug, Default, Args)]
pub struct HostArgs {
    /// Measure the timers of another runtime too, started by this command; its ids are NAME:ID
    #[arg(long = "agent", value_name = "[NAME=]COMMAND ARG…", value_parser = AgentSpec::parse)]
    pub agents: Vec<AgentSpec>,
    /// Measure the timers of these runtimes too; their ids are java:ID and so on (repeatable, or with
    /// commas)
    #[arg(long = "runtime", value_name = "RUNTIME", value_delimiter = ',', value_parser = names())]
    pub runtimes: Vec<RuntimeName>,
    /// Set this in Firefox, the value in JSON, as in privacy.resistFingerprinting=true (repeatable)
    #[arg(long = "firefox-setting", value_name = "NAME=VALUE", value_parser = setting)]
    pub settings: Vec<Setting>,
}

/// A setting of a browser: its name, and its value in JSON.
pub type Setting = (String, String);

/// A runtime, or all of them.
#[derive(Clone, Copy, Debug)]
pub enum RuntimeName {
    /// The named runtime.
    One(&'static Runtime),
    /// All installed runtimes.
    All,
}

fn names() -> impl TypedValueParser<Value = RuntimeName> {
    let all = PossibleValue::new("all").help("All of them that are installed");
    let each = RUNTIMES
        .iter()
        .map(|runtime| PossibleValue::new(runtime.name).help(runtime.about));
    PossibleValuesParser::new(each.chain([all]))
        .map(|name| runtime(&name).map_or(RuntimeName::All, RuntimeName::One))
}

impl HostArgs {
    /// Each requested runtime once, and whether the user named it explicitly.
    #[must_use]
    pub fn wanted(&self) -> Vec<(&'static Runtime, bool)> {
        let all = self
            .runtimes
            .iter()
            .any(|name| matches!(name, RuntimeName::All));
        let is_named = |wanted: &Runtime| {
            self.runtimes
                .iter()
                .any(|name| matches!(name, RuntimeName::One(named) if named.name == wanted.name))
        };
        let meant = RUNTIMES.iter().filter(|runtime| all || is_named(runtime));
        meant.map(|runtime| (runtime, is_named(runtime))).collect()
    }
}

/// Arguments of `browser`.
#[derive(Clone, Debug, Args)]
pub struct BrowserArgs {
    /// The kind of browser
    #[arg(value_enum)]
    pub kind: BrowserKind,
    /// Where in it clocks are read
    #[arg(value_enum)]
    pub page: Page,
    /// The browser
    pub program: PathBuf,
    /// Where its page is and its profile will be
    pub folder: PathBuf,
    /// A setting of Firefox, the value in JSON (repeatable)
    #[arg(long = "setting", value_name = "NAME=VALUE", value_parser = setting)]
    pub settings: Vec<Setting>,
}

fn setting(text: &str) -> Result<Setting, String> {
    let (name, value) = text.split_once('=').ok_or("there is no `=` in it")?;
    if name.is_empty()
        || !name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
    {
        return Err("its name has to be of letters, digits, dots, and - and _".into());
    }
    let value: serde_json::Value = serde_json::from_str(value).map_err(|error| {
        format!("its value is no JSON: {error}; text needs quotes, as in '\"text\"'")
    })?;
    if value.is_array() || value.is_object() || value.is_null() {
        return Err("its value has to be a number, true, false, or text in quotes".into());
    }
    Ok((name.into(), value.to_string()))
}

/// Arguments of `agent-check`.
#[derive(Clone, Debug, Args)]
pub struct AgentCheckArgs {
    /// How the agent is started, quoted as in a shell
    #[arg(value_name = "COMMAND", value_parser = AgentSpec::parse)]
    pub agent: AgentSpec,
    /// Longest time of an answer, in seconds
    #[arg(long, value_name = "TIME", default_value_t = 10, value_parser = values::whole_seconds)]
    pub timeout: u64,
    /// The output format and files.
    #[command(flatten)]
    pub output: OutputArgs,
}
