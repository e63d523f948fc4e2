//! Finds the runtimes of other languages on this machine and prepares their agents: writes the files
//! of an agent, which are part of this program, to a folder, and compiles them if the runtime does
//! not read source.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use timers::agents::{Build, Runtime, RuntimeAgent};

use super::browser::PAGE;
use super::children::ChildError;
use super::declarations::Declarations;
use super::process::AgentCommand;
use super::surroundings::{Surroundings, fill};
use super::tool;

/// The placeholder for the path of a runtime's log.
const LOG_PLACEHOLDER: &str = "$log";
/// The file name of a runtime's log; the runtime replaces `%p` by its process id.
const LOG_FILE_NAME: &str = "%p.log";

/// A prepared agent. Its command takes ids of timers as arguments, unless it has declarations.
#[derive(Clone, Debug)]
pub struct PreparedAgent {
    /// The prefix of the ids of the agent's timers.
    pub prefix: &'static str,
    /// The command that starts the agent.
    pub command: AgentCommand,
}

/// The reason why an agent cannot be prepared.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// None of the programs with these names is installed.
    #[error("there is no `{}`", .0.replace('|', "` or `"))]
    NoProgram(&'static str),
    /// The declarations of the agent are invalid.
    #[error("its declarations (clocks.json) are invalid: {0}")]
    Declarations(#[from] serde_json::Error),
    /// The files of the agent cannot be written to a folder.
    #[error(
        "its agent cannot be written to {folder}: {1}; free space, or set TMPDIR",
        folder = .0.display()
    )]
    NotWritten(PathBuf, io::Error),
    /// A step of the recipe failed, with the first program of the recipe.
    #[error("`{program}` cannot be used: {1}", program = .0.display())]
    Step(PathBuf, ChildError),
    /// A line of the recipe is invalid.
    #[error(transparent)]
    Line(#[from] shell_words::ParseError),
}

/// Prepares the agents of a runtime in `folder`, an absolute path. A runtime may have several agents:
/// .NET may be installed as itself and as Mono.
///
/// # Errors
/// When the runtime is not installed, too old, or unusable.
pub fn prepare(runtime: &Runtime, folder: &Path) -> Result<Vec<PreparedAgent>, AgentError> {
    let (mut prepared, mut last_reason) = (Vec::new(), None);
    for (index, agent) in runtime.agents.iter().enumerate() {
        let folder = folder.join(runtime.name).join(index.to_string());
        match prepare_host(runtime, agent, &folder) {
            Ok(ready) => prepared.push(ready),
            Err(reason) => last_reason = Some(reason),
        }
    }
    match last_reason {
        Some(reason) if prepared.is_empty() => Err(reason),
        _ => Ok(prepared),
    }
}

/// Prepares an agent with the first recipe that works. The error is that of the last recipe whose
/// programs are installed; if no recipe has all its programs, the error names a missing program of
/// the last recipe, which requires the fewest.
fn prepare_host(
    runtime: &Runtime,
    agent: &RuntimeAgent,
    folder: &Path,
) -> Result<PreparedAgent, AgentError> {
    let mut why = AgentError::NoProgram("");
    for (index, recipe) in agent.recipes.iter().enumerate() {
        let folder = folder.join(index.to_string());
        let is_missing = |error: &AgentError| matches!(error, AgentError::NoProgram(_));
        match follow_recipe(runtime, agent, recipe, &folder) {
            Ok(ready) => return Ok(ready),
            Err(error) if is_missing(&error) && !is_missing(&why) => {}
            Err(error) => why = error,
        }
    }
    Err(why)
}

/// Returns the path of the first of the programs `NAME|NAME|…` that is installed.
fn find_program(names: &&'static str) -> Result<PathBuf, AgentError> {
    let all: Vec<&str> = names.split('|').collect();
    tool::find(&all).ok_or(AgentError::NoProgram(names))
}

/// Writes the files of an agent to `folder` and runs the steps of a recipe.
fn follow_recipe(
    runtime: &Runtime,
    agent: &RuntimeAgent,
    recipe: &Build,
    folder: &Path,
) -> Result<PreparedAgent, AgentError> {
    let programs: Result<_, AgentError> = recipe.programs.iter().map(find_program).collect();
    let programs: Vec<PathBuf> = programs?;
    let declarations = agent.clocks.map(Declarations::parse).transpose()?;
    write_sources(agent, declarations.as_ref(), folder)
        .map_err(|error| AgentError::NotWritten(folder.into(), error))?;
    let mut placeholders = Placeholders {
        output: OsString::new(),
        programs,
        folder: folder.into(),
    };
    let surroundings = Surroundings::new(runtime, folder);
    for step in recipe.steps {
        let line = placeholders.fill_line(step)?;
        let [program, args @ ..] = line.as_slice() else {
            continue;
        };
        let mut command = std::process::Command::new(program);
        surroundings.apply(command.args(args));
        let output = tool::run_within(tool::MAX_COMPILE_TIME, &mut command)
            .map_err(|why| AgentError::Step(placeholders.programs[0].clone(), why))?;
        placeholders.output = output.trim().into();
    }
    let mut line = placeholders.fill_line(recipe.run)?;
    let args = line.split_off(line.len().min(1));
    let mut command = AgentCommand::new(
        format!("{} agent", agent.prefix),
        line.pop().unwrap_or_default(),
        args,
    );
    command.declarations = declarations.map(Arc::new);
    command.surroundings = Some(Arc::new(surroundings));
    let has_log = recipe.run.contains(LOG_PLACEHOLDER);
    command.log = has_log.then(|| folder.join(LOG_FILE_NAME));
    if recipe.run.contains(PAGE) {
        command.browser_version = Some(browser_version(recipe, &placeholders.output));
    }
    Ok(PreparedAgent {
        prefix: agent.prefix,
        command,
    })
}

/// Writes the files of an agent to `folder`.
fn write_sources(
    agent: &RuntimeAgent,
    declarations: Option<&Declarations>,
    folder: &Path,
) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for source in agent.sources {
        let text = declarations.map_or(source.text.to_owned(), |all| all.expand(source.text));
        let name = Path::new(source.name).file_name().unwrap_or_default();
        fs::write(folder.join(name), text)?;
    }
    Ok(())
}

/// The values of the placeholders in a recipe.
struct Placeholders {
    programs: Vec<PathBuf>,
    folder: PathBuf,
    /// The output of the last step.
    output: OsString,
}

impl Placeholders {
    /// Splits a command line into words and fills in the placeholders.
    fn fill_line(&self, line: &str) -> Result<Vec<OsString>, shell_words::ParseError> {
        let words = shell_words::split(line)?;
        Ok(words.iter().map(|word| self.fill_word(word)).collect())
    }

    /// Fills in the first placeholder of a word.
    fn fill_word(&self, word: &str) -> OsString {
        let log = self.folder.join(LOG_FILE_NAME);
        let values = [
            ("$here", self.folder.as_os_str()),
            (LOG_PLACEHOLDER, log.as_os_str()),
            ("$said", &self.output),
        ];
        let programs = self.programs.iter().map(|program| program.as_os_str());
        let numbered = ["$0", "$1"].into_iter().zip(programs);
        fill(word, values.into_iter().chain(numbered))
    }
}

/// The version in what the browser said of itself, with a deviation from the default settings.
fn browser_version(recipe: &Build, said: &OsStr) -> String {
    let said = said.to_string_lossy();
    let mut words = said.split_whitespace();
    let version = words.find(|word| word.starts_with(|first: char| first.is_ascii_digit()));
    let version = version.unwrap_or("of unknown version");
    match recipe.run.contains("--no-sandbox") {
        true => format!("{version}, without its sandbox"),
        false => version.to_owned(),
    }
}

#[cfg(test)]
mod tests;
