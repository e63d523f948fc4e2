//! Finds the parts of clocks that are wrong. A clock that passes clears its parts. Of the parts left of
//! clocks that fail, the one that most of them share is to blame, and its defect passes to all clocks made of it. If
//! a clock of the C library differs from its system call, the library's function is to blame.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use timers::clock_sources;
use timers::parts::{Part, made_of};

use super::own_defect;
use crate::choice::clock_row;
use estimators::findings::machine::library_defect;
use estimators::model::{Counted, Defect, DefectKind, Outcome, Question, Report, TimerRow, Wrong};

/// The largest number of witnesses that are named.
const MOST_WITNESSES: usize = 3;
/// The ids of the strongest witnesses.
const STRONGEST: [&str; 4] = [
    "monotonic-syscall",
    "monotonic-raw",
    "monotonic-raw-syscall",
    "rdtsc",
];

/// A part, and the agent in whose process it is: a function of the C library is another one in each
/// process, unless a library is preloaded into all. `None` for this process, and for what all share.
type Piece = (Part, Option<String>);
type Pieces = BTreeSet<Piece>;

/// Parts of which one is wrong, or may be.
pub(super) struct Blamed {
    /// Ids of the clocks that show it, the best known first.
    clocks: Vec<String>,
    defect: Defect,
    /// The parts that no clock has which passes; empty if none is left, or none is known.
    suspects: Pieces,
    /// Whether the comparison with the system call shows it.
    by_call: bool,
}

impl Blamed {
    /// Whether the clock of a row, which does not itself show the defect, has it: `Some(true)` if it is
    /// made of all that is suspected, `Some(false)` if it may be, `None` if it is not concerned or passes. That
    /// of two clocks of the same parts one passes is chance.
    pub fn reach(&self, row: &TimerRow, report: &Report) -> Option<bool> {
        let own = parts(&row.id, report);
        let is_suspect = |own: &&Piece| self.suspects.iter().any(|(part, _)| *part == own.0);
        let concerned: Pieces = own.iter().filter(is_suspect).cloned().collect();
        let is_clear = own != parts(&self.clocks[0], report)
            && passes(row, &self.defect)
            && concerned.is_subset(&shown(row, &self.defect, report));
        (!concerned.is_empty() && !is_clear).then(|| self.is_in(&row.id, report))
    }

    /// Whether the clock with this id is made of all that is suspected.
    fn is_in(&self, id: &str, report: &Report) -> bool {
        !self.suspects.is_empty() && self.suspects.is_subset(&parts(id, report))
    }

    /// What is wrong, and who proves it.
    fn wrong(&self, report: &Report) -> Wrong {
        let parts: Vec<&Part> = self.suspects.iter().map(|(part, _)| part).collect();
        let cause = report.platform.preloads();
        let cause = cause.filter(|_| matches!(parts[..], [Part::Call(_)]));
        Wrong {
            parts: match parts.is_empty() {
                true => self.clocks[..1].to_vec(),
                false => parts.into_iter().map(Part::to_string).collect(),
            },
            defect: self.defect,
            clocks: self.clocks.clone(),
            witnesses: self.witnesses(report),
            cause,
        }
    }

    /// Native clocks that count the same, pass and lack what is suspected: its system call,
    /// CLOCK_MONOTONIC_RAW, the counter, then the others; of clocks that only differ in the function that
    /// reads them, the first.
    fn witnesses(&self, report: &Report) -> Vec<String> {
        let counts = |row: &TimerRow| row.properties.as_ref()?.counts;
        let counted = clock_row(report, &self.clocks[0]).map_or(Some(Counted::Wall), counts);
        let witness = |row: &TimerRow| {
            let own = parts(&row.id, report);
            let is_like = row.agent().is_none() && counts(row) == counted;
            let lacks_it = !own.is_empty() && own.is_disjoint(&self.suspects);
            let is_one = is_like && lacks_it && passes(row, &self.defect);
            let rank = STRONGEST.iter().position(|id| *id == row.id);
            is_one.then(|| (rank.unwrap_or(STRONGEST.len()), row.id.clone()))
        };
        let found: BTreeSet<_> = report.timers.iter().filter_map(witness).collect();
        let mut seen = BTreeSet::new();
        let mut is_new = |id: &String| {
            let mut own = parts(id, report);
            own.retain(|(part, _)| !matches!(part, Part::Call(_) | Part::Own(_)));
            seen.insert(own)
        };
        let by_call = self.by_call && is_new(&self.clocks[0]);
        let call = by_call.then(|| "its system call".to_owned());
        let others = found.into_iter().map(|(_, id)| id).filter(is_new);
        call.into_iter()
            .chain(others)
            .take(MOST_WITNESSES)
            .collect()
    }
}

/// The parts of the clock with this id, as far as known.
fn parts(id: &str, report: &Report) -> Pieces {
    let platform = &report.platform;
    let agent = id.split_once(':').map(|(agent, _)| agent.to_owned());
    let process = agent.filter(|_| platform.preloaded.is_empty());
    let piece = |part: &Part| match part {
        Part::Call(_) => (*part, process.clone()),
        _ => (*part, None),
    };
    let is_known = platform.os.family == "linux";
    let known = made_of(id).iter().filter(|_| is_known);
    let mut pieces: Pieces = known.map(piece).collect();
    let source = platform.clocksource.current.as_deref();
    if pieces.contains(&(Part::Source, None)) && source.is_some_and(clock_sources::reads_counter) {
        pieces.insert((Part::Counter, None));
    }
    pieces
}

/// The parts of the clock of a row of which its measurement shows whether they have a defect: only those
/// that the clock that it was compared with lacks, unless the question needs no other clock.
fn shown(row: &TimerRow, defect: &Defect, report: &Report) -> Pieces {
    let own = parts(&row.id, report);
    match &row.cost {
        Some(cost) if defect.kind.question() == Question::Stable => {
            let agent = row.agent().map(|agent| format!("{agent}:"));
            let prefix = agent.unwrap_or_default();
            &own - &parts(&format!("{prefix}{}", cost.reference), report)
        }
        _ => own,
    }
}

/// Whether the measured rate of a clock may be that of a defect.
pub(super) fn has_rate(row: &TimerRow, defect: &Defect) -> bool {
    let stable = row.verdicts.as_ref().map(|all| &all.stable);
    let rate = stable.and_then(|it| it.offset_ppm.zip(it.offset_uncertainty_ppm));
    let rates = rate.zip(defect.size);
    rates.is_some_and(|((own, half), ppm)| (ppm - own).abs() <= half.max(0.1 * ppm.abs()))
}

/// Whether the clock of a row was found not to have this defect; its own measurement shows no offset.
fn passes(row: &TimerRow, defect: &Defect) -> bool {
    let verdicts = row.verdicts.as_ref();
    let outcome = verdicts.map(|all| all.answer(defect.kind.question()).outcome);
    match defect.kind {
        DefectKind::Offset => false,
        DefectKind::Rate if has_rate(row, defect) => false,
        // Of a clock of CPU time only jumps are tested.
        DefectKind::Jumps if outcome == Some(Outcome::NotApplicable) => true,
        _ => outcome == Some(Outcome::Pass),
    }
}

/// Finds what is wrong with the clocks of a report: first what comparisons with system calls show, then
/// what clocks show of which few parts can be wrong.
pub(super) fn find(report: &Report) -> Vec<(Wrong, Blamed)> {
    // Reversed, because the last of equals is the first that is blamed: the best clock.
    let failing = report.timers.iter().rev().filter_map(|row| {
        let defect = own_defect(row)?;
        Some(Blamed {
            clocks: vec![row.id.clone()],
            defect,
            suspects: suspects(row, &defect, report),
            by_call: false,
        })
    });
    let mut failures: Vec<Blamed> = failing.collect();
    failures.sort_by_key(|one| Reverse((one.suspects.is_empty(), one.suspects.len())));
    let compared = report.platform.library_clocks.iter().flatten().rev();
    failures.extend(compared.filter_map(|clock| {
        Some(Blamed {
            clocks: vec![clock.id.clone()],
            defect: library_defect(clock)?,
            suspects: call(&clock.id),
            by_call: true,
        })
    }));
    let mut found = Vec::new();
    while let Some(mut one) = failures.pop() {
        // What the clocks that fail alike share, as far as they share anything.
        for other in &failures {
            let both = &one.suspects & &other.suspects;
            if one.defect.is_like(&other.defect) && !both.is_empty() {
                one.suspects = both;
            }
        }
        let explained = failures.extract_if(.., |other| one.is_in(&other.clocks[0], report));
        let clocks = explained.flat_map(|other| other.clocks);
        let clocks: Vec<String> = clocks.filter(|id| *id != one.clocks[0]).collect();
        one.clocks.extend(clocks.into_iter().rev());
        found.push((one.wrong(report), one));
    }
    found
}

/// The function of the C library by which this program reads a clock that is compared with its system
/// call.
fn call(id: &str) -> Pieces {
    made_of(id)
        .iter()
        .take(1)
        .map(|part| (*part, None))
        .collect()
}

/// The parts of a failing clock that are not cleared by another one that passes, or by the comparison
/// with the system call. A clock that has a part of its own clears no others: it may correct them.
fn suspects(row: &TimerRow, defect: &Defect, report: &Report) -> Pieces {
    let all = shown(row, defect, report);
    let mut left = all.clone();
    for other in &report.timers {
        let cleared = shown(other, defect, report);
        let is_own = |(part, _): &Piece| matches!(part, Part::Own(_));
        if passes(other, defect) && cleared != all && !cleared.iter().any(is_own) {
            left = &left - &cleared;
        }
    }
    for clock in report.platform.library_clocks.iter().flatten() {
        let is_same = clock.rate_ppm.is_some() && library_defect(clock).is_none();
        if is_same && defect.kind == DefectKind::Rate {
            left = &left - &call(&clock.id);
        }
    }
    left
}
