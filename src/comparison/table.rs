//! What changed, for people.

use super::rows::{HEADS, cells, one_sided, platform_change, shown, summary};
use super::{Comparison, Verdict};
use crate::report::Style;
use crate::report::text::{clipped, hang};

const LONGEST: usize = 300;
const LONGEST_ID: usize = 60;

/// The comparison, a fallen clock source in the first line. `all` shows what is no more than noise as well.
#[must_use]
pub fn render(comparison: &Comparison, all: bool, style: Style) -> String {
    let mut out = String::new();
    let mut platform = comparison.platform.iter();
    match comparison.platform.first() {
        Some(change) if change.what == "clock source" => {
            platform.next();
            let alarm = if change.is_fallen_clock_source() { "31;1" } else { "1" };
            out += &painted(
                style,
                alarm,
                &format!("clock source: {}", clipped(&platform_change(change), LONGEST)),
            );
            out.push('\n');
        }
        Some(_) => {}
        None => out += "same platform and settings\n",
    }
    let width = comparison.platform.iter().map(|change| change.what.len()).max().unwrap_or(0);
    for change in platform {
        let first = format!("{:width$}  ", change.what);
        let next = " ".repeat(width + 2);
        hang(&mut out, &first, &next, &clipped(&platform_change(change), LONGEST), columns(style));
    }
    out += &format!("\n{}\n", summary(comparison));
    let shown = shown(comparison, all);
    if !shown.is_empty() {
        out.push('\n');
        grid(&mut out, &shown, style);
    }
    for (name, timers) in one_sided(comparison) {
        out.push('\n');
        let timers = clipped(&timers.join(", "), 20 * LONGEST);
        hang(&mut out, &format!("{name}: "), "  ", &timers, columns(style));
    }
    out
}

/// One line about a pair of reports, for where there are many.
#[must_use]
pub fn summary_line(comparison: &Comparison) -> String {
    let platform = match comparison.platform.first() {
        None => "same platform".to_owned(),
        Some(first) => {
            let more = comparison.platform.len() - 1;
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{}: {}{more}", first.what, clipped(&platform_change(first), 80))
        }
    };
    let lost = comparison.lost().count();
    let lost = if lost > 0 { format!("; {lost} lost") } else { String::new() };
    format!("{}{lost}; {platform}", summary(comparison))
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
        let codes = match at.checked_sub(1).map(|at| shown[at].verdict) {
            None => "1",
            Some(Verdict::Worse) => "31",
            Some(Verdict::Better) => "32",
            Some(_) => "0",
        };
        *out += &painted(style, codes, text.trim_end());
        out.push('\n');
    }
}

fn columns(style: Style) -> usize {
    usize::from(style.width.unwrap_or(120)).max(40)
}

fn painted(style: Style, codes: &str, text: &str) -> String {
    if style.colour && codes != "0" { format!("\x1b[{codes}m{text}\x1b[0m") } else { text.to_owned() }
}
