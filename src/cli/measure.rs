//! Arguments of `measure`, and of `rehearse`, which is `measure --rehearse` by its former name.

use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, ValueEnum};

use super::{AgentSpec, values};
use crate::method::requirement::share;
use crate::model::Nanos;
use crate::quantity;

/// What the help of `measure` ends with.
pub const MEASURE_EXAMPLES: &str = "\
Examples:
  timermeter measure                                  what can be measured
  timermeter measure log-chain multiply --clock monotonic
  timermeter measure search-same search-random --sizes 100,10000,1000000 --format gnuplot
  timermeter measure selection-sort quicksort heapsort --plot sorts.svg
  timermeter measure clone new-and-copy --instrument throughput --time 100ms
  timermeter measure log-chain --instrument discrete --clock realtime-coarse --error 5% --limit 60
  timermeter measure quicksort heapsort --campaigns 10
  timermeter measure --rehearse                       promised against found error, for every clock and method
  timermeter measure --samples 20 -- sleep 0.01
  timermeter measure --command 'gzip -k a' --command 'xz -k a' \\
                     --prepare 'rm -f a.gz a.xz'
  timermeter measure --command \"sh -c 'sort a | uniq'\" --command 'sort -u a' \\
                     --warmup 3 --export table.md";

/// Arguments of `measure`.
#[derive(Clone, Debug, Args)]
pub struct MeasureArgs {
    /// Built-in operations; without any, and without a command, they are listed
    #[arg(value_name = "OPERATION")]
    pub operations: Vec<String>,
    /// The clock to measure with; without it the first that this machine has of rdtsc-lfence and monotonic, or with `--from` the
    /// one of the highest Quality, among those that count wall time, cannot be set, have a step that is known, and whose reads wait
    /// for the work before them (are fenced)
    #[arg(long, value_name = "TIMER")]
    pub clock: Option<String>,
    /// Show promised error against found error, for every clock and method: of one operation [default: chain], of all native clocks or
    /// those that --clock names by id or glob
    #[arg(long, conflicts_with_all = ["instrument", "sizes", "campaigns", "time", "limit", "plot", "seed", "exports", "commands",
        "warmup", "prepare", "ignore_failure", "command"])]
    pub rehearse: bool,
    /// Longest time per clock and method in a rehearsal, as in 500ms (seconds without a unit); plans that do not fit promise less
    /// [default: 600ms]
    #[arg(long, value_name = "TIME", requires = "rehearse", allow_negative_numbers = true, value_parser = values::seconds)]
    pub budget: Option<f64>,
    /// How to measure
    #[arg(long, value_enum, default_value_t)]
    pub instrument: InstrumentName,
    /// Largest error of the clock [default: 1%; with --rehearse 5%]
    #[arg(long, value_name = "SHARE", default_value = "1%", default_value_if("rehearse", "true", "5%"), hide_default_value = true, value_parser = share, allow_hyphen_values = true)]
    pub error: f64,
    /// Confidence of the interval
    #[arg(long, value_name = "SHARE", default_value = "95%", value_parser = share, allow_hyphen_values = true)]
    pub confidence: f64,
    /// Sizes of the problem, as in 100,10k,1M
    #[arg(long, value_name = "N", value_delimiter = ',', allow_negative_numbers = true, value_parser = values::whole::<u64>(1..=100_000_000))]
    pub sizes: Vec<u64>,
    /// Number of valid samples [default: 10; for commands as many runs as fit into 3 s each, at least 10]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::whole::<u32>(2..=100_000))]
    pub samples: Option<u32>,
    /// Number of whole campaigns of fresh processes, in turn over all that is measured: intervals then include the variation between campaigns, as
    /// another run would show it; the default is one campaign
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::whole::<u32>(2..=10_000))]
    pub campaigns: Option<u32>,
    /// Length of a run of the throughput instrument
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = quantity::time, allow_hyphen_values = true)]
    pub time: Nanos,
    /// Time after which a trial, or a single run of a command, has failed, as in 30s or 2m (seconds without a unit; rounded up)
    #[arg(long, value_name = "TIME", default_value_t = 20, allow_negative_numbers = true, value_parser = values::limit)]
    pub limit: u64,
    /// Plot the mean time per call against the size into this SVG file (`-`: to standard output, and nothing else)
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Take the figures of the clock from this report (JSON) instead of probing
    #[arg(long, value_name = "REPORT")]
    pub from: Option<PathBuf>,
    /// Measure on this CPU; without it operations run on the quietest one, commands wherever the system lets them
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::cpu)]
    pub cpu: Option<u32>,
    /// Seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = values::seed)]
    pub seed: u64,
    /// Format of the output
    #[arg(long, short, value_enum, default_value_t)]
    pub format: MeasureFormat,
    /// Write LaTeX as a document and HTML as a page, where they are a table for one otherwise
    #[arg(long)]
    pub standalone: bool,
    /// Print the whole description of the machine above the table, not one line
    #[arg(long, short)]
    pub verbose: bool,
    /// Write what was measured to this file as well; its ending says how: .json, .csv, .md, .html, .tex, .dat (gnuplot) or .txt
    /// (repeatable)
    #[arg(long = "export", value_name = "FILE", value_parser = PathBufValueParser::new().try_map(Export::parse))]
    pub exports: Vec<Export>,
    /// A command to measure instead of operations, quoted as for a shell, but run without one; several are run in turn, in random
    /// order, and compared (repeatable)
    #[arg(long = "command", value_name = "COMMAND ARG…", value_parser = CommandLine::parse)]
    pub commands: Vec<CommandLine>,
    /// Runs of each command before the first that is timed [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::whole::<u32>(0..=100_000))]
    pub warmup: Option<u32>,
    /// Run this before each run of a command, not timed; if repeated, one per command in their order
    #[arg(long, value_name = "COMMAND ARG…", value_parser = CommandLine::parse)]
    pub prepare: Vec<CommandLine>,
    /// Measure commands that fail, too
    #[arg(long)]
    pub ignore_failure: bool,
    /// A command to measure instead, each run a sample
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

impl MeasureArgs {
    /// What is rehearsed, where that is asked for.
    #[must_use]
    pub fn rehearsal(&self) -> Option<RehearseArgs> {
        let operation = self.operations.first().map_or("chain", String::as_str);
        self.rehearse.then(|| RehearseArgs {
            timers: self.clock.iter().cloned().collect(),
            operation: operation.to_owned(),
            others: self.operations.iter().skip(1).cloned().collect(),
            error: self.error,
            confidence: self.confidence,
            samples: self.samples.unwrap_or(12),
            budget: self.budget.map_or(600, |seconds| (1e3 * seconds).ceil() as u64),
            from: self.from.clone(),
            cpu: self.cpu,
            format: self.format,
            standalone: self.standalone,
            verbose: self.verbose,
        })
    }

    /// All commands, the one behind `--` last.
    #[must_use]
    pub fn all_commands(&self) -> Vec<&[String]> {
        let last = (!self.command.is_empty()).then_some(self.command.as_slice());
        self.commands.iter().map(|command| command.words.as_slice()).chain(last).collect()
    }
}

/// A program and its arguments, never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    /// Both.
    pub words: Vec<String>,
}

impl CommandLine {
    /// Reads `COMMAND ARG…`, quoted as in a shell. What only a shell would understand is refused rather than handed to the program.
    fn parse(text: &str) -> Result<Self, String> {
        let words = shell_words::split(text).map_err(|error| format!("{error}; quote as in a shell"))?;
        if words.first().is_none_or(String::is_empty) {
            return Err("there is no command; give one as in 'sleep 0.1'".into());
        }
        // Quoted, it stands within a longer word, or differs from what was written.
        let of_shell = |word: &&str| {
            matches!(*word, "|" | "||" | "&&" | "&" | ">" | ">>" | "<" | "2>" | "2>&1") || word.ends_with(';')
        };
        let literal = text.split_whitespace().filter(of_shell).find(|&word| words.iter().any(|w| w == word));
        match literal {
            Some(word) => Err(format!(
                "`{word}` means something to a shell only, and none runs this: write sh -c '…' around it, or quote it"
            )),
            None => Ok(Self { words }),
        }
    }
}

/// A file for what was measured, and the format that its ending stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The file.
    pub path: PathBuf,
    /// The format.
    pub format: MeasureFormat,
}

impl Export {
    fn parse(path: PathBuf) -> Result<Self, String> {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        let format = match ending.as_deref() {
            Some("json") => MeasureFormat::Json,
            Some("csv") => MeasureFormat::Csv,
            Some("md") => MeasureFormat::Markdown,
            Some("html") => MeasureFormat::Html,
            Some("tex") => MeasureFormat::Latex,
            Some("dat") => MeasureFormat::Gnuplot,
            Some("txt") => MeasureFormat::Table,
            _ => {
                return Err(format!(
                    "'{}' does not determine its format: end it in .json, .csv, .md, .html, .tex, .dat (gnuplot) or .txt",
                    path.display()
                ));
            }
        };
        Ok(Self { path, format })
    }
}

/// Arguments of `rehearse`.
#[derive(Clone, Debug, Args)]
pub struct RehearseArgs {
    /// Ids or globs of clocks; all native ones when none is given
    #[arg(value_name = "TIMER")]
    pub timers: Vec<String>,
    /// The operation; a chain of multiplications unless specified otherwise
    #[arg(long = "op", value_name = "NAME", default_value = "chain")]
    pub operation: String,
    /// Further ones, none of which can be rehearsed.
    #[arg(skip)]
    pub others: Vec<String>,
    /// The error that plans are made for
    #[arg(long, value_name = "SHARE", default_value = "5%", value_parser = share, allow_hyphen_values = true)]
    pub error: f64,
    /// The confidence that plans are made for
    #[arg(long, value_name = "SHARE", default_value = "95%", value_parser = share, allow_hyphen_values = true)]
    pub confidence: f64,
    /// Samples a clock and method
    #[arg(long, value_name = "N", default_value_t = 12, allow_negative_numbers = true, value_parser = values::whole::<u32>(5..=1_000))]
    pub samples: u32,
    /// Milliseconds, or a time as in 2s, that a clock and method may take; what does not fit promises less
    #[arg(long, value_name = "MS", default_value_t = 600, allow_negative_numbers = true, value_parser = values::budget)]
    pub budget: u64,
    /// Take the figures of the clocks from this report (JSON) instead of probing
    #[arg(long, value_name = "REPORT")]
    pub from: Option<PathBuf>,
    /// Measure on this CPU
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::cpu)]
    pub cpu: Option<u32>,
    /// Format of the output
    #[arg(long, short, value_enum, default_value_t)]
    pub format: MeasureFormat,
    /// Write LaTeX as a document and HTML as a page, where they are a table for one otherwise
    #[arg(long)]
    pub standalone: bool,
    /// Print the whole description of the machine above the table, not one line
    #[arg(long, short)]
    pub verbose: bool,
}

/// Arguments of the process that measures one operation.
#[derive(Clone, Debug, Args)]
pub struct MeasureWorkerArgs {
    /// What to measure, as JSON
    #[arg(value_name = "REQUEST")]
    pub request: String,
}

/// How to measure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum InstrumentName {
    /// Batches that double until they are long enough for the clock (Sestoft)
    #[default]
    Adaptive,
    /// How often in a given time (Kabutz)
    Throughput,
    /// Edge-crossing beside classic
    Discrete,
    /// Instances and bytes a call (Caliper)
    Allocations,
    /// Weighted samples around one length, varied at random (Caliper)
    Micro,
    /// Single calls, each a sample (Caliper)
    Macro,
}

/// The formats of measurements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum MeasureFormat {
    /// A table for people
    #[default]
    Table,
    /// One line a measurement, for spreadsheets
    Csv,
    /// JSON
    Json,
    /// Columns for gnuplot, the platform in comments; a block an operation
    Gnuplot,
    /// A table in Markdown
    Markdown,
    /// A table for a page; with --standalone a page
    Html,
    /// A booktabs table for `\input`; with --standalone a document
    Latex,
}

/// There are no agents for these commands.
pub(crate) const NO_AGENTS: &[AgentSpec] = &[];
