//! Measures for `pick --every`: first all sleep primitives and periodic timers briefly, then the
//! promising ones for longer.

use super::candidates;
use crate::campaign::sampling::CampaignPlan;
use crate::choice::Language;
use crate::choice::waits::{WaitChoice, WaitRequirement, choose, list_promising};
use crate::cli::PickArgs;
use crate::commands::{CommandResult, failed, usage, wait};
use crate::report::read;
use crate::requests::{RunRequest, WaitRequest};
use crate::text::numbers::short_time;

/// Picks a timer to wait with from a report, or else from measurements on this machine.
///
/// # Errors
/// When the report cannot be read, or nothing could be measured.
pub(super) fn choose_wait(args: &PickArgs, every_ns: f64) -> CommandResult<WaitChoice> {
    let requested = WaitRequirement {
        every_ns,
        language: args.language,
    };
    match &args.from {
        Some(path) => choose(&read(path).map_err(failed)?, &requested).map_err(failed),
        None => measure_promising(args, &requested),
    }
}

/// Measures a few waits with all timers, and then more with each leading timer.
fn measure_promising(args: &PickArgs, requested: &WaitRequirement) -> CommandResult<WaitChoice> {
    /// Total length of the waits per timer, in nanoseconds.
    const TIMER_NS: f64 = 5e8;
    /// Total length of the first waits per timer, in nanoseconds.
    const GLANCE_NS: f64 = 5e7;
    let every_ns = requested.every_ns;
    let waits = (TIMER_NS / every_ns).clamp(6.0, 100.0);
    check_duration(waits * every_ns / 1e9, every_ns)?;
    let hosted = args.language.and_then(Language::waiting_runtime);
    let all = candidates(args, args.runtime.as_deref().or(hosted))?;
    let record = |run: RunRequest, plan: CampaignPlan, waits: f64| {
        let request = WaitRequest::new(run, plan.with_waits(waits as u32));
        wait::report(&request.of_lengths(vec![every_ns as u64], false))
    };
    // A median needs eight waits; more let a disturbance pass.
    let first_waits = (GLANCE_NS / every_ns).clamp(8.0, 100.0);
    let mut report = record(all.clone(), CampaignPlan::GLANCE, first_waits)?;
    let mut measured: Vec<String> = Vec::new();
    loop {
        let choice = choose(&report, requested).map_err(failed)?;
        let mut promising = list_promising(&choice).into_iter();
        let Some(next) = promising.find(|id| !measured.contains(id)) else {
            return Ok(choice);
        };
        let only = RunRequest {
            timers: vec![next.clone()],
            ..all.clone()
        };
        let later = record(only, CampaignPlan::QUICK, waits)?;
        report.waits.retain(|row| row.id != next);
        report
            .waits
            .extend(later.waits.into_iter().filter(|row| row.id == next));
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
        "these waits take {seconds:.0} s for each timer, too long to measure all timers: measure a few timers with \
         `timermeter wait TIMER… {} --budget {seconds:.0}s -o report.json`, and give --from report.json",
        short_time(every_ns).replace(' ', "").replace('µ', "u"),
    )))
}
