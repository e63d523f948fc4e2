//! `wait`: characterises sleep primitives and prints them, the preferable ones first.

use std::io::Write;
use std::time::Duration;

use super::files::Files;
use super::waiting::Campaign;
use super::{CommandError, tell};
use crate::campaign::waits::campaign::{self, LateWait};
use crate::cli::WaitArgs;
use crate::model::Status;
use crate::recording::Recording;
use crate::text::numbers::time;
use crate::trace::WaitTrace;

/// Runs the command. Returns `true` if all timers that were requested by name could be measured,
/// and none was too late.
///
/// # Errors
/// When the arguments are invalid, which is reported before anything is measured, or when a file or
/// the machine causes an error.
pub fn run(args: &WaitArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let common = &args.common;
    let files = Files::prepare(&common.run)?;
    let (recording, settled) = record(args)?;
    let report = files.finish(&recording, &common.run, output)?;
    let unsettled = report
        .waits
        .iter()
        .any(|row| row.status != Status::Ok && common.run.timers.contains(&row.id));
    Ok(settled && !unsettled)
}

/// Measures the timers. Returns the recording, and whether all named timers were measured to the
/// end.
///
/// # Errors
/// The errors of [`run`].
pub(super) fn record(args: &WaitArgs) -> Result<(Recording, bool), CommandError> {
    let common = &args.common;
    let mut campaign = Campaign::<WaitTrace>::begin(common, "waits")?;
    let settings = &mut campaign.settings;
    if !args.durations.is_empty() {
        settings.lengths_ns = args
            .durations
            .iter()
            .flat_map(|lengths| lengths.0.iter().copied())
            .collect();
        settings.lengths_ns.sort_unstable();
        settings.lengths_ns.dedup();
    }
    settings.plan = args.plan.unwrap_or(settings.plan);
    settings.span = args.span.map(Duration::from_secs_f64);
    settings.break_ns = args.break_at.map(|at| at.0 as u64);
    // Only the named lengths are measured, without additional long waits.
    if !args.durations.is_empty() {
        settings.plan.long_rounds = 0;
    }
    if args.only_lengths() {
        settings.plan.scan = 0;
    }
    if settings.span.is_some() || settings.break_ns.is_some() {
        settings.plan = settings.plan.without_further_rounds();
    }
    let process_ns = campaign
        .settings
        .plan
        .process_ns(&campaign.settings.lengths_ns);
    campaign.expect(common.run.timeout, process_ns);
    let bar = campaign.progress(common.run.quiet);
    let progress = |what: &str| {
        bar.at(what);
        if !bar.step()
            && let Some(span) = args.span
        {
            bar.until(span);
        }
    };
    let hosts = std::mem::take(&mut campaign.waiters.hosts);
    let broken = campaign::measure_waits(
        &hosts,
        &mut campaign.subjects,
        &campaign.settings,
        &progress,
    )?;
    drop(bar);
    if let Some(broken) = broken {
        tell(&too_late(&campaign, &broken));
    }
    let settled = broken.is_none() && !campaign.failed_by_name(&common.run.timers);
    let settings = campaign.described(common.cpu);
    let waits = campaign.observations(None);
    let recording = campaign.frame.end(None, settings, Vec::new(), Vec::new());
    Ok((Recording { waits, ..recording }, settled))
}

fn too_late(
    campaign: &Campaign<WaitTrace>,
    LateWait {
        subject,
        request_ns,
        late_ns,
    }: &LateWait,
) -> String {
    let id = campaign.timer(&campaign.subjects[*subject]).id;
    let [late, asked] = [*late_ns, *request_ns as f64].map(|ns| time(Some(ns)));
    format!("stopped: {id} was {late} late when it was asked for {asked}")
}
