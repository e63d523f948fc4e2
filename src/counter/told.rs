//! The answer in five lines: the verdict, what was seen, who trusts it, what it gains, how to do it.

use super::{Case, Counter, Gain, Verdict, machine};
use crate::suitability::{Finding, Severity};
use crate::text::numbers::{range_ns, significant, time};

pub(super) fn told(counter: &Counter, case: &Case) -> Vec<String> {
    vec![answer(counter), seen(counter, case), trusted(counter), gained(counter, case), how(counter)]
}

fn finding<'a>(counter: &'a Counter, code: &str) -> Option<&'a Finding> {
    counter.findings.iter().find(|finding| finding.code == code)
}

fn answer(counter: &Counter) -> String {
    let id = &counter.counter;
    let first = |severity| counter.findings.iter().find(|finding| finding.severity == severity);
    let message =
        |finding: Option<&Finding>| finding.map_or(String::new(), |finding| finding.message.clone());
    match counter.verdict {
        Some(Verdict::Safe) => format!("safe: a program may read {id} on this machine"),
        Some(Verdict::UntilMoved) => {
            format!("safe until this machine is moved: {}", message(finding(counter, "moved")))
        }
        Some(Verdict::Unsafe) => format!("unsafe: {}", message(first(Severity::Problem))),
        None => format!("not known: {}", message(first(Severity::Unknown))),
    }
}

fn seen(counter: &Counter, case: &Case) -> String {
    let rate = match (counter.hz, counter.hz_uncertainty) {
        (Some(hz), Some(share)) => {
            format!("{} Hz ± {} ppm", significant(hz, 10), significant(1e6 * share, 2))
        }
        _ => "no rate".to_owned(),
    };
    let cpus = match counter.cpus.len() {
        0 => "CPUs that could not be compared".to_owned(),
        all => {
            let apart =
                counter.cpus.iter().map(|cpu| cpu.offset_ns.abs() + cpu.uncertainty_ns).fold(0.0, f64::max);
            format!("{all} CPUs within {}", time(Some(apart)))
        }
    };
    let (backward, readings, _) = case.found.backward;
    format!(
        "seen: {rate}; {cpus}; {backward} steps back in {} readings and {} handoffs",
        readings,
        case.found.between.map_or(0, |between| between.handoffs)
    )
}

fn trusted(counter: &Counter) -> String {
    let said = |code: &str| finding(counter, code).map(|finding| finding.message.as_str());
    let all: Vec<&str> = ["kernel", "log"].into_iter().filter_map(said).collect();
    format!("trust: {}", all.join("; "))
}

/// Beside the clock that would be read instead, the first of the rows that the counter is not.
fn gained(counter: &Counter, case: &Case) -> String {
    let of = |id: &str| counter.gains.iter().find(|gain| gain.id == id);
    let clock = counter.gains.iter().find(|gain| gain.id == "monotonic");
    let said = |gain: &Gain| {
        let row = time(gain.in_a_row_ns);
        let adds = gain.adds_ns.map_or(String::new(), |range| format!(" (adds {})", range_ns(range)));
        format!("{} {row}{adds}", gain.id)
    };
    let rows: Vec<String> =
        [of(case.ids[0]), of(case.ids[1]), clock].into_iter().flatten().map(said).collect();
    let million =
        |gain: Option<&Gain>| gain.and_then(|gain| gain.million_reads_ms).map(|ms| time(Some(1e6 * ms)));
    match (million(of(case.ids[0])), million(clock)) {
        (Some(counter), Some(clock)) => {
            format!(
                "gain: a read in a row takes {}; a million {counter} of CPU time, instead of {clock}",
                rows.join(", ")
            )
        }
        _ => format!(
            "gain: {}",
            case.found.costs.map_or("what a read takes was not measured".to_owned(), |[counter, clock]| {
                format!(
                    "a read in a row takes {}, one of the kernel's clock {}",
                    time(Some(counter)),
                    time(Some(clock))
                )
            })
        ),
    }
}

fn how(counter: &Counter) -> String {
    let worst = |row: &&super::RecipeRow| row.worst_ppm.map_or(0.0, f64::abs);
    let tried: Vec<&super::RecipeRow> =
        counter.recipes.iter().filter(|row| row.worst_ppm.is_some()).collect();
    let by = |best: bool| {
        let order = |a: &&&super::RecipeRow, b: &&&super::RecipeRow| worst(a).total_cmp(&worst(b));
        if best { tried.iter().min_by(order) } else { tried.iter().max_by(order) }
    };
    let errors = match (by(false), by(true)) {
        (Some(most), Some(least)) => format!(
            "recipes are off by up to {} ppm ({}) and by {} ppm at best ({})",
            significant(worst(most), 3),
            most.id,
            significant(worst(least), 3),
            least.id
        ),
        _ => "no recipe found a rate".to_owned(),
    };
    if matches!(counter.verdict, Some(Verdict::Unsafe) | None) {
        return "do: read the kernel's clock (clock_gettime, CLOCK_MONOTONIC)".to_owned();
    }
    let order = if machine::is_fenced_by_lfence(&counter.counter) { "lfence" } else { "a fence" };
    format!(
        "do: measure the rate over a second, keep differences signed, {order} where order matters; {errors}"
    )
}
