//! Defines the command line: the commands and their flags. The commands themselves are in
//! `commands`.

mod check;
mod compare;
mod gate;
/// The command line with its help (`help::command`), which lists the commands in groups.
pub mod help;
pub mod measure;
mod output;
mod paths;
mod pick;
mod run;
mod runtimes;
mod samples;
mod table;
mod values;
mod wait;
mod watch;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue};
use clap::{ArgMatches, Args, FromArgMatches, Parser, Subcommand};

pub use check::CheckArgs;
pub use compare::CompareArgs;
pub use gate::GateArgs;
pub use help::CompletionsArgs;
pub use measure::{MeasureArgs, MeasureWorkerArgs};
pub use output::{Colour, CommonArgs, OutputArgs, OutputFile};
pub use pick::PickArgs;
pub use run::RunArgs;
pub use runtimes::AgentOptions;
pub use samples::SamplesArgs;
pub use table::TableArgs;
pub use wait::WaitArgs;
pub use watch::WatchArgs;

use crate::requests::RunRequest;

/// Measures how good the clocks of this machine are
///
/// Measures the resolution, the cost, the spread and the Quality of each timer, with confidence
/// intervals and warnings. Without a command it measures for one to two seconds and prints in a
/// few lines which clock to use on this machine.
#[derive(Debug, Parser)]
#[command(
    name = "timermeter",
    version,
    args_conflicts_with_subcommands = true,
    max_term_width = 100
)]
pub struct Cli {
    /// The flags that all commands have.
    #[command(flatten)]
    pub common: CommonArgs,
    /// The arguments of the program without a command.
    #[command(flatten)]
    pub answer: AnswerArgs,
    /// The command; `None` prints the short answer.
    #[command(subcommand)]
    pub command: Option<Verb>,
}

/// Arguments of the short answer: which clock to use on this machine.
#[derive(Debug, Default, Args)]
pub struct AnswerArgs {
    /// Answer from this report (JSON) instead of measuring (repeatable)
    ///
    /// A report may contain clocks, waits, or both. Commands have a `--from` of their own.
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
                common: CommonArgs::default(),
                answer: AnswerArgs::default(),
                command: Some(Verb::Agent(args)),
            });
        }
        Self::from_words(std::env::args_os().collect())
    }

    /// Parses the words of a command line, the first of which is the name of the program.
    fn from_words(mut words: Vec<OsString>) -> Result<Self, clap::Error> {
        let mut command = help::command();
        if let Some(verb) = verb_after_flags(&command, &words) {
            words[1..=verb].rotate_right(1);
        }
        // Options cannot stand before a command.
        let compares = words.get(1).is_some_and(|verb| verb == "compare");
        let dashes = words.iter_mut().filter(|word| compares && *word == "--");
        dashes.for_each(|word| *word = compare::SIDES.into());
        let matches = command.try_get_matches_from_mut(words);
        let matches = matches.map_err(|mut error| {
            // clap suggests that a word after `--` is always a file.
            if compares && error.get(ContextKind::Suggested).is_some() {
                let hint = "a file whose name begins with `-` is written ./-NAME";
                let hint = ContextValue::StyledStrs(vec![hint.into()]);
                error.insert(ContextKind::Suggested, hint);
            }
            error
        })?;
        let verb = matches.subcommand().and_then(|(name, matches)| {
            let verb = command.find_subcommand(name)?;
            Some((verb, matches))
        });
        let (verb, of_verb) = verb.unwrap_or((&command, &matches));
        Self::from_matches(&matches, verb, of_verb).map_err(|error| error.format(&mut verb.clone()))
    }

    /// Makes the arguments of all matches, and checks those of the command.
    fn from_matches(
        matches: &ArgMatches,
        verb: &clap::Command,
        of_verb: &ArgMatches,
    ) -> Result<Self, clap::Error> {
        let mut cli = Self::from_arg_matches(matches)?;
        if let Some(Verb::Wait(args)) = &mut cli.command {
            args.take_lengths()?;
        }
        cli.common.node = of_verb.try_get_one(output::NODE).ok().flatten().cloned();
        paths::check(verb, of_verb)?;
        Ok(cli)
    }
}

/// The place of the command among the words, if only flags that the program has without a command stand
/// before it.
fn verb_after_flags(command: &clap::Command, words: &[OsString]) -> Option<usize> {
    let is_verb = |at: &usize| command.find_subcommand(&words[*at]).is_some();
    let first = (1..words.len()).find(is_verb)?;
    let are_flags = || command.clone().try_get_matches_from(&words[..first]);
    (first == 1 || are_flags().is_ok()).then_some(first)
}

/// Parses the arguments of `agent`. Returns `None` for other commands, and for invalid arguments,
/// because the error message needs the definition of all commands. Building that definition takes
/// half of the start-up time of a worker, so `agent` avoids it.
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

/// What the program prepares for a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing but the first thread, because the parent process binds the first thread of a worker to a CPU
    /// and counts its context switches.
    FirstThread,
    /// Files: signals end the program.
    Files,
    /// Also a clock of the kernel, to wait or to record the current time.
    Clock,
    /// A clock; the verb handles signals itself, because it prints its results before it ends.
    OwnSignals,
    /// A clock, and children that end with the program.
    Children,
}

impl Verb {
    /// What this verb needs.
    pub fn needs(&self) -> Needs {
        match self {
            Self::Agent(_) | Self::MeasureWorker(_) | Self::Guard => Needs::FirstThread,
            Self::Explain(_) | Self::Table(_) | Self::Samples(_) | Self::Completions(_) => {
                Needs::Files
            }
            Self::Compare(args) if !args.probes() => Needs::Files,
            Self::Publish(_) => Needs::Clock,
            Self::Probe(args) if !args.from.is_empty() => Needs::Clock,
            Self::Watch(_) => Needs::OwnSignals,
            _ => Needs::Children,
        }
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Explain a column, a verdict or a finding
    ///
    /// Without a word, lists all words.
    ///
    /// Examples:
    ///   timermeter explain adds
    ///   timermeter explain unsteady-cost trust
    ///   timermeter explain -f json
    #[command(verbatim_doc_comment)]
    Explain(ExplainArgs),
    /// Print which clock to use on this machine, like the program without a command
    #[command(hide = true)]
    Answer(AnswerArgs),
    /// Characterise the clocks of this machine, best Quality first
    ///
    /// Measures the resolution, the cost of a read, its spread and the Quality of each
    /// clock, and judges whether the clock can be trusted. Up to three timers given by
    /// name are printed in detail. With --from, prints stored reports and traces
    /// instead.
    ///
    /// Exit status 3: a named timer or a file failed; 0 even if a clock is wrong.
    ///
    /// Examples:
    ///   timermeter probe                              all timers of this machine
    ///   timermeter probe --quick 'monotonic*' rdtsc   some of them, less precisely
    ///   timermeter probe monotonic -v                 one in detail
    ///   timermeter probe --from a.json run.trace      stored ones; -o page.html: a page
    ///   timermeter probe --output all.json --output all.md
    ///   timermeter probe --baseline before            stored for `compare before`
    ///   timermeter probe --runtime java,python        also clocks of Java, Python
    ///   timermeter probe --agent 'java -jar agent.jar' 'java:*'
    ///   timermeter probe --agent py='python3 agent.py' --cycles 2.8GHz
    #[command(verbatim_doc_comment)]
    Probe(ProbeArgs),
    /// Characterise sleep primitives and periodic timers: lateness, cost
    ///
    /// Measures how late waits of a length end, 1 ms if none is given, and what they
    /// cost. A range of lengths also shows how finely waits can be requested. With
    /// --every, measures timers that wake a program every PERIOD: how late, how many
    /// due times they miss, and their drift.
    ///
    /// Exit status 3: done, but a timer given by name could not be characterised.
    ///
    /// Examples:
    ///   timermeter wait 100us                             all primitives
    ///   timermeter wait --every 1ms                       all periodic timers
    ///   timermeter wait 1us..50ms nanosleep timerfd
    ///   timermeter wait 1ms 'std-*' --slack 1ns           with a timer slack of 1 ns
    ///   timermeter wait --every 250us timerfd hybrid --policy fifo:80
    ///   timermeter wait 1ms nanosleep --budget 60s --cpu 1 -o waits.json
    ///   timermeter wait --runtime java,python
    #[command(verbatim_doc_comment)]
    Wait(Box<WaitArgs>),
    /// Make a static web site from a folder of reports
    ///
    /// The index page compares the machines side by side if there are at most forty.
    ///
    /// Exit status 3: done, but some of the reports could not be read.
    ///
    /// Examples:
    ///   timermeter publish reports/ -o site/
    ///   timermeter publish /var/lib/timermeter --output /srv/www/clocks
    #[command(verbatim_doc_comment)]
    Publish(PublishArgs),
    /// Print reports as a table: text, Markdown, CSV, LaTeX, HTML …
    ///
    /// With `--columns all` it has all columns, as CSV for SQL, and may hold any number
    /// of reports.
    ///
    /// Exit status 3: done, but some of the reports could not be read.
    ///
    /// Examples:
    ///   timermeter table old.json new.json --columns timer,cost,adds
    ///   timermeter table reports/ --columns all -o all.csv   all rows, for SQL
    #[command(verbatim_doc_comment)]
    Table(TableArgs),
    /// Print what changed between reports, and by how much
    ///
    /// Compares two reports, or several runs per side: the cost of families of clocks
    /// and of single clocks, resolutions, trust and the clock source. The first line
    /// says what changed, and within which limits all else is unchanged. Alternate the
    /// runs of the sides (old, new, old, new …): a difference between two blocks of
    /// runs may be due to the time.
    ///
    /// Exit status 1: a report is unreadable. 3: a condition of --fail-if holds. 4:
    /// undecided, because no timer is in both sides, or the limits are wider than that
    /// of the condition.
    ///
    /// Examples:
    ///   timermeter compare old.json new.json
    ///   timermeter compare before/ after/     folders of runs of one machine
    ///   timermeter compare old1.json old2.json old3.json -- new1.json new2.json new3.json
    ///   timermeter compare old/*.json -- new/*.json --fail-if 'cost>5%'
    ///   timermeter compare old.json new.json --fail-if 'cost[monotonic*]>10%'
    ///   timermeter compare before             a baseline with this machine now
    ///   timermeter compare before after       two baselines
    #[command(verbatim_doc_comment)]
    Compare(CompareArgs),
    /// Probe this machine, and decide whether its clocks got worse
    ///
    /// Probes the native clocks of a baseline on this machine, again and again until
    /// each condition is decided or 60 s are over, and prints one line with the largest
    /// change.
    ///
    /// Exit status 1: the baseline is unreadable, or the machine cannot be probed.
    /// 3: a condition holds. 4: undecided, because the baseline is of another CPU model
    /// or without native clocks, or the time did not suffice.
    ///
    /// Examples:
    ///   timermeter gate before                      cost, resolution, trust, source
    ///   timermeter gate runs/ --fail-if 'cost>10%' --fail-if 'lost>0'
    ///   timermeter gate before.json --budget 2m --format json
    #[command(verbatim_doc_comment)]
    Gate(GateArgs),
    /// List the timers of this system, and why some cannot be used
    ///
    /// Lists clocks, sleep primitives and periodic timers; with --all also those of
    /// other systems and processors.
    ///
    /// Exit status 3: done, but an agent or runtime given by name did not list its
    /// timers.
    ///
    /// Examples:
    ///   timermeter list --all
    ///   timermeter list 'java:*' --runtime java
    #[command(verbatim_doc_comment)]
    List(ListArgs),
    /// Check whether the machine is fit for measurements
    ///
    /// Prints each finding with its cause and remedy. Changes nothing.
    ///
    /// Exit status 3: a finding is a problem, or a clock is wrong; of a folder, the
    /// clock of a machine is not fit, or a file is no report; with --counter,
    /// programs must not read the counter, or this could not be decided.
    ///
    /// Examples:
    ///   timermeter check                       what disturbs measurements here
    ///   timermeter check -v                    all findings, and the machine
    ///   timermeter check --counter             whether the raw counter is safe
    ///   timermeter check --from report.json    the machine of a report
    ///   timermeter check --from reports        which machines have a bad clock
    #[command(verbatim_doc_comment)]
    Check(CheckArgs),
    /// Watch the clocks for hours: pauses, steps, slews, suspends
    ///
    /// Prints each event with its size and its cause, and at the end the stability of
    /// the clocks. Takes about 0.1 % of a CPU.
    ///
    /// Examples:
    ///   timermeter watch 8h                       one line per event, for 8 hours
    ///   timermeter watch 8h --save                also stored for `check`
    ///   timermeter watch 30s --pause 1ms          also shorter pauses
    #[command(verbatim_doc_comment)]
    Watch(WatchArgs),
    /// Serve the native timers over the agent protocol
    ///
    /// `probe` starts this command as its worker.
    ///
    /// Examples:
    ///   timermeter probe --agent 'ssh web-17 timermeter agent'
    ///   timermeter agent monotonic rdtsc --cpu 2
    #[command(verbatim_doc_comment)]
    Agent(AgentArgs),
    /// Pick a clock, or a way to wait, for a purpose
    ///
    /// Picks the clock with the simplest method whose error is small enough, and prints
    /// code that measures with it; with --every, picks the sleep primitive to wait
    /// with.
    ///
    /// Exit status 3: no right clock, or way to wait, serves; the nearest is printed.
    ///
    /// Examples:
    ///   timermeter pick 250ns --for rust     a benchmark, or a library's shortest time
    ///   timermeter pick 3us --rate 800k/s    times the requests of a service
    ///   timermeter pick 5us --runtime java
    ///   timermeter pick 1ms --from report.json
    ///   timermeter pick --every 1ms --for java    the least late sleep primitive
    #[command(verbatim_doc_comment)]
    Pick(PickArgs),
    /// Measure operations with any clock
    ///
    /// Each operation runs in a fresh process.
    ///
    /// Exit status 3: done, but an operation could not be measured.
    ///
    /// Examples:
    ///   timermeter measure                                  lists the operations
    ///   timermeter measure log-chain multiply --clock monotonic
    ///   timermeter measure search-same search-random --sizes 100,10000,1000000 --format csv
    ///   timermeter measure clone new-and-copy --instrument throughput --time 100ms
    ///   timermeter measure log-chain --instrument discrete --clock realtime-coarse --budget 60
    #[command(verbatim_doc_comment)]
    Measure(MeasureArgs),
    /// Find the step of the clock in durations of other tools
    ///
    /// Reads a column of text, or the JSON of hyperfine, Criterion, google/benchmark or
    /// pytest-benchmark, and says which part of the scatter is due to the clock.
    ///
    /// Exit status 3: done, but some of the files could not be read.
    ///
    /// Examples:
    ///   timermeter samples bench.json                   of hyperfine --export-json
    ///   timermeter samples times.csv --column latency_us
    #[command(verbatim_doc_comment)]
    Samples(SamplesArgs),
    /// Print a script for shell completion
    ///
    /// Examples:
    ///   source <(timermeter completions bash)
    ///   timermeter completions zsh > ~/.zfunc/_timermeter
    #[command(verbatim_doc_comment)]
    Completions(CompletionsArgs),
    /// Measure one operation in this process (started by measure)
    #[command(hide = true)]
    MeasureWorker(MeasureWorkerArgs),
    /// Wait until the process that started this ends, and end the processes that it left behind
    /// (started by commands with workers)
    #[command(hide = true)]
    Guard,
}

/// Arguments of `probe`.
#[derive(Debug, Args)]
pub struct ProbeArgs {
    /// Print these reports and traces, or folders of reports, instead of measuring
    ///
    /// `-` is standard input. Names select timers of the files; they stand before this flag.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub from: Vec<PathBuf>,
    /// The flags of all runs.
    #[command(flatten)]
    pub run: RunArgs,
    /// Measure on this CPU
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::parse_cpu)]
    pub cpu: Option<u32>,
    /// Time budget of the run, as in 30s or 2m [default: 20s; --quick: 10s; --thorough: 2m]
    ///
    /// A number without a unit is in seconds. The first processes of each timer and the checks
    /// for its verdicts are run even if the budget is spent.
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = values::parse_seconds)]
    pub budget: Option<f64>,
}

impl ProbeArgs {
    /// The request of these flags.
    pub fn request(&self) -> RunRequest {
        let mut request = self.run.request(self.cpu);
        request.plan = request.plan.limited(self.budget);
        request
    }
}

/// Arguments of `list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Ids or globs of timers [default: all]
    #[arg(value_name = "TIMER")]
    pub timers: Vec<String>,
    /// The agents of the timers.
    #[command(flatten)]
    pub agents: AgentOptions,
    /// Also list the timers of other systems and processors; JSON always includes them
    #[arg(long)]
    pub all: bool,
    /// The output format and files.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// Names of columns, their values, or codes of findings [default: lists all]
    #[arg(value_name = "WORD")]
    pub words: Vec<String>,
    /// The output format and files.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Arguments of `publish`.
#[derive(Debug, Args)]
pub struct PublishArgs {
    /// The folder of reports
    #[arg(value_name = "DIR")]
    pub reports: PathBuf,
    /// A new folder for the site
    #[arg(short, long, value_name = "SITE")]
    pub output: PathBuf,
}

/// Arguments of `agent`.
#[derive(Debug, Args)]
pub struct AgentArgs {
    /// Ids of the timers to open [default: all]
    #[arg(value_name = "TIMER")]
    pub timers: Vec<String>,
    /// Observations on this CPU
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::parse_cpu)]
    pub cpu: Option<u32>,
}

#[cfg(test)]
mod tests;
