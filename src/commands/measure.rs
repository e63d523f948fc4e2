//! `measure`: operations, each in a fresh process, or a command, by any clock of the registry.

mod runner;
mod runs;
mod shown;

use std::io::Write;
use std::time::Duration;

use shown::{Measurement, ShownMeasurements};

use super::frame::choose_cpu;
use super::progress::Progress;
use super::{CommandError, tell, terminal_style, trial};
use crate::cli::MeasureArgs;
use crate::document::listed;
use crate::measure::Goal;
use crate::measure::operations::{self, Entry};
use crate::measure::worker::{Instrument, Request};
use crate::method::{ClockFigures, Facts};
use crate::model::{Counted, Report};
use crate::selection::{nearest, select};
use crate::text::clipped;

/// Samples of an operation that have to be valid, unless specified otherwise.
const SAMPLES: u32 = 10;

/// Runs the command. Returns whether all that was asked for could be measured.
///
/// # Errors
/// When something is asked for that does not exist or makes no sense, or a command fails.
pub fn run(args: &MeasureArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let is_command = !args.command.is_empty();
    about_commands(args)?;
    if args.operations.is_empty() && !is_command {
        return list(output).map(|()| true);
    }
    trial::promise(args.error, args.confidence)?;
    fitting(args)?;
    let entries = args
        .operations
        .iter()
        .map(|name| entry(name))
        .collect::<Result<Vec<_>, _>>()?;
    if !args.sizes.is_empty() && entries.iter().all(|entry| entry.sizes.is_empty()) {
        return Err(CommandError::Usage(
            "--sizes: none of these operations has a size".into(),
        ));
    }
    if args.instrument == Instrument::Allocations && !cfg!(feature = "allocations") {
        return Err(CommandError::Failed(
            "this program does not count allocations; build it with: cargo build --release --features allocations".into(),
        ));
    }
    // A command may have threads for all of them.
    let cpu = if is_command && args.cpu.is_none() {
        None
    } else {
        choose_cpu(args.cpu)?
    };
    let (report, clock) = clock(args)?;
    countable(&clock.id, clock.facts.counts, is_command).map_err(CommandError::Failed)?;
    let measurements = if is_command {
        vec![runs::measure(args, &clock)?]
    } else {
        operate(args, &entries, &clock, cpu)?
    };
    let shown = ShownMeasurements {
        args,
        report: &report,
        clock: &clock,
        measurements: &measurements,
    };
    output.write_all(shown.render(terminal_style())?.as_bytes())?;
    output.flush()?;
    Ok(!measurements.iter().any(Measurement::is_failed))
}

/// The clock with the report that holds it. Where none is named and nothing is known, one clock is
/// probed, and not all of them: that would take many times as long as most measurements.
fn clock(args: &MeasureArgs) -> Result<(Report, ClockFigures), CommandError> {
    if args.clock.is_some() || args.from.is_some() {
        let timers: Vec<String> = args.clock.iter().cloned().collect();
        let report = trial::report(args.from.as_deref(), &timers)?;
        let clock = trial::clock(&report, args.clock.as_deref())?;
        return Ok((report, clock));
    }
    let mut last = CommandError::Failed(
        "this machine has no clock to measure with; name one with --clock".into(),
    );
    let is_there = |id: &&str| timers::find(id).is_some_and(|entry| (entry.availability)().is_ok());
    for id in trial::USUAL.into_iter().filter(is_there) {
        tell(&format!(
            "probing {id} to measure with it; --clock names another clock, --from takes the best of a report"
        ));
        match trial::report(None, &[id.to_owned()])
            .and_then(|report| Ok((trial::clock(&report, None)?, report)))
        {
            Ok((clock, report)) => return Ok((report, clock)),
            Err(CommandError::Interrupted) => return Err(CommandError::Interrupted),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Refuses what only commands have where there is none, and the other way round.
fn about_commands(args: &MeasureArgs) -> Result<(), CommandError> {
    let refused = |why: String| Err(CommandError::Usage(why));
    if !args.command.is_empty() {
        return match args.operations.as_slice() {
            [] => Ok(()),
            _ => refused("measure either built-in operations or a command, not both".into()),
        };
    }
    let of_commands = [
        (args.warmup.is_some(), "--warmup"),
        (args.ignore_failure, "--ignore-failure"),
    ];
    match of_commands.into_iter().find(|(given, _)| *given) {
        Some((_, flag)) => refused(format!("{flag} is about commands; give one behind `--`")),
        None => Ok(()),
    }
}

/// Refuses a clock or an instrument that does not fit what is measured, as far as that is known
/// before anything is probed.
fn fitting(args: &MeasureArgs) -> Result<(), CommandError> {
    let refused = |why: String| Err(CommandError::Usage(why));
    let command = !args.command.is_empty();
    if command && !matches!(args.instrument, Instrument::Adaptive | Instrument::Macro) {
        return refused("--instrument: runs of a command are single calls; use macro".into());
    }
    let Some(name) = args.clock.as_deref() else {
        return Ok(());
    };
    let shown = clipped(name, 40);
    let Some(entry) = timers::find(name) else {
        if name.contains(':') {
            return refused(format!(
                "--clock {shown} belongs to another runtime: this program measures with native clocks only (timermeter list)"
            ));
        }
        let ids: Vec<&str> = timers::catalogue()
            .iter()
            .map(|entry| entry.info.id)
            .collect();
        let patterns = [name.to_owned()];
        return refused(match select(&patterns, &ids) {
            Err(unknown) => format!("--clock: {unknown}"),
            Ok(_) => format!("--clock {shown}: name one timer, not a pattern"),
        });
    };
    let counts = Facts::from_declared(&entry.info.properties).counts;
    countable(name, counts, command).map_err(CommandError::Usage)
}

/// Says why a clock that counts this cannot measure.
fn countable(clock: &str, counts: Option<Counted>, command: bool) -> Result<(), String> {
    let shown = clipped(clock, 40);
    match counts {
        None | Some(Counted::ThreadCycles | Counted::SomethingElse) => Err(format!(
            "--clock {shown} does not count time (cycles change their length with the frequency of the core)"
        )),
        Some(Counted::ProcessCpu | Counted::ThreadCpu) if command => Err(format!(
            "--clock {shown} counts CPU time of this process: it does not see what another process spends"
        )),
        Some(_) => Ok(()),
    }
}

fn list(output: &mut dyn Write) -> Result<(), CommandError> {
    let told = operations::ALL.iter().map(|Entry { name, about, sizes }| {
        let sizes = sizes
            .iter()
            .map(u64::to_string)
            .collect::<Vec<_>>()
            .join(", ");
        (
            *name,
            if sizes.is_empty() {
                (*about).to_owned()
            } else {
                format!("{about} (sizes {sizes})")
            },
        )
    });
    output.write_all(listed("", &told.collect::<Vec<_>>(), terminal_style()).as_bytes())?;
    Ok(output.flush()?)
}

fn entry(name: &str) -> Result<Entry, CommandError> {
    operations::find(name).ok_or_else(|| {
        let names = operations::ALL.iter().map(|entry| entry.name).collect::<Vec<_>>();
        let near = nearest(name, &names).into_iter().next().filter(|_| !name.contains(' '));
        let shown = clipped(name, 40);
        CommandError::Usage(match near {
            Some(near) => format!("there is no operation `{shown}`; did you mean `{near}`?"),
            None => format!("there is no operation `{shown}`; `timermeter measure` lists them, and a command goes behind `--`"),
        })
    })
}

fn operate(
    args: &MeasureArgs,
    entries: &[Entry],
    clock: &ClockFigures,
    cpu: Option<u32>,
) -> Result<Vec<Measurement>, CommandError> {
    let sizes = |entry: &Entry| -> Vec<Option<u64>> {
        match (entry.sizes.is_empty(), args.sizes.is_empty()) {
            (true, _) => vec![None],
            (false, true) => entry.sizes.iter().copied().map(Some).collect(),
            (false, false) => args.sizes.iter().copied().map(Some).collect(),
        }
    };
    let tasks: Vec<(&Entry, Option<u64>)> = entries
        .iter()
        .flat_map(|entry| sizes(entry).into_iter().map(move |size| (entry, size)))
        .collect();
    let progress = Progress::of(tasks.len(), false);
    let mut measurements = Vec::new();
    for (entry, size) in tasks {
        progress.at(&size.map_or(entry.name.to_owned(), |size| {
            format!("{} {size}", entry.name)
        }));
        let request = Request {
            clock: clock.clone(),
            operation: entry.name.into(),
            size: size.unwrap_or(0),
            instrument: args.instrument,
            span: Duration::from_nanos(args.time.0 as u64),
            goal: Goal {
                error: args.error,
                confidence: args.confidence,
                samples: args.samples.unwrap_or(SAMPLES),
                limit: Duration::from_secs(args.limit),
                seed: args.seed,
                watched: true,
            },
            cpu,
        };
        let outcomes = trial::run(&request)?;
        let one = |outcome| Measurement {
            operation: entry.name.to_owned(),
            size,
            outcome,
            command: None,
        };
        measurements.extend(outcomes.into_iter().map(one));
        progress.step();
    }
    Ok(measurements)
}
