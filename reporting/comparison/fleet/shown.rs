//! What changed in a fleet, for people: on a terminal and as Markdown.

use super::super::rows::smallest;
use super::FleetComparison;
use super::rows::{answers, fates, figures, legend, nodes, parts, platform, shown, summary, unlike};
use crate::comparison::formats::codes;
use crate::table::{Format, Style, escape_markdown as escape};
use crate::text::{hang, plain};

/// The comparison, clock sources that changed in the first lines. `all` shows what is no more than noise as well, and every node.
#[must_use]
pub fn render_table(comparison: &FleetComparison, all: bool, style: Style) -> String {
    let mut out = String::new();
    let line = |out: &mut String, text: &str, code: &str| {
        let mut lines = String::new();
        hang(&mut lines, "", "  ", &plain(text), style.columns());
        lines.lines().for_each(|line| *out += &(style.paint(code, line) + "\n"));
    };
    let facts = platform(comparison);
    facts.iter().filter(|(_, loud)| *loud).for_each(|(fact, _)| line(&mut out, fact, "31;1"));
    line(&mut out, &nodes(comparison), "");
    facts.iter().filter(|(_, loud)| !loud).for_each(|(fact, _)| line(&mut out, fact, ""));
    parts(comparison).iter().for_each(|part| line(&mut out, part, "1"));
    out.push('\n');
    line(&mut out, &summary(comparison), "");
    line(&mut out, &smallest(), "");
    let shown = shown(comparison, all);
    if !shown.is_empty() {
        out.push('\n');
        out += &figures(&shown, all).on_terminal(style, &|row| codes(shown[row].compared.verdict));
        line(&mut out, legend(), "");
    }
    let heading = |out: &mut String, text: &str, lines: usize| {
        if lines > 0 {
            *out += &format!("\n{text}\n");
        }
    };
    let answers = answers(comparison);
    heading(&mut out, "trust", answers.len());
    answers.iter().for_each(|(answer, verdict)| line(&mut out, answer, codes(*verdict)));
    let fates = fates(comparison);
    heading(&mut out, "timers", fates.len());
    fates.iter().for_each(|fate| line(&mut out, fate, ""));
    let (apart, more) = unlike(comparison, all);
    heading(&mut out, "nodes that changed unlike the rest", apart.len());
    apart.iter().for_each(|node| line(&mut out, node, ""));
    if more > 0 {
        line(&mut out, &format!("and {more} more, which --all shows"), "");
    }
    out
}

/// The same as Markdown.
#[must_use]
pub fn render_markdown(comparison: &FleetComparison, all: bool) -> String {
    let mut out = String::new();
    for (fact, loud) in platform(comparison) {
        let fact = escape(&fact);
        out += &if loud { format!("- **{fact}**\n") } else { format!("- {fact}\n") };
    }
    out += &format!("\n{}.\n", escape(&nodes(comparison)));
    let parts: String = parts(comparison).iter().map(|part| format!("- **{}**\n", escape(part))).collect();
    if !parts.is_empty() {
        out += &format!("\n{parts}");
    }
    out += &format!("\n{}; {}.\n", escape(&summary(comparison)), escape(&smallest()));
    let table = figures(&shown(comparison, all), all);
    if !table.rows.is_empty() {
        out += &format!("\n{}\n{}.\n", table.render(Format::Markdown), escape(legend()));
    }
    let mut list = |heading: &str, lines: &[String]| {
        if !lines.is_empty() {
            out += &format!("\n{heading}:\n\n");
            lines.iter().for_each(|line| out += &format!("- {}\n", escape(line)));
        }
    };
    let answers: Vec<String> = answers(comparison).into_iter().map(|(answer, _)| answer).collect();
    list("Trust", &answers);
    list("Timers", &fates(comparison));
    let (mut apart, more) = unlike(comparison, all);
    if more > 0 {
        apart.push(format!("and {more} more, which --all shows"));
    }
    list("Nodes that changed unlike the rest", &apart);
    out
}
