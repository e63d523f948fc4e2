//! Machines whose clocks are wrong in a known way: kept reports, with the verdicts that a wrong part
//! would cause.

use std::collections::BTreeSet;

use estimators::model::{Answer, Defect, DefectKind, Load, Outcome, Question, Report, TimerRow};
use rand::prelude::{IndexedRandom, RngExt};
use rand::rngs::StdRng;
use reporting::report::read;
use timers::parts::{Part, made_of};

use super::BASES;

/// A report with what was forged.
pub struct Machine {
    pub report: Report,
    /// In words, for messages.
    pub truth: String,
    /// The part that is wrong, and how; `None` if all is right, or if two clocks disagree.
    pub wrong: Option<(Part, Defect)>,
    /// Clocks that cannot be trusted.
    pub distrusted: BTreeSet<String>,
    /// Clocks that may be wrong.
    pub open: BTreeSet<String>,
    pub busy: bool,
}

/// The functions of the C library that are drawn.
const CALLS: [&str; 6] = [
    "CLOCK_MONOTONIC",
    "CLOCK_REALTIME",
    "CLOCK_MONOTONIC_RAW",
    "CLOCK_BOOTTIME",
    "gettimeofday()",
    "time()",
];

/// Clocks of this program that may be wrong by themselves.
const OWN: [&str; 3] = [
    "quanta's calibration",
    "quanta-raw",
    "rdtsc without a fence",
];

/// The parts of the clock of a row, on a kernel that takes its time from the counter.
pub fn parts(row: &TimerRow) -> Vec<Part> {
    let mut parts = made_of(&row.id).to_vec();
    if parts.contains(&Part::Source) {
        parts.push(Part::Counter);
    }
    parts
}

/// A kept report, of a quiet machine, of the clocks in which nothing is wrong.
fn sound(random: &mut StdRng) -> Report {
    let file = BASES.choose(random).unwrap();
    let mut report = read(file.as_ref()).unwrap_or_else(|error| panic!("{error}"));
    report.timers.retain(|row| {
        let is_sound = row.trust.as_ref().is_some_and(|it| it.answer != Answer::No);
        is_sound && row.status.has_figures()
    });
    report.findings.clear();
    report.platform.steal_share = Some(0.0);
    report
}

/// Makes the verdict on a row show a defect.
fn fail(row: &mut TimerRow, defect: Defect) {
    let size = defect.size;
    let verdicts = row.verdicts.as_mut().unwrap();
    let stable = &mut verdicts.stable;
    match defect.kind {
        DefectKind::Rate => {
            (stable.outcome, stable.offset_ppm) = (Outcome::Fail, size);
            stable.offset_uncertainty_ppm = Some(1.0);
        }
        DefectKind::Jumps => {
            (stable.outcome, stable.jumps, stable.largest_ns) = (Outcome::Fail, 1, size);
        }
        DefectKind::StepsBack => {
            (verdicts.monotonic.outcome, verdicts.monotonic.largest_ns) = (Outcome::Fail, size);
        }
        DefectKind::CpusDiffer => {
            let found = &mut verdicts.thread_safe;
            (found.outcome, found.backward_steps, found.largest_ns) = (Outcome::Fail, 9, size);
        }
        DefectKind::Counts | DefectKind::Offset => unreachable!("it is not drawn"),
    }
}

/// Makes the verdicts on a row say that nothing was tested.
fn forget(row: &mut TimerRow) {
    let verdicts = row.verdicts.as_mut().unwrap();
    verdicts.monotonic.outcome = Outcome::NotTested;
    verdicts.thread_safe.outcome = Outcome::NotTested;
    (verdicts.stable.outcome, verdicts.stable.offset_ppm) = (Outcome::NotTested, None);
}

/// A rate from 1500 ppm to 5 %, fast or slow; at times a clock that stands still, runs backwards, or a
/// thousand times too fast.
fn rate(random: &mut StdRng) -> Defect {
    const EXTREMES: [f64; 3] = [-1e6, -2e6, 999e6];
    let ppm = random.random_range(1_500_f64.ln()..50_000_f64.ln()).exp();
    let sign = if random.random() { 1.0 } else { -1.0 };
    let ppm = match random.random_range(0..12) {
        at @ 0..3 => EXTREMES[at],
        _ => sign * ppm.round(),
    };
    Defect {
        kind: DefectKind::Rate,
        size: Some(ppm),
    }
}

/// A rate or another defect.
fn defect(random: &mut StdRng) -> Defect {
    use DefectKind::{CpusDiffer, Jumps, Rate, StepsBack};
    let kinds = [Rate, Rate, Jumps, StepsBack, CpusDiffer];
    match *kinds.choose(random).unwrap() {
        Rate => rate(random),
        kind => Defect {
            kind,
            size: Some(random.random_range(1e3..1e7)),
        },
    }
}

/// Draws a machine.
pub fn draw(random: &mut StdRng) -> Machine {
    let mut report = sound(random);
    let busy = random.random();
    report.platform.load = Some(Load {
        one_minute: if busy { 7.3 } else { 0.0 },
    });
    let mut machine = Machine {
        report,
        truth: "all is right".to_owned(),
        wrong: None,
        distrusted: BTreeSet::new(),
        open: BTreeSet::new(),
        busy,
    };
    let mut found = defect(random);
    // In this program only; a preloaded library changes all.
    let mut is_own = false;
    let part = match random.random_range(0..9) {
        0 => return machine,
        1 | 2 => {
            is_own = random.random();
            if !is_own {
                machine.report.platform.preloaded = vec!["/opt/lib/shim.so".to_owned()];
            }
            Part::Call(CALLS.choose(random).unwrap())
        }
        3 => Part::Clock(CALLS[random.random_range(0..2)]),
        4 => {
            found = rate(random);
            Part::Rate
        }
        5 => Part::Source,
        6 => {
            // The counter is the reference: its rate is what the kernel's clock says, and a jump is
            // of all clocks alike.
            if found.kind.question() == Question::Stable {
                found.kind = DefectKind::StepsBack;
            }
            Part::Counter
        }
        7 => Part::Own(OWN.choose(random).unwrap()),
        _ => return two_witnesses(machine, random),
    };
    show(&mut machine, part, found, random, is_own);
    machine
}

/// Forges the verdicts on the clocks made of a part, in all processes or, if `is_own`, in those of this program. Some of them were
/// not tested.
fn show(machine: &mut Machine, part: Part, found: Defect, random: &mut StdRng, is_own: bool) {
    // A clock that was not tested leaves another with the same parts to show what is wrong.
    let mut shown = BTreeSet::new();
    // quanta takes the rate and the time of another clock once.
    let is_taken_once = |parts: &[Part]| {
        parts.contains(&Part::Own("quanta's calibration"))
            && !matches!(part, Part::Own(_) | Part::Counter)
    };
    let is_compared = found.kind.question() == Question::Stable;
    for row in &mut machine.report.timers {
        let parts = parts(row);
        let untested = random.random_range(0..5) == 0;
        let was_right = is_taken_once(&parts) && found.kind != DefectKind::Rate;
        if !parts.contains(&part) || was_right {
            continue;
        }
        // What is compared with a clock that is wrong too shows nothing.
        let is_blind = is_compared && reference(row).is_some_and(|id| made_of(&id).contains(&part));
        if is_own && row.agent().is_some() {
            // The C library of another process may be another one.
            if untested {
                forget(row);
            }
            if untested || is_blind {
                machine.open.insert(row.id.clone());
            }
            continue;
        }
        if is_blind || untested && shown.contains(&parts) {
            forget(row);
        } else {
            fail(row, found);
            shown.insert(parts);
        }
        machine.distrusted.insert(row.id.clone());
    }
    if !machine.distrusted.is_empty() {
        machine.truth = format!("{part:?}: {found:?}");
        machine.wrong = Some((part, found));
    }
}

/// The clock that a clock was compared with.
fn reference(row: &TimerRow) -> Option<String> {
    let id = &row.cost.as_ref()?.reference;
    let agent = row.agent().map(|agent| format!("{agent}:"));
    Some(agent.unwrap_or_default() + id)
}

/// Only two clocks were measured, and they disagree.
fn two_witnesses(mut machine: Machine, random: &mut StdRng) -> Machine {
    let found = rate(random);
    let timers = &mut machine.report.timers;
    timers.retain(|row| ["monotonic", "rdtsc-lfence"].contains(&&*row.id));
    for row in timers.iter_mut().filter(|row| row.id == "monotonic") {
        fail(row, found);
        machine.distrusted.insert(row.id.clone());
    }
    machine.truth = "monotonic and rdtsc-lfence disagree".to_owned();
    machine
}
