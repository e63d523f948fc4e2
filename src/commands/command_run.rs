//! A command as an operation of `measure`: each run is a sample.

use timers::Timer;

use super::CommandError;
use super::measurement::{Measurement, Outcome};
use super::run_of_command::Runner;
use crate::cli::measure::MeasureArgs;
use crate::measure::window::Pair;
use crate::measure::worker::Row;
use crate::measure::{Goal, Registered, instruments};
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
    let visited = timers::visit(&clock.id, WithClock { args, clock, cpu });
    let unreadable = |why: String| CommandError::Failed(format!("--clock {}: {why}", clock.id));
    match visited {
        None => Err(unreadable("this program does not host it".into())),
        Some(Err(why)) => Err(unreadable(why.to_string())),
        Some(Ok(outcome)) => outcome,
    }
}

struct WithClock<'a> {
    args: &'a MeasureArgs,
    clock: &'a ClockFigures,
    cpu: Option<u32>,
}

impl timers::Visitor for WithClock<'_> {
    type Output = Result<Measurement, CommandError>;

    fn visit<T: Timer>(self, timer: T) -> Self::Output {
        let Self { args, clock, cpu } = self;
        let watch = Registered::of(timer).map_err(|error| CommandError::Failed(error.to_string()))?;
        let name = shell_words::join(&args.command);
        // Once without a clock: a command that cannot run is told before it is measured.
        let limit = std::time::Duration::from_secs(args.limit);
        let runner = Runner::new(&args.command, cpu, limit).map_err(CommandError::Failed)?;
        runner.once().map_err(CommandError::Failed)?;
        let mut failure = None;
        let operation = || {
            if let Err(why) = runner.once() {
                failure.get_or_insert(why);
            }
        };
        let goal = Goal {
            error: args.error,
            confidence: args.confidence,
            samples: args.samples,
            limit,
            seed: args.seed,
            watched: true,
        };
        let mut pair = Pair { clock: &watch, operation };
        let measured = instruments::macro_trial(&mut pair, clock, &goal);
        if let Some(why) = failure {
            return Err(CommandError::Failed(why));
        }
        let outcome = match measured {
            Ok(measured) => Outcome::Measured(Box::new(Row::of("runs", measured))),
            Err(error) => Outcome::Failed { reason: error.to_string() },
        };
        Ok(Measurement { operation: crate::text::clipped(&name, 60), size: None, outcome })
    }
}
