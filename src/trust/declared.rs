//! What is declared against what was found.

use super::Case;
use crate::analysis::resolution::Resolution;
use crate::model::{Declared, Outcome, Stable};
use crate::text::numbers::{significant, time};

/// Steps that are longer than declared by less than this are as declared: units are rounded.
/// *Judgement*.
const AS_DECLARED: f64 = 1.5;

/// How much a declared tick may be off, in ppm, beyond what is not known of it: the most that the kernel slews a clock.
/// *Definition*.
const OFF: f64 = 500.0;

pub(super) fn judge(case: &Case, stable: &Stable) -> Declared {
    let unit = case.trace.declared.then_some(case.profile.ns_per_tick).flatten();
    let system = case.evidence().claims.resolution_ns;
    let declared = system.or(unit);
    let found = match case.profile.resolution {
        Resolution::Resolved { .. } => case.step_ns(),
        _ => None,
    };
    let times_coarser = declared.zip(found).map(|(declared, found)| found / declared);
    let by = if system.is_some() { "the system declares" } else { "its unit declares" };
    let off_by = stable.offset_ppm.zip(stable.offset_uncertainty_ppm).filter(|(ppm, uncertainty)| {
        case.trace.declared && stable.outcome == Outcome::Fail && ppm.abs() - uncertainty > OFF
    });
    if let (Some(unit), Some((ppm, uncertainty))) = (unit, off_by) {
        let (unit, lasts) = (time(Some(unit)), significant(1.0 / (1.0 + ppm * 1e-6), 6));
        let uncertainty = significant(uncertainty, 2);
        let finding =
            format!("its unit declares ticks of {unit}, but they last {lasts} of that (± {uncertainty} ppm)");
        return Declared { outcome: Outcome::Fail, finding, resolution_ns: declared, times_coarser };
    }
    let (outcome, finding) = match (declared, found, times_coarser) {
        (None, _, _) => (Outcome::NotApplicable, "nothing is declared of a raw counter".into()),
        (Some(_), None, _) | (_, _, None) => (
            Outcome::NotTested,
            "its resolution was not found, so nothing can be held against what is declared".into(),
        ),
        (Some(declared), Some(found), Some(times)) if times > AS_DECLARED => {
            let (declared, found, times) = (time(Some(declared)), time(Some(found)), significant(times, 2));
            (
                Outcome::Fail,
                format!(
                    "{by} a resolution of {declared}, but it moves in steps of {found}, {times} times that"
                ),
            )
        }
        (Some(declared), Some(found), Some(_)) => {
            let (declared, found) = (time(Some(declared)), time(Some(found)));
            (Outcome::Pass, format!("{by} a resolution of {declared}, and it moves in steps of {found}"))
        }
    };
    Declared { outcome, finding, resolution_ns: declared, times_coarser }
}
