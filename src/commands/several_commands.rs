//! Commands as operations of `measure`: each run is a sample, and several take turns.

use std::cell::RefCell;
use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use timers::Deadline;
use timers::os::CpuTime;

use super::CommandError;
use super::measurement::{Measurement, MeasurementOutcome, Runs, relate};
use super::progress::Progress;
use super::single_run::{Ended, Runner};
use crate::analysis::statistics::mean;
use crate::cli::measure::MeasureArgs;
use crate::measure::instruments::Singles;
use crate::measure::window::timed_by;
use crate::measure::worker::MeasuredRow;
use crate::measure::{ClockError, Goal, Operation, TrialError};
use crate::method::{ClockFigures, Counts};
use crate::text::clipped;

/// Runs of each command at least, where none is specified.
/// *Definition*: the convention of hyperfine.
const FEWEST: u32 = 10;
/// And as many more as fit this long a time for each of them.
/// *Definition*: the convention of hyperfine.
const LONG: Duration = Duration::from_secs(3);
/// Runs of each at most, then.
/// *Judgement*.
const MOST: u32 = 10_000;

/// One command, run again and again.
struct Repeated<'a> {
    runner: &'a Runner,
    command: &'a [String],
    prepare: Option<&'a [String]>,
    ignores_failure: bool,
    log: &'a RefCell<Log>,
}

#[derive(Default)]
struct Log {
    ended: Vec<Ended>,
    failure: Option<String>,
}

impl Repeated<'_> {
    fn once(&self) -> Result<Ended, String> {
        let ended = self.runner.once(self.command)?;
        if ended.status.success() || self.ignores_failure {
            return Ok(ended);
        }
        Err(format!(
            "`{}` failed ({}): run it by hand to see why, or measure it anyway with --ignore-failure",
            shown(self.command),
            ended.status
        ))
    }

    fn prepared(&self) -> Result<(), String> {
        let Some(command) = self.prepare else { return Ok(()) };
        match self.runner.once(command).map_err(|why| format!("--prepare: {why}"))?.status {
            status if status.success() => Ok(()),
            status => Err(format!(
                "--prepare: `{}` failed ({status}): nothing is measured that was not prepared; run it by hand to see why",
                shown(command)
            )),
        }
    }
}

impl Operation for Repeated<'_> {
    type Output = ();
    const SET_UP: bool = true;

    fn set_up(&mut self) {
        if let Err(why) = self.prepared() {
            self.log.borrow_mut().failure.get_or_insert(why);
        }
    }

    fn call(&mut self) {
        let ended = self.once();
        let mut log = self.log.borrow_mut();
        match ended {
            Ok(ended) => log.ended.push(ended),
            Err(why) => drop(log.failure.get_or_insert(why)),
        }
    }
}

/// Measures the commands of the arguments in rounds: one run of each, in random order, so that what changes on the machine meets
/// all of them alike. What they print is thrown away.
///
/// # Errors
/// When the clock cannot count them, or one does not exist or fails.
pub fn measure(args: &MeasureArgs, clock: &ClockFigures) -> Result<Vec<Measurement>, CommandError> {
    if clock.facts.counts != Some(Counts::Wall) {
        return Err(CommandError::Failed(format!(
            "--clock {} counts CPU time of this process: it does not see what another process spends",
            clock.id
        )));
    }
    let runner = Runner::new(args.cpu, Duration::from_secs(args.limit)).map_err(CommandError::Failed)?;
    let commands = args.all_commands();
    let logs: Vec<RefCell<Log>> = commands.iter().map(|_| RefCell::default()).collect();
    let mut repeated: Vec<Repeated> = Vec::new();
    for (at, (command, log)) in commands.iter().zip(&logs).enumerate() {
        let prepare = args.prepare.get(if args.prepare.len() == 1 { 0 } else { at });
        let prepare = prepare.map(|prepare| prepare.words.as_slice());
        repeated.push(Repeated {
            runner: &runner,
            command,
            prepare,
            ignores_failure: args.ignore_failure,
            log,
        });
    }
    let warmup = args.warmup.unwrap_or(1);
    for one in &repeated {
        for _ in 0..warmup {
            one.prepared().and_then(|()| one.once()).map_err(CommandError::Failed)?;
        }
    }
    let measured = in_rounds(args, clock, &mut repeated, &logs)?;
    let mut measurements = Vec::new();
    for ((one, log), measured) in repeated.iter().zip(&logs).zip(measured) {
        let outcome = match measured {
            Ok(row) => MeasurementOutcome::Measured(Box::new(row)),
            Err(error) => MeasurementOutcome::Failed { reason: error.to_string() },
        };
        let runs = runs(one, warmup, &log.borrow().ended);
        let operation = clipped(&shell_words::join(one.command), 60);
        measurements.push(Measurement { operation, size: None, outcome, command: Some(runs) });
    }
    relate(&mut measurements, args.confidence);
    Ok(measurements)
}

type Rows = Vec<Result<MeasuredRow, TrialError>>;

fn in_rounds(
    args: &MeasureArgs,
    clock: &ClockFigures,
    repeated: &mut [Repeated],
    logs: &[RefCell<Log>],
) -> Result<Rows, CommandError> {
    let goal = Goal {
        error: args.error,
        confidence: args.confidence,
        // A run of a command is interrupted somewhere; without those that are, what is left would be too short.
        watched: false,
        ..Goal::default()
    };
    let commands: Vec<&[String]> = repeated.iter().map(|one| one.command).collect();
    let mut timed = Vec::new();
    for one in repeated {
        timed.push(match timed_by(&clock.id, one) {
            Some(Ok(timed)) => timed,
            None => return Err(unreadable(clock, "this program does not host it".into())),
            Some(Err(ClockError::Unavailable { why, .. })) => return Err(unreadable(clock, why.to_string())),
            Some(Err(no_rate)) => return Err(CommandError::Failed(no_rate.to_string())),
        });
    }
    let singles = timed.iter_mut().map(|timed| Singles::new(&mut **timed, clock, &goal));
    let mut singles: Vec<Singles> = match singles.collect() {
        Ok(singles) => singles,
        Err(error) => return Err(CommandError::Failed(error.to_string())),
    };
    let mut random = StdRng::seed_from_u64(args.seed);
    let mut order: Vec<usize> = (0..singles.len()).collect();
    let long = Deadline::after(LONG * order.len() as u32);
    let goes_on = |round: u32| match args.samples {
        Some(samples) => round < samples,
        None => round < FEWEST || (round < MOST && long.remaining().is_some()),
    };
    let progress = Progress::of(args.samples.unwrap_or(FEWEST) as usize * order.len(), false);
    for _ in (0..).take_while(|round| goes_on(*round)) {
        order.shuffle(&mut random);
        for &at in &order {
            progress.at(&shown(commands[at]));
            singles[at].take();
            if !progress.step() && args.samples.is_none() {
                progress.until(LONG.as_secs_f64() * order.len() as f64);
            }
            if let Some(why) = logs[at].borrow_mut().failure.take() {
                return Err(CommandError::Failed(why));
            }
        }
    }
    Ok(singles.into_iter().map(|one| Ok(MeasuredRow::of("runs", one.sum_up()?, &goal))).collect())
}

fn unreadable(clock: &ClockFigures, why: String) -> CommandError {
    CommandError::Failed(format!("--clock {}: {why}", clock.id))
}

fn shown(command: &[String]) -> String {
    clipped(&shell_words::join(command), 80)
}

fn runs(repeated: &Repeated, warmup: u32, ended: &[Ended]) -> Runs {
    let times: Option<Vec<CpuTime>> = ended.iter().map(|ended| ended.cpu).collect();
    let of = |part: fn(&CpuTime) -> Duration| {
        mean(&times.iter().flatten().map(|time| part(time).as_nanos() as f64).collect::<Vec<_>>())
    };
    Runs {
        words: repeated.command.to_vec(),
        prepare: repeated.prepare.map(<[String]>::to_vec),
        warmup,
        user_ns: of(|time| time.user),
        system_ns: of(|time| time.system),
        exit_codes: ended.iter().map(|ended| ended.status.code()).collect(),
        relative: None,
    }
}
