//! Arguments of `validate` and `contribute`.

use std::path::PathBuf;

use clap::Args;

use super::ShortFormat;

pub(super) const VALIDATE_EXAMPLES: &str = "\
Examples:
  timermeter validate report.json                        what contradicts itself, or cannot be
  timermeter validate report.json --trace run.trace      is it what its trace analyses to, bit for bit?
  timermeter validate reports/ --require-trace           a folder, each report with run.trace beside it";

pub(super) const CONTRIBUTE_EXAMPLES: &str = "\
Examples:
  timermeter contribute --anonymise                      probe, check, show what is told, write one archive
  timermeter contribute --anonymise --from run.trace     the same from a trace that was kept";

/// Arguments of `validate`.
#[derive(Clone, Debug, Args)]
pub struct ValidateArgs {
    /// Reports, or folders of reports; a file `run.trace` beside a report is its trace
    #[arg(value_name = "FILE", required = true)]
    pub reports: Vec<PathBuf>,
    /// The trace of the report, if a single one is given
    #[arg(long, value_name = "TRACE")]
    pub trace: Option<PathBuf>,
    /// Refuse measured reports that have no trace: figures that are scaled throughout contradict nothing else
    #[arg(long)]
    pub require_trace: bool,
    /// Format on standard output
    #[arg(long, short, value_enum, default_value_t)]
    pub format: ShortFormat,
}

/// Arguments of `contribute`.
#[derive(Clone, Debug, Args)]
pub struct ContributeArgs {
    /// Leave out what identifies the machine: its name, time servers, additions to the name of the kernel, lists of cores, the time of day
    #[arg(long)]
    pub anonymise: bool,
    /// Take this trace instead of probing
    #[arg(long, value_name = "TRACE")]
    pub from: Option<PathBuf>,
    /// The archive [default: timermeter-<platform>-<date>.tar.gz]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// No progress
    #[arg(long, short)]
    pub quiet: bool,
}
