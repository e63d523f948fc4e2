//! Measures for `pick --every` and `pick --sleep` what `wait` measures, of the primitives that have code.

use super::candidates;
use crate::cli::PickArgs;
use crate::commands::{CommandResult, failed, usage, wait};
use crate::plan::Plan;
use crate::requests::{RunRequest, Task};
use judgement::choice::wait_snippet::coded;
use judgement::choice::waits::{WaitChoice, WaitRequirement, choose};
use reporting::report::read;

/// The longest waits that are measured, in nanoseconds: 24 of each primitive, or 120 wake-ups of one, take
/// 15 s. *Judgement*.
const MAX_NS: f64 = 1.25e8;

/// Picks a timer to wait with from a report, or else from measurements on this machine: of the primitives
/// that have code in the language, or of all of the named agents and runtime.
///
/// # Errors
/// When the report cannot be read, or nothing could be measured.
pub(super) fn choose_wait(args: &PickArgs, every_ns: u64) -> CommandResult<WaitChoice> {
    let asked = WaitRequirement {
        every_ns: every_ns as f64,
        once: args.sleep,
        language: args.language,
    };
    let report = match &args.from {
        Some(path) => read(path).map_err(failed)?,
        None if asked.every_ns > MAX_NS => {
            let remedy = asked.remedy();
            return Err(usage(format!("such long waits take minutes: {remedy}")));
        }
        None => {
            let mut run = candidates(args, args.runtime.as_deref())?;
            if run.timers.is_empty() {
                run.timers = coded(args.language).map(str::to_owned).collect();
            }
            let plan = Plan::DEFAULT;
            wait::report(&match asked.is_periodic() {
                true => RunRequest {
                    task: Task::Periods(every_ns),
                    plan,
                    ..run
                },
                false => RunRequest { plan, ..run }.waiting(vec![every_ns], false),
            })?
        }
    };
    choose(&report, &asked).map_err(failed)
}
