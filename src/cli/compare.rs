//! Arguments of `compare`.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{ArgAction, ArgMatches, Args, Error};

use super::OutputArgs;
use crate::comparison::ChangeCondition;

/// Arguments of `compare`.
#[derive(Clone, Debug, Args)]
pub struct CompareArgs {
    /// The old report and the new one: files, or names of baselines
    ///
    /// `probe --baseline NAME` stores a baseline. Without a new report this machine is probed now,
    /// with the native timers and the measurement plan (quick, default or thorough) of the old
    /// report. Before `--`: all old reports of one machine. A word of letters, digits, `-` and `_`
    /// is the name of a baseline or of a file; if both exist, it is rejected as ambiguous. A file
    /// whose name begins with `-` is written ./-NAME.
    #[arg(value_name = "OLD", required = true)]
    pub reports: Vec<PathBuf>,
    /// After `--`: the new reports of the same machine; files, names or folders
    ///
    /// Several runs per side find smaller changes, and changes on a machine whose runs differ.
    /// Alternate the runs of the sides (old, new, old, new …), because successive runs
    /// share the state of the machine at that time. Options may stand before and after `--`.
    #[arg(value_name = "NEW", last = true)]
    pub new: Vec<PathBuf>,
    /// Stands where `--` stood.
    #[arg(long, hide = true, action = ArgAction::Count)]
    second_side: u8,
    /// Earlier runs of the same machine, between which nothing changed
    ///
    /// Files, names or folders. They show how much runs of the machine differ. A run that is also
    /// on a side counts only there.
    #[arg(long, value_name = "REPORT", num_args = 1..)]
    pub history: Vec<PathBuf>,
    /// Do not use stored runs as the history
    ///
    /// Without --history and this flag, runs that are stored with the old report are the history:
    /// the runs in `reports/<platform>/` of `probe --save`, or the other baselines. Only runs that
    /// are not newer than the old report are used, of the same node, in the same state (CPU,
    /// kernel, clock source), with the same measurement plan and version of timermeter; at most the
    /// newest 30.
    #[arg(long, conflicts_with = "history")]
    pub no_history: bool,
    /// Exit with status 3 if this condition on a change holds, as in 'cost>10%' (repeatable)
    ///
    /// Only changes beyond noise count, and only if they are at least 0.5 % of a cost or a
    /// resolution, or 0.1 % of a Quality. Exits with status 4 if a condition cannot be decided.
    /// Examples: 'quality<-1' (points), 'cost>10%', 'cost[monotonic*]>5ns', 'resolution>0ns',
    /// 'spread<-0.05', 'lost>0' (timers that cannot be read any more), 'trust<0' (a timer fails a
    /// trust question that it did not fail before), 'trust[monotonic*]<0'.
    #[arg(long, value_name = "CONDITION", allow_hyphen_values = true)]
    pub fail_if: Vec<ChangeCondition>,
    /// Exit with status 4 if the CPU models differ or are unknown
    #[arg(long)]
    pub same_cpu: bool,
    /// Also show differences within noise
    #[arg(long)]
    pub all: bool,
    /// The output format and files.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The flag that replaces `--`, after which clap would accept no options.
pub(super) const SECOND_SIDE: &str = "--second-side";

impl CompareArgs {
    /// Moves the reports after the flag that replaces `--` to the new side.
    ///
    /// # Errors
    /// When the flag is given twice, or a side has no report.
    pub(super) fn split_sides(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        if self.second_side == 0 {
            return Ok(());
        }
        let indices = matches.indices_of("reports").into_iter().flatten();
        let before = |index: &usize| Some(*index) < matches.index_of("second_side");
        let old = indices.filter(before).count();
        self.new = self.reports.split_off(old);
        if self.second_side == 1 && old > 0 && !self.new.is_empty() {
            return Ok(());
        }
        let problem = "`--` stands once, with an old report before it and a new one after it";
        Err(Error::raw(ErrorKind::WrongNumberOfValues, problem))
    }

    /// Whether the comparison needs a probe of this machine.
    #[must_use]
    pub fn probes(&self) -> bool {
        self.reports.len() == 1 && self.new.is_empty()
    }
}
