//! Makes the assessment of a report: which clocks can be trusted, what is wrong and who proves it, what
//! disturbed the measurement, and which clock to use. Verbs and pages print parts of it and derive
//! nothing.

mod answer;
mod blame;
mod recommendation;

pub use answer::{ClockAnswer, WAIT_NS, plan_alone};
pub use recommendation::{USUAL_DURATION, USUAL_ERROR, figures_in_words, sentences};

pub use crate::choice::waits::{RankedWait, leading as leading_waits};

use blame::Blamed;

use crate::choice::clock_row;
use estimators::findings::Facts;
use estimators::findings::machine::{PortableRead, judge};
use estimators::model::{
    Answer, Caution, Counted, Defect, DefectKind, Estimate, Family, Finding, Fit, MAX_SLEW,
    Outcome, Question, Report, Severity, Status, TimerRow, Trust, Wrong,
};

/// Makes the assessment of a report. The clocks of a part that is wrong are distrusted, and their
/// Quality becomes 0, whether or not their own measurement shows it.
pub fn assess(report: &mut Report) {
    let blamed = blame::find(report);
    let rows = report.timers.iter();
    let trusts: Vec<Option<Trust>> = rows.map(|row| trust(row, report, &blamed)).collect();
    report.assessment.wrong = blamed.into_iter().map(|(wrong, _)| wrong).collect();
    for (row, trust) in report.timers.iter_mut().zip(trusts) {
        let defect = trust.as_ref().and_then(|trust| trust.defect);
        let is_wrong = defect.is_some_and(|defect| defect.kind != DefectKind::Counts);
        if is_wrong && row.quality.is_some() {
            row.quality = Some(Estimate::exact(0.0));
        }
        row.trust = trust;
    }
    report.timers.sort_by(TimerRow::best_first);
    let findings = judge(&Facts {
        machine: Some(&report.platform),
        read: PortableRead::of(report),
        ..Facts::default()
    });
    judge_fit(report, &findings);
    let busy = disturbances(report, findings);
    let is_known = report.is_of_devices() || report.platform.load.is_some();
    report.assessment.quiet = (is_known || !busy.is_empty()).then_some(busy.is_empty());
    report.assessment.busy = busy;
    recommendation::recommend(report);
}

/// Whether the clock of this row can be trusted; `None` if nothing is known.
fn trust(row: &TimerRow, report: &Report, blamed: &[(Wrong, Blamed)]) -> Option<Trust> {
    if !row.status.has_figures() {
        return None;
    }
    let own = own_defect(row);
    let reached = blamed.iter().rev().filter_map(|(wrong, one)| {
        // Others may show the size, or the same one better.
        let is_rate = |defect: &Defect| defect.kind == DefectKind::Rate;
        let is_same = is_rate(&wrong.defect) && blame::has_rate(row, &wrong.defect);
        let is_known = own.is_some_and(|it| it.size.is_some() && !(is_same && is_rate(&it)));
        let is_certain = one.reach(row, report).filter(|_| !is_known)?;
        (is_certain || own.is_none()).then_some((is_certain, wrong))
    });
    // The first that is certain, or else the first.
    let reached = reached.max_by_key(|(is_certain, _)| *is_certain);
    let (defect, open) = match reached {
        Some((true, wrong)) => (Some(wrong.defect), None),
        Some((false, wrong)) => (None, Some(wrong.defect.kind.question())),
        None => (own, open_question(row).filter(|_| own.is_none())),
    };
    let answer = match (defect, open) {
        (Some(_), _) => Answer::No,
        (None, Some(_)) => Answer::Open,
        // Without verdicts, nothing speaks for the clock.
        (None, None) if row.verdicts.is_none() => return None,
        (None, None) => Answer::Yes,
    };
    Some(Trust {
        answer,
        open,
        defect,
        part: reached.map(|(_, wrong)| wrong.name()),
        caution: caution(row),
    })
}

/// Rate error below which a clock whose rate is found to be wrong is not described by it: half of the
/// largest slew.
const LEAST_WRONG_PPM: f64 = 0.5e6 * MAX_SLEW;

/// What the measurement of the clock itself shows to be wrong.
fn own_defect(row: &TimerRow) -> Option<Defect> {
    use DefectKind::{Counts, CpusDiffer, Jumps, Rate, StepsBack};
    let Some(verdicts) = &row.verdicts else {
        let backward = row.observations.as_ref()?.backward_steps > 0;
        return backward.then_some(Defect {
            kind: StepsBack,
            size: None,
        });
    };
    let (stable, threads) = (&verdicts.stable, &verdicts.thread_safe);
    let offset = threads.differing().map(|offset| offset.ns);
    let is_steady = stable.jumps + stable.freezes == 0;
    // Where processes differ, the usual one may be right.
    let rate = stable.offset_ppm.filter(|ppm| ppm.abs() >= LEAST_WRONG_PPM);
    let failed = |question| verdicts.answer(question).outcome == Outcome::Fail;
    let size_of_cpus = threads.largest_ns.or(offset);
    let defects = [
        (
            failed(Question::Monotonic),
            StepsBack,
            verdicts.monotonic.largest_ns,
        ),
        (
            threads.same_on_all_cpus() == Some(false),
            CpusDiffer,
            size_of_cpus,
        ),
        (failed(Question::Stable) && is_steady, Rate, rate),
        (failed(Question::Stable), Jumps, stable.largest_ns),
        (failed(Question::Counts), Counts, None),
    ];
    let (_, kind, size) = defects.into_iter().find(|(is_found, ..)| *is_found)?;
    Some(Defect { kind, size })
}

/// The question that matters most to users of this clock of those that were not tested: of CPU time, and
/// of what an agent declares, what is counted; of all clocks whether they are monotonic, thread-safe and
/// stable.
fn open_question(row: &TimerRow) -> Option<Question> {
    let verdicts = row.verdicts.as_ref()?;
    let claimed = verdicts.counts.claimed;
    let is_claim = claimed.is_some_and(|counts| counts != Counted::Wall || row.runtime != "native");
    let is_open = |question: &Question| verdicts.answer(*question).outcome == Outcome::NotTested;
    let mut open = Question::ALL.into_iter().filter(is_open);
    match is_claim && is_open(&Question::Counts) {
        true => Some(Question::Counts),
        false => open.find(|question| question.disqualifies()),
    }
}

/// What makes the clock unfit for durations, as found or declared.
fn caution(row: &TimerRow) -> Option<Caution> {
    let declared = row.properties.clone().unwrap_or_default();
    let found = row.verdicts.as_ref().and_then(|all| all.counts.found);
    let is_counter = declared.family == Some(Family::CpuCounter);
    let unordered =
        (is_counter && declared.needs_fence == Some(true)).then_some(Caution::Unordered);
    let settable = (declared.settable == Some(true)).then_some(Caution::Settable);
    let by_counts = found.or(declared.counts).and_then(Caution::of);
    by_counts.or(settable).or(unordered)
}

/// Judges whether the portable clock is fit, from what is wrong and from findings about the machine.
pub fn judge_fit(report: &mut Report, findings: &[Finding]) {
    let row = clock_row(report, PortableRead::ID);
    let trust = row.and_then(|row| row.trust.clone());
    let mut compared = report.platform.library_clocks.iter().flatten();
    let failure = compared
        .find(|it| it.id == PortableRead::ID)
        .and_then(|it| it.failure.clone());
    let failed = row.filter(|row| row.status == Status::Failed);
    let failure = failure.or_else(|| failed?.reason.clone());
    let failure = failure.map(|why| (Fit::No, why));
    let assessment = &mut report.assessment;
    let concerning = |wrong: &Wrong| {
        let is_wrong = wrong.clocks.iter().any(|id| id == PortableRead::ID);
        let trust = trust.as_ref().filter(|it| it.part == Some(wrong.name()));
        let fit = match trust {
            _ if is_wrong => Fit::No,
            Some(trust) if trust.answer == Answer::No => Fit::No,
            Some(_) => Fit::Unknown,
            None => return None,
        };
        Some((fit, format!("{} {}", wrong.name(), wrong.defect.in_words())))
    };
    let wrong = assessment.wrong.iter().filter_map(concerning);
    let found = findings
        .iter()
        .filter_map(|it| match (&*it.code, it.severity) {
            ("clock-source" | "read-cost", Severity::Problem) => Some((Fit::No, it.message())),
            ("clock-source" | "read-cost", Severity::Unknown) | ("ntp", Severity::Problem) => {
                Some((Fit::Unknown, it.message()))
            }
            _ => None,
        });
    let (fits, reasons): (Vec<Fit>, Vec<String>) =
        failure.into_iter().chain(wrong).chain(found).unzip();
    assessment.fit = fits.into_iter().min().unwrap_or(Fit::Yes);
    assessment.fit_reason = reasons.join("; ");
}

/// What disturbed the machine while the report was made, of findings about the machine and the run.
fn disturbances(report: &Report, mut found: Vec<Finding>) -> Vec<Finding> {
    const DISTURBING: [&str; 3] = ["load", "steal", "shared-machine"];
    if report.is_of_devices() {
        return Vec::new();
    }
    found.extend(report.findings.clone());
    found.retain(|it| DISTURBING.contains(&&*it.code) && it.severity <= Severity::Note);
    found
}
