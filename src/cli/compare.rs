//! Arguments of `compare`.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Args, Error};

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
    /// Exit with status 3 if this condition on a change holds, as in 'cost>10%' (repeatable)
    ///
    /// Only changes beyond noise count, and only if they are at least 0.5 %. Exits with status 4 if
    /// a condition cannot be decided. Examples: 'cost>10%', 'cost[monotonic*]>5ns', 'resolution>10%',
    /// 'trust<0' (a clock fails a trust question that it did not fail before), 'source>0' (the kernel
    /// changed to a more expensive clock source), 'lost>0' (timers that cannot be read any more).
    #[arg(long, value_name = "CONDITION", allow_hyphen_values = true)]
    pub fail_if: Vec<ChangeCondition>,
    /// Also show differences within noise, and figures that are not judged
    #[arg(long)]
    pub all: bool,
    /// The output format and files.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The word that replaces `--`, after which clap would accept no options; no argument contains it.
pub(super) const SIDES: &str = "\0";

impl CompareArgs {
    /// Moves the reports after the word that replaces `--` to the new side.
    ///
    /// # Errors
    /// When the word is given twice, or a side has no report.
    pub(super) fn split_sides(&mut self) -> Result<(), Error> {
        let mut sides = self.reports.split(|report| report.as_os_str() == SIDES);
        let (old, new) = (sides.next().unwrap_or_default(), sides.next());
        match new {
            None => Ok(()),
            Some(new) if !old.is_empty() && !new.is_empty() && sides.next().is_none() => {
                (self.new, self.reports) = (new.to_vec(), old.to_vec());
                Ok(())
            }
            Some(_) => Err(Error::raw(
                ErrorKind::WrongNumberOfValues,
                "`--` stands once, with an old report before it and a new one after it",
            )),
        }
    }

    /// Whether the comparison needs a probe of this machine.
    #[must_use]
    pub fn probes(&self) -> bool {
        self.reports.len() == 1 && self.new.is_empty()
    }
}
