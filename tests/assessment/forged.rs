//! Machines whose clocks are wrong in a known way: kept reports, with the verdicts that a wrong part
//! would cause.

use std::collections::BTreeSet;

use estimators::model::{
    Answer, Defect, DefectKind, Estimate, LibraryClock, Load, Outcome, Question, Report, TimerRow,
};
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
    /// The report before anything was forged.
    pub before: Report,
}

/// The functions of the C library that are drawn, and the clock that is compared with its system call.
const CALLS: [(&str, Option<&str>); 6] = [
    ("CLOCK_MONOTONIC", Some("monotonic")),
    ("CLOCK_REALTIME", Some("realtime")),
    ("CLOCK_MONOTONIC_RAW", Some("monotonic-raw")),
    ("CLOCK_BOOTTIME", Some("boottime")),
    ("gettimeofday()", Some("gettimeofday")),
    ("time()", None),
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
    let file = BASES.choose(random).expect("there are reports");
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
    let verdicts = row.verdicts.as_mut().expect("it has verdicts");
    let stable = &mut verdicts.stable;
    match defect.kind {
        DefectKind::Rate => {
            (stable.outcome, stable.offset_ppm) = (Outcome::Fail, size);
            stable.offset_uncertainty_ppm = Some(1.0);
            // The kernel's limit for its own corrections.
            if size.is_some_and(|ppm| ppm.abs() <= 1e3) {
                stable.outcome = Outcome::Pass;
            }
        }
        DefectKind::Jumps => {
            (stable.outcome, stable.jumps, stable.largest_ns) = (Outcome::Fail, 1, size);
        }
        DefectKind::StepsBack => {
            (verdicts.monotonic.outcome, verdicts.monotonic.largest_ns) = (Outcome::Fail, size);
        }
        DefectKind::CpusDiffer => {
            verdicts.thread_safe.outcome = Outcome::Fail;
            (
                verdicts.thread_safe.backward_steps,
                verdicts.thread_safe.largest_ns,
            ) = (9, size);
        }
        DefectKind::Counts => verdicts.counts.outcome = Outcome::Fail,
        DefectKind::Offset => {}
    }
}

/// Makes the verdicts on a row say that nothing was tested.
fn forget(row: &mut TimerRow) {
    let verdicts = row.verdicts.as_mut().expect("it has verdicts");
    for outcome in [
        &mut verdicts.monotonic.outcome,
        &mut verdicts.thread_safe.outcome,
        &mut verdicts.stable.outcome,
    ] {
        *outcome = Outcome::NotTested;
    }
    verdicts.stable.offset_ppm = None;
}

/// A rate from 20 ppm to 5 %, fast or slow.
fn rate(random: &mut StdRng, least_ppm: f64) -> Defect {
    let ppm = (random.random_range(least_ppm.ln()..50_000_f64.ln())).exp();
    let sign = if random.random() { 1.0 } else { -1.0 };
    Defect {
        kind: DefectKind::Rate,
        size: Some(sign * ppm.round()),
    }
}

/// A rate that the verdict on a clock alone shows, or another defect.
fn defect(random: &mut StdRng) -> Defect {
    use DefectKind::{CpusDiffer, Jumps, Rate, StepsBack};
    let kind = *[Rate, Rate, Jumps, StepsBack, CpusDiffer]
        .choose(random)
        .expect("there are kinds");
    match kind {
        Rate => rate(random, 1_500.0),
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
        before: report.clone(),
        report,
        truth: "all is right".to_owned(),
        wrong: None,
        distrusted: BTreeSet::new(),
        open: BTreeSet::new(),
        busy,
    };
    match random.random_range(0..9) {
        0 => {}
        1 | 2 => wrong_call(&mut machine, random),
        3 => {
            let clock = ["CLOCK_MONOTONIC", "CLOCK_REALTIME"].choose(random);
            wrong_part(&mut machine, Part::Clock(clock.expect("a clock")), random);
        }
        4 => wrong_part(&mut machine, Part::Rate, random),
        5 => wrong_part(&mut machine, Part::Source, random),
        6 => wrong_part(&mut machine, Part::Counter, random),
        7 => {
            let own = [
                "quanta's calibration",
                "quanta-raw",
                "rdtsc without a fence",
            ]
            .choose(random);
            wrong_part(&mut machine, Part::Own(own.expect("a clock")), random);
        }
        _ => two_witnesses(&mut machine, random),
    }
    machine
}

/// A part that all processes share is wrong. Some of the clocks made of it were not tested.
fn wrong_part(machine: &mut Machine, part: Part, random: &mut StdRng) {
    let mut found = defect(random);
    // The counter is the reference: its rate is what the kernel's clock says, and a jump is of all
    // clocks alike.
    if part == Part::Counter && matches!(found.kind, DefectKind::Rate | DefectKind::Jumps) {
        found.kind = DefectKind::StepsBack;
    }
    if part == Part::Rate {
        found = rate(random, 1_500.0);
    }
    show(machine, part, found, random, |_| true);
}

/// A function of the C library is wrong, in this program, or by a preloaded library in all.
fn wrong_call(machine: &mut Machine, random: &mut StdRng) {
    let (call, compared) = *CALLS.choose(random).expect("there are calls");
    let is_preloaded = random.random();
    if is_preloaded {
        machine.report.platform.preloaded = vec!["/opt/lib/shim.so".to_owned()];
    }
    let is_compared = compared.is_some() && random.random();
    let mut found = if is_compared {
        rate(random, 20.0)
    } else {
        defect(random)
    };
    if let Some(id) = compared.filter(|_| is_compared) {
        let is_offset = random.random_range(0..4) == 0;
        let size = found.size.unwrap_or_default();
        machine.report.platform.library_clocks = Some(
            CALLS
                .iter()
                .filter_map(|(_, compared)| *compared)
                .map(|one| LibraryClock {
                    id: one.to_owned(),
                    rate_ppm: Some(Estimate::around(
                        if one == id && !is_offset { size } else { 0.0 },
                        3.0,
                    )),
                    offset_ns: Some(Estimate::around(
                        if one == id { 1e3 * size } else { 0.0 },
                        50.0,
                    )),
                    failure: None,
                })
                .collect(),
        );
        if is_offset {
            found = Defect {
                kind: DefectKind::Offset,
                size: Some(1e3 * size),
            };
        }
    }
    show(machine, Part::Call(call), found, random, |row| {
        is_preloaded || row.agent().is_none()
    });
}

/// Forges the verdicts on the clocks made of a part, in processes that have it.
fn show(
    machine: &mut Machine,
    part: Part,
    found: Defect,
    random: &mut StdRng,
    is_shared: impl Fn(&TimerRow) -> bool,
) {
    // A clock that was not tested leaves another with the same parts to show what is wrong.
    let mut shown = BTreeSet::new();
    // quanta takes the rate and the time of another clock once.
    let is_taken_once = |parts: &[Part]| {
        parts.contains(&Part::Own("quanta's calibration"))
            && !matches!(part, Part::Own(_) | Part::Counter)
    };
    let stays = matches!(found.kind, DefectKind::Rate | DefectKind::Offset);
    for row in &mut machine.report.timers {
        let parts = parts(row);
        let untested = random.random_range(0..5) == 0;
        if !parts.contains(&part) || (is_taken_once(&parts) && !stays) {
            continue;
        }
        let is_shown =
            found.size.is_some_and(|size| size.abs() > 1e3) && found.kind != DefectKind::Offset;
        // What is compared with a clock that is wrong too shows nothing.
        let is_blind =
            is_compared(found) && reference(row).is_some_and(|id| made_of(&id).contains(&part));
        match is_shared(row) {
            true if is_blind && is_shown => forget(row),
            true if is_blind => {}
            true if untested && (shown.contains(&parts) || !is_shown) => forget(row),
            true => {
                fail(row, found);
                shown.insert(parts);
            }
            // The C library of another process may be another one.
            false if untested || is_blind || found.kind == DefectKind::Offset => {
                if untested {
                    forget(row);
                }
                machine.open.insert(row.id.clone());
                continue;
            }
            false => continue,
        }
        machine.distrusted.insert(row.id.clone());
    }
    if !machine.distrusted.is_empty() {
        machine.truth = format!("{part:?}: {found:?}");
        machine.wrong = Some((part, found));
    }
}

/// Whether a clock shows the defect only to another clock.
fn is_compared(found: Defect) -> bool {
    found.kind.question() == Question::Stable
}

/// The clock that a clock was compared with.
fn reference(row: &TimerRow) -> Option<String> {
    let id = &row.cost.as_ref()?.reference;
    Some(
        row.agent()
            .map_or(id.clone(), |agent| format!("{agent}:{id}")),
    )
}

/// Only two clocks were measured, and they disagree.
fn two_witnesses(machine: &mut Machine, random: &mut StdRng) {
    let found = rate(random, 1_500.0);
    let timers = &mut machine.report.timers;
    timers.retain(|row| ["monotonic", "rdtsc-lfence"].contains(&&*row.id));
    for row in timers.iter_mut().filter(|row| row.id == "monotonic") {
        fail(row, found);
        machine.distrusted.insert(row.id.clone());
    }
    machine.truth = "monotonic and rdtsc-lfence disagree".to_owned();
}
