//! A command as an operation of `measure`: each run is a sample.

use std::cell::RefCell;
use std::time::Duration;

use timers::Deadline;
use timers::os::CpuTime;

use super::runner::{Ended, Runner, shown};
use super::shown::{Measurement, Runs};
use crate::cli::MeasureArgs;
use crate::commands::CommandError;
use crate::commands::progress::Progress;
use crate::measure::instruments::single_calls;
use crate::measure::window::timed_by;
use crate::measure::worker::{MeasuredRow, MeasurementOutcome};
use crate::measure::{ClockError, Goal};
use crate::method::ClockFigures;
use crate::statistics::mean;
use crate::text::clipped;

/// Runs of a command at least, where none is specified.
/// *Definition*: the convention of hyperfine.
const FEWEST: u32 = 10;
/// And as many more as fit this long a time.
/// *Definition*: the convention of hyperfine.
const LONG: Duration = Duration::from_secs(3);
/// Runs at most, then.
/// *Judgement*.
const MOST: u32 = 10_000;

/// Measures the command of the arguments. What it prints is thrown away.
///
/// # Errors
/// When the clock cannot be read, or the command does not exist or fails.
pub(super) fn measure(
    args: &MeasureArgs,
    clock: &ClockFigures,
) -> Result<Measurement, CommandError> {
    let runner =
        Runner::new(args.cpu, Duration::from_secs(args.limit)).map_err(CommandError::Failed)?;
    let warmup = args.warmup.unwrap_or(1);
    for _ in 0..warmup {
        once(args, &runner).map_err(CommandError::Failed)?;
    }
    let runs = RefCell::new(Vec::new());
    let mut run = || runs.borrow_mut().push(once(args, &runner));
    let unreadable = |why: String| CommandError::Failed(format!("--clock {}: {why}", clock.id));
    let mut timed = match timed_by(&clock.id, &mut run) {
        Some(Ok(timed)) => timed,
        None => return Err(unreadable("this program does not host it".into())),
        Some(Err(ClockError::Unavailable { why, .. })) => return Err(unreadable(why.to_string())),
        Some(Err(no_rate)) => return Err(CommandError::Failed(no_rate.to_string())),
    };
    let goal = Goal {
        error: args.error,
        confidence: args.confidence,
        // A run of a command is interrupted somewhere; without those that are, what is left would
        // be too short.
        watched: false,
        ..Goal::default()
    };
    let long = Deadline::after(LONG);
    let progress = Progress::of(args.samples.unwrap_or(FEWEST) as usize, false);
    progress.at(&shown(&args.command));
    let measured = single_calls(&mut *timed, clock, &goal, |taken| {
        if taken > 0 && !progress.step() && args.samples.is_none() {
            progress.until(LONG.as_secs_f64());
        }
        let wanted = match args.samples {
            Some(samples) => taken < samples,
            None => taken < FEWEST || (taken < MOST && long.remaining().is_some()),
        };
        wanted && runs.borrow().last().is_none_or(Result::is_ok)
    });
    let ended = runs
        .take()
        .into_iter()
        .collect::<Result<Vec<Ended>, _>>()
        .map_err(CommandError::Failed)?;
    let outcome = match measured {
        Ok(found) => MeasurementOutcome::Measured(Box::new(MeasuredRow::of("runs", found, &goal))),
        Err(error) => MeasurementOutcome::Failed {
            reason: error.to_string(),
        },
    };
    let operation = clipped(&shell_words::join(&args.command), 60);
    Ok(Measurement {
        operation,
        size: None,
        outcome,
        command: Some(described(args, warmup, &ended)),
    })
}

/// One run, which has to succeed unless failures are ignored.
fn once(args: &MeasureArgs, runner: &Runner) -> Result<Ended, String> {
    let ended = runner.once(&args.command)?;
    if ended.status.success() || args.ignore_failure {
        return Ok(ended);
    }
    Err(format!(
        "`{}` failed ({}): run it by hand to see why, or measure it anyway with --ignore-failure",
        shown(&args.command),
        ended.status
    ))
}

fn described(args: &MeasureArgs, warmup: u32, ended: &[Ended]) -> Runs {
    let times: Option<Vec<CpuTime>> = ended.iter().map(|ended| ended.cpu).collect();
    let of = |part: fn(&CpuTime) -> Duration| {
        mean(
            &times
                .iter()
                .flatten()
                .map(|time| part(time).as_nanos() as f64)
                .collect::<Vec<_>>(),
        )
    };
    Runs {
        words: args.command.clone(),
        warmup,
        user_ns: of(|time| time.user),
        system_ns: of(|time| time.system),
        exit_codes: ended.iter().map(|ended| ended.status.code()).collect(),
    }
}
