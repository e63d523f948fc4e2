//! What changed, on the terminal, as Markdown, and as JSON: everything there, noise as well.

use serde_json::{Value, json};

use super::rows::{
    answers, figures, how, in_words, one_sided, platform_change, shown, summary, verdict,
};
use super::{
    Comparison, FAMILY_ERROR, PlatformChange, SMALLEST, SMALLEST_QUALITY, SMALLEST_SPREAD, Verdict,
    sentences,
};
use crate::document::listed;
use crate::table::{Format, Style, escape_markdown as escape};
use crate::text::hang;

/// The comparison: the sentence that says what changed, above it another clock source or another
/// CPU, in whose light all else has to be read. `all` shows what is no more than noise as well.
#[must_use]
pub fn render_table(comparison: &Comparison, all: bool, style: Style) -> String {
    let mut out = String::new();
    let (loud, quiet): (Vec<&PlatformChange>, Vec<&PlatformChange>) = comparison
        .platform
        .iter()
        .partition(|change| change.is_loud());
    for change in loud {
        let alarm = if change.is_of_clock_source() && !change.is_fallen_clock_source() {
            "1"
        } else {
            "31;1"
        };
        let mut lines = String::new();
        let told = format!("{}: {}", change.what, platform_change(change));
        hang(&mut lines, "", "  ", &told, style.columns());
        lines
            .lines()
            .for_each(|line| out += &(style.paint(alarm, line) + "\n"));
    }
    for sentence in sentences(comparison) {
        let mut lines = String::new();
        hang(&mut lines, "", "  ", &sentence, style.columns());
        lines
            .lines()
            .for_each(|line| out += &(style.paint("1", line) + "\n"));
    }
    out.push('\n');
    if comparison.platform.is_empty() {
        out += "same platform and settings\n";
    }
    let quiet: Vec<_> = quiet
        .into_iter()
        .map(|change| (change.what, platform_change(change)))
        .collect();
    out += &listed("", &quiet, style);
    hang(&mut out, "", "  ", &summary(comparison), style.columns());
    how(comparison)
        .iter()
        .for_each(|how| hang(&mut out, "", "  ", how, style.columns()));
    let shown = shown(comparison, all);
    if !shown.is_empty() {
        out.push('\n');
        out += &figures(&shown).on_terminal(style, &|row| codes(shown[row].verdict));
    }
    if !comparison.answers.is_empty() {
        out += "\ntrust\n";
    }
    for answer in &comparison.answers {
        let first = format!(
            "  {} {}: {}",
            answer.timer,
            answer.question.name(),
            in_words(answer)
        );
        let first = match answer.verdict {
            Verdict::Unjudged => first,
            judged => format!("{first} ({})", verdict(judged)),
        };
        out += &style.paint(codes(answer.verdict), &first);
        out.push('\n');
        hang(&mut out, "    ", "    ", &answer.finding, style.columns());
    }
    for (name, timers) in one_sided(comparison) {
        out.push('\n');
        let timers = if all { timers } else { by_host(&timers) };
        let timers = timers.join(", ");
        hang(
            &mut out,
            &format!("{name}: "),
            "  ",
            &timers,
            style.columns(),
        );
    }
    out
}

/// Names of which several begin with the same host as one: `java:* (7)`.
fn by_host(timers: &[String]) -> Vec<String> {
    let host = |name: &str| name.split_once(':').map(|(host, _)| host.to_owned());
    let mut told: Vec<String> = Vec::new();
    for name in timers {
        let Some(of) = host(name) else {
            told.push(name.clone());
            continue;
        };
        let count = timers
            .iter()
            .filter(|other| host(other).as_ref() == Some(&of))
            .count();
        let name = if count > 1 {
            format!("{of}:* ({count})")
        } else {
            name.clone()
        };
        if !told.contains(&name) {
            told.push(name);
        }
    }
    told
}

/// How a verdict is painted.
pub(super) fn codes(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Worse => "31",
        Verdict::Better => "32",
        Verdict::Noise | Verdict::Unjudged => "",
    }
}

/// The comparison, its sentence first but for a changed clock source or CPU.
#[must_use]
pub fn render_markdown(comparison: &Comparison, all: bool) -> String {
    let (loud, quiet): (Vec<&PlatformChange>, Vec<&PlatformChange>) = comparison
        .platform
        .iter()
        .partition(|change| change.is_loud());
    let mut out: String = loud
        .iter()
        .map(|change| {
            format!(
                "- **{}: {}**\n",
                change.what,
                escape(&platform_change(change))
            )
        })
        .collect();
    if !loud.is_empty() {
        out.push('\n');
    }
    for sentence in sentences(comparison) {
        out += &format!("**{}.**\n", escape(&sentence));
    }
    out.push('\n');
    for change in quiet {
        out += &format!(
            "- **{}**: {}\n",
            change.what,
            escape(&platform_change(change))
        );
    }
    if comparison.platform.is_empty() {
        out += "Same platform and settings.\n";
    }
    out += &format!("\n{}.\n", escape(&summary(comparison)));
    how(comparison)
        .iter()
        .for_each(|how| out += &format!("\n{}.\n", escape(how)));
    for table in [figures(&shown(comparison, all)), answers(comparison)] {
        if !table.rows.is_empty() {
            out += &format!("\n{}", table.render(Format::Markdown));
        }
    }
    for (name, timers) in one_sided(comparison) {
        out += &format!("\n{name}: {}\n", escape(&timers.join(", ")));
    }
    out
}

/// The comparison as a JSON object.
#[must_use]
pub fn render_json(comparison: &Comparison) -> Value {
    json!({
        "sentences": sentences(comparison),
        "runs": { "old": comparison.runs[0], "new": comparison.runs[1] },
        "family_error": FAMILY_ERROR,
        "core_hz": comparison.core_hz,
        "assumed_between_runs": comparison.assumed,
        "worse": comparison.count(Verdict::Worse),
        "better": comparison.count(Verdict::Better),
        "noise": comparison.count(Verdict::Noise),
        "unjudged": comparison.count(Verdict::Unjudged),
        "smallest": { "cost": SMALLEST, "resolution": SMALLEST, "quality": SMALLEST_QUALITY, "spread": SMALLEST_SPREAD },
        "platform": comparison.platform,
        "figures": comparison.figures,
        "answers": comparison.answers,
        "one_sided": comparison.one_sided,
    })
}
