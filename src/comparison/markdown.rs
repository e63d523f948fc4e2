//! What changed, as Markdown.

use super::Comparison;
use super::rows::{answers, figures, one_sided, platform_change, shown, smallest, summary};
use crate::table::{Format, escape_markdown as escape};

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
