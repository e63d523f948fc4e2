//! Measures for `pick --every` and `pick --sleep`: first all sleep primitives briefly, then the promising
//! ones for longer.

use super::candidates;
use crate::campaign::sampling::CampaignPlan;
use crate::choice::Language;
use crate::choice::waits::{WaitChoice, WaitRequirement, choose, list_promising};
use crate::cli::PickArgs;
use crate::commands::{CommandResult, failed, usage, wait};
use crate::model::WaitRow;
use crate::report::read;
use crate::requests::WaitRequest;
use crate::text::numbers::short_time;

/// Picks a timer to wait with from a report, or else from measurements on this machine.
///
/// # Errors
/// When the report cannot be read, or nothing could be measured.
pub(super) fn choose_wait(args: &PickArgs, every_ns: f64) -> CommandResult<WaitChoice> {
    let requested = WaitRequirement {
        every_ns,
        once: args.sleep,
        language: args.language,
    };
    match &args.from {
        Some(path) => choose(&read(path).map_err(failed)?, &requested).map_err(failed),
        None => measure_promising(args, &requested),
    }
}

/// Measures a few waits with all timers, and nanosleep also without timer slack; then as many waits of
/// each leading timer as [`LONG_NS`] gives time for.
fn measure_promising(args: &PickArgs, requested: &WaitRequirement) -> CommandResult<WaitChoice> {
    /// Total length of the first waits per timer, in nanoseconds.
    const GLANCE_NS: f64 = 5e7;
    /// Total length of the waits of a leading timer, in nanoseconds.
    const LONG_NS: f64 = 2e9;
    let every_ns = requested.every_ns;
    // A median needs eight waits, a 99th percentile 500.
    let [first_waits, waits] = [(GLANCE_NS, 100.0), (LONG_NS, 500.0)]
        .map(|(total_ns, most)| (total_ns / every_ns).clamp(8.0, most));
    check_duration(waits * every_ns / 1e9, every_ns)?;
    let hosted = args.language.and_then(Language::waiting_runtime);
    let all = candidates(args, args.runtime.as_deref().or(hosted))?;
    let record = |id: Option<&str>, plan: CampaignPlan, waits: f64, slack_ns: Option<u64>| {
        let mut run = all.clone();
        run.timers = id.map_or(run.timers, |id| vec![id.to_owned()]);
        let plan = plan.with_waits(waits as u32);
        let mut request = WaitRequest::new(run, plan, vec![every_ns as u64], false);
        request.conditions.slack_ns = slack_ns;
        wait::report(&request)
    };
    let mut report = record(None, CampaignPlan::GLANCE, first_waits, None)?;
    // It is also measured without timer slack.
    let sleep = report.waits.iter().find(|row| row.id == "nanosleep");
    if let Some(row) = sleep.filter(|row| row.conditions.slack_ns > Some(1)) {
        let slackless = record(Some(&row.id), CampaignPlan::GLANCE, first_waits, Some(1))?;
        report.waits.extend(slackless.waits);
    }
    let mut measured = Vec::new();
    loop {
        let choice = choose(&report, requested).map_err(failed)?;
        let next = list_promising(&choice).find(|one| !measured.contains(one));
        let Some(next) = next else {
            return Ok(choice);
        };
        let later = record(Some(&next.0), CampaignPlan::QUICK, waits, next.1)?;
        let is_next = |row: &WaitRow| row.id == next.0 && row.conditions.slack_ns == next.1;
        report.waits.retain(|row| !is_next(row));
        report.waits.extend(later.waits.into_iter().filter(is_next));
        measured.push(next);
    }
}

/// Rejects waits that would take more than 15 s for each timer.
fn check_duration(seconds: f64, every_ns: f64) -> CommandResult {
    const MAX_SECONDS: f64 = 15.0;
    if seconds <= MAX_SECONDS {
        return Ok(());
    }
    Err(usage(format!(
        "these waits take {seconds:.0} s for each timer: measure a few with `timermeter wait TIMER… {} --budget \
         {seconds:.0}s -o report.json`, and give --from report.json",
        short_time(every_ns).replace(' ', "").replace('µ', "u"),
    )))
}
