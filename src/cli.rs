//! Defines the command line. The commands themselves are in `commands`.

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

use std::path::PathBuf;

use clap::{Args, FromArgMatches, Parser, Subcommand, ValueEnum};

pub use analyse::AnalyseArgs;
pub use check::{CheckArgs, RecipeArgs};
pub use compare::CompareArgs;
pub use groups::CompletionsArgs;
pub use inspect::InspectArgs;
pub use measure::{MeasureArgs, MeasureWorkerArgs};
pub use output::{Output, OutputArgs};
pub use pick::PickArgs;
pub use report::{PublishArgs, ReportArgs};
pub use run::{DetailArgs, RunArgs};
pub use runtimes::{AgentCheckArgs, BrowserArgs, HostArgs, RuntimeName};
pub use table::{Columns, TableArgs};
pub use wait::{Cpus, Lengths, PeriodArgs, Slack, WaitArgs, WaitingArgs};
pub use watch::WatchArgs;

/// Measures how good the clocks of this machine are
///
/// Measures resolution, invocation cost, spread and Quality of every timer method, with intervals and
/// caveats. Without a command: which clock to use here, in two seconds and a few lines.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "timermeter",
    version,
    args_conflicts_with_subcommands = true,
    max_term_width = 100
)]
pub struct Cli {
    /// When to colour what is printed
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t)]
    pub color: Colour,
    /// The arguments of the short answer.
    #[command(flatten)]
    pub answer: AnswerArgs,
    /// The command; `None` for the short answer.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Arguments of the short answer, which is printed without a command.
#[derive(Clone, Debug, Default, Args)]
pub struct AnswerArgs {
    /// Without a command: the answer by this report (JSON) of clocks, of waits or of both, instead
    /// of measuring (repeatable)
    #[arg(long, value_name = "REPORT")]
    pub from: Vec<PathBuf>,
    /// The output format and files.
    #[command(flatten)]
    pub output: OutputArgs,
}

impl Cli {
    /// Parses the arguments of this process.
    ///
    /// # Errors
    /// When the arguments are invalid, or request the help or the version.
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

/// Parses the arguments of `agent` without building the other commands, which would take half of
/// the start-up time of a worker. `None` for other commands, and for invalid arguments, whose error
/// message needs all commands.
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

/// The commands.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Print which clock to use here, in two seconds and a few lines: what is done without a command
    #[command(hide = true)]
    Answer(AnswerArgs),
    /// Characterise the clocks of this machine, best Quality first
    ///
    /// Measures step, cost of a read, spread and Quality, and judges whether each can be trusted.
    ///
    /// Exit status 3: done, but a timer that was asked for by name could not be characterised.
    ///
    /// Examples:
    ///   timermeter probe                              all timers of this machine
    ///   timermeter probe --quick 'monotonic*' rdtsc   a first look at some of them
    ///   timermeter probe --output all.json --output all.md
    ///   timermeter probe --baseline before            kept, for `timermeter compare before`
    ///   timermeter probe --runtime java,python        with the clocks of Java and Python
    ///   timermeter probe --agent 'java -jar agent.jar' 'java:*'
    ///   timermeter probe --agent py='python3 agent.py' --cycles nominal
    #[command(verbatim_doc_comment)]
    Probe(ProbeArgs),
    /// Characterise sleep primitives: granularity, lateness, cost
    ///
    /// Measures how finely waits can be requested, how late they return, and what they cost.
    ///
    /// Exit status 3: done, but a timer that was asked for by name could not be characterised, or a
    /// wait was later than --break.
    ///
    /// Examples:
    ///   timermeter wait --quick                           a first look at all of them
    ///   timermeter wait nanosleep 'timerfd*' --durations 50us,1ms..10ms
    ///   timermeter wait nanosleep --slack default,1ns     the slack as it is, and 1 ns
    ///   timermeter wait --policy other,fifo:80 --load none,same-cpu
    ///   timermeter wait nanosleep --durations 1ms --for 60s --cpu all -o waits.json
    ///   timermeter wait nanosleep --durations 1ms --for 1h --policy fifo:80 --break 500us
    ///   timermeter wait --runtime java,python
    #[command(verbatim_doc_comment)]
    Wait(Box<WaitArgs>),
    /// Characterise periodic timers: rate, jitter, missed expirations
    ///
    /// Also finds what happens to missed expirations.
    ///
    /// Exit status 3: done, but a timer that was asked for by name could not be characterised.
    ///
    /// Examples:
    ///   timermeter period --every 1ms
    ///   timermeter period timerfd setitimer --every 250us --policy fifo:80
    ///   timermeter period --runtime java,node --every 10ms
    #[command(verbatim_doc_comment)]
    Period(PeriodArgs),
    /// Compute a report again from the trace that `--trace` kept
    Analyse(AnalyseArgs),
    /// Show one timer: its figures, verdicts and caveats
    ///
    /// The main figures on one screen; with -v everything, and the observations as plots.
    ///
    /// Exit status 3: done, but a timer that was asked for by name could not be characterised.
    #[command(verbatim_doc_comment)]
    Inspect(InspectArgs),
    /// Print a report, or make one page of some
    ///
    /// The page needs no network and no other file.
    ///
    /// Exit status 3: done, but some of the reports could not be read.
    #[command(verbatim_doc_comment)]
    Report(ReportArgs),
    /// Make a static site over a folder of reports
    ///
    /// Up to forty reports stand side by side on the index; it lists more.
    ///
    /// Exit status 3: done, but some of the reports could not be read.
    #[command(verbatim_doc_comment)]
    Publish(PublishArgs),
    /// Print reports side by side: text, Markdown, CSV, LaTeX, HTML …
    ///
    /// JSON and Parquet too; with `--columns all` the whole of any number of reports, for SQL.
    ///
    /// Exit status 3: done, but some of the reports could not be read.
    #[command(verbatim_doc_comment)]
    Table(TableArgs),
    /// Print what changed between reports, beyond noise
    ///
    /// Between two reports, or several runs per side.
    ///
    /// Exit status 3: done, and a condition of --fail-if holds. Exit status 4: that could not be
    /// decided: a report could not be read, nothing is in both, or what may have changed could not
    /// have been detected.
    ///
    /// Examples:
    ///   timermeter compare old.json new.json
    ///   timermeter compare old1.json old2.json old3.json -- new1.json new2.json new3.json
    ///   timermeter compare before/ -- after/  folders of runs of one machine
    ///   timermeter compare old.json new.json --history kept/  and what its other runs differ by
    ///   timermeter compare old.json new.json --fail-if 'cost[monotonic*]>10%'
    ///   timermeter compare last.json new.json --same-cpu --fail-if 'cost>5%'  as a gate
    ///   timermeter compare before             a baseline, with this machine as it is now
    ///   timermeter compare before after       two baselines
    #[command(verbatim_doc_comment)]
    Compare(CompareArgs),
    /// List the timers of this system, and why one cannot be used
    ///
    /// Lists clocks and timers that wait; with --all also those of other systems and processors.
    ///
    /// Exit status 3: done, but what was named could not be asked for its timers.
    #[command(verbatim_doc_comment)]
    List(ListArgs),
    /// Identify the machine: CPU, kernel, clock source, NTP
    ///
    /// CPU, frequencies, hypervisor, kernel, clock source, OS, and how the clock is steered.
    Platform(PlatformArgs),
    /// Judge whether the machine is fit to be measured
    ///
    /// Prints each finding with its cause and remedy. Changes nothing.
    ///
    /// Exit status 3: done, and something is a problem; with --counter, a program may not read the
    /// counter, or that cannot be decided.
    ///
    /// Examples:
    ///   timermeter check                       what makes figures worse here
    ///   timermeter check --counter             whether a program may read the raw counter
    ///   timermeter check --from report.json    what made them worse on another machine, or then
    ///   timermeter check --sources             which clock sources there are
    ///   sudo timermeter check --sources --yes  measures each of them
    #[command(verbatim_doc_comment)]
    Check(CheckArgs),
    /// Watch the clocks for hours: pauses, steps, slews, suspends
    ///
    /// Prints each event with its size, its interval and its cause, and at the end the stability
    /// of the clocks. Takes about 0.1 % of a CPU.
    ///
    /// Examples:
    ///   timermeter watch 8h                       a line an event; Ctrl-C ends it early
    ///   timermeter watch 8h --save                kept as well, for `check`
    ///   timermeter watch 30s --pause 1ms          shorter pauses, too
    #[command(verbatim_doc_comment)]
    Watch(WatchArgs),
    /// Serve the native timers over the agent protocol
    ///
    /// That is what probe starts as its worker.
    Agent(AgentArgs),
    /// Test whether an agent speaks the protocol
    ///
    /// Checks each request of the protocol, for authors of agents.
    ///
    /// Exit status 3: done, and the agent does not keep to the protocol.
    #[command(verbatim_doc_comment)]
    AgentCheck(AgentCheckArgs),
    /// Pick a clock, or a way to wait, for a purpose
    ///
    /// The cheapest clock that keeps the wanted error, and how to measure with it; with --every,
    /// the method to wait with.
    ///
    /// Exit status 3: no clock, or no method to wait with, suffices; the nearest is shown.
    ///
    /// Examples:
    ///   timermeter pick 250ns
    ///   timermeter pick 250ns --for cpp                    with code in C++
    ///   timermeter pick 10us --error 5% --rate 10000/s --overhead 1%
    ///   timermeter pick 2ms --counts thread
    ///   timermeter pick 5us --runtime java
    ///   timermeter pick 1ms --needs threads,no-slew --from report.json
    ///   timermeter pick --every 1ms                        how exactly 1 ms can be waited for
    ///   timermeter pick --every 1ms --within 50us --share 99% --overhead 2%
    #[command(verbatim_doc_comment)]
    Pick(PickArgs),
    /// Measure operations or a command with any clock
    ///
    /// Each operation in a fresh process.
    ///
    /// Exit status 3: done, but something that was asked for could not be measured.
    ///
    /// Examples:
    ///   timermeter measure                                  what can be measured
    ///   timermeter measure log-chain multiply --clock monotonic
    ///   timermeter measure search-same search-random --sizes 100,10000,1000000 --format csv
    ///   timermeter measure clone new-and-copy --instrument throughput --time 100ms
    ///   timermeter measure log-chain --instrument discrete --clock realtime-coarse --limit 60
    ///   timermeter measure --samples 20 -- sleep 0.01
    #[command(verbatim_doc_comment)]
    Measure(MeasureArgs),
    /// Print what a shell needs to complete commands and flags
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

/// Arguments of `probe`.
#[derive(Clone, Debug, Default, Args)]
pub struct ProbeArgs {
    /// The flags of all runs.
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
    /// The hosts of the timers.
    #[command(flatten)]
    pub hosts: HostArgs,
    /// List those of other systems and processors, too; JSON always holds them
    #[arg(long)]
    pub all: bool,
    /// The output format and files.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Arguments of `platform`.
#[derive(Clone, Debug, Args)]
pub struct PlatformArgs {
    /// The output format and files.
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

/// The command that starts an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentSpec {
    /// The prefix of the ids of its timers; `None` for the name that the agent reports.
    pub name: Option<String>,
    /// The program and its arguments; never empty.
    pub command: Vec<String>,
}

impl AgentSpec {
    /// Parses `COMMAND ARG…` or `NAME=COMMAND ARG…`, quoted as in a POSIX shell.
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
        let command =
            shell_words::split(command).map_err(|error| format!("{error}; quote as in a shell"))?;
        match command.first() {
            Some(program) if !program.is_empty() => Ok(Self { name, command }),
            _ => Err("there is no command; give one as in 'java -jar agent.jar' or py='python3 agent.py'"
                .to_owned()),
        }
    }
}

#[cfg(test)]
mod tests;
