//! Finds the parts of clocks that are wrong. If a clock fails, the parts are to blame that no clock has
//! which passes; if clocks of the C library differ from their system calls, its functions are.

use std::collections::BTreeSet;

use timers::clock_sources;
use timers::parts::{Part, made_of};

use super::own_defect;
use crate::findings::machine::library_defect;
use crate::model::{Defect, DefectKind, Outcome, Report, TimerRow, Wrong};

/// Parts of which one is wrong.
pub(super) struct Blamed {
    pub wrong: Wrong,
    suspects: BTreeSet<Part>,
    /// The agent whose C library is wrong; `None` if all processes share what is wrong.
    agent: Option<String>,
    /// All parts of the clock that showed it; empty if its comparison with the system call did, which
    /// is finer than any measurement of the clock alone.
    all: BTreeSet<Part>,
    /// The id of the clock that showed it, if its parts are unknown.
    own: Option<String>,
}

impl Blamed {
    /// Whether the clock of a row, which does not itself show the defect, has it: `Some(true)` if it is
    /// made of all that is suspected, `Some(false)` if it may be, `None` if it is not concerned.
    pub fn reach(&self, row: &TimerRow, report: &Report) -> Option<bool> {
        let parts = parts(row, report);
        if self.own.as_deref() == Some(&row.id) {
            return None;
        }
        let has = |part: &Part| parts.contains(part);
        let covers = !self.suspects.is_empty() && self.suspects.iter().all(has);
        let passed = passes(row, &self.wrong.defect);
        let is_same = self.all.is_empty() || self.all == parts;
        if covers && is_shared(self.agent.as_deref(), row, report, &self.suspects) {
            return (is_same || !passed).then_some(true);
        }
        (!passed && self.suspects.iter().any(has)).then_some(false)
    }
}

/// Whether a row has the suspects that clocks of this agent, or native ones, showed: a C library is the
/// same one in two processes if a preloaded library is in both.
fn is_shared(
    agent: Option<&str>,
    row: &TimerRow,
    report: &Report,
    suspects: &BTreeSet<Part>,
) -> bool {
    let in_library = suspects.iter().any(|part| matches!(part, Part::Call(_)));
    !in_library || row.agent() == agent || !report.platform.preloaded.is_empty()
}

/// The parts of the clock of a row, as far as known.
fn parts(row: &TimerRow, report: &Report) -> BTreeSet<Part> {
    let platform = &report.platform;
    if row.device.is_some() || platform.os.family != "linux" {
        return BTreeSet::new();
    }
    let mut parts: BTreeSet<Part> = made_of(&row.id).iter().copied().collect();
    let source = platform.clocksource.current.as_deref();
    if parts.contains(&Part::Source) && source.is_some_and(clock_sources::reads_counter) {
        parts.insert(Part::Counter);
    }
    parts
}

/// Whether the clock of a row was found not to have this defect.
fn passes(row: &TimerRow, defect: &Defect) -> bool {
    let Some(verdicts) = &row.verdicts else {
        return false;
    };
    let stable = &verdicts.stable;
    let differs = match (
        defect.size,
        stable.offset_ppm,
        stable.offset_uncertainty_ppm,
    ) {
        (Some(rate), Some(own), Some(half)) if defect.kind == DefectKind::Rate => {
            (rate - own).abs() > half.max(0.1 * rate.abs())
        }
        _ => true,
    };
    verdicts.answer(defect.kind.question()).outcome == Outcome::Pass && differs
}

/// Finds what is wrong with the clocks of a report, the worst first.
pub(super) fn find(report: &Report) -> Vec<Blamed> {
    let mut found: Vec<Blamed> = report
        .platform
        .library_clocks
        .iter()
        .flatten()
        .filter_map(|clock| {
            let defect = library_defect(clock)?;
            let call = made_of(&clock.id)
                .iter()
                .find(|part| matches!(part, Part::Call(_)))?;
            let witnesses = ["its system call".to_owned()].into_iter();
            let others = witnesses_of(report, &defect, &BTreeSet::from([*call]), &clock.id);
            Some(Blamed {
                wrong: Wrong {
                    parts: vec![in_words(call)],
                    defect,
                    clocks: vec![clock.id.clone()],
                    witnesses: witnesses.chain(others).take(MOST_WITNESSES).collect(),
                    cause: None,
                },
                suspects: BTreeSet::from([*call]),
                agent: None,
                all: BTreeSet::new(),
                own: None,
            })
        })
        .collect();
    for row in &report.timers {
        let Some(defect) = own_defect(row) else {
            continue;
        };
        let all = parts(row, report);
        let suspects = if defect.kind == DefectKind::Counts {
            BTreeSet::new()
        } else {
            suspects(row, &all, &defect, report)
        };
        // The comparison with the system call already names the part.
        let known = found.iter_mut().find(|one| {
            let same_agent = is_shared(one.agent.as_deref(), row, report, &one.suspects);
            !one.suspects.is_empty()
                && same_agent
                && (one.suspects == suspects
                    || (one.all.is_empty() && one.suspects.is_subset(&all)))
        });
        if let Some(one) = known {
            one.wrong.clocks.push(row.id.clone());
            continue;
        }
        let named = if suspects.is_empty() {
            vec![row.id.clone()]
        } else {
            suspects.iter().map(in_words).collect()
        };
        found.push(Blamed {
            wrong: Wrong {
                parts: named,
                defect,
                clocks: vec![row.id.clone()],
                witnesses: witnesses_of(report, &defect, &suspects, &row.id),
                cause: None,
            },
            agent: row.agent().map(str::to_owned),
            own: suspects.is_empty().then(|| row.id.clone()),
            suspects,
            all,
        });
    }
    for one in &mut found {
        one.wrong.clocks.dedup();
        let in_library = one
            .suspects
            .iter()
            .all(|part| matches!(part, Part::Call(_)));
        let preloaded = &report.platform.preloaded;
        if in_library && !one.suspects.is_empty() && !preloaded.is_empty() {
            one.wrong.cause = Some(format!("LD_PRELOAD={}", preloaded.join(":")));
        }
    }
    let size = |one: &Blamed| one.wrong.defect.size.unwrap_or_default().abs();
    found.sort_by(|a, b| size(b).total_cmp(&size(a)));
    found
}

/// The parts of a failing clock that no clock has which passes, unless that clock has all of them.
fn suspects(
    row: &TimerRow,
    all: &BTreeSet<Part>,
    defect: &Defect,
    report: &Report,
) -> BTreeSet<Part> {
    let mut left = all.clone();
    for other in &report.timers {
        let others = parts(other, report);
        if passes(other, defect) && !all.is_subset(&others) {
            let library = other.agent() == row.agent() || !report.platform.preloaded.is_empty();
            left.retain(|part| {
                !others.contains(part) || (!library && matches!(part, Part::Call(_)))
            });
        }
    }
    left
}

/// The largest number of witnesses that are named.
const MOST_WITNESSES: usize = 3;

/// Clocks that pass where a clock fails and lack what is suspected, those most like it first.
fn witnesses_of(
    report: &Report,
    defect: &Defect,
    suspects: &BTreeSet<Part>,
    id: &str,
) -> Vec<String> {
    let failing: BTreeSet<Part> = made_of(id).iter().copied().collect();
    let variant = timers::find(id).and_then(|entry| entry.info.properties.syscall_variant);
    let mut found: Vec<(usize, String)> = report
        .timers
        .iter()
        .filter(|row| passes(row, defect) && row.id != id)
        .filter_map(|row| {
            let own = parts(row, report);
            if own.is_empty() || own.iter().any(|part| suspects.contains(part)) {
                return None;
            }
            let shared = own.intersection(&failing).count();
            let is_call = variant == Some(row.id.as_str());
            let name = if is_call {
                "its system call".to_owned()
            } else {
                row.id.clone()
            };
            Some((usize::MAX - shared - if is_call { 100 } else { 0 }, name))
        })
        .collect();
    found.sort();
    found
        .into_iter()
        .map(|(_, name)| name)
        .take(MOST_WITNESSES)
        .collect()
}

/// A part in words.
fn in_words(part: &Part) -> String {
    match part {
        Part::Call(call) => match call
            .strip_prefix("clock_gettime(")
            .and_then(|rest| rest.strip_suffix(')'))
        {
            Some(clock) => format!("{clock} as the C library gives it"),
            None => format!("{call} of the C library"),
        },
        Part::Clock(clock) => format!("the kernel's {clock}"),
        Part::Rate => "the kernel's correction of its rate".to_owned(),
        Part::Source => "the clock source".to_owned(),
        Part::Counter => "the counter".to_owned(),
        Part::Own(name) => (*name).to_owned(),
    }
}
