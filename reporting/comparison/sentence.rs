//! The sentences that people came for: whether reading a clock became slower, and what else
//! changed.

use super::{Compared, Comparison, Quantity, Verdict};
use crate::statistics::{quantile, sorted};
use crate::text::numbers::significant;

/// Timers that are named with their figures.
const MOST_NAMED: usize = 3;

/// What a comparison says, a sentence for clocks and one for timers that wait, as far as there are
/// any.
#[must_use]
pub fn sentences(comparison: &Comparison) -> Vec<String> {
    let of = |clocks: bool| -> Vec<&Compared> {
        comparison
            .figures
            .iter()
            .filter(|compared| compared.quantity.is_of_clocks() == clocks)
            .collect()
    };
    let clocks = Subject {
        name: "Clock reads",
        main: &[Quantity::COST],
        each: "costs",
        more: "slower",
        less: "faster",
    };
    let waits = Subject {
        name: "Waits",
        main: &[Quantity::LATENESS, Quantity::FLOOR],
        each: "latenesses",
        more: "later",
        less: "earlier",
    };
    let told = [(clocks, of(true)), (waits, of(false))];
    let mut told: Vec<String> = told
        .into_iter()
        .filter(|(_, figures)| !figures.is_empty())
        .map(|(subject, figures)| subject.sentence(&figures))
        .collect();
    if told.is_empty() {
        told.push("Clock reads: could not be told: no figure is on both sides".into());
    }
    let last = told.last_mut().into_iter();
    last.for_each(|last| *last += &events(comparison));
    told
}

/// What happened beside figures.
fn events(comparison: &Comparison) -> String {
    let named = |what: &str, timers: Vec<String>| match timers.as_slice() {
        [] => String::new(),
        timers => format!("; {what}: {}", few(timers)),
    };
    let lost = comparison.lost().map(|lost| lost.timer.clone()).collect();
    let failed = comparison
        .failed()
        .map(|answer| format!("{} {}", answer.timer, answer.question.name()));
    named("lost", lost) + &named("newly failed", failed.collect())
}

fn few(names: &[String]) -> String {
    let more = names.len().saturating_sub(MOST_NAMED);
    let shown = names[..names.len().min(MOST_NAMED)].join(", ");
    if more > 0 {
        format!("{shown} and {more} more")
    } else {
        shown
    }
}

struct Subject {
    name: &'static str,
    main: &'static [Quantity],
    /// Its figures.
    each: &'static str,
    more: &'static str,
    less: &'static str,
}

impl Subject {
    fn sentence(&self, figures: &[&Compared]) -> String {
        let main: Vec<&Compared> = figures
            .iter()
            .copied()
            .filter(|compared| self.main.contains(&compared.quantity))
            .collect();
        let of = |verdict: Verdict| -> Vec<&Compared> {
            main.iter()
                .copied()
                .filter(|compared| compared.verdict == verdict)
                .collect()
        };
        let changed = [
            (self.more, of(Verdict::Worse)),
            (self.less, of(Verdict::Better)),
        ];
        let changed: Vec<String> = changed
            .iter()
            .filter(|(_, figures)| !figures.is_empty())
            .map(|(how, figures)| format!("{how}: {}", listed(figures)))
            .collect();
        let told = if changed.is_empty() {
            self.unchanged(&main)
        } else {
            changed.join("; ")
        };
        format!("{}: {told}{}", self.name, self.others(figures))
    }

    /// That nothing changed, and what would have been seen.
    fn unchanged(&self, main: &[&Compared]) -> String {
        let judged: Vec<&&Compared> = main
            .iter()
            .filter(|compared| compared.verdict == Verdict::Noise)
            .collect();
        if judged.is_empty() {
            let single = main.iter().any(|compared| compared.single_process);
            let why = if single {
                "a report rests on a single process"
            } else {
                "no figure has an interval on both sides"
            };
            return format!("could not be told: {why}");
        }
        let seen: Vec<f64> = judged
            .iter()
            .filter(|compared| compared.difference.percent.is_some())
            .filter_map(|compared| compared.detectable)
            .collect();
        let seen = sorted(&seen);
        // Of many, one that costs next to nothing would speak for all.
        let (share, most) = if seen.len() < 10 {
            (1.0, "each")
        } else {
            (0.9, "nine of ten")
        };
        let count = judged.len();
        let what = match (count, quantile(&seen, 0.5), quantile(&seen, share)) {
            (1, Some(one), _) => format!("a change by {} would have been seen", percent(one)),
            (_, Some(half), Some(largest)) => format!(
                "{count} {}; a change by {} would have been seen in half of them, by {} in {most}",
                self.each,
                percent(half),
                percent(largest),
            ),
            _ => format!("{count} {}", self.each),
        };
        let rest = main.len() - count;
        let rest = if rest > 0 {
            format!("; {rest} could not be told")
        } else {
            String::new()
        };
        format!("unchanged ({what}{rest})")
    }

    /// What changed beside the main figures.
    fn others(&self, figures: &[&Compared]) -> String {
        let mut told = String::new();
        for (verdict, how) in [(Verdict::Worse, "worse"), (Verdict::Better, "better")] {
            let of = |compared: &&&Compared| {
                compared.verdict == verdict && !self.main.contains(&compared.quantity)
            };
            let names: Vec<String> = figures
                .iter()
                .filter(of)
                .map(|compared| format!("{} of {}", compared.quantity.name(), compared.timer))
                .collect();
            if !names.is_empty() {
                told += &format!("; {how}: {}", few(&names));
            }
        }
        told
    }
}

/// Timers by how much they changed, what changed most first.
fn listed(figures: &[&Compared]) -> String {
    let size = |compared: &Compared| {
        compared
            .difference
            .percent
            .map_or(f64::INFINITY, |percent| (percent / 100.0).ln_1p().abs())
    };
    let mut sorted = figures.to_vec();
    sorted.sort_by(|a, b| size(b).total_cmp(&size(a)));
    few(&sorted
        .iter()
        .map(|compared| one(compared))
        .collect::<Vec<_>>())
}

/// As in `thread-cputime by 8 % [6, 10]`.
fn one(compared: &Compared) -> String {
    let timer = &compared.timer;
    let Some(by) = compared.difference.percent else {
        return format!(
            "{timer} by {} ns",
            significant(compared.difference.absolute.abs(), 2)
        );
    };
    let interval = compared.difference.percent_interval.map(|(low, high)| {
        let (low, high) = if by < 0.0 { (-high, -low) } else { (low, high) };
        format!(" [{}, {}]", significant(low, 2), significant(high, 2))
    });
    format!(
        "{timer} by {}{}",
        percent(by.abs()),
        interval.unwrap_or_default()
    )
}

/// What is more than doubled is not told in percent.
fn percent(percent: f64) -> String {
    if percent > 200.0 {
        return format!("a factor of {}", significant(1.0 + percent / 100.0, 2));
    }
    format!("{} %", significant(percent, 2))
}
