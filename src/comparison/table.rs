//! What changed, for people.

use super::rows::{HEADS, answer_cells, cells, one_sided, platform_change, shown, smallest, summary};
use super::{Change, Comparison, Verdict};
use crate::report::Style;
use crate::text::{clipped, hang};

const LONGEST: usize = 300;
const LONGEST_ID: usize = 60;

/// The comparison, a fallen clock source in the first line, another CPU in the next. `all` shows what is no more than noise as well.
#[must_use]
pub fn render(comparison: &Comparison, all: bool, style: Style) -> String {
    let mut out = String::new();
    if comparison.platform.is_empty() {
        out += "same platform and settings\n";
    }
    let (loud, quiet): (Vec<&Change>, Vec<&Change>) =
        comparison.platform.iter().partition(|change| change.is_loud());
    for change in loud {
        let alarm =
            if change.is_of_clock_source() && !change.is_fallen_clock_source() { "1" } else { "31;1" };
        let line = format!("{}: {}", change.what, clipped(&platform_change(change), LONGEST));
        out += &painted(style, alarm, &line);
        out.push('\n');
    }
    let width = quiet.iter().map(|change| change.what.len()).max().unwrap_or(0);
    for change in quiet {
        let first = format!("{:width$}  ", change.what);
        let next = " ".repeat(width + 2);
        hang(&mut out, &first, &next, &clipped(&platform_change(change), LONGEST), columns(style));
    }
    out += &format!("\n{}\n", summary(comparison));
    hang(&mut out, "", "", &smallest(), columns(style));
    let shown = shown(comparison, all);
    if !shown.is_empty() {
        out.push('\n');
        grid(&mut out, &shown, style);
    }
    if !comparison.answers.is_empty() {
        out += "\ntrust\n";
    }
    for answer in &comparison.answers {
        let [timer, question, change, verdict] = answer_cells(answer);
        let first = format!("  {} {question}: {change}", clipped(&timer, LONGEST_ID));
        let first = if answer.verdict == Verdict::Unjudged { first } else { format!("{first} ({verdict})") };
        out += &painted(style, codes(answer.verdict), &first);
        out.push('\n');
        hang(&mut out, "    ", "    ", &clipped(&answer.finding, LONGEST), columns(style));
    }
    for (name, timers) in one_sided(comparison) {
        out.push('\n');
        let timers = clipped(&timers.join(", "), 20 * LONGEST);
        hang(&mut out, &format!("{name}: "), "  ", &timers, columns(style));
    }
    out
}

/// One line about a pair of reports, for where there are many: what became of the clock source first.
#[must_use]
pub fn summary_line(comparison: &Comparison) -> String {
    let (source, rest) = match comparison.platform.split_first() {
        Some((first, rest)) if first.is_of_clock_source() => (brief(first) + "; ", rest),
        _ => (String::new(), comparison.platform.as_slice()),
    };
    let platform = match rest.split_first() {
        Some((first, [])) => brief(first),
        Some((first, more)) => format!("{} and {} more", brief(first), more.len()),
        None if source.is_empty() => "same platform".to_owned(),
        None => "the platform is the same else".to_owned(),
    };
    let told = |count: usize, what: &str| if count > 0 { format!("; {count} {what}") } else { String::new() };
    let lost = told(comparison.lost().count(), "lost");
    let failed = told(comparison.failed().count(), "questions of trust newly failed");
    format!("{source}{}{lost}{failed}; {platform}", summary(comparison))
}

/// A change without its advice.
fn brief(change: &Change) -> String {
    let told =
        |value: &Option<String>| value.as_ref().map_or("not told".to_owned(), |value| clipped(value, 60));
    let remark = change.remark.as_deref().and_then(|remark| remark.split(':').next());
    let remark = remark.map(|remark| format!(" ({remark})")).unwrap_or_default();
    format!("{}: {} → {}{remark}", change.what, told(&change.old), told(&change.new))
}

fn grid(out: &mut String, shown: &[&super::Compared], style: Style) {
    let mut lines: Vec<[String; 6]> = vec![HEADS.map(str::to_owned)];
    for compared in shown {
        let mut line = cells(compared);
        line[0] = clipped(&line[0], LONGEST_ID);
        lines.push(line);
    }
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 6] = std::array::from_fn(width);
    for (at, line) in lines.iter().enumerate() {
        let mut text = String::new();
        for (column, cell) in line.iter().enumerate() {
            let blanks = " ".repeat(widths[column] - cell.chars().count());
            let right = matches!(column, 2 | 3);
            text += &if right { format!("{blanks}{cell}  ") } else { format!("{cell}{blanks}  ") };
        }
        let codes = at.checked_sub(1).map_or("1", |at| codes(shown[at].verdict));
        *out += &painted(style, codes, text.trim_end());
        out.push('\n');
    }
}

fn codes(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Worse => "31",
        Verdict::Better => "32",
        Verdict::Noise | Verdict::Unjudged => "0",
    }
}

fn columns(style: Style) -> usize {
    usize::from(style.width.unwrap_or(120)).max(40)
}

fn painted(style: Style, codes: &str, text: &str) -> String {
    if style.colour && codes != "0" { format!("\x1b[{codes}m{text}\x1b[0m") } else { text.to_owned() }
}
