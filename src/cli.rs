//! The command line: every command and flag, nothing about what they do.

mod analyse;
mod check;
mod compare;
pub mod groups;
mod inspect;
pub mod measure;
mod output;
mod pick;
mod report;
mod run;
mod runtimes;
mod table;
mod values;
mod wait;
mod watch;

use std::path::{MAIN_SEPARATOR, PathBuf};

use clap::{Args, FromArgMatches, Parser, Subcommand, ValueEnum};

pub use analyse::AnalyseArgs;
pub use check::{CheckArgs, RecipeArgs};
pub use compare::CompareArgs;
pub use groups::CompletionsArgs;
pub use inspect::InspectArgs;
pub use measure::{MeasureArgs, MeasureWorkerArgs};
pub use output::{Output, OutputArgs};
pub use pick::PickArgs;
pub use report::{FiguresWanted, PublishArgs, ReportArgs};
pub use run::{DetailArgs, RunArgs};
pub use runtimes::{AgentCheckArgs, BrowserArgs, HostArgs, RuntimeName};
pub use table::{Columns, TableArgs};
pub use wait::{Cpus, Lengths, LoadName, PeriodArgs, Slack, WaitArgs, WaitingArgs};
pub use watch::WatchArgs;

const PROBE_EXAMPLES: &str = "\
Examples:
  timermeter probe                              all timers of this machine
  timermeter probe --quick 'monotonic*' rdtsc   a first look at some of them
  timermeter probe --output all.json --output all.md
  timermeter probe --baseline before            kept, for `timermeter compare before`
  timermeter probe --runtime java,python        with the clocks of Java and Python
  timermeter probe --agent 'java -jar agent.jar' 'java:*'
  timermeter probe --agent py='python3 agent.py' --cycles nominal";

/// Tells how good the clocks of this machine are
///
/// Measures resolution, invocation cost, spread and Quality of every timer method, with intervals and
/// caveats. Without a command: which clock to use here, in two seconds and a few lines.
#[derive(Clone, Debug, Parser)]
#[command(name = "timermeter", version, args_conflicts_with_subcommands = true, after_help = groups::ALL, max_term_width = 100)]
pub struct Cli {
    /// When to colour what is printed
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t)]
    pub color: Colour,
    /// Without a command.
    #[command(flatten)]
    pub answer: AnswerArgs,
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What is done without a command.
#[derive(Clone, Debug, Default, Args)]
pub struct AnswerArgs {
    /// Without a command: the answer by this report (JSON) of clocks, of waits or of both, instead
    /// of measuring (repeatable)
    #[arg(long, value_name = "REPORT")]
    pub from: Vec<PathBuf>,
    /// Where it is written.
    #[command(flatten)]
    pub output: OutputArgs,
}

impl Cli {
    /// The arguments of this process.
    ///
    /// # Errors
    /// When they are wrong, or ask for help.
    pub fn read() -> Result<Self, clap::Error> {
        if let Some(args) = agent_args() {
            return Ok(Self {
                color: Colour::Auto,
                answer: AnswerArgs::default(),
                command: Some(Command::Agent(args)),
            });
        }
        let mut command = groups::command();
        let matches = command.try_get_matches_from_mut(std::env::args_os())?;
        Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }
}

/// The arguments of `agent`, read without the definitions of all other commands, which would be
/// half of what a worker does before its first answer. `None` for other commands, and where all of
/// them are needed to say what is wrong.
fn agent_args() -> Option<AgentArgs> {
    let mut args = std::env::args_os();
    let _program = args.next();
    let agent = args.next().filter(|name| name == "agent")?;
    let command = AgentArgs::augment_args(clap::Command::new("agent").disable_help_flag(true));
    let matches = command
        .try_get_matches_from(std::iter::once(agent).chain(args))
        .ok()?;
    AgentArgs::from_arg_matches(&matches).ok()
}

/// When to colour what is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// On a terminal, unless NO_COLOR is set; anywhere with CLICOLOR_FORCE
    #[default]
    Auto,
    /// Anywhere
    Always,
    /// Nowhere
    Never,
}

/// What to do.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Tell which clock to use here, in two seconds and a few lines: what is done without a command
    #[command(hide = true, after_help = groups::PLAIN)]
    Answer(AnswerArgs),
    /// Characterise the clocks of this machine, best Quality first
    ///
    /// Measures step, cost of a read, spread and Quality, and judges whether each can be trusted.
    #[command(after_help = groups::TIMERS, after_long_help = with_examples(PROBE_EXAMPLES, groups::TIMERS))]
    Probe(ProbeArgs),
    /// Characterise timers that wait: granularity, lateness, cost
    ///
    /// Measures how finely waits can be requested, how late they return, and what they cost.
    #[command(after_help = groups::WAITED, after_long_help = with_examples(wait::WAIT_EXAMPLES, groups::WAITED))]
    Wait(Box<WaitArgs>),
    /// Characterise periodic timers: rate, jitter, missed expirations
    ///
    /// Also tells what happens to missed expirations.
    #[command(after_help = groups::TIMERS, after_long_help = with_examples(wait::PERIOD_EXAMPLES, groups::TIMERS))]
    Period(PeriodArgs),
    /// Compute a report again from the trace that `--trace` kept
    #[command(after_help = groups::PLAIN)]
    Analyse(AnalyseArgs),
    /// Show one timer: its figures, verdicts and caveats
    ///
    /// The main figures on one screen; with -v everything, and the observations as plots.
    #[command(after_help = groups::TIMERS)]
    Inspect(InspectArgs),
    /// Print a report, or make one page of some
    ///
    /// The page needs no network and no other file.
    #[command(after_help = groups::REPORTS)]
    Report(ReportArgs),
    /// Make a static site over a folder of reports
    ///
    /// Up to forty reports stand side by side on the index; it lists more.
    #[command(after_help = groups::REPORTS)]
    Publish(PublishArgs),
    /// Print reports side by side: text, Markdown, CSV, LaTeX, HTML …
    ///
    /// JSON and Parquet too; with `--columns all` the whole of any number of reports, for SQL.
    #[command(after_help = groups::REPORTS)]
    Table(TableArgs),
    /// Tell what changed between reports, beyond noise
    ///
    /// Between two reports, or several runs per side.
    #[command(after_help = groups::COMPARED, after_long_help = with_examples(compare::EXAMPLES, groups::COMPARED))]
    Compare(CompareArgs),
    /// List the timers of this system, and why one cannot be used
    ///
    /// Lists clocks and timers that wait; with --all also those of other systems and processors.
    #[command(after_help = groups::LISTED)]
    List(ListArgs),
    /// Identify the machine: CPU, kernel, clock source, NTP
    ///
    /// CPU, frequencies, hypervisor, kernel, clock source, OS, and how the clock is steered.
    #[command(after_help = groups::PLAIN)]
    Platform(PlatformArgs),
    /// Judge whether the machine is fit to be measured
    ///
    /// Prints each finding with its cause and remedy. Changes nothing.
    #[command(after_help = groups::CHECKED, after_long_help = with_examples(check::EXAMPLES, groups::CHECKED))]
    Check(CheckArgs),
    /// Watch the clocks for hours: pauses, steps, slews, suspends
    ///
    /// Prints each event with its size, its interval and its cause, and at the end the stability
    /// of the clocks. Takes about 0.1 % of a CPU.
    #[command(after_help = groups::PLAIN, after_long_help = with_examples(watch::EXAMPLES, groups::PLAIN))]
    Watch(WatchArgs),
    /// Serve the native timers over the agent protocol
    ///
    /// That is what probe starts as its worker.
    #[command(after_help = groups::PLAIN)]
    Agent(AgentArgs),
    /// Test whether an agent speaks the protocol
    ///
    /// Checks each request of the protocol, for authors of agents.
    #[command(after_help = groups::AGENT)]
    AgentCheck(AgentCheckArgs),
    /// Pick a clock, or a way to wait, for a purpose
    ///
    /// The cheapest clock that keeps the wanted error, and how to measure with it; with --every,
    /// the method to wait with.
    #[command(after_help = groups::PICKED, after_long_help = with_examples(pick::EXAMPLES, groups::PICKED))]
    Pick(PickArgs),
    /// Measure operations or a command with any clock
    ///
    /// Each operation in a fresh process.
    #[command(after_help = groups::MEASURED, after_long_help = with_examples(measure::MEASURE_EXAMPLES, groups::MEASURED))]
    Measure(MeasureArgs),
    /// Print what a shell needs to complete commands and flags
    #[command(after_help = groups::PLAIN)]
    Completions(CompletionsArgs),
    /// Pass questions on to a page of a browser (what --runtime chromium and its like start)
    #[command(hide = true)]
    Browser(BrowserArgs),
    /// Measure one operation in this process (what measure starts)
    #[command(hide = true)]
    MeasureWorker(MeasureWorkerArgs),
    /// Find the rate of the counter as a program does when it starts (what check --counter starts)
    #[command(hide = true)]
    CounterRecipe(RecipeArgs),
    /// Wait for the process that started this to end, and end what it left behind (what commands
    /// with workers start)
    #[command(hide = true)]
    Guard,
}

fn with_examples(examples: &str, statuses: &str) -> String {
    format!("{examples}\n\n{statuses}")
}

/// Arguments of `probe`.
#[derive(Clone, Debug, Default, Args)]
pub struct ProbeArgs {
    /// What all runs have.
    #[command(flatten)]
    pub run: RunArgs,
    /// Measure all that a read adds to the code around it, as --thorough does: cold, and while all
    /// other CPUs read the same timer, 12 ms more per process and timer; --quick measures none of
    /// it otherwise
    #[arg(long)]
    pub context: bool,
    /// Measure on this CPU
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::cpu)]
    pub cpu: Option<u32>,
    /// Start further processes for the timers with the widest intervals until the Quality of each
    /// is known to ± this many points, as far as that can be reached [default: 0.5; with --thorough
    /// 0.1]
    #[arg(long, value_name = "POINTS", allow_negative_numbers = true, value_parser = values::points)]
    pub precision: Option<f64>,
    /// Longest time of the run, as in 30s or 2m (seconds without a unit); only the first rounds and
    /// the verdicts can exceed it [default: 20s; with --quick 10s, with --thorough 2m]
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = values::seconds)]
    pub budget: Option<f64>,
}

/// Arguments of `list`.
#[derive(Clone, Debug, Args)]
pub struct ListArgs {
    /// Ids or globs of timers; all of them when none is given
    #[arg(value_name = "TIMER")]
    pub timers: Vec<String>,
    /// Whose timers.
    #[command(flatten)]
    pub hosts: HostArgs,
    /// List those of other systems and processors, too; JSON always holds them
    #[arg(long)]
    pub all: bool,
    /// Where it is written.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Arguments of `platform`.
#[derive(Clone, Debug, Args)]
pub struct PlatformArgs {
    /// Where it is written.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Arguments of `agent`.
#[derive(Clone, Debug, Args)]
pub struct AgentArgs {
    /// Ids of the timers to open; all of them when none is given
    #[arg(value_name = "TIMER")]
    pub timers: Vec<String>,
    /// Run on this CPU
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::cpu)]
    pub cpu: Option<u32>,
}

/// How to start an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentSpec {
    /// The name that leads its ids; null means the runtime's own name.
    pub name: Option<String>,
    /// The program and its arguments, never empty.
    pub command: Vec<String>,
}

impl AgentSpec {
    /// Reads `COMMAND ARG…` or `NAME=COMMAND ARG…`, quoted as in a shell; a backslash that
    /// separates folders is one.
    fn parse(text: &str) -> Result<Self, String> {
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
        let command = values::words(command, MAIN_SEPARATOR)
            .map_err(|error| format!("{error}; quote as in a shell"))?;
        match command.first() {
            Some(program) if !program.is_empty() => Ok(Self { name, command }),
            _ => Err("there is no command; give one as in 'java -jar agent.jar' or py='python3 agent.py'"
                .to_owned()),
        }
    }
}

#[cfg(test)]
mod tests;
