//! `period`: characterises periodic timers, and sleep primitives that are called in a loop.

use std::io::Write;

use super::waiting::Campaign;
use super::{CommandError, files};
use crate::campaign::waits::campaign;
use crate::cli::PeriodArgs;
use crate::recording::Recording;
use crate::requests::PeriodRequest;
use crate::trace::PeriodTrace;

/// Runs the command. Returns `true` if all timers given by name could be measured.
///
/// # Errors
/// When the arguments are invalid, which is reported before anything is measured, or when a file or
/// the machine causes an error.
pub fn run(args: &PeriodArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    files::run(&args.common.run, || record(&args.request()), output)
}

/// Measures the timers. Returns the recording, and whether all agents and runtimes given by name
/// were usable.
///
/// # Errors
/// The errors of [`run`].
fn record(request: &PeriodRequest) -> Result<(Recording, bool), CommandError> {
    let PeriodRequest {
        run,
        conditions,
        plan,
        every_ns,
    } = request;
    let mut campaign = Campaign::<PeriodTrace>::begin(run, conditions, *plan, "periods")?;
    campaign.extend_timeout(run.timeout, plan.ticking_process_ns(*every_ns));
    let bar = campaign.progress();
    let progress = |what: &str| {
        bar.show_step(what);
        bar.finish_step();
    };
    let hosts = std::mem::take(&mut campaign.waiters.hosts);
    campaign::measure_periods(
        &hosts,
        &mut campaign.subjects,
        *every_ns,
        &campaign.settings,
        &progress,
    )?;
    drop(bar);
    let is_complete = !campaign.waiters.failed_by_name();
    let settings = campaign.report_settings(conditions.cpus);
    let periods = campaign.observations(Some(*every_ns));
    let recording = Recording {
        periods,
        ..campaign.context.end(None, settings, Vec::new(), Vec::new())
    };
    Ok((recording, is_complete))
}
