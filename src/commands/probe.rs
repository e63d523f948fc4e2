//! `probe`: characterises timers and prints them, best Quality first.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use timers::Fault;

use super::hosts::{self, HostName, Population};
use super::progress::Progress;
use super::{CommandError, failed, prepare, show, write};
use crate::cli::ProbeArgs;
use crate::model::{self, Estimate, Hertz, Platform, Report, Status, TimerRow, Tool};
use crate::platform::{self, frequency};
use crate::prober::campaign::{self, Settings, Subject};
use crate::prober::sampling::Plan;
use crate::recording::{self, Observed, Recording};
use crate::report::{Archive, Baselines, OutputFile, WholeFile, is_standard, json};
use crate::trust::Yardsticks;

/// Seconds a process of a timer may take, unless specified otherwise.
const TIMEOUT_SECONDS: u64 = 30;

/// Processes of a timer at most, where a precision is asked for.
const MOST_PROCESSES: u32 = 200;

/// Runs the command. Returns whether all timers that were asked for by name could be characterised.
///
/// # Errors
/// Usage errors before anything is measured; failures of files and of the machine.
pub fn run(args: &ProbeArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let mut files = Files::prepare(args)?;
    let (recording, by_name_failed) = record(args)?;
    // Before anything else can fail: from the trace all that follows can be had again.
    files.write_trace(&recording)?;
    let report = recording.report().map_err(|error| CommandError::Failed(error.to_string()))?;
    files.write(&report, args.quiet)?;
    // Where the trace goes to standard output, nothing else does.
    if !args.trace.as_deref().is_some_and(is_standard) {
        show(&report, args.format, args.notes, output)?;
    }
    Ok(!by_name_failed && !named_unsettled(&args.timers, &report.timers))
}

/// Measures. Returns what was observed, and whether an agent that the user named could not be reached at all.
///
/// # Errors
/// Usage errors before anything is measured; failures of the machine.
pub(super) fn record(args: &ProbeArgs) -> Result<(Recording, bool), CommandError> {
    // A campaign keeps three small threads a timer.
    timers::os::limits::share_reserves();
    let created = timers::date();
    let cpu = choose_cpu(args.cpu)?;
    let nominal = frequency::nominal();
    let known = frequency::Parts { nominal: nominal.clone(), ..frequency::Parts::default() };
    frequency::summarise(&known, args.cycles).map_err(|error| CommandError::Usage(error.to_string()))?;
    let settings = Settings {
        plan: plan(args),
        seed: args.seed.unwrap_or(1),
        cpu,
        timeout: Duration::from_secs(args.timeout.unwrap_or(TIMEOUT_SECONDS)),
    };
    let mut population = hosts::gather(&args.timers, &args.agents, &args.runtimes, &settings)?;
    if args.timers.is_empty() {
        population.leave_out_elsewhere();
    }
    let before = frequency::effective(cpu);
    let tsc = tsc();
    let during = measure(&mut population, &settings, args.quiet)?;
    let by_name_failed = population.failed_by_name();
    let platform = platform::identify(cpu);
    let recording = Recording {
        schema: recording::SCHEMA.into(),
        tool: Tool::this(),
        created: humantime::format_rfc3339_seconds(created).to_string(),
        frequency: frequency::Parts { before, after: frequency::effective(cpu), during, tsc, nominal },
        yardsticks: yardsticks(&platform, cpu),
        platform,
        cycles_from: args.cycles,
        settings: described(&settings),
        timers: observed(population.names, population.subjects),
        unasked: population.rows,
        waits: Vec::new(),
        periods: Vec::new(),
    };
    Ok((recording, by_name_failed))
}

fn plan(args: &ProbeArgs) -> Plan {
    let plan = match (args.quick, args.thorough) {
        (true, _) => Plan::QUICK,
        (_, true) => Plan::THOROUGH,
        _ => Plan::DEFAULT,
    };
    // Whoever asks for a precision or gives time wants it to be used.
    let asked = args.precision.is_some() || args.budget.is_some();
    Plan {
        precision: args.precision.map_or(plan.precision, |points| points / 100.0),
        budget_s: args.budget.unwrap_or(plan.budget_s),
        most_processes: if asked { MOST_PROCESSES.max(plan.most_processes) } else { plan.most_processes },
        ..plan
    }
}

fn described(settings: &Settings) -> model::Settings {
    model::Settings {
        profile: settings.plan.name.into(),
        cpu: settings.cpu,
        seed: settings.seed,
        processes: settings.plan.processes,
        precision_points: Some(100.0 * settings.plan.precision),
        budget_seconds: Some(settings.plan.budget_s),
        timeout_seconds: settings.timeout.as_secs(),
    }
}

/// The CPU to measure on: the one asked for, which has to be usable, or the quietest.
fn choose_cpu(asked: Option<u32>) -> Result<Option<u32>, CommandError> {
    let allowed = timers::allowed_cpus().unwrap_or_default();
    let Some(cpu) = asked else { return Ok(platform::quietest_cpu(&allowed)) };
    super::usable(cpu).map(|()| Some(cpu))
}

/// The rate of the time stamp counter, against the kernel's clock.
fn tsc() -> Option<Hertz> {
    const WATCH_MS: u32 = 40;
    frequency::tsc_hz(timers::RATE_SOURCES[0], WATCH_MS)
}

fn measure(
    population: &mut Population,
    settings: &Settings,
    quiet: bool,
) -> Result<Option<Estimate>, CommandError> {
    let bar = Progress::of(population.subjects.len() * settings.plan.processes as usize, quiet);
    let progress = |what: &str| {
        bar.at(what);
        // Nobody knows how many processes it takes to narrow intervals.
        if !bar.step() {
            bar.until(settings.plan.budget_s);
        }
    };
    let ended = campaign::run(&population.hosts, &mut population.subjects, settings, &progress);
    ended.map_err(|fault| match fault {
        Fault::Interrupted => CommandError::Interrupted,
        fault => CommandError::Failed(fault.to_string()),
    })
}

/// What the read paths of this machine are held against.
fn yardsticks(platform: &Platform, cpu: Option<u32>) -> Yardsticks {
    let entry = timers::kernel_entry(cpu);
    Yardsticks {
        system_call_ns: entry.map(|entry| entry.system_call_ns),
        clock_call_ns: entry.and_then(|entry| entry.clock_call_ns),
        clock_call: Some(timers::RATE_SOURCES[0].into()),
        trap_ns: entry.and_then(|entry| entry.trap_ns),
        clock_source: platform.clocksource.current.clone(),
    }
}

fn observed(names: Vec<HostName>, subjects: Vec<Subject>) -> Vec<Observed> {
    let observed = |subject: Subject| {
        let name = &names[subject.host];
        let mut properties = subject.timer.properties;
        properties.syscall_variant = properties.syscall_variant.map(|id| name.id(&id));
        Observed {
            id: name.id(&subject.timer.id),
            label: subject.timer.label,
            legend: subject.timer.legend,
            runtime: name.runtime.clone(),
            ns_per_tick: subject.timer.ns_per_tick,
            properties,
            outcome: subject.outcome,
        }
    };
    subjects.into_iter().map(observed).collect()
}

fn named_unsettled(names: &[String], rows: &[TimerRow]) -> bool {
    rows.iter().any(|row| row.status != Status::Ok && names.contains(&row.id))
}

/// What a run leaves behind. All of it is found writable or not before anything is measured, and written before anything is
/// printed: it must not be lost when the reader of the output goes away.
struct Files {
    reports: Vec<OutputFile>,
    trace: Option<WholeFile>,
    archive: Option<Archive>,
    /// With its name.
    baseline: Option<(String, WholeFile)>,
}

impl Files {
    fn prepare(args: &ProbeArgs) -> Result<Self, CommandError> {
        let trace = args.trace.as_deref().map(WholeFile::prepare).transpose();
        let archive = args.save.as_deref().map(save_in).transpose()?;
        let baseline = args.baseline.as_deref().map(keep_as).transpose()?;
        Ok(Self { reports: prepare(&args.outputs)?, trace: trace.map_err(failed)?, archive, baseline })
    }

    fn write_trace(&mut self, recording: &Recording) -> Result<(), CommandError> {
        let Some(file) = self.trace.take() else { return Ok(()) };
        file.commit(&recording.pack().map_err(failed)?).map_err(failed)
    }

    fn write(self, report: &Report, quiet: bool) -> Result<(), CommandError> {
        write(self.reports, report)?;
        if let Some(archive) = self.archive {
            let place = archive.commit(report).map_err(failed)?;
            if !quiet {
                eprintln!("kept in {}", place.display());
            }
        }
        if let Some((name, file)) = self.baseline {
            file.commit(json::dense(report).as_bytes()).map_err(failed)?;
            if !quiet {
                eprintln!("kept as baseline {name}: `timermeter compare {name}` tells what changed since");
            }
        }
        Ok(())
    }
}

/// A name of a timer after `--save` was meant as one.
fn save_in(folder: &Path) -> Result<Archive, CommandError> {
    let name = folder.to_string_lossy();
    if timers::find(&name).is_some() || name.contains(['*', '?']) {
        return Err(CommandError::Usage(format!(
            "--save takes a folder, and `{name}` names timers; write `--save=reports {name}`, or the timers first"
        )));
    }
    Archive::prepare(folder).map_err(failed)
}

fn keep_as(name: &str) -> Result<(String, WholeFile), CommandError> {
    let kept = Baselines::of_user().ok_or_else(|| {
        failed("--baseline: none of TIMERMETER_HOME, XDG_DATA_HOME and HOME says where to keep it; set one of them")
    })?;
    Ok((name.to_owned(), kept.prepare(name).map_err(failed)?))
}
