//! Renders the sections of a document as text for a terminal.

use super::{FindingText, Section};
use crate::model::Severity;
use crate::table::Style;
use crate::text::hang;
use crate::text::numbers::NOTHING;

/// Renders the sections, separated by blank lines except between text sections.
pub(super) fn render(sections: &[Section<'_>], mut style: Style) -> String {
    let (mut out, mut indent) = (String::new(), "");
    let mut previous: Option<&Section<'_>> = None;
    for section in sections {
        let is_text = |section: &Section<'_>| {
            matches!(
                section,
                Section::Paragraph(..)
                    | Section::Line(_)
                    | Section::Note(_)
                    | Section::Facts(_)
                    | Section::Conditions(_)
            )
        };
        if matches!(section, Section::Data(_)) || style.quiet && matches!(section, Section::Note(_))
        {
            continue;
        }
        let needs_no_blank_line = previous.is_none_or(|previous| {
            matches!(previous, Section::Heading(_)) || is_text(previous) && is_text(section)
        });
        if !needs_no_blank_line {
            out.push('\n');
        }
        match section {
            Section::Heading(_) => indent = "  ",
            Section::Paragraph(..) | Section::Line(_) => indent = "",
            _ => {}
        }
        out += &render_section(section, indent, style);
        // The columns of further tables mostly have the same names.
        style.legend &= !matches!(section, Section::Table(..));
        previous = Some(section);
    }
    out
}

fn render_section(section: &Section<'_>, indent: &str, style: Style) -> String {
    let columns = style.columns();
    let mut out = String::new();
    match section {
        Section::Heading(text) => out += &heading_lines(text, style),
        Section::Paragraph(text) => hang(&mut out, "", "  ", &style.plain(text), columns),
        Section::Line(text) => out += &(style.plain(text) + "\n"),
        Section::Note(text) => hang(
            &mut out,
            &format!("{indent}→ "),
            &format!("{indent}  "),
            &style.plain(text),
            columns,
        ),
        Section::Facts(facts) => out += &fact_lines(indent, facts, style),
        Section::Conditions(facts) => out += &comment_lines(facts, style),
        Section::Table(table) => out += &table.on_terminal(style, &|_| ""),
        Section::Findings(findings) => {
            let width = findings
                .iter()
                .map(|finding| finding.code.chars().count())
                .max()
                .unwrap_or(0);
            for finding in findings {
                out += &finding_lines(finding, width, style);
            }
        }
        Section::Code(text) => {
            for line in text.lines() {
                out += format!("    {line}").trim_end();
                out.push('\n');
            }
        }
        Section::Data(_) => {}
    }
    out
}

/// Returns what follows a text that is longer than the terminal: a blank line and the first
/// paragraph, which is the answer. Empty if the text is shorter, or begins with no paragraph.
pub fn repeated_answer(text: &str, height: usize) -> String {
    /// The largest number of lines of an answer; lists are longer. *Judgement*.
    const MAX_ANSWER_LINES: usize = 8;
    // Conditions are comments, whose `#` may follow a colour code.
    let is_comment = |line: &str| line.find("# ").is_some_and(|at| at < 6);
    let lines = text.lines();
    let answer: Vec<&str> = lines
        .take_while(|line| !line.is_empty() && !is_comment(line))
        .collect();
    let is_answer = (1..=MAX_ANSWER_LINES).contains(&answer.len());
    if is_answer && text.lines().count() >= height {
        format!("\n{}\n", answer.join("\n"))
    } else {
        String::new()
    }
}

/// Renders facts as comment lines, which begin with `#`.
fn comment_lines<N: AsRef<str>, V: AsRef<str>>(facts: &[(N, V)], style: Style) -> String {
    let lines = fact_lines("# ", facts, style);
    lines
        .lines()
        .map(|line| style.paint("2", line) + "\n")
        .collect()
}

/// Renders each fact on a line that begins with `lead`, with the values aligned and folded.
fn fact_lines<N: AsRef<str>, V: AsRef<str>>(lead: &str, facts: &[(N, V)], style: Style) -> String {
    let width = facts
        .iter()
        .map(|(name, _)| name.as_ref().chars().count())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for (name, value) in facts {
        let first = format!("{lead}{:width$}  ", name.as_ref());
        let next = format!("{lead}{:width$}  ", "");
        hang(
            &mut text,
            &first,
            &next,
            &style.plain(value.as_ref()),
            style.columns(),
        );
    }
    text.lines()
        .map(|line| line.trim_end().to_owned() + "\n")
        .collect()
}

/// Renders a heading with escape codes around each line.
fn heading_lines(text: &str, style: Style) -> String {
    let mut lines = String::new();
    hang(&mut lines, "", "  ", &style.plain(text), style.columns());
    lines
        .lines()
        .map(|line| style.paint("1", line) + "\n")
        .collect()
}

/// Renders a finding: severity, code and message, then the advice on the next lines. Codes take
/// `width` columns.
fn finding_lines(finding: &FindingText, width: usize, style: Style) -> String {
    let codes = match finding.severity {
        Severity::Problem => "31",
        Severity::Note => "33",
        Severity::Unknown => "2",
        Severity::Ok => "32",
    };
    let word = finding.severity.name();
    let code = style.plain(&finding.code);
    let (first, margin) = (format!("{word:9}{code:width$}  "), " ".repeat(9 + width));
    let mut text = String::new();
    let below = format!("{margin}  ");
    let message = match style.plain(&finding.message) {
        none if none.is_empty() => NOTHING.into(),
        message => message,
    };
    hang(&mut text, &first, &below, &message, style.columns());
    if let Some(advice) = &finding.advice {
        let (arrow, below) = (format!("{margin}  → "), format!("{margin}    "));
        hang(
            &mut text,
            &arrow,
            &below,
            &style.plain(advice),
            style.columns(),
        );
    }
    // The severity is the first word of the first line.
    let (word, rest) = text.split_at(word.len());
    style.paint(codes, word) + rest
}

#[cfg(test)]
mod tests {
    use super::repeated_answer;

    #[test]
    fn answer_follows_long_text() {
        let answer = "To wait: x\n  (p50).\n";
        let text = format!("{answer}\u{1b}[2m# machine  y\n\ntable\n");
        assert_eq!(repeated_answer(&text, 5), format!("\n{answer}"));
        assert_eq!(repeated_answer(&text, 6), "");
        assert_eq!(repeated_answer("# machine\n\nrow\n", 1), "");
        assert_eq!(repeated_answer(&"row\n".repeat(9), 1), "");
    }
}
