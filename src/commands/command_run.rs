//! A command as an operation of `measure`: each run is a sample.

use super::CommandError;
use super::measurement::{Measurement, Outcome};
use super::run_of_command::Runner;
use crate::cli::measure::MeasureArgs;
use crate::measure::window::timed_by;
use crate::measure::worker::Row;
use crate::measure::{ClockError, Goal, instruments};
use crate::method::{ClockFigures, Counts};

/// Measures the command of the arguments; what it prints is thrown away.
///
/// # Errors
/// When the clock cannot count it, or the command does not exist or fails.
pub fn measure(
    args: &MeasureArgs,
    clock: &ClockFigures,
    cpu: Option<u32>,
) -> Result<Measurement, CommandError> {
    if clock.facts.counts != Some(Counts::Wall) {
        return Err(CommandError::Failed(format!(
            "--clock {} counts CPU time of this process: it does not see what another process spends",
            clock.id
        )));
    }
    let unreadable = |why: String| CommandError::Failed(format!("--clock {}: {why}", clock.id));
    let limit = std::time::Duration::from_secs(args.limit);
    let runner = Runner::new(&args.command, cpu, limit).map_err(CommandError::Failed)?;
    let mut failure = None;
    let mut operation = || {
        if let Err(why) = runner.once() {
            failure.get_or_insert(why);
        }
    };
    let mut timed = match timed_by(&clock.id, &mut operation) {
        None => return Err(unreadable("this program does not host it".into())),
        Some(Err(ClockError::Unavailable { why, .. })) => return Err(unreadable(why.to_string())),
        Some(Err(no_rate)) => return Err(CommandError::Failed(no_rate.to_string())),
        Some(Ok(timed)) => timed,
    };
    // Once without a clock: a command that cannot run is told before it is measured.
    runner.once().map_err(CommandError::Failed)?;
    let goal = Goal {
        error: args.error,
        confidence: args.confidence,
        samples: args.samples,
        limit,
        seed: args.seed,
        watched: true,
    };
    let measured = instruments::macro_trial(&mut *timed, clock, &goal);
    drop(timed);
    if let Some(why) = failure {
        return Err(CommandError::Failed(why));
    }
    let outcome = match measured {
        Ok(measured) => Outcome::Measured(Box::new(Row::of("runs", measured))),
        Err(error) => Outcome::Failed { reason: error.to_string() },
    };
    let name = shell_words::join(&args.command);
    Ok(Measurement { operation: crate::text::clipped(&name, 60), size: None, outcome })
}
