//! What changed, as tables and sentences: the terminal and the Markdown page differ in how they set them only.

use indexmap::IndexMap;

use super::{Answer, Compared, Comparison, Fate, Quantity, SMALLEST, SMALLEST_QUALITY, Verdict};
use crate::table::{Column, Table};
use crate::text::numbers::{NOTHING, significant, time};

/// The figures to be shown, the worst first: those that differ by more than noise, or could not be judged and differ by what
/// matters; or `all` of them. A spread without an interval is shown with all others only: older reports have none, and
/// Quality, which is judged, holds it.
pub(super) fn shown(comparison: &Comparison, all: bool) -> Vec<&Compared> {
    let differs = |compared: &&Compared| match compared.verdict {
        Verdict::Better | Verdict::Worse => true,
        Verdict::Unjudged => {
            compared.quantity != Quantity::Spread && compared.matters && compared.difference.absolute != 0.0
        }
        Verdict::Noise => false,
    };
    let mut shown: Vec<&Compared> = comparison.figures.iter().filter(|c| all || differs(c)).collect();
    // Stable: within a verdict, the timers keep the order of the report, and each its figures.
    shown.sort_by_key(|compared| class(compared));
    shown
}

/// The worst first.
pub(super) fn class(compared: &Compared) -> u8 {
    match compared.verdict {
        Verdict::Worse => 0,
        Verdict::Better => 1,
        Verdict::Unjudged => 2,
        Verdict::Noise => 3,
    }
}

/// A row a figure. Units differ from row to row, so that figures are text.
pub(super) fn figures(shown: &[&Compared]) -> Table<'static> {
    let right = |heading| Column { right: true, ..Column::left(heading) };
    let mut table = Table::new(vec![
        Column { longest: Some(60), folds: true, ..Column::left("timer") },
        Column::left("figure"),
        right("old"),
        right("new"),
        Column { folds: true, ..Column::left("difference [95 % interval]") },
        Column::left("verdict"),
    ]);
    for compared in shown {
        let figure = |value: f64| match compared.quantity {
            Quantity::Quality => format!("{value:.2} %"),
            Quantity::Spread => format!("{value:.3}"),
            Quantity::Rate => format!("{} ppm", significant(value, 3)),
            _ => time(Some(value)),
        };
        table.push(vec![
            compared.timer.as_str().into(),
            compared.quantity.name().into(),
            figure(compared.difference.old.value).into(),
            figure(compared.difference.new.value).into(),
            change(compared).into(),
            verdict(compared.verdict).into(),
        ]);
    }
    table
}

/// A row an answer that changed.
pub(super) fn answers(comparison: &Comparison) -> Table<'static> {
    let mut table =
        Table::new(["timer", "question", "answer", "verdict", "finding"].map(Column::left).to_vec());
    for answer in &comparison.answers {
        table.push(vec![
            answer.timer.as_str().into(),
            answer.question.into(),
            in_words(answer).into(),
            verdict(answer.verdict).into(),
            answer.finding.as_str().into(),
        ]);
    }
    table
}

/// An answer that changed.
pub(super) fn in_words(answer: &Answer) -> String {
    format!("{} → {}", answer.old.in_words(), answer.new.in_words())
}

fn change(compared: &Compared) -> String {
    let difference = &compared.difference;
    let (value, interval, decimals, unit) = match compared.quantity {
        Quantity::Quality => (difference.absolute, difference.interval, 2, " points"),
        Quantity::Spread => (difference.absolute, difference.interval, 3, ""),
        Quantity::Rate => (difference.absolute, difference.interval, 1, " ppm"),
        _ => match difference.percent {
            Some(percent) => (percent, difference.percent_interval, 1, " %"),
            None => return format!("{} ns", significant(difference.absolute, 4)),
        },
    };
    match interval {
        Some((low, high)) => format!("{value:+.decimals$}{unit} [{low:+.decimals$}, {high:+.decimals$}]"),
        None => format!("{value:+.decimals$}{unit}"),
    }
}

pub(super) fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Noise => "noise",
        Verdict::Unjudged => NOTHING,
    }
}

/// Timers of one report only: how they are called, and who they are with the reason, where there is one.
pub(super) fn one_sided(comparison: &Comparison) -> Vec<(&'static str, Vec<String>)> {
    let fates = [
        (Fate::Lost, "lost their figures"),
        (Fate::Gone, "only in the old report"),
        (Fate::Added, "only in the new report"),
        (Fate::Gained, "gained figures"),
    ];
    let of = |fate: Fate| -> Vec<String> {
        let timers = comparison.one_sided.iter().filter(|timer| timer.fate == fate);
        if fate != Fate::Lost {
            return timers.map(|timer| timer.timer.clone()).collect();
        }
        let mut reasons: IndexMap<&str, Vec<&str>> = IndexMap::new();
        for timer in timers {
            reasons
                .entry(timer.reason.as_deref().unwrap_or("no reason given"))
                .or_default()
                .push(&timer.timer);
        }
        reasons.into_iter().map(|(reason, timers)| format!("{} ({reason})", timers.join(", "))).collect()
    };
    fates.into_iter().map(|(fate, name)| (name, of(fate))).filter(|(_, timers)| !timers.is_empty()).collect()
}

/// The smallest differences that matter, for the head.
pub(super) fn smallest() -> String {
    format!(
        "differences below {} % of a cost or an accuracy, or {} % of a Quality, do not matter",
        100.0 * SMALLEST,
        100.0 * SMALLEST_QUALITY
    )
}

/// How it all comes out, in one sentence.
pub(super) fn summary(comparison: &Comparison) -> String {
    let counted = |count: usize, what: &str| format!("{count} {what}");
    let all = comparison.figures.len() - comparison.count(Verdict::Unjudged);
    format!(
        "{}, {}, {} of {all} figures with intervals; {} without one are not judged",
        counted(comparison.count(Verdict::Worse), "worse"),
        counted(comparison.count(Verdict::Better), "better"),
        counted(comparison.count(Verdict::Noise), "no more than noise"),
        comparison.count(Verdict::Unjudged),
    )
}

/// A change of the platform as text; a fallen clock source says so.
pub(super) fn platform_change(change: &super::Change) -> String {
    let told = |value: &Option<String>| value.clone().unwrap_or_else(|| "not reported".into());
    let remark = change.remark.as_ref().map(|remark| format!(" ({remark})")).unwrap_or_default();
    format!("{} → {}{remark}", told(&change.old), told(&change.new))
}
