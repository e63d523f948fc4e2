//! Finds the parts of clocks that are wrong. A clock that passes clears its parts; of those left, the
//! one that explains most failures of a like kind and size is to blame. If clocks of the C library
//! differ from their system calls, its functions are.

use std::collections::BTreeSet;

use timers::clock_sources;
use timers::parts::{Part, made_of};

use super::own_defect;
use crate::choice::clock_row;
use crate::findings::machine::library_defect;
use crate::model::{
    Counted, Defect, DefectKind, LibraryClock, Outcome, Question, Report, TimerRow, Verdicts, Wrong,
};

/// The system call of a clock as a witness.
const SYSTEM_CALL: &str = "its system call";

/// The largest number of witnesses that are named.
const MOST_WITNESSES: usize = 3;

/// Parts of which one is wrong.
pub(super) struct Blamed {
    pub wrong: Wrong,
    /// Empty if no part of the clock that showed it can be wrong, or none is known.
    suspects: BTreeSet<Part>,
    /// The agent whose C library is wrong; `None` for that of this program.
    agent: Option<String>,
    /// All parts of the clock that showed it; `None` if its comparison with the system call did, which
    /// is finer than any measurement of the clock alone.
    shown_by: Option<BTreeSet<Part>>,
}

/// A clock that fails.
struct Failure<'a> {
    row: &'a TimerRow,
    defect: Defect,
    all: BTreeSet<Part>,
    /// The parts that no clock has which passes.
    suspects: BTreeSet<Part>,
}

impl Blamed {
    /// Whether the clock of a row, which does not itself show the defect, has it: `Some(true)` if it is
    /// made of all that is suspected, `Some(false)` if it may be, `None` if it is not concerned.
    pub fn reach(&self, row: &TimerRow, report: &Report) -> Option<bool> {
        let parts = parts(row, report);
        let is_own = self.agent.as_deref() == row.agent() || !has_call(&self.suspects);
        let has = |part: &Part| parts.contains(part);
        let has_all = !self.suspects.is_empty() && self.suspects.iter().all(has);
        let is_same = is_own && self.shown_by.as_ref().is_none_or(|all| *all == parts);
        let shown = shown(row, &self.wrong.defect, report);
        let is_shown = |part: &Part| !has(part) || shown.contains(part);
        let passed = passes(row, &self.wrong.defect) && self.suspects.iter().all(is_shown);
        match passed {
            true => (has_all && is_same).then_some(true),
            false if has_all => Some(is_own || !report.platform.preloaded.is_empty()),
            false => self.suspects.iter().any(has).then_some(false),
        }
    }

    /// Adds a failure to what this explains; `false` if this does not explain it.
    fn explains(&mut self, failure: &Failure, report: &Report) -> bool {
        let is_near = !has_call(&self.suspects)
            || is_shared(self.agent.as_deref(), failure.row.agent(), report);
        let is_known = is_near
            && !self.suspects.is_empty()
            && self.suspects.is_subset(&failure.all)
            && (is_like(&self.wrong.defect, failure) || self.suspects == failure.suspects);
        if is_known {
            self.wrong.clocks.push(failure.row.id.clone());
        }
        is_known
    }
}

/// Whether a function of the C library is among the parts, which differs between processes.
fn has_call(parts: &BTreeSet<Part>) -> bool {
    parts.iter().any(|part| matches!(part, Part::Call(_)))
}

/// Whether two processes have the same C library, as far as known: they do if a library is preloaded
/// into both.
fn is_shared(one: Option<&str>, other: Option<&str>, report: &Report) -> bool {
    one == other || !report.platform.preloaded.is_empty()
}

/// Whether a clock fails as this defect would make it fail.
fn is_like(defect: &Defect, failure: &Failure) -> bool {
    let is_rate_alike = match (defect.kind, defect.size) {
        (DefectKind::Rate, Some(ppm)) if failure.defect.size.is_some() => is_rate(failure.row, ppm),
        _ => true,
    };
    defect.kind == failure.defect.kind && is_rate_alike
}

/// Whether the measured rate of a clock may be this one, in ppm.
fn is_rate(row: &TimerRow, ppm: f64) -> bool {
    let stable = row.verdicts.as_ref().map(|all| &all.stable);
    let rate = stable.and_then(|it| it.offset_ppm.zip(it.offset_uncertainty_ppm));
    rate.is_some_and(|(own, half)| (ppm - own).abs() <= half.max(0.1 * ppm.abs()))
}

/// The parts of the clock of a row, as far as known.
fn parts(row: &TimerRow, report: &Report) -> BTreeSet<Part> {
    match row.device {
        Some(_) => BTreeSet::new(),
        None => parts_of(&row.id, report),
    }
}

fn parts_of(id: &str, report: &Report) -> BTreeSet<Part> {
    let platform = &report.platform;
    if platform.os.family != "linux" {
        return BTreeSet::new();
    }
    let mut parts: BTreeSet<Part> = made_of(id).iter().copied().collect();
    let source = platform.clocksource.current.as_deref();
    if parts.contains(&Part::Source) && source.is_some_and(clock_sources::reads_counter) {
        parts.insert(Part::Counter);
    }
    parts
}

/// The parts of the clock of a row that its comparison with its reference says something about: not
/// those that both have. Whether it steps back shows without a reference.
fn shown(row: &TimerRow, defect: &Defect, report: &Report) -> BTreeSet<Part> {
    let mut shown = parts(row, report);
    let costs = row.cost.as_ref();
    if let Some(id) = costs.map(|cost| &cost.reference)
        && defect.kind.question() == Question::Stable
    {
        let id = row
            .agent()
            .map_or(id.clone(), |agent| format!("{agent}:{id}"));
        let reference = parts_of(&id, report);
        shown.retain(|part| !reference.contains(part));
    }
    shown
}

/// Whether the clock of a row was found not to have this defect; its own measurement shows no offset.
fn passes(row: &TimerRow, defect: &Defect) -> bool {
    let answer = |all: &Verdicts| all.answer(defect.kind.question()).outcome;
    let has_rate =
        defect.kind == DefectKind::Rate && defect.size.is_some_and(|ppm| is_rate(row, ppm));
    let is_shown = defect.kind != DefectKind::Offset && !has_rate;
    // Of a clock of CPU time only jumps are tested.
    let is_tested = match row.verdicts.as_ref().map(answer) {
        Some(Outcome::NotApplicable) => defect.kind == DefectKind::Jumps,
        outcome => outcome == Some(Outcome::Pass),
    };
    is_tested && is_shown
}

/// Finds what is wrong with the clocks of a report, the worst first.
pub(super) fn find(report: &Report) -> Vec<Blamed> {
    let compared = report.platform.library_clocks.iter().flatten();
    let mut found: Vec<Blamed> = compared.filter_map(|it| by_library(it, report)).collect();
    let mut failures: Vec<Failure> = report
        .timers
        .iter()
        .filter_map(|row| {
            let (defect, all) = (own_defect(row)?, parts(row, report));
            let suspects = suspects(row, &all, &defect, report);
            Some(Failure {
                row,
                defect,
                all,
                suspects,
            })
        })
        .collect();
    failures.sort_by_key(|failure| (failure.all.len(), failure.row.agent()));
    loop {
        failures.retain(|failure| !found.iter_mut().any(|one| one.explains(failure, report)));
        // A part that is known to be wrong otherwise is not suspected again.
        let known = found.iter().filter(|one| one.suspects.len() == 1);
        let known: BTreeSet<Part> = known.flat_map(|one| one.suspects.clone()).collect();
        for failure in &mut failures {
            let left: BTreeSet<Part> = failure.suspects.difference(&known).copied().collect();
            if !left.is_empty() {
                failure.suspects = left;
            }
        }
        match most_explaining(&failures, report) {
            Some(next) => found.push(next),
            None => break,
        }
        failures.retain(|failure| {
            found
                .last()
                .is_none_or(|one| !one.wrong.clocks.contains(&failure.row.id))
        });
    }
    // Sizes that differ by less than a fifth count as equal.
    let size = |one: &Blamed| one.wrong.defect.size.unwrap_or_default().abs();
    found.sort_by_key(|one| -(5.0 * size(one).max(1e-3).ln()) as i32);
    found
}

/// The function of the C library that is wrong, if a clock that it reads differs from its system call.
fn by_library(clock: &LibraryClock, report: &Report) -> Option<Blamed> {
    let (defect, suspects) = (library_defect(clock)?, BTreeSet::from([call(&clock.id)?]));
    Some(blame(report, defect, suspects, &clock.id, true))
}

/// Blames parts for a defect that the clock with this id shows, by itself or `by_call`, compared with its
/// system call.
fn blame(
    report: &Report,
    defect: Defect,
    suspects: BTreeSet<Part>,
    id: &str,
    by_call: bool,
) -> Blamed {
    let preloaded = &report.platform.preloaded;
    let is_preloaded = has_call(&suspects) && suspects.len() == 1 && !preloaded.is_empty();
    Blamed {
        wrong: Wrong {
            parts: match suspects.is_empty() {
                true => vec![id.to_owned()],
                false => suspects.iter().map(in_words).collect(),
            },
            defect,
            clocks: vec![id.to_owned()],
            witnesses: witnesses_of(report, &defect, &suspects, id, by_call),
            cause: is_preloaded.then(|| format!("LD_PRELOAD={}", preloaded.join(":"))),
        },
        suspects,
        agent: None,
        shown_by: None,
    }
}

/// The function of the C library that reads this clock.
fn call(id: &str) -> Option<Part> {
    let mut parts = made_of(id).iter();
    parts.find(|part| matches!(part, Part::Call(_))).copied()
}

/// The parts of a failing clock that are not cleared: by a clock that passes, unless that clock is made
/// of all of them, or by the comparison with the system call. Where the rate is wrong, that clock clears
/// them too: each converts the counter by itself. What has a part of its own clears others of their
/// rate only, which it may have taken from them once.
fn suspects(
    row: &TimerRow,
    all: &BTreeSet<Part>,
    defect: &Defect,
    report: &Report,
) -> BTreeSet<Part> {
    let mut left = shown(row, defect, report);
    if defect.kind == DefectKind::Counts {
        return BTreeSet::new();
    }
    let is_rate = defect.kind == DefectKind::Rate;
    let is_own = |part: &Part| matches!(part, Part::Own(_));
    for other in &report.timers {
        let others = parts(other, report);
        let has_own = others.iter().any(is_own);
        let clears = match all.is_subset(&others) {
            true => is_rate && !has_own && *all != others,
            false => is_rate || !has_own,
        };
        if clears && passes(other, defect) {
            let cleared = shown(other, defect, report);
            let is_shared = is_shared(row.agent(), other.agent(), report);
            left.retain(|part| {
                !cleared.contains(part) || (!is_shared && matches!(part, Part::Call(_)))
            });
        }
    }
    let compared = report.platform.library_clocks.iter().flatten();
    let same = compared.filter(|it| it.rate_ppm.is_some() && library_defect(it).is_none());
    if is_rate && is_shared(row.agent(), None, report) {
        same.filter_map(|it| call(&it.id)).for_each(|part| {
            left.remove(&part);
        });
    }
    left
}

/// The parts that explain the largest number of failures of a like kind and size: one part, or several
/// if nothing shows which of them is wrong.
fn most_explaining(failures: &[Failure], report: &Report) -> Option<Blamed> {
    let explained = |lead: &Failure, part: &Part| -> usize {
        let is_call = matches!(part, Part::Call(_));
        let is_explained = |one: &&Failure| {
            one.suspects.contains(part)
                && is_like(&lead.defect, one)
                && (!is_call || is_shared(lead.row.agent(), one.row.agent(), report))
        };
        failures.iter().filter(is_explained).count()
    };
    let most = |lead: &Failure| {
        let counts = lead.suspects.iter().map(|part| explained(lead, part));
        counts.max().unwrap_or_default()
    };
    // The first of those that explain as many: that with the fewest parts.
    let lead = failures.iter().rev().max_by_key(|lead| most(lead))?;
    let many = most(lead);
    let suspects = lead.suspects.iter().copied();
    let suspects: BTreeSet<Part> = suspects
        .filter(|part| explained(lead, part) == many)
        .collect();
    Some(Blamed {
        agent: lead.row.agent().map(str::to_owned),
        shown_by: Some(lead.all.clone()),
        ..blame(report, lead.defect, suspects, &lead.row.id, false)
    })
}

/// Clocks that count the same, pass where a clock fails and lack what is suspected: its system call
/// first, which is one without a row if the defect was found `by_call`, then native ones, those most like
/// it first.
fn witnesses_of(
    report: &Report,
    defect: &Defect,
    suspects: &BTreeSet<Part>,
    id: &str,
    by_call: bool,
) -> Vec<String> {
    let failing = parts_of(id, report);
    let counts = |row: &TimerRow| row.properties.as_ref()?.counts;
    let counted = clock_row(report, id).map_or(Some(Counted::Wall), counts);
    let call = timers::find(id).and_then(|entry| entry.info.properties.syscall_variant);
    let is_call = |row: &TimerRow| call == Some(row.id.as_str());
    let is_witness = |row: &&TimerRow| {
        let own = parts(row, report);
        let is_compared = row.agent().is_none() || !shown(row, defect, report).is_empty();
        passes(row, defect)
            && counts(row) == counted
            && is_compared
            && !own.is_empty()
            && own.is_disjoint(suspects)
    };
    let mut found: Vec<&TimerRow> = report.timers.iter().filter(is_witness).collect();
    found.sort_by_key(|row| {
        let unlike = failing.difference(&parts(row, report)).count();
        (row.agent().is_some(), unlike, &row.id)
    });
    let by_call = by_call || found.iter().any(|row| is_call(row));
    let call = by_call.then(|| SYSTEM_CALL.to_owned());
    let others = found.into_iter().filter(|row| !is_call(row));
    let names = others.map(|row| row.id.clone());
    call.into_iter().chain(names).take(MOST_WITNESSES).collect()
}

/// A part in words.
fn in_words(part: &Part) -> String {
    match part {
        Part::Call(call) => format!("{call} as the C library gives it"),
        Part::Clock(clock) => format!("the kernel's {clock}"),
        Part::Rate => "the kernel's correction of its rate".to_owned(),
        Part::Source => "the clock source".to_owned(),
        Part::Counter => "the counter".to_owned(),
        Part::Own(name) => (*name).to_owned(),
    }
}
