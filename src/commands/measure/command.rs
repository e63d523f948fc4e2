//! Measures runs of a command; each run is a sample.

use std::cell::RefCell;
use std::time::Duration;

use timers::os::CpuTime;

use super::Measurement;
use super::runner::run_once;
use crate::cli::MeasureArgs;
use crate::commands::{CommandResult, failed};
use crate::measure::instruments::measure as measure_with;
use crate::measure::window::open_timed;
use crate::measure::worker::WorkerOutcome;
use crate::measure::{Goal, Instrument};
use crate::messages::Progress;
use estimators::statistics::mean;
use judgement::choice::ClockFigures;
use reporting::text::clipped;

/// Smallest and largest number of runs of a command without --samples.
/// *Definition*: the convention of hyperfine.
const RUN_COUNT_LIMITS: (f64, f64) = (10.0, 10_000.0);

/// Total duration of the runs, in nanoseconds, that determines their number without --samples.
/// *Definition*: the convention of hyperfine.
const SPAN_NS: f64 = 3e9;

/// Measures the command.
///
/// # Errors
/// When the command cannot be run or fails, or the clock cannot be used.
pub fn measure(args: &MeasureArgs, clock: &ClockFigures) -> CommandResult<Measurement> {
    let limit = Duration::from_secs(args.budget);
    // The commands inherit the CPU of this thread.
    if let Some(cpu) = args.cpu {
        timers::pin_to(cpu).map_err(|error| failed(format!("--cpu {cpu}: {error}")))?;
    }
    let operation = clipped(&shell_words::join(&args.command), 60);
    let progress: RefCell<Option<Progress>> = RefCell::default();
    let runs: RefCell<Vec<CommandResult<Option<CpuTime>>>> = RefCell::default();
    // After a failed run no further run is started.
    let mut run = || {
        if runs.borrow().last().is_none_or(Result::is_ok) {
            let result = run_once(&args.command, limit);
            runs.borrow_mut().push(result);
            if let Some(progress) = &*progress.borrow() {
                progress.finish_step();
            }
        }
    };
    let mut timed = open_timed(&clock.id, &mut run)
        .ok_or_else(|| failed(format!("this program has no timer `{}`", clock.id)))?
        .map_err(failed)?;
    let runs_in_span =
        (SPAN_NS / timed.window(1).max(1.0)).clamp(RUN_COUNT_LIMITS.0, RUN_COUNT_LIMITS.1);
    let goal = Goal {
        samples: args.samples.unwrap_or(runs_in_span as u32),
        limit: Duration::MAX,
        // Disturbed runs are not dropped, because every long run is interrupted at some point, so
        // that dropping would favour short runs.
        watched: false,
        ..super::goal(args)
    };
    progress.replace(Some(Progress::new(goal.samples as usize)));
    let measured = measure_with(Instrument::Macro, &mut *timed, clock, &goal);
    drop(timed);
    let times: Vec<Option<CpuTime>> = runs.take().into_iter().collect::<Result<_, _>>()?;
    let times: Vec<CpuTime> = times.into_iter().skip(1).flatten().collect();
    let mean_of = |part: fn(&CpuTime) -> Duration| {
        let each = times.iter().map(|time| part(time).as_nanos() as f64);
        mean(each.collect::<Vec<_>>())
    };
    Ok(Measurement {
        operation,
        outcome: WorkerOutcome::from_result(measured),
        user_ns: mean_of(|time| time.user),
        system_ns: mean_of(|time| time.system),
        size: None,
    })
}
