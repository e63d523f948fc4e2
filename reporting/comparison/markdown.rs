//! What changed, as Markdown.

use super::rows::{answers, figures, how, one_sided, platform_change, shown, summary};
use super::{Change, Comparison, sentences};
use crate::table::{Format, escape_markdown as escape};

/// The comparison, its sentence first but for a changed clock source or CPU.
#[must_use]
pub fn render(comparison: &Comparison, all: bool) -> String {
    let (loud, quiet): (Vec<&Change>, Vec<&Change>) =
        comparison.platform.iter().partition(|change| change.is_loud());
    let mut out: String = loud
        .iter()
        .map(|change| format!("- **{}: {}**\n", change.what, escape(&platform_change(change))))
        .collect();
    if !loud.is_empty() {
        out.push('\n');
    }
    for sentence in sentences(comparison) {
        out += &format!("**{}.**\n", escape(&sentence));
    }
    out.push('\n');
    for change in quiet {
        out += &format!("- **{}**: {}\n", change.what, escape(&platform_change(change)));
    }
    if comparison.platform.is_empty() {
        out += "Same platform and settings.\n";
    }
    out += &format!("\n{}.\n", escape(&summary(comparison)));
    how(comparison).iter().for_each(|how| out += &format!("\n{}.\n", escape(how)));
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
