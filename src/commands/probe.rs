//! `probe`: characterises timers and prints them, best Quality first.

use std::cmp::Ordering;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use timers::Fault;

use super::hosts::{self, Population};
use super::{CommandError, terminal_style};
use crate::analysis::profile::profile;
use crate::analysis::statistics::median;
use crate::cli::ProbeArgs;
use crate::platform::{self, frequency};
use crate::prober::campaign::{self, Settings};
use crate::prober::plan::Plan;
use crate::report::{self, OutputFile, Report, Status, TimerRow, Tool};
use crate::units::Hertz;

/// Seconds a process of a timer may take, unless told otherwise.
const TIMEOUT_SECONDS: u64 = 30;

/// Runs the command. Returns whether all timers that were asked for by name could be characterised.
///
/// # Errors
/// Usage errors before anything is measured; failures of files and of the machine.
pub fn run(args: &ProbeArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let created = jiff::Timestamp::now();
    let cpu = choose_cpu(args.cpu)?;
    let nominal = frequency::nominal();
    let known = frequency::Parts { nominal, ..frequency::Parts::default() };
    frequency::summarise(&known, args.cycles).map_err(|error| CommandError::Usage(error.to_string()))?;
    let files = prepare(args)?;
    let settings = Settings {
        plan: plan(args),
        seed: args.seed.unwrap_or(1),
        cpu,
        timeout: Duration::from_secs(args.timeout.unwrap_or(TIMEOUT_SECONDS)),
    };
    let mut population = hosts::gather(&args.timers, &args.agents, &args.runtimes, &settings)?;
    let before = frequency::effective(cpu);
    let tsc = tsc();
    let during = measure(&mut population, &settings, args.quiet)?;
    let parts = frequency::Parts { before, after: frequency::effective(cpu), during, tsc, nominal };
    let (frequency, warnings) =
        frequency::summarise(&parts, args.cycles).map_err(|error| CommandError::Failed(error.to_string()))?;
    let hertz = frequency.cycles_hz.map(Hertz);
    let by_name_failed = population.failed_by_name();
    let mut rows = rows(population, hertz);
    rows.sort_by(best_first);
    let named_failed = by_name_failed || named_unsettled(&args.timers, &rows);
    let report = Report {
        schema: report::SCHEMA.into(),
        tool: Tool { name: env!("CARGO_PKG_NAME").into(), version: env!("CARGO_PKG_VERSION").into() },
        created: created.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        platform: platform::identify(cpu),
        frequency,
        settings: described(&settings),
        warnings,
        timers: rows,
    };
    publish(&report, files, args, output)?;
    Ok(!named_failed)
}

fn plan(args: &ProbeArgs) -> Plan {
    match (args.quick, args.thorough) {
        (true, _) => Plan::QUICK,
        (_, true) => Plan::THOROUGH,
        _ => Plan::DEFAULT,
    }
}

fn described(settings: &Settings) -> report::Settings {
    report::Settings {
        profile: settings.plan.name.into(),
        cpu: settings.cpu,
        seed: settings.seed,
        processes: settings.plan.processes,
        timeout_seconds: settings.timeout.as_secs(),
    }
}

/// The CPU to measure on: the one asked for, which has to be usable, or the quietest.
fn choose_cpu(asked: Option<u32>) -> Result<Option<u32>, CommandError> {
    let allowed = timers::allowed_cpus().unwrap_or_default();
    let Some(cpu) = asked else { return Ok(platform::quietest_cpu(&allowed)) };
    // Tried in a thread of its own, so that this one stays free.
    match std::thread::spawn(move || timers::pin_to(cpu)).join() {
        Ok(Ok(())) => Ok(Some(cpu)),
        Ok(Err(error)) => Err(CommandError::Usage(format!("--cpu {cpu}: {error}"))),
        Err(_) => Err(CommandError::Failed(format!("--cpu {cpu}: it could not be tried"))),
    }
}

/// Files are found writable or not before anything is measured.
fn prepare(args: &ProbeArgs) -> Result<Vec<OutputFile>, CommandError> {
    let prepare = |path: &Path, format| {
        OutputFile::prepare(path, format).map_err(|error| CommandError::Failed(error.to_string()))
    };
    args.outputs.iter().map(|output| prepare(&output.path, output.format)).collect()
}

/// The rate of the time stamp counter, against the kernel's clock.
fn tsc() -> Option<Hertz> {
    const WATCH_MS: u32 = 40;
    frequency::tsc_hz("monotonic", WATCH_MS)
}

fn measure(
    population: &mut Population,
    settings: &Settings,
    quiet: bool,
) -> Result<Option<Hertz>, CommandError> {
    let steps = population.subjects.len() as u64 * u64::from(settings.plan.processes);
    let bar = progress_bar(steps, quiet);
    let progress = |what: &str| {
        bar.set_message(what.to_owned());
        bar.inc(1);
    };
    let mut frequencies = Vec::new();
    let mut before_round =
        || frequencies.extend(frequency::effective(settings.cpu).map(|chains| chains.hertz.0));
    let ended =
        campaign::run(&population.hosts, &mut population.subjects, settings, &progress, &mut before_round);
    bar.finish_and_clear();
    ended.map_err(|fault| match fault {
        Fault::Interrupted => CommandError::Interrupted,
        fault => CommandError::Failed(fault.to_string()),
    })?;
    Ok(median(&frequencies).map(Hertz))
}

/// Drawn between processes only: nothing runs beside a measurement.
fn progress_bar(steps: u64, quiet: bool) -> ProgressBar {
    if quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{bar:30} {percent:>3} %  {msg}");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn rows(population: Population, frequency: Option<Hertz>) -> Vec<TimerRow> {
    let Population { names, subjects, mut rows, .. } = population;
    for subject in subjects {
        let name = &names[subject.host];
        let id = name.id(&subject.timer.id);
        let mut row = TimerRow::unmeasured(&id, &subject.timer.label, &name.runtime, Status::Failed);
        row.ns_per_tick = subject.timer.ns_per_tick;
        row.legend.clone_from(&subject.timer.legend);
        match subject.outcome {
            Ok(trace) => row.fill(&trace, &profile(&trace), frequency),
            Err(reason) => row.reason = Some(reason),
        }
        rows.push(row);
    }
    rows
}

/// Those with a Quality by Quality, then those without a step, the failed, and the unavailable.
fn best_first(a: &TimerRow, b: &TimerRow) -> Ordering {
    let class = |row: &TimerRow| match row.status {
        Status::Ok => 0,
        Status::Unresolved => 1,
        Status::Failed => 2,
        Status::Unavailable => 3,
    };
    let quality = |row: &TimerRow| row.quality.unwrap_or(-1.0);
    class(a).cmp(&class(b)).then(quality(b).total_cmp(&quality(a)))
}

fn named_unsettled(names: &[String], rows: &[TimerRow]) -> bool {
    rows.iter().any(|row| row.status != Status::Ok && names.contains(&row.id))
}

/// Files first: they are what must not be lost when the reader of the output goes away.
fn publish(
    report: &Report,
    files: Vec<OutputFile>,
    args: &ProbeArgs,
    output: &mut dyn Write,
) -> Result<(), CommandError> {
    for file in files {
        let text = file.format().render(report, report::Style { width: None, colour: false });
        file.commit(text.as_bytes()).map_err(|error| CommandError::Failed(error.to_string()))?;
    }
    output.write_all(args.format.render(report, terminal_style()).as_bytes())?;
    output.flush()?;
    Ok(())
}
