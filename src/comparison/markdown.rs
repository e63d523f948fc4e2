//! What changed, as Markdown.

use super::Comparison;
use super::rows::{
    ANSWER_HEADS, HEADS, answer_cells, cells, one_sided, platform_change, shown, smallest, summary,
};
use crate::text::escape::markdown as escape;

/// The comparison, a changed clock source in the first line.
#[must_use]
pub fn render(comparison: &Comparison, all: bool) -> String {
    let mut out = String::new();
    for change in &comparison.platform {
        if change.is_loud() && !change.is_of_clock_source() {
            out += &format!("- **{}: {}**\n", change.what, escape(&platform_change(change)));
            continue;
        }
        out += &format!("- **{}**: {}\n", change.what, escape(&platform_change(change)));
    }
    if comparison.platform.is_empty() {
        out += "Same platform and settings.\n";
    }
    out += &format!("\n{}; {}.\n", escape(&summary(comparison)), escape(&smallest()));
    let shown = shown(comparison, all);
    if !shown.is_empty() {
        out += &format!("\n| {} |\n|:--|:--|--:|--:|:--|:--|\n", HEADS.map(escape).join(" | "));
        for compared in shown {
            out += &format!("| {} |\n", cells(compared).map(|cell| escape(&cell)).join(" | "));
        }
    }
    if !comparison.answers.is_empty() {
        out += &format!("\n| {} | finding |\n|:--|:--|:--|:--|:--|\n", ANSWER_HEADS.join(" | "));
    }
    for answer in &comparison.answers {
        let cells = answer_cells(answer).map(|cell| escape(&cell)).join(" | ");
        out += &format!("| {cells} | {} |\n", escape(&answer.finding));
    }
    for (name, timers) in one_sided(comparison) {
        out += &format!("\n{name}: {}\n", escape(&timers.join(", ")));
    }
    out
}
