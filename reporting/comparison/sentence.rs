//! Summarises a comparison in one sentence: which families of clocks changed, within which limits all
//! others are unchanged, and what else changed.

use super::platform::cpu_differs;
use super::{COST, ChangeVerdict, ComparedFigure, Comparison, FamilyChange, RESOLUTION};
use crate::model::Interval;
use crate::text::numbers::significant;

/// The largest change in percent that is written as a number.
const MOST_PERCENT: f64 = 1e8;
/// The smallest increase in percent that is written as a factor.
const LEAST_FACTOR: f64 = 100.0;
/// The largest number of timers that a sentence lists.
const MOST_LISTED: usize = 3;

const OF_COST: [&str; 3] = [" % slower", " % faster", " times the cost"];
const OF_RESOLUTION: [&str; 3] = [" % longer", " % shorter", " times as long"];

/// The sentence on costs, resolutions, lost timers and trust.
pub fn sentence(comparison: &Comparison) -> String {
    let same = if cpu_differs(&comparison.platform) {
        "equal"
    } else {
        "unchanged"
    };
    let of = |quantity: &'static str| {
        comparison
            .figures
            .iter()
            .filter(move |it| it.quantity == quantity)
    };
    let changed_by = |words: [&str; 3], figure: &ComparedFigure| {
        let percent = figure.change.percent.filter(|_| figure.is_changed())?;
        Some(format!("{}: {}", figure.timer, by(words, percent)))
    };
    let mut parts = Vec::new();
    let mut unchanged = Vec::new();
    for family in &comparison.families {
        match family.verdict {
            ChangeVerdict::Better | ChangeVerdict::Worse => parts.push(described(family)),
            _ => unchanged.push(limit(family)),
        }
        let own = of(COST).filter(|figure| family.own.contains(&figure.timer));
        let own: Vec<String> = own
            .filter_map(|figure| changed_by(OF_COST, figure))
            .collect();
        parts.extend(Some(list(&own)).filter(|_| !own.is_empty()));
    }
    let steps = of(RESOLUTION).filter_map(|figure| changed_by(OF_RESOLUTION, figure));
    let steps: Vec<String> = steps.collect();
    if !steps.is_empty() {
        parts.push(format!("resolution of {}", list(&steps)));
    }
    if !unchanged.is_empty() {
        let subject = if parts.is_empty() {
            "costs"
        } else {
            "all else"
        };
        parts.push(format!("{subject} {same} ({})", unchanged.join(", ")));
    } else if comparison.families.is_empty() {
        parts.push(format!("costs unknown, because {}", why_unknown(of(COST))));
    }
    let unlike: Vec<String> = of(COST)
        .filter(|it| it.unlike_cores)
        .map(|it| it.timer.clone())
        .collect();
    if !unlike.is_empty() && !comparison.families.is_empty() {
        parts.push(format!(
            "not judged: {} (core free on one side only)",
            list(&unlike)
        ));
    }
    let failed = comparison
        .answers
        .iter()
        .filter(|answer| answer.verdict == ChangeVerdict::Worse);
    let failed = failed.map(|answer| format!("{} {}", answer.timer, answer.question.name()));
    let lost = comparison.lost().map(|lost| lost.timer.clone());
    for (what, names) in [
        ("lost", lost.collect::<Vec<String>>()),
        ("newly failed", failed.collect()),
    ] {
        if !names.is_empty() {
            parts.push(format!("{what}: {}", list(&names)));
        }
    }
    let machine = comparison.machine.map_or_else(String::new, |machine| {
        format!(
            "the machine is {} in everything; relative to that, ",
            by(OF_COST, machine)
        )
    });
    machine + &parts.join("; ")
}

/// The reason why no family was judged.
fn why_unknown<'c>(costs: impl Iterator<Item = &'c ComparedFigure>) -> &'static str {
    let costs: Vec<&ComparedFigure> = costs.collect();
    if costs.is_empty() {
        "no cost is on both sides"
    } else if costs.iter().any(|figure| figure.single_process) {
        "a report used a single process"
    } else if costs.iter().any(|figure| figure.unlike_cores) {
        "the cores were free on one side only"
    } else {
        "no cost has an interval on both sides"
    }
}

/// Describes the change of a family.
fn described(family: &FamilyChange) -> String {
    let others = family.own.len() + family.unchanged.len();
    let timers = match (family.timers.len(), others) {
        (1, _) => String::new(),
        (all, 0) => format!(", all {all}"),
        (all, others) => format!(", {} of {all}", all - others),
    };
    let except = match family.unchanged.as_slice() {
        [] => String::new(),
        unchanged => format!(", not {}", list(unchanged)),
    };
    format!(
        "{}: {}{timers}{except}",
        family.family,
        by(OF_COST, family.percent)
    )
}

/// The limit within which a family is unchanged.
fn limit(family: &FamilyChange) -> String {
    format!("{} within {}", family.family, percent(family.limit_percent))
}

/// Formats a list of names; of many names, the first ones and the number of the others.
pub fn list(names: &[String]) -> String {
    let first = names[..names.len().min(MOST_LISTED)].join(", ");
    match names.len() {
        ..=MOST_LISTED => first,
        all => format!("{first} and {} more", all - MOST_LISTED),
    }
}

/// Formats a change in percent with its interval, as in `4.2 % slower [3.1, 5.3]` or `2.74 times the
/// cost [2.71, 2.78]`.
fn by([more, less, times]: [&str; 3], by: Interval) -> String {
    let is_factor = by.value >= LEAST_FACTOR || by.value <= -50.0;
    let (shown, digits, what) = match (is_factor, by.value < 0.0) {
        (true, _) => (by.map(|it| 1.0 + it / 100.0), 3, times),
        (false, true) => (by.map(|it| -it), 2, less),
        (false, false) => (by, 2, more),
    };
    let ends = shown.ends().map(|(low, high)| {
        let [low, high] = [low.min(high), low.max(high)].map(|end| significant(end, digits));
        format!(" [{low}, {high}]")
    });
    format!(
        "{}{what}{}",
        significant(shown.value, digits),
        ends.unwrap_or_default()
    )
}

/// Formats a percentage; above 200 % it is written as a factor, which has no bound if it is infinite.
pub fn percent(percent: f64) -> String {
    if percent > MOST_PERCENT {
        return "any factor".into();
    }
    if percent > 200.0 {
        return format!("a factor of {}", significant(1.0 + percent / 100.0, 2));
    }
    format!("{} %", significant(percent, 2))
}

#[cfg(test)]
mod tests {
    use super::{Interval, OF_COST, by};

    #[test]
    fn large_changes_are_factors() {
        let cost = |value, ends| by(OF_COST, Interval::with_ends(value, Some(ends)));
        assert_eq!(
            cost(174.0, (171.0, 178.0)),
            "2.74 times the cost [2.71, 2.78]"
        );
        assert_eq!(
            cost(-75.0, (-76.0, -74.0)),
            "0.250 times the cost [0.240, 0.260]"
        );
        assert_eq!(cost(-4.2, (-5.3, -3.1)), "4.2 % faster [3.1, 5.3]");
    }
}
