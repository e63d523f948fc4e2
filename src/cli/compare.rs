//! Arguments of `compare`.

use std::path::PathBuf;

use clap::Args;

use super::OutputArgs;
use reporting::comparison::ChangeCondition;

/// Arguments of `compare`.
#[derive(Debug, Args)]
#[command(
    override_usage = "timermeter compare [OPTIONS] OLD [NEW]\n       timermeter compare [OPTIONS] OLD... -- NEW..."
)]
pub struct CompareArgs {
    /// The old report and the new one: files, folders, or names of baselines
    ///
    /// `probe --baseline NAME` stores a baseline. Without a new report this machine is probed now:
    /// the native clocks of the old report, with the default plan. A word of letters, digits, `-` and
    /// `_` is the name of a baseline or of a file; if both exist, it is rejected as ambiguous. A file
    /// whose name begins with `-` is written ./-NAME.
    ///
    /// A side may have several runs of one machine, which are used together: they find smaller
    /// changes, and show what runs of this machine differ by. They are the reports of a folder, or
    /// those before and after `--`. Alternate the runs of the sides (old, new, old, new …), because
    /// successive runs share the state of the machine at that time. Options may stand before and after
    /// `--`.
    #[arg(value_name = "OLD", required = true)]
    pub reports: Vec<PathBuf>,
    /// Exit with status 3 if this condition on a change holds, as in 'cost>10%' (repeatable)
    ///
    /// Only what is judged to have changed counts. Exits with status 4 if a condition cannot be
    /// decided. There are five: 'cost>10%' and 'resolution>10%', also with a time ('cost>5ns'),
    /// 'trust<0' (a clock is wrong that was not wrong before, or cannot be read any more), 'source>0'
    /// (the kernel changed to a more expensive clock source), and 'lost>0' (timers that cannot be
    /// read any more, or that the new reports lack). Each except `source` may be limited to some
    /// clocks: 'cost[monotonic*]>10%'.
    #[arg(long, value_name = "CONDITION", allow_hyphen_values = true)]
    pub fail_if: Vec<ChangeCondition>,
    /// Also show what did not change, and figures that are not judged
    #[arg(long)]
    pub all: bool,
    /// The output format and files.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The word that replaces `--`, after which clap would accept no options; no argument contains it.
pub(super) const SIDES: &str = "\0";

impl CompareArgs {
    /// The old reports and the new ones. Without new ones this machine is to be probed.
    ///
    /// # Errors
    /// When it is unclear which reports are new.
    pub fn sides(&self) -> Result<(&[PathBuf], &[PathBuf]), &'static str> {
        let sides = self.reports.split(|report| report.as_os_str() == SIDES);
        match sides.collect::<Vec<_>>()[..] {
            [reports @ ([_] | [_, _])] => Ok(reports.split_at(1)),
            [old @ [_, ..], new @ [_, ..]] => Ok((old, new)),
            _ => Err("several reports need one `--` between the sides: compare OLD... -- NEW..."),
        }
    }

    /// Whether the comparison needs a probe of this machine.
    pub fn probes(&self) -> bool {
        self.reports.len() == 1
    }
}
