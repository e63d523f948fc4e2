//! `wait`: characterises sleep primitives: how late they return, their granularity and their cost.

use std::io::Write;

use super::waiting::Campaign;
use super::{CommandError, failed, files, print_message};
use crate::campaign::waits::campaign::{self, LateWait};
use crate::cli::WaitArgs;
use crate::model::Report;
use crate::recording::Recording;
use crate::requests::WaitRequest;
use crate::text::numbers::time;
use crate::trace::WaitTrace;

/// Runs the command. Returns `true` if all timers given by name could be measured, and no wait was
/// later than `--break`.
///
/// # Errors
/// When the arguments are invalid, which is reported before anything is measured, or when a file or
/// the machine causes an error.
pub fn run(args: &WaitArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    files::run(&args.common.run, || record(&args.request()), output)
}

/// Measures the timers for another command.
///
/// # Errors
/// The errors of [`run`].
pub(super) fn report(request: &WaitRequest) -> Result<Report, CommandError> {
    record(request)?.0.report().map_err(failed)
}

/// Measures the timers. Returns the recording, and whether no wait was later than `--break` and
/// all agents and runtimes given by name were usable.
///
/// # Errors
/// The errors of [`run`].
fn record(request: &WaitRequest) -> Result<(Recording, bool), CommandError> {
    let WaitRequest {
        run, conditions, ..
    } = request;
    let mut campaign = Campaign::<WaitTrace>::begin(run, conditions, request.plan, "waits")?;
    let settings = &mut campaign.settings;
    settings.lengths_ns.clone_from(&request.lengths_ns);
    settings.span = request.span;
    settings.break_ns = request.break_ns;
    if settings.span.is_some() || settings.break_ns.is_some() {
        settings.plan = settings.plan.without_further_rounds();
    }
    let process_ns = campaign
        .settings
        .plan
        .process_ns(&campaign.settings.lengths_ns);
    campaign.extend_timeout(run.timeout, process_ns);
    let bar = campaign.progress();
    let progress = |what: &str| {
        bar.show_step(what);
        if !bar.finish_step()
            && let Some(span) = request.span
        {
            bar.show_limit(span.as_secs_f64());
        }
    };
    let hosts = std::mem::take(&mut campaign.waiters.hosts);
    let late_wait = campaign::measure_waits(
        &hosts,
        &mut campaign.subjects,
        &campaign.settings,
        &progress,
    )?;
    drop(bar);
    if let Some(late_wait) = &late_wait {
        print_message(&late_wait_message(&campaign, late_wait));
    }
    let is_complete = late_wait.is_none() && !campaign.waiters.failed_by_name();
    let settings = campaign.report_settings(conditions.cpus);
    let waits = campaign.observations(None);
    let recording = campaign.context.end(None, settings, Vec::new(), Vec::new());
    Ok((Recording { waits, ..recording }, is_complete))
}

/// The message about a wait that was later than `--break`.
fn late_wait_message(
    campaign: &Campaign<WaitTrace>,
    LateWait {
        subject,
        request_ns,
        late_ns,
    }: &LateWait,
) -> String {
    let id = campaign.timer(&campaign.subjects[*subject]).id;
    let [late, requested] = [*late_ns, *request_ns as f64].map(|ns| time(Some(ns)));
    format!("stopped: {id} returned {late} late from a wait of {requested}")
}
