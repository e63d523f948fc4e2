//! What changed, as tables and sentences: the terminal and the Markdown page differ in how they set
//! them only.

use indexmap::IndexMap;

use super::family::Assumed;
use super::quantity::Measure;
use super::{
    ChangedAnswer, Compared, Comparison, FAMILY_ERROR, Fate, Quantity, SMALLEST, SMALLEST_QUALITY,
    Unit, Verdict,
};
use crate::table::{Table, TableColumn};
use crate::text::numbers::{NOTHING, significant};

/// The figures to be shown, the worst first: those that differ by more than noise, or could not be
/// judged and differ by what matters; or `all` of them. A spread without an interval is shown with
/// all others only: older reports have none, and Quality, which is judged, holds it.
pub(super) fn shown(comparison: &Comparison, all: bool) -> Vec<&Compared> {
    let differs = |compared: &&Compared| match compared.verdict {
        Verdict::Better | Verdict::Worse => true,
        Verdict::Unjudged => {
            compared.quantity != Quantity::SPREAD
                && compared.matters
                && compared.difference.absolute != 0.0
        }
        Verdict::Noise => false,
    };
    let mut shown: Vec<&Compared> = comparison
        .figures
        .iter()
        .filter(|c| all || differs(c))
        .collect();
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
    let right = |heading| TableColumn {
        right: true,
        ..TableColumn::left(heading)
    };
    let mut table = Table::new(vec![
        TableColumn {
            longest: Some(60),
            folds: true,
            ..TableColumn::left("timer")
        },
        TableColumn::left("figure"),
        right("old"),
        right("new"),
        TableColumn {
            folds: true,
            ..TableColumn::left("difference [95 % interval]")
        },
        TableColumn::left("verdict"),
    ]);
    for compared in shown {
        table.push(vec![
            compared.timer.as_str().into(),
            in_unit(compared).into(),
            compared
                .quantity
                .written(compared.difference.old.value)
                .into(),
            compared
                .quantity
                .written(compared.difference.new.value)
                .into(),
            change(compared).into(),
            verdict(compared.verdict).into(),
        ]);
    }
    table
}

/// A figure, and what it was compared in where that is not the unit that it is told in.
fn in_unit(compared: &Compared) -> String {
    let name = compared.quantity.name();
    match compared.unit {
        Some(Unit::Cycles) => format!("{name} (cycles)"),
        Some(Unit::Time) | None => name.to_owned(),
        Some(Unit::Both) => format!("{name} (both)"),
    }
}

/// A row an answer that changed.
pub(super) fn answers(comparison: &Comparison) -> Table<'static> {
    let mut table = Table::new(
        ["timer", "question", "answer", "verdict", "finding"]
            .map(TableColumn::left)
            .to_vec(),
    );
    for answer in &comparison.answers {
        table.push(vec![
            answer.timer.as_str().into(),
            answer.question.name().into(),
            in_words(answer).into(),
            verdict(answer.verdict).into(),
            answer.finding.as_str().into(),
        ]);
    }
    table
}

/// An answer that changed.
pub(super) fn in_words(answer: &ChangedAnswer) -> String {
    format!("{} → {}", answer.old.name(), answer.new.name())
}

fn change(compared: &Compared) -> String {
    let difference = &compared.difference;
    let (value, interval, decimals, unit) = match compared.quantity.measure() {
        Measure::Points => (difference.absolute, difference.interval, 2, " points"),
        Measure::Share => (difference.absolute, difference.interval, 3, ""),
        Measure::Ppm => (difference.absolute, difference.interval, 1, " ppm"),
        Measure::Time => match difference.percent {
            Some(percent) => (percent, difference.percent_interval, 1, " %"),
            None => return format!("{} ns", significant(difference.absolute, 4)),
        },
    };
    match interval {
        Some((low, high)) => {
            format!("{value:+.decimals$}{unit} [{low:+.decimals$}, {high:+.decimals$}]")
        }
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

/// Timers of one report only: how they are called, and who they are with the reason, where there is
/// one.
pub(super) fn one_sided(comparison: &Comparison) -> Vec<(&'static str, Vec<String>)> {
    let fates = [
        (Fate::Lost, "lost their figures"),
        (Fate::Gone, "only in the old report"),
        (Fate::Added, "only in the new report"),
        (Fate::Gained, "gained figures"),
    ];
    let of = |fate: Fate| -> Vec<String> {
        let timers = comparison
            .one_sided
            .iter()
            .filter(|timer| timer.fate == fate);
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
        reasons
            .into_iter()
            .map(|(reason, timers)| format!("{} ({reason})", timers.join(", ")))
            .collect()
    };
    fates
        .into_iter()
        .map(|(fate, name)| (name, of(fate)))
        .filter(|(_, timers)| !timers.is_empty())
        .collect()
}

/// The smallest differences that matter, for the head.
pub(super) fn smallest() -> String {
    format!(
        "differences below {} % of a cost or a resolution, or {} % of a Quality, do not matter",
        100.0 * SMALLEST,
        100.0 * SMALLEST_QUALITY
    )
}

/// How it all comes out, counted.
pub(super) fn summary(comparison: &Comparison) -> String {
    let counted = |count: usize, what: &str| format!("{count} {what}");
    let unjudged = comparison.count(Verdict::Unjudged);
    let all = comparison.figures.len() - unjudged;
    let rest = if unjudged > 0 {
        format!("; {unjudged} without one are not judged")
    } else {
        String::new()
    };
    format!(
        "{}, {}, {} of {all} figures with intervals{rest}",
        counted(comparison.count(Verdict::Worse), "worse"),
        counted(comparison.count(Verdict::Better), "better"),
        counted(comparison.count(Verdict::Noise), "no more than noise"),
    )
}

/// What single runs of a kind were taken to differ by.
pub(super) fn assumed(assumed: &Assumed) -> String {
    let Assumed { read, shared_core } = *assumed;
    let shared = if shared_core {
        " beside others on the core"
    } else {
        ""
    };
    format!(
        "{}{shared} {} %",
        read.in_words(),
        significant(100.0 * read.share(shared_core), 2)
    )
}

/// How it was compared: at what risk, in what unit, and what runs were taken to differ by.
pub(super) fn how(comparison: &Comparison) -> Vec<String> {
    let mut told = vec![format!(
        "where nothing changed, 1 comparison in {:.0} names anything; {}",
        1.0 / FAMILY_ERROR,
        smallest()
    )];
    if let Some([old, new]) = comparison.core_hz {
        let ghz = |hz: f64| format!("{:.3} GHz", hz / 1e9);
        told.push(format!(
            "costs that follow the core are compared in cycles, others in ns, in both where that is unknown; all are told at the {} of the old \
             runs (the new ones: {})",
            ghz(old),
            ghz(new)
        ));
    }
    if !comparison.assumed.is_empty() {
        told.push(format!(
            "one run a side: what such runs are known to differ by is allowed for ({}); several a side measure it (compare OLD... -- NEW...), as kept ones do (--history)",
            comparison.assumed.join(", ")
        ));
    } else if comparison.runs.iter().sum::<usize>() > 2 || comparison.history > 1 {
        let ([old, new], history) = (comparison.runs, comparison.history);
        let others = if history > 0 {
            format!(", and {history} others")
        } else {
            String::new()
        };
        told.push(format!(
            "{old} old and {new} new runs{others}: a change is held against what unchanged runs differ by"
        ));
    }
    told
}

impl std::fmt::Display for super::PlatformChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.what, platform_change(self))
    }
}

/// A change of the platform as text; a fallen clock source says so.
pub(super) fn platform_change(change: &super::PlatformChange) -> String {
    let told = |value: &Option<String>| value.clone().unwrap_or_else(|| "not reported".into());
    let remark = change
        .remark
        .map(|remark| format!(" ({remark})"))
        .unwrap_or_default();
    format!("{} → {}{remark}", told(&change.old), told(&change.new))
}
