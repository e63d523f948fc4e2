//! `gate`: probes this machine until the conditions on the changes since a baseline are decided.

use std::io::Write;
use std::slice;

use serde::Serialize;

use super::quick_probe::probe_like;
use super::run_context::choose_cpu;
use super::runs::{check_timers, read, resolve};
use super::{CommandError, emit, failed, prepare_outputs};
use crate::cli::GateArgs;
use crate::comparison::{
    Compared, Comparison, Condition, Decision, PlatformChange, Remark, unlike_cpu,
};
use crate::document::Document;
use crate::method::choose_usual;
use crate::model::{ProvenanceKind, Report};
use crate::platform;
use crate::text::counted;

/// Default time budget of all probes together, in seconds.
/// *Judgement*: a job of continuous integration waits a minute; eight quick probes of all clocks
/// fit into it.
const BUDGET_S: f64 = 60.0;

/// Number of probes after which a condition that holds is decided, if the budget allows as many.
/// *Judgement*: of three runs, two outvote one that was disturbed.
const CONFIRMING_RUNS: usize = 3;

/// The result of a condition, or of all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    /// No change meets the condition.
    Passed,
    /// A change meets the condition.
    Failed,
    /// The runs do not decide the condition.
    Undecided,
}

/// A condition with its result.
#[derive(Serialize)]
struct Judged {
    condition: String,
    result: Verdict,
    /// The change that decides the condition, or the reason why it is undecided.
    evidence: Option<String>,
    /// The result in words.
    #[serde(skip)]
    sentence: String,
    /// Whether a disturbance of one run cannot be the cause of the result.
    #[serde(skip)]
    is_certain: bool,
}

/// The JSON document of `gate`.
#[derive(Serialize)]
struct Judgement {
    /// The comparison of the baseline with all probes; null if none could be made.
    #[serde(flatten)]
    comparison: Option<Comparison>,
    result: Verdict,
    conditions: Vec<Judged>,
    /// The reason why nothing could be compared.
    reason: Option<String>,
    /// The time that the probes took.
    seconds: f64,
}

/// Runs the command. Returns `true` if no condition holds.
///
/// # Errors
/// When the machine cannot be probed, a condition could not be decided, or the output cannot be
/// written.
pub fn run(args: &GateArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let outputs = prepare_outputs(&args.output)?;
    let judgement = match judge(args) {
        Err(CommandError::Undecided(why)) => Judgement {
            comparison: None,
            result: Verdict::Undecided,
            conditions: Vec::new(),
            reason: Some(why),
            seconds: 0.0,
        },
        judgement => judgement?,
    };
    let document = Document::new(&judgement).line(judgement.line());
    emit(&document, outputs, output)?;
    match judgement.result {
        Verdict::Passed => Ok(true),
        Verdict::Failed => Ok(false),
        Verdict::Undecided => Err(CommandError::Undecided(
            "not everything could be decided".to_owned(),
        )),
    }
}

/// Probes this machine until all conditions are decided or the time budget is spent.
fn judge(args: &GateArgs) -> Result<Judgement, CommandError> {
    let old = native_baseline(args)?;
    let mut ids: Vec<String> = Vec::new();
    for row in old.iter().flat_map(|run| &run.timers) {
        if !ids.contains(&row.id) {
            ids.push(row.id.clone());
        }
    }
    for condition in &args.fail_if {
        check_timers(condition, ids.iter().map(String::as_str))?;
    }
    ids.retain(|id| timers::find(id).is_some());
    let usual = if args.fail_if.is_empty() {
        conditions_on_usual_clock(&old[0])?
    } else {
        Vec::new()
    };
    let seconds = || timers::kernel_time().unwrap_or_default() as f64 / 1e9;
    let (began, budget_s) = (seconds(), args.budget.unwrap_or(BUDGET_S));
    let (mut new, mut longest) = (Vec::new(), 0.0_f64);
    loop {
        let start = seconds();
        new.push(probe_like(&old[0].settings, ids.clone(), budget_s)?);
        longest = longest.max(seconds() - start);
        let [old, new]: [Vec<&Report>; 2] = [&old, &new].map(|side| side.iter().collect());
        let comparison = Comparison::between(&old, &new, &[])
            .map_err(|error| CommandError::Undecided(error.to_string()))?;
        let conditions = args.fail_if.iter().chain(&usual);
        let mut conditions: Vec<Judged> = conditions
            .map(|condition| Judged::new(condition, &comparison))
            .collect();
        if args.fail_if.is_empty() {
            conditions.push(Judged::clock_source(&comparison));
        }
        let is_decided = |judged: &Judged| match judged.result {
            Verdict::Passed => true,
            Verdict::Failed => judged.is_certain || new.len() >= CONFIRMING_RUNS,
            Verdict::Undecided => false,
        };
        let spent = seconds() - began;
        if conditions.iter().all(is_decided) || spent + longest > budget_s {
            let has = |result| conditions.iter().any(|judged| judged.result == result);
            let results = [Verdict::Failed, Verdict::Undecided].into_iter();
            return Ok(Judgement {
                comparison: Some(comparison),
                result: results.clone().find(|r| has(*r)).unwrap_or(Verdict::Passed),
                conditions,
                reason: None,
                seconds: spent,
            });
        }
    }
}

/// The runs of the baseline with their native clocks only. A baseline that cannot be compared with
/// this machine leaves the conditions undecided.
fn native_baseline(args: &GateArgs) -> Result<Vec<Report>, CommandError> {
    let undecided = |why: &str| {
        let name = args.baseline.display();
        Err(CommandError::Undecided(format!("'{name}': {why}")))
    };
    let mut open = Vec::new();
    let runs = read(&resolve(slice::from_ref(&args.baseline))?, &mut open)?;
    if let Some(why) = open.first() {
        return undecided(why);
    }
    let mut runs: Vec<Report> = runs.into_iter().map(|run| run.content).collect();
    if runs[0].provenance.kind == ProvenanceKind::Published {
        return undecided("published figures cannot be measured again");
    }
    let here = Report {
        platform: platform::identify(choose_cpu(None)?),
        ..runs[0].clone()
    };
    if let Some(why) = unlike_cpu(&runs[0], &here) {
        return undecided(&why);
    }
    for run in &mut runs {
        run.timers.retain(|row| row.runtime == "native");
        run.waits.clear();
        run.periods.clear();
    }
    let mut rows = runs.iter().flat_map(|run| &run.timers);
    if !rows.any(|row| timers::find(&row.id).is_some()) {
        return undecided(
            "it has no native clock that could be measured again: `timermeter probe --baseline NAME` stores a baseline",
        );
    }
    Ok(runs)
}

/// The default conditions on the clock that is recommended for the baseline.
fn conditions_on_usual_clock(baseline: &Report) -> Result<Vec<Condition>, CommandError> {
    let choice = choose_usual(baseline, None).ok();
    let picked = choice.and_then(|choice| choice.picked).ok_or_else(|| {
        CommandError::Undecided(
            "no clock of the baseline can be recommended: give a condition with --fail-if"
                .to_owned(),
        )
    })?;
    let texts = [
        format!("cost[{}]>10%", picked.id),
        format!("trust[{}]<0", picked.id),
    ];
    let conditions = texts.iter().map(|text| text.parse().map_err(failed));
    conditions.collect()
}

impl Judged {
    /// Decides a condition of the user.
    fn new(condition: &Condition, comparison: &Comparison) -> Self {
        let decision = condition.decide(comparison);
        let mut figures = condition.figures(comparison);
        let change = figures
            .next()
            .filter(|_| figures.next().is_none())
            .map(Compared::written_difference);
        let (result, in_words, evidence) = match decision {
            Decision::Fails => (Verdict::Passed, "does not hold", change),
            Decision::Holds(why) => (Verdict::Failed, "holds", change.or(Some(why))),
            Decision::Open(why) => (Verdict::Undecided, "is undecided", Some(why)),
        };
        let condition = condition.text().to_owned();
        let why = evidence.iter().map(|why| format!(" ({why})"));
        Self {
            sentence: format!("{condition} {in_words}{}", why.collect::<String>()),
            condition,
            result,
            evidence,
            is_certain: false,
        }
    }

    /// Decides whether the kernel changed to a more expensive clock source.
    fn clock_source(comparison: &Comparison) -> Self {
        let mut changes = comparison.platform.iter();
        let fell = changes.find(|change| change.remark == Some(Remark::Fell));
        Self {
            condition: "slower clock source".to_owned(),
            result: fell.map_or(Verdict::Passed, |_| Verdict::Failed),
            evidence: fell.map(PlatformChange::to_string),
            sentence: fell.map_or_else(
                || "no slower clock source".to_owned(),
                |change| format!("slower clock source: {change}"),
            ),
            is_certain: true,
        }
    }
}

impl Judgement {
    /// The result in one line.
    fn line(&self) -> String {
        let judged = self.conditions.iter().map(|judged| &judged.sentence);
        let mut parts: Vec<String> = self.reason.iter().chain(judged).cloned().collect();
        if let Some(comparison) = &self.comparison {
            let runs = counted(comparison.runs[1], "run");
            parts.push(format!("{runs}, {:.0} s", self.seconds));
        }
        let result = match self.result {
            Verdict::Passed => "passed",
            Verdict::Failed => "failed",
            Verdict::Undecided => "undecided",
        };
        format!("gate: {result}: {}", parts.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slower_clock_source_fails_gate() {
        let judged = |remark| {
            Judged::clock_source(&Comparison {
                platform: vec![PlatformChange {
                    what: "clock source",
                    old: Some("tsc".to_owned()),
                    new: Some("hpet".to_owned()),
                    remark,
                }],
                ..Comparison::default()
            })
        };
        let fell = judged(Some(Remark::Fell));
        assert_eq!(fell.result, Verdict::Failed);
        assert!(
            fell.sentence
                .starts_with("slower clock source: tsc → hpet ("),
            "{}",
            fell.sentence
        );
        assert_eq!(judged(None).result, Verdict::Passed);
    }
}
