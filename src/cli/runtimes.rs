//! The flags that name runtimes, and the arguments of `browser`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use timers::agents::{RUNTIMES, Runtime, runtime};

use super::values::InvalidValue;
use crate::hosts::browser::{BrowserKind, PageKind};
use crate::requests::{AgentSpec, HostRequest, RuntimeName};

/// Flags that add hosts of timers.
#[derive(Clone, Debug, Default, Args)]
pub struct HostArgs {
    /// Also measure the timers of the agent that this command starts; their ids are NAME:ID
    #[arg(long = "agent", value_name = "[NAME=]COMMAND ARG…", value_parser = parse_agent)]
    pub agents: Vec<AgentSpec>,
    /// Also measure the timers of these runtimes; their ids are RUNTIME:ID
    ///
    /// Repeatable, or with commas.
    #[arg(long = "runtime", value_name = "RUNTIME", value_delimiter = ',', value_parser = runtime_parser(),
          ignore_case = true)]
    pub runtimes: Vec<RuntimeName>,
    /// Setting of Firefox, as in privacy.resistFingerprinting=true (repeatable)
    ///
    /// The value is in JSON.
    #[arg(long = "firefox-setting", value_name = "NAME=VALUE", value_parser = parse_setting)]
    pub settings: Vec<Setting>,
    /// The environment of the agents of runtimes.
    #[command(flatten)]
    pub environment: EnvironmentArgs,
}

/// The flag for the environment of the agents of runtimes.
#[derive(Clone, Debug, Default, Args)]
pub struct EnvironmentArgs {
    /// Pass this environment variable on to agents of --runtime, as in JAVA_TOOL_OPTIONS (repeatable)
    ///
    /// By default they get no variable that can change the code that a runtime executes.
    #[arg(long, value_name = "NAME", value_parser = variable_parser(), hide_possible_values = true)]
    pub keep_env: Vec<String>,
}

/// A setting of a browser: its name, and its value in JSON.
pub type Setting = (String, String);

/// A parser for the names of runtimes.
fn runtime_parser() -> impl TypedValueParser<Value = RuntimeName> {
    let all = PossibleValue::new("all").help("All installed runtimes");
    let each = RUNTIMES.iter().map(|runtime| {
        PossibleValue::new(runtime.name)
            .aliases(runtime.aliases)
            .help(runtime.about)
    });
    PossibleValuesParser::new(each.chain([all]))
        .map(|name| runtime(&name).map_or(RuntimeName::All, RuntimeName::One))
}

/// A parser for the names of the environment variables that agents of runtimes do not get.
fn variable_parser() -> PossibleValuesParser {
    let variables = RUNTIMES.iter().flat_map(Runtime::variable_changes);
    PossibleValuesParser::new(variables.map(|(name, _)| name))
}

impl HostArgs {
    /// The request of these flags.
    #[must_use]
    pub fn request(&self) -> HostRequest {
        let settings = self.settings.iter();
        HostRequest {
            agents: self.agents.clone(),
            runtimes: self.runtimes.clone(),
            firefox_settings: settings
                .map(|(name, value)| format!("{name}={value}"))
                .collect(),
            kept_variables: self.environment.keep_env.clone(),
        }
    }
}

/// Arguments of `browser`.
#[derive(Clone, Debug, Args)]
pub struct BrowserArgs {
    /// The kind of browser
    #[arg(value_enum)]
    pub kind: BrowserKind,
    /// The part of the browser in which clocks are read
    #[arg(value_enum)]
    pub page: PageKind,
    /// The program of the browser
    pub program: PathBuf,
    /// The folder of its page and of its profile
    pub folder: PathBuf,
    /// A setting of Firefox, with its value in JSON (repeatable)
    #[arg(long = "setting", value_name = "NAME=VALUE", value_parser = parse_setting)]
    pub settings: Vec<Setting>,
}

/// Parses `COMMAND ARG…` or `NAME=COMMAND ARG…`, quoted as in a POSIX shell.
pub(super) fn parse_agent(text: &str) -> Result<AgentSpec, InvalidValue> {
    let is_name = |name: &str| {
        !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '#' | '+'))
    };
    let (name, command) = match text.split_once('=') {
        Some((name, command)) if is_name(name) => (Some(name.to_owned()), command),
        _ => (None, text),
    };
    let command = shell_words::split(command)
        .map_err(|error| InvalidValue::problem(error.to_string(), "quote as in a shell"))?;
    match command.first() {
        Some(program) if !program.is_empty() => Ok(AgentSpec { name, command }),
        _ => Err(InvalidValue::problem(
            "there is no command",
            "give one as in 'java -jar agent.jar' or py='python3 agent.py'",
        )),
    }
}

/// Parses `NAME=VALUE`, where the value is a number, a boolean or a string in JSON.
fn parse_setting(text: &str) -> Result<Setting, InvalidValue> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| InvalidValue::problem("there is no `=`", "give NAME=VALUE"))?;
    if name.is_empty()
        || !name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
    {
        return Err(InvalidValue::expected(
            "a name that consists of letters, digits, `.`, `-` and `_`",
        ));
    }
    let value: serde_json::Value = serde_json::from_str(value).map_err(|error| {
        let problem = format!("the value is not JSON: {error}");
        InvalidValue::problem(problem, "text needs quotes, as in '\"text\"'")
    })?;
    if value.is_array() || value.is_object() || value.is_null() {
        return Err(InvalidValue::expected(
            "a number, true, false, or text in quotes",
        ));
    }
    Ok((name.into(), value.to_string()))
}
