//! The commands of the program, one per file. Only these files and `main` print results.

mod agent;
mod answer;
mod changes;
mod check;
mod compare;
pub mod completions;
mod counter;
mod explain;
mod files;
mod gate;
mod list;
mod measure;
mod measure_worker;
mod pick;
mod printed;
mod probe;
mod publish;
mod samples;
mod table;
mod wait;
mod watch;

use std::fmt::Display;
use std::io::{ErrorKind, IsTerminal, Write, stdin};
use std::sync::OnceLock;
use std::time::Duration;

use anstream::{AutoStream, ColorChoice};

use serde::Serialize;

use reporting::format::{Format, Render, Style, repeated_answer};

use crate::agents::children::guard;
use crate::cli::{Colour, CommonArgs, OutputArgs, OutputFile, Verb};
use crate::messages::{be_quiet, has_ascii_locale, is_quiet, print_message};
use crate::runs::RunError;
use crate::selection::SelectionError;
use reporting::document::Document;
use reporting::report::{OutputError, WholeFile};
use reporting::text::{ascii, date_time};

/// Longest time from a signal to the end of the program, in which it ends all child processes, or
/// `watch` writes its last lines.
pub const SHUTDOWN_LIMIT: Duration = Duration::from_secs(10);

/// The reason why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The arguments are invalid.
    #[error("{0}")]
    Usage(String),
    /// The command could not do its task.
    #[error("{0}")]
    Failed(String),
    /// The command ran, but its question could not be decided.
    #[error("{0}")]
    Undecided(String),
    /// The user interrupted the program.
    #[error("interrupted")]
    Interrupted,
    /// The output was closed by its reader, as in `timermeter list | head -1`.
    #[error("the output was closed by its reader")]
    Closed,
}

/// The result of a command, or of a part of it.
pub(crate) type CommandResult<T = ()> = Result<T, CommandError>;

impl CommandError {
    /// The exit status for this error.
    pub fn exit_status(&self) -> u8 {
        match self {
            Self::Closed => 0,
            Self::Failed(_) => 1,
            Self::Usage(_) => 2,
            // `main` returns status 3 for incomplete success.
            Self::Undecided(_) => 4,
            // The status with which shells report a program ended by SIGINT; other signals have
            // their own.
            Self::Interrupted => 130,
        }
    }
}

impl From<std::io::Error> for CommandError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            ErrorKind::BrokenPipe => Self::Closed,
            ErrorKind::Unsupported => Self::Usage(
                "the output cannot be written in this format; choose another format".into(),
            ),
            _ => Self::Failed(format!("cannot write the output: {error}")),
        }
    }
}

/// Converts the error that ended a campaign.
impl From<timers::Fault> for CommandError {
    fn from(fault: timers::Fault) -> Self {
        match fault {
            timers::Fault::Interrupted => Self::Interrupted,
            fault => Self::Failed(fault.to_string()),
        }
    }
}

impl From<SelectionError> for CommandError {
    fn from(error: SelectionError) -> Self {
        let kind = match error {
            SelectionError::Interrupted => return Self::Interrupted,
            SelectionError::Unknown(_) => Self::Usage,
            _ => Self::Failed,
        };
        kind(error.to_string())
    }
}

impl From<RunError> for CommandError {
    fn from(error: RunError) -> Self {
        let kind = match error {
            RunError::Selection(error) => return error.into(),
            RunError::Fault(fault) => return fault.into(),
            RunError::Untested(_) => Self::Failed,
            _ => Self::Usage,
        };
        kind(error.to_string())
    }
}

/// Runs a verb. Returns whether its result is complete, and no condition holds.
///
/// # Errors
/// When the verb fails.
pub fn run(verb: &Verb, output: &mut dyn Write) -> CommandResult<bool> {
    match verb {
        Verb::Answer(args) => answer::run(args, output),
        Verb::Probe(args) => probe::run(args, output),
        Verb::Wait(args) => wait::run(args, output),
        Verb::Publish(args) => publish::run(args, output),
        Verb::Table(args) => table::run(args, output),
        Verb::Compare(args) => compare::run(args, output),
        Verb::Gate(args) => gate::run(args, output),
        Verb::List(args) => list::run(args, output),
        Verb::Explain(args) => explain::run(args, output),
        Verb::Check(args) => check::run(args, output),
        Verb::Watch(args) => watch::run(args, output),
        Verb::Pick(args) => pick::run(args, output),
        Verb::Measure(args) => measure::run(args, output),
        Verb::Samples(args) => samples::run(args, output),
        Verb::Completions(args) => completions::run(args, output),
        Verb::MeasureWorker(args) => measure_worker::serve(&args.request, output),
        Verb::Agent(args) => agent::run(args),
        Verb::Guard => {
            guard::serve(&mut stdin().lock());
            Ok(true)
        }
    }
}

/// The date now, as RFC 3339.
fn date() -> String {
    date_time(timers::date())
}

static COMMON: OnceLock<CommonArgs> = OnceLock::new();

/// Sets the options that all commands have, for all later output.
pub fn set_common(args: CommonArgs) {
    if args.quiet {
        be_quiet();
    }
    let _ = COMMON.set(args);
}

/// The options that all commands have.
pub(crate) fn common() -> &'static CommonArgs {
    COMMON.get_or_init(CommonArgs::default)
}

/// The width of the terminal on standard output in columns, and which colours, characters and hints
/// to print.
pub fn terminal_style() -> Style {
    let stdout = std::io::stdout();
    let is_terminal = stdout.is_terminal();
    let colour = match common().color {
        Colour::Always => true,
        Colour::Never => false,
        // `AutoStream` also follows NO_COLOR and CLICOLOR (<https://no-color.org>,
        // <https://bixense.com/clicolors>), but it would take CLICOLOR_FORCE=0 as a request for
        // colour.
        Colour::Auto => {
            let is_forced = std::env::var_os("CLICOLOR_FORCE").is_some_and(|force| force != "0");
            AutoStream::choice(&stdout) != ColorChoice::Never && (is_terminal || is_forced)
        }
    };
    let style = Style {
        width: None,
        colour,
        ascii: has_ascii_locale(),
        legend: is_terminal && !is_quiet(),
        quiet: is_quiet(),
    };
    if is_terminal {
        let width = terminal_size::terminal_size_of(&stdout).map(|(width, _)| width.0);
        return Style { width, ..style };
    }
    let columns = std::env::var("COLUMNS")
        .ok()
        .and_then(|columns| columns.trim().parse().ok());
    Style {
        width: columns.filter(|columns| *columns > 0),
        ..style
    }
}

/// The error for a command that could not do its task, with the message of `error`.
pub(crate) fn failed(error: impl Display) -> CommandError {
    CommandError::Failed(error.to_string())
}

/// The error for a command line that makes no sense.
fn usage(error: impl Display) -> CommandError {
    CommandError::Usage(error.to_string())
}

/// The destinations of the output of a command: standard output, and files that are created before
/// anything is measured.
struct Outputs {
    format: Format,
    files: Vec<(WholeFile, Format)>,
}

/// Checks that the output files on the command line can be written.
fn prepare_outputs(args: &OutputArgs) -> CommandResult<Outputs> {
    let files: Result<Vec<_>, OutputError> = args
        .outputs
        .iter()
        .map(|OutputFile { path, format }| Ok((WholeFile::prepare(path)?, *format)))
        .collect();
    Ok(Outputs {
        format: args.format,
        files: files.map_err(failed)?,
    })
}

/// The data of a command with the name of its machine (`--node`), if that was given.
#[derive(Serialize)]
struct OnNode<'a, T> {
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<&'a str>,
    #[serde(flatten)]
    data: T,
}

/// A document about a machine, which begins with the name of `node`, or with that of this machine
/// (`--node`), if either is known.
fn machine_document<'a, T: Serialize>(
    node: Option<&'a str>,
    data: T,
) -> Document<'a, OnNode<'a, T>> {
    let node = node.or(common().node.as_deref());
    let document = Document::new(OnNode { node, data });
    match node {
        Some(node) => document.conditions([("node", node)]),
        None => document,
    }
}

/// Writes a document to the output files, then to standard output.
fn emit(document: &dyn Render, outputs: Outputs, stdout: &mut dyn Write) -> CommandResult {
    write_files(document, outputs.files)?;
    let style = terminal_style();
    if outputs.format == Format::Table {
        let mut text = Vec::new();
        document.write(outputs.format, style, &mut text)?;
        let mut text = String::from_utf8_lossy(&text).into_owned();
        let terminal = std::io::stdout();
        if let Some((_, height)) = terminal_size::terminal_size_of(&terminal) {
            text += &repeated_answer(&text, height.0.into());
        }
        if style.ascii {
            text = ascii(&text);
        }
        stdout.write_all(text.as_bytes())?;
    } else {
        document.write(outputs.format, style, stdout)?;
    }
    Ok(stdout.flush()?)
}

/// Writes a document to the output files, each in its format.
fn write_files(document: &dyn Render, files: Vec<(WholeFile, Format)>) -> CommandResult {
    for (mut file, format) in files {
        document
            .write(format, Style::default(), &mut file)
            .map_err(|error| match error.kind() {
                ErrorKind::Unsupported | ErrorKind::BrokenPipe => error.into(),
                _ => failed(file.explain(error)),
            })?;
        file.finish().map_err(failed)?;
    }
    Ok(())
}

/// Prints the errors of the `refused` files, which could not be read; `read` is the number of files
/// that could. Returns `true` if all files could be read.
///
/// # Errors
/// When no file could be read.
fn report_unreadable(refused: &[impl Display], read: usize) -> CommandResult<bool> {
    match refused {
        [only] if read == 0 => return Err(failed(only)),
        refused => refused.iter().for_each(|error| print_message(error)),
    }
    if read == 0 {
        return Err(failed("no report could be read"));
    }
    Ok(refused.is_empty())
}
