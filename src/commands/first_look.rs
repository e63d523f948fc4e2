//! Figures of the timers for commands that need them and were not given a report: what
//! `probe --quick` finds.

use super::{CommandError, failed, period, probe, tell, wait};
use crate::campaign::sampling::Plan;
use crate::cli::{
    AgentSpec, Cpus, Lengths, LoadName, PeriodArgs, ProbeArgs, RuntimeArgs, RuntimeName, WaitArgs,
    WaitingArgs, words,
};
use crate::model::{ProvenanceKind, Report, WaitConditions};
use crate::report::{json, parse};
use timers::agents::Runtime;

/// Probes these timers, all of them when none is named, those of a runtime too where one is named.
/// Its workers are processes of their own, so that nothing of it is left in this one.
///
/// # Errors
/// As `probe`.
pub fn first_look(
    timers: &[String],
    agents: &[AgentSpec],
    runtime: Option<&'static Runtime>,
) -> Result<Report, CommandError> {
    let names = runtime.map(RuntimeName::One).into_iter().collect();
    probed(&ProbeArgs {
        timers: timers.to_vec(),
        quick: true,
        agents: agents.to_vec(),
        runtimes: RuntimeArgs {
            names,
            ..RuntimeArgs::default()
        },
        ..ProbeArgs::default()
    })
}

/// The same, with all that a read adds to the code around it.
///
/// # Errors
/// As `probe`.
pub fn first_look_in_context(timers: &[String]) -> Result<Report, CommandError> {
    const BUDGET_S: f64 = 6.0;
    probed(&ProbeArgs {
        timers: timers.to_vec(),
        budget: Some(BUDGET_S),
        ..ProbeArgs::default()
    })
}

/// Lets these native timers wait so long, and no other length.
///
/// # Errors
/// As `wait`.
pub fn first_waits(timers: &[&str], request_ns: u64) -> Result<Report, CommandError> {
    const SPAN_S: f64 = 0.3;
    let timers = timers.iter().map(|id| (*id).to_owned()).collect();
    let common = WaitingArgs {
        timers,
        quiet: true,
        ..WaitingArgs::default()
    };
    let durations = vec![Lengths(vec![request_ns])];
    let args = WaitArgs {
        durations,
        span: Some(SPAN_S),
        ..WaitArgs::first_look(common)
    };
    wait::record(&args)?.0.report().map_err(failed)
}

/// Probes this machine as it was probed for `report`: its native timers, in its profile. Without
/// what figures are drawn from.
///
/// # Errors
/// As `probe`, and where the report holds what cannot be probed again.
pub fn again(report: &Report) -> Result<Report, CommandError> {
    if report.provenance.kind == ProvenanceKind::Published {
        return Err(failed(
            "a report of published figures cannot be probed again: name the new report",
        ));
    }
    let runtimes = report.timers.iter().map(|row| (&row.id, &row.runtime));
    let runtimes = runtimes.chain(report.waits.iter().map(|row| (&row.id, &row.runtime)));
    let mut runtimes = runtimes.chain(report.periods.iter().map(|row| (&row.id, &row.runtime)));
    if let Some((id, _)) = runtimes.find(|(_, runtime)| *runtime != "native") {
        return Err(failed(format!(
            "the report holds timers of another runtime ({}), which is not started here: measure them as you did then, with \
             --output new.json or --baseline, and name that as the new report",
            crate::text::clipped(id, 60)
        )));
    }
    if report.timers.is_empty() && !(report.waits.is_empty() && report.periods.is_empty()) {
        tell(
            &"measuring this machine, to compare it with that report; name a new report to compare two",
        );
        let report = waited(report)?;
        return parse(&json::dense(&report), "this machine now").map_err(failed);
    }
    // What this build lacks is lost, and `compare` says so.
    let known = report
        .timers
        .iter()
        .filter(|row| timers::find(&row.id).is_some());
    let timers: Vec<String> = known.map(|row| row.id.clone()).collect();
    let [quick, thorough] = profiles(report);
    let plan = if quick {
        Plan::QUICK
    } else if thorough {
        Plan::THOROUGH
    } else {
        Plan::DEFAULT
    };
    let budget = report
        .settings
        .budget_seconds
        .filter(|budget| *budget != plan.budget_s);
    let budget = budget
        .map(|budget| words::seconds(&budget.to_string()))
        .transpose()
        .map_err(CommandError::Usage)?;
    tell(&"probing this machine, to compare it with that report; name a new report to compare two");
    let report = probed(&ProbeArgs {
        timers,
        quick,
        thorough,
        budget,
        ..ProbeArgs::default()
    })?;
    parse(&json::dense(&report), "this machine now").map_err(failed)
}

/// Lets the timers of a report wait or tick again: in its profile, under the conditions that are in
/// it.
fn waited(report: &Report) -> Result<Report, CommandError> {
    let rows: Vec<(&str, &WaitConditions)> = match report.periods.as_slice() {
        [] => report
            .waits
            .iter()
            .map(|row| (row.id.as_str(), &row.conditions))
            .collect(),
        periods => periods
            .iter()
            .map(|row| (row.id.as_str(), &row.conditions))
            .collect(),
    };
    // What could not be asked has no conditions.
    let asked: Vec<&WaitConditions> = rows
        .iter()
        .map(|(_, conditions)| *conditions)
        .filter(|conditions| !conditions.policy.is_empty())
        .collect();
    let own_slack = timers::os::scheduling::timer_slack().ok();
    let slack = |conditions: &&WaitConditions| match conditions.slack_ns {
        Some(ns) if Some(ns) != own_slack => format!("{ns}ns"),
        _ => "default".to_owned(),
    };
    // A report may hold values that cannot be requested.
    let slack = as_asked(each(&asked, slack), words::slack)?;
    let policy = as_asked(
        each(&asked, |conditions| conditions.policy.clone()),
        words::policy,
    )?;
    let load = each(&asked, |conditions| LoadName::from(conditions.load));
    let on_several = each(&asked, |conditions| conditions.cpu).len() > 1;
    let ids = rows
        .iter()
        .map(|(id, _)| *id)
        .filter(|id| timers::waits::find(id).is_some());
    let [quick, thorough] = profiles(report);
    let common = WaitingArgs {
        timers: each(&ids.collect::<Vec<_>>(), |id| (*id).to_owned()),
        quick,
        thorough,
        slack,
        policy,
        load,
        cpu: on_several.then_some(Cpus::All),
        ..WaitingArgs::default()
    };
    let recording = match report.periods.first() {
        Some(row) => {
            let every =
                words::period(&format!("{}ns", row.period_ns)).map_err(CommandError::Usage)?;
            period::record(&PeriodArgs { every, common })?.0
        }
        None => wait::record(&waits_again(report, common)?)?.0,
    };
    recording.report().map_err(failed)
}

/// As long as they waited, and no other length where no granularity was told.
fn waits_again(report: &Report, common: WaitingArgs) -> Result<WaitArgs, CommandError> {
    let figures = || report.waits.iter().filter_map(|row| row.figures.as_ref());
    let lateness = figures()
        .flat_map(|figures| &figures.lateness)
        .filter(|late| !late.beside_others);
    let lengths = each(&lateness.collect::<Vec<_>>(), |late| {
        format!("{}ns", late.request_ns)
    });
    let durations = as_asked(lengths, words::lengths)?;
    let granularity = !durations.is_empty() && figures().any(|figures| !figures.steps.is_empty());
    Ok(WaitArgs {
        durations,
        granularity,
        ..WaitArgs::of(common)
    })
}

/// What the command line would make of them.
fn as_asked<T>(
    words: Vec<String>,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, CommandError> {
    words
        .iter()
        .map(|word| parse(word))
        .collect::<Result<_, _>>()
        .map_err(CommandError::Usage)
}

/// What these have, each once, in the order of the first.
fn each<T, V: PartialEq>(all: &[T], of: impl Fn(&T) -> V) -> Vec<V> {
    let mut values = Vec::new();
    for value in all.iter().map(of) {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

/// Whether it is a quick one, and whether a thorough one.
fn profiles(report: &Report) -> [bool; 2] {
    ["quick", "thorough"].map(|profile| report.settings.profile == profile)
}

fn probed(args: &ProbeArgs) -> Result<Report, CommandError> {
    let (recording, _) = probe::record(args)?;
    recording.report().map_err(failed)
}
