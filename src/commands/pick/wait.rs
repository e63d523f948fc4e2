//! Measures for `pick --every`: first all sleep primitives and periodic timers briefly, then the
//! promising ones for longer.

use super::candidates;
use crate::campaign::sampling::CampaignPlan;
use crate::choice::Language;
use crate::choice::waits::{Punctuality, WaitChoice, choose, list_promising, waits_to_prove};
use crate::cli::PickArgs;
use crate::commands::{CommandResult, failed, usage, wait};
use crate::report::read;
use crate::requests::{RunRequest, WaitRequest};
use crate::text::numbers::short_time;

/// Picks a timer to wait with from a report, or else from measurements on this machine.
///
/// # Errors
/// When the requirement is invalid, the report cannot be read, or nothing could be measured.
pub(super) fn choose_wait(args: &PickArgs, every_ns: f64) -> CommandResult<WaitChoice> {
    let requested = Punctuality {
        every_ns,
        within_ns: args.within.map(|within| within.0),
        share: args.share,
        overhead: args.overhead,
        language: args.language,
    }
    .checked()
    .map_err(usage)?;
    match &args.from {
        Some(path) => choose(&read(path).map_err(failed)?, &requested).map_err(failed),
        None => measure_promising(args, &requested),
    }
}

/// Measures a few waits with all timers, and then enough waits with each promising timer until one
/// suffices.
fn measure_promising(args: &PickArgs, requested: &Punctuality) -> CommandResult<WaitChoice> {
    /// Total length of the waits per timer, in nanoseconds, if the timer with the least lateness is
    /// wanted.
    const TIMER_NS: f64 = 5e8;
    /// Total length of the first waits per timer, in nanoseconds.
    const GLANCE_NS: f64 = 5e7;
    /// Smallest and largest number of these waits.
    const WAIT_COUNT_LIMITS: (f64, f64) = (6.0, 100.0);
    let every_ns = requested.every_ns;
    let (waits, first_plan) = match requested.within_ns {
        Some(_) => (
            waits_to_prove(requested.share).clamp(200.0, 1e6),
            CampaignPlan::GLANCE,
        ),
        None => (
            (TIMER_NS / every_ns).clamp(WAIT_COUNT_LIMITS.0, WAIT_COUNT_LIMITS.1),
            // A median needs eight waits; more let a disturbance pass.
            CampaignPlan::GLANCE.with_waits((GLANCE_NS / every_ns).clamp(8.0, 100.0) as u32),
        ),
    };
    check_duration(waits * every_ns / 1e9, every_ns)?;
    let hosted = args.language.and_then(Language::waiting_runtime);
    let all = candidates(args, args.runtime.as_deref().or(hosted))?;
    // A timer that rounds the requested length cannot keep a period.
    let rounds = requested.within_ns.is_some();
    let record = |run: RunRequest, plan| {
        wait::report(&WaitRequest::new(run, plan).of_lengths(vec![every_ns as u64], rounds))
    };
    let mut report = record(all.clone(), first_plan)?;
    let mut measured: Vec<String> = Vec::new();
    loop {
        let choice = choose(&report, requested).map_err(failed)?;
        let is_measured = |id: &str| measured.iter().any(|other| other == id);
        let proven = requested.within_ns.is_some()
            && choice
                .picked
                .as_ref()
                .is_some_and(|picked| is_measured(&picked.id));
        let next = list_promising(&choice)
            .into_iter()
            .find(|id| !is_measured(id));
        let Some(next) = next.filter(|_| !proven) else {
            return Ok(choice);
        };
        let only = RunRequest {
            timers: vec![next.clone()],
            ..all.clone()
        };
        let later = record(only, CampaignPlan::QUICK.with_waits(waits as u32))?;
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
         `timermeter wait TIMER… {} --for {seconds:.0}s -o report.json`, and give --from report.json",
        short_time(every_ns).replace(' ', "").replace('µ', "u"),
    )))
}
