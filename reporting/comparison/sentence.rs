//! Summarises a comparison in one sentence for clocks and one for waits: which families of timers
//! changed, within which limits all others are unchanged, and what else changed.

use super::platform::cpu_differs;
use super::{ChangeVerdict, ComparedFigure, Comparison, FamilyChange, Quantity};
use crate::model::Interval;
use crate::text::numbers::significant;

/// The largest change in percent that is written as a number.
const MOST_PERCENT: f64 = 1e8;
/// The smallest increase in percent that is written as a factor.
const LEAST_FACTOR: f64 = 100.0;
/// The largest number of timers that a sentence lists.
const MOST_LISTED: usize = 3;

/// The sentence for clocks and the sentence for all other timers; a kind without values has no
/// sentence.
pub fn sentences(comparison: &Comparison) -> Vec<String> {
    let mut sentences = Vec::new();
    let same = if cpu_differs(&comparison.platform) {
        "equal"
    } else {
        "unchanged"
    };
    for of_clocks in [true, false] {
        let own: Vec<&ComparedFigure> = comparison
            .figures
            .iter()
            .filter(|compared| compared.quantity.is_of_clocks() == of_clocks)
            .collect();
        if !own.is_empty() {
            let families = comparison
                .families
                .iter()
                .filter(|family| family.quantity.is_of_clocks() == of_clocks);
            let subject = if of_clocks { "costs" } else { "waits" };
            let sentence = sentence([subject, same], &families.collect::<Vec<_>>(), &own);
            let machine = comparison.machine.filter(|_| of_clocks).map(|machine| {
                let by = by(Quantity::COST, machine);
                format!("the machine is {by} in everything; relative to that, ")
            });
            sentences.push(machine.unwrap_or_default() + &sentence);
        }
    }
    if sentences.is_empty() {
        sentences.push("costs unknown, because no figure is on both sides".to_owned());
    }
    let failed = comparison
        .answers
        .iter()
        .filter(|answer| answer.verdict == ChangeVerdict::Worse)
        .map(|answer| format!("{} {}", answer.timer, answer.question.name()));
    let lost = comparison.lost().map(|lost| lost.timer.clone());
    for (what, names) in [
        ("lost", lost.collect::<Vec<String>>()),
        ("newly failed", failed.collect()),
    ] {
        if let (Some(last), false) = (sentences.last_mut(), names.is_empty()) {
            *last += &format!("; {what}: {}", list(&names));
        }
    }
    sentences
}

/// The sentence on `subject`, of which what did not change is called `same`.
fn sentence(
    [subject, same]: [&str; 2],
    families: &[&FamilyChange],
    figures: &[&ComparedFigure],
) -> String {
    let change_of = |timer: &String, quantity: Quantity| {
        figures
            .iter()
            .find(|figure| figure.timer == *timer && figure.quantity == quantity)
            .filter(|figure| figure.is_changed())?
            .change
            .percent
    };
    let mut changed = Vec::new();
    let mut unchanged = Vec::new();
    for family in families {
        match family.verdict {
            ChangeVerdict::Better | ChangeVerdict::Worse => changed.push(described(family)),
            _ => unchanged.push(limit(family)),
        }
        let own: Vec<String> = family
            .own
            .iter()
            .filter_map(|timer| {
                let percent = change_of(timer, family.quantity)?;
                Some(format!("{timer}: {}", by(family.quantity, percent)))
            })
            .collect();
        if !own.is_empty() {
            changed.push(list(&own));
        }
    }
    for (verdict, how) in [
        (ChangeVerdict::Worse, "worse"),
        (ChangeVerdict::Better, "better"),
    ] {
        // A Quality that follows from another changed figure repeats what is said of that figure.
        let follows = |figure: &ComparedFigure| {
            figure.quantity == Quantity::QUALITY
                && figures
                    .iter()
                    .filter(|other| other.timer == figure.timer && other.is_changed())
                    .count()
                    > 1
        };
        let judged_alone = |figure: &&&ComparedFigure| {
            let of_family = families
                .iter()
                .any(|family| family.quantity == figure.quantity);
            figure.verdict == verdict && !of_family && !follows(figure)
        };
        let names: Vec<String> = figures
            .iter()
            .filter(judged_alone)
            .map(|figure| format!("{} of {}", figure.quantity.name(), figure.timer))
            .collect();
        if !names.is_empty() {
            changed.push(format!("{how}: {}", list(&names)));
        }
    }
    if !unchanged.is_empty() {
        let all = if changed.is_empty() {
            subject
        } else {
            "all else"
        };
        changed.push(format!("{all} {same} ({})", unchanged.join(", ")));
    } else if families.is_empty() {
        changed.push(format!("{subject} {}", unknown(figures)));
    }
    let unlike: Vec<String> = figures
        .iter()
        .filter(|figure| figure.unlike_cores && figure.quantity == Quantity::COST)
        .map(|figure| figure.timer.clone())
        .collect();
    if !unlike.is_empty() && !families.is_empty() {
        let names = list(&unlike);
        changed.push(format!("not judged: {names} (core free on one side only)"));
    }
    changed.join("; ")
}

/// The reason why no family was judged.
fn unknown(figures: &[&ComparedFigure]) -> String {
    let why = if figures.iter().any(|figure| figure.single_process) {
        "a report used a single process"
    } else if figures.iter().any(|figure| figure.unlike_cores) {
        "the cores were free on one side only"
    } else {
        "no figure has an interval on both sides"
    };
    format!("unknown, because {why}")
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
        name(family),
        by(family.quantity, family.percent),
    )
}

/// The limit within which a family is unchanged.
pub fn limit(family: &FamilyChange) -> String {
    format!("{} within {}", name(family), percent(family.limit_percent))
}

fn name(family: &FamilyChange) -> String {
    if family.quantity == Quantity::COST {
        family.family.clone()
    } else {
        format!("{} of {}", family.quantity.name(), family.family)
    }
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
fn by(quantity: Quantity, by: Interval) -> String {
    let [more, less, times] = if quantity == Quantity::COST {
        [" % slower", " % faster", " times the cost"]
    } else {
        [" % higher", " % lower", " times"]
    };
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
    use super::{Interval, Quantity, by};

    #[test]
    fn large_changes_are_factors() {
        let cost = |value, ends| by(Quantity::COST, Interval::with_ends(value, Some(ends)));
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
