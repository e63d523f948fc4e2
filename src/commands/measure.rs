//! `measure`: operations, each in a fresh process, by any clock of the registry.

mod curves;
mod people;
mod shown;

use std::io::Write;

use shown::ShownMeasurements;

use super::measurement::{Measurement, MeasurementOutcome};
use super::progress::Progress;
use super::{CommandError, failed, several_commands, tell, terminal_style, trial};
use crate::cli::measure::{InstrumentName, MeasureArgs};
use crate::measure::Goal;
use crate::measure::campaigns::over;
use crate::measure::operations::{self, Entry};
use crate::measure::worker::{Instrument, Reply, Request};
use crate::method::Facts;
use crate::method::{ClockFigures, Counts};
use crate::model::Report;
use crate::native;
use crate::report::machine::name;
use crate::report::terminal::listed;
use crate::report::{WholeFile, is_standard};
use crate::selection::select;
use crate::table::Style;

/// Samples of an operation that have to be valid, unless specified otherwise.
const SAMPLES: u32 = 10;

/// Runs the command. Returns whether all that was asked for could be measured.
///
/// # Errors
/// When something is asked for that does not exist or makes no sense, or a command fails.
pub fn run(args: &MeasureArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let commands = args.all_commands().len();
    about_commands(args, commands)?;
    if args.operations.is_empty() && commands == 0 {
        return list(output).map(|()| true);
    }
    trial::promise(args.error, args.confidence)?;
    fitting(args)?;
    let entries = args.operations.iter().map(|name| entry(name)).collect::<Result<Vec<_>, _>>()?;
    if !args.sizes.is_empty() && entries.iter().all(|entry| entry.sizes.is_empty()) {
        return Err(CommandError::Usage("--sizes: none of these operations has a size".into()));
    }
    if args.plot.is_some()
        && (entries.iter().all(|entry| entry.sizes.is_empty())
            || args.instrument == InstrumentName::Allocations)
    {
        return Err(CommandError::Usage("--plot: nothing of this has times against sizes".into()));
    }
    if args.instrument == InstrumentName::Allocations && !cfg!(feature = "allocations") {
        return Err(CommandError::Failed(
            "this program does not count allocations; build it with: cargo build --release --features allocations".into(),
        ));
    }
    let plot = args.plot.as_deref().map(WholeFile::prepare).transpose().map_err(failed)?;
    let exports = args.exports.iter().map(|export| WholeFile::prepare(&export.path));
    let exports = exports.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    // A command may have threads for all of them.
    let cpu = if commands > 0 && args.cpu.is_none() { None } else { trial::cpu(args.cpu)? };
    let (report, clock) = clock(args)?;
    let measurements = if commands > 0 {
        several_commands::measure(args, &clock)?
    } else {
        operate(args, &entries, &clock, cpu)?
    };
    // What was measured is shown whatever becomes of the figure.
    let plotted = plot.map(|file| match curves::svg(&measurements, &clock.id, &name(&report)) {
        Ok(Some(figure)) => file.commit(figure.as_bytes()).map_err(failed),
        // The table says why.
        Ok(None) => Ok(()),
        Err(why) => Err(CommandError::Failed(why)),
    });
    let shown = ShownMeasurements {
        args,
        report: &report,
        clock: &clock,
        measurements: &measurements,
        whole: args.verbose,
    };
    for (file, export) in exports.into_iter().zip(&args.exports) {
        // A file is for later, when the machine is forgotten.
        let shown = ShownMeasurements { whole: true, ..shown };
        file.commit(shown.render(export.format, Style::default())?.as_bytes()).map_err(failed)?;
    }
    if args.plot.as_deref().is_some_and(is_standard) {
        return plotted.transpose().map(|_| is_complete(&measurements));
    }
    output.write_all(shown.render(args.format, terminal_style())?.as_bytes())?;
    output.flush()?;
    plotted.transpose()?;
    Ok(is_complete(&measurements))
}

fn is_complete(measurements: &[Measurement]) -> bool {
    !measurements.iter().any(|measurement| matches!(measurement.outcome, MeasurementOutcome::Failed { .. }))
}

/// The clock with the report that holds it. Where none is named and nothing is known, one clock is probed, and not all of
/// them: that would take many times as long as most measurements.
fn clock(args: &MeasureArgs) -> Result<(Report, ClockFigures), CommandError> {
    if args.clock.is_some() || args.from.is_some() {
        let timers: Vec<String> = args.clock.iter().cloned().collect();
        let report = trial::report(args.from.as_deref(), &timers)?;
        let clock = trial::clock(&report, args.clock.as_deref())?;
        return Ok((report, clock));
    }
    let mut last =
        CommandError::Failed("this machine has no clock to measure with; name one with --clock".into());
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
fn about_commands(args: &MeasureArgs, commands: usize) -> Result<(), CommandError> {
    let refused = |why: &str| Err(CommandError::Usage(why.into()));
    if commands > 0 && !args.operations.is_empty() {
        return refused(
            "measure either built-in operations or commands, not both; each of several commands is quoted, behind --command",
        );
    }
    let of_commands = [
        (args.warmup.is_some(), "--warmup"),
        (!args.prepare.is_empty(), "--prepare"),
        (args.ignore_failure, "--ignore-failure"),
    ];
    if let Some((_, flag)) = of_commands.into_iter().find(|(given, _)| *given && commands == 0) {
        return refused(&format!("{flag} is about commands; give one behind `--`, or with --command"));
    }
    if commands > 0 && args.campaigns.is_some() {
        return refused(
            "--campaigns is about operations; each run of a command is a process of its own already, ask for more --samples",
        );
    }
    let prepared = args.prepare.len();
    if prepared > 1 && prepared != commands {
        return refused(&format!(
            "--prepare is given {prepared} times for {commands} command{}: give it once for all of them, or once for each",
            if commands == 1 { "" } else { "s" }
        ));
    }
    Ok(())
}

/// Refuses a clock or an instrument that does not fit what is measured, as far as that is known before anything is probed.
fn fitting(args: &MeasureArgs) -> Result<(), CommandError> {
    let refused = |why: String| Err(CommandError::Usage(why));
    let command = !args.all_commands().is_empty();
    if command && !matches!(args.instrument, InstrumentName::Adaptive | InstrumentName::Macro) {
        return refused("--instrument: runs of a command are single calls; use macro".into());
    }
    let Some(name) = args.clock.as_deref() else { return Ok(()) };
    let shown = crate::text::clipped(name, 40);
    let Some(entry) = timers::find(name) else {
        if name.contains(':') {
            return refused(format!(
                "--clock {shown} belongs to another runtime: this program measures with native clocks only (timermeter list)"
            ));
        }
        let ids: Vec<&str> = timers::catalogue().iter().map(|entry| entry.info.id).collect();
        let patterns = [name.to_owned()];
        return refused(match select(&patterns, &ids) {
            Err(unknown) => format!("--clock: {unknown}"),
            Ok(_) => format!("--clock {shown}: name one timer, not a pattern"),
        });
    };
    match Facts::of(&native::properties(entry.info.properties)).counts {
        None => refused(format!(
            "--clock {shown} does not count time (cycles change their length with the frequency of the core)"
        )),
        Some(Counts::Process | Counts::Thread) if command => refused(format!(
            "--clock {shown} counts CPU time of this process: it does not see what another process spends"
        )),
        Some(_) => Ok(()),
    }
}

fn list(output: &mut dyn Write) -> Result<(), CommandError> {
    let told = operations::ALL.iter().map(|Entry { name, about, sizes }| {
        let sizes = sizes.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        (*name, if sizes.is_empty() { (*about).to_owned() } else { format!("{about} (sizes {sizes})") })
    });
    output.write_all(listed("", &told.collect::<Vec<_>>(), terminal_style()).as_bytes())?;
    Ok(output.flush()?)
}

pub(super) fn entry(name: &str) -> Result<Entry, CommandError> {
    operations::find(name).ok_or_else(|| {
        let near = operations::ALL
            .iter()
            .map(|entry| (strsim::jaro_winkler(name, entry.name), entry.name))
            .filter(|(likeness, _)| *likeness > 0.8 && !name.contains(' '))
            .max_by(|a, b| a.0.total_cmp(&b.0));
        let shown = crate::text::clipped(name, 40);
        CommandError::Usage(match near {
            Some((_, near)) => format!("there is no operation `{shown}`; did you mean `{near}`?"),
            None => format!("there is no operation `{shown}`; `timermeter measure` lists them, and a command goes behind `--`, several with --command"),
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
    let tasks: Vec<(&Entry, Option<u64>)> =
        entries.iter().flat_map(|entry| sizes(entry).into_iter().map(move |size| (entry, size))).collect();
    let campaigns = args.campaigns.unwrap_or(1);
    let progress = Progress::of(tasks.len() * campaigns as usize, false);
    // In turns, so that the campaigns of each lie as far apart as the others take.
    let mut found: Vec<Vec<Vec<MeasurementOutcome>>> = vec![Vec::new(); tasks.len()];
    for campaign in 0..campaigns {
        for (of_task, (entry, size)) in found.iter_mut().zip(&tasks) {
            progress.at(&size.map_or(entry.name.to_owned(), |size| format!("{} {size}", entry.name)));
            let request = Request {
                clock: clock.clone(),
                operation: entry.name.into(),
                size: size.unwrap_or(0),
                instrument: instrument(args),
                error: args.error,
                confidence: args.confidence,
                samples: args.samples.unwrap_or(SAMPLES),
                limit_ns: args.limit * 1_000_000_000,
                cpu,
                seed: args.seed.wrapping_add(campaign.into()),
            };
            of_task.push(outcomes(trial::run(&request)?));
            progress.step();
        }
    }
    let goal = Goal { error: args.error, confidence: args.confidence, ..Goal::default() };
    let mut measurements = Vec::new();
    for ((entry, size), campaigns) in tasks.iter().zip(found) {
        let add = |outcome| Measurement { operation: entry.name.into(), size: *size, outcome, command: None };
        measurements.extend(over_campaigns(campaigns, &goal).into_iter().map(add));
    }
    Ok(measurements)
}

/// One outcome for each way of several campaigns. One that failed fails all, as what it would have found is not known.
fn over_campaigns(mut each: Vec<Vec<MeasurementOutcome>>, goal: &Goal) -> Vec<MeasurementOutcome> {
    if each.len() < 2 {
        return each.pop().unwrap_or_default();
    }
    let count = each.len();
    let failed = each.iter().enumerate().find_map(|(at, outcomes)| match outcomes.as_slice() {
        [MeasurementOutcome::Failed { reason }] => Some(format!("campaign {} of {count}: {reason}", at + 1)),
        _ => None,
    });
    if let Some(reason) = failed {
        return vec![MeasurementOutcome::Failed { reason }];
    }
    let of_way = |way: usize| {
        let rows = each.iter().filter_map(|outcomes| match outcomes.get(way) {
            Some(MeasurementOutcome::Measured(row)) => Some(row.as_ref().clone()),
            _ => None,
        });
        let row = over(&rows.collect::<Vec<_>>(), goal);
        row.map_or_else(|| each[0][way].clone(), |row| MeasurementOutcome::Measured(Box::new(row)))
    };
    (0..each[0].len()).map(of_way).collect()
}

fn instrument(args: &MeasureArgs) -> Instrument {
    match args.instrument {
        InstrumentName::Adaptive => Instrument::Adaptive,
        InstrumentName::Throughput => Instrument::Throughput { span_ns: args.time.0 as u64 },
        InstrumentName::Discrete => Instrument::Discrete,
        InstrumentName::Allocations => Instrument::Allocations,
        InstrumentName::Micro => Instrument::Micro,
        InstrumentName::Macro => Instrument::Macro,
    }
}

fn outcomes(reply: Reply) -> Vec<MeasurementOutcome> {
    match reply {
        Reply::Measured(rows) => {
            rows.into_iter().map(|row| MeasurementOutcome::Measured(Box::new(row))).collect()
        }
        Reply::Allocated { instances, bytes } => vec![MeasurementOutcome::Allocated { instances, bytes }],
        Reply::Failed(reason) => vec![MeasurementOutcome::Failed { reason }],
        Reply::Rehearsed(_) => {
            vec![MeasurementOutcome::Failed { reason: "its process answered something else".into() }]
        }
    }
}
