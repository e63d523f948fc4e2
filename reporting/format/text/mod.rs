//! Text for people, on a terminal or in a file: sections one below the other, folded to the width of
//! the terminal.

mod table;

use super::{Format, Render};
use crate::document::{FindingText, Section};
use crate::text::numbers::NOTHING;
use crate::text::{ascii, display_width, hang, plain};
use estimators::model::Severity;

pub(super) use self::table::write as write_table;

/// The width of text if the output is not a terminal, in columns.
const DEFAULT_WIDTH: u16 = 120;

/// The width and the colours of text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Style {
    /// The width of the terminal in columns; `None` if the output is not a terminal, and text then
    /// folds at 120 columns.
    pub width: Option<u16>,
    /// Whether escape sequences may be used.
    pub colour: bool,
    /// Whether only ASCII characters may be used.
    pub ascii: bool,
    /// Whether lines below a table explain its columns.
    pub legend: bool,
    /// Whether suggestions for the next step are omitted.
    pub quiet: bool,
}

impl Style {
    /// The width of text in columns, at least 40.
    pub fn columns(self) -> usize {
        usize::from(self.width.unwrap_or(DEFAULT_WIDTH)).max(40)
    }

    /// `text` as one printable line, in ASCII if other characters may not be used.
    pub fn plain(self, text: &str) -> String {
        let text = plain(text);
        if self.ascii { ascii(&text) } else { text }
    }

    /// `text` in the given colours: between the escape sequences for the SGR parameters `codes`
    /// (ECMA-48), or unchanged if escape sequences are not allowed.
    pub fn paint(self, codes: &str, text: &str) -> String {
        if self.colour && !codes.is_empty() {
            format!("\x1b[{codes}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Renders sections, separated by blank lines except between text sections.
pub(super) fn document(sections: &[Section<'_>], mut style: Style) -> String {
    let (mut out, mut indent) = (String::new(), "");
    let mut previous: Option<&Section<'_>> = None;
    for section in sections {
        if style.quiet && matches!(section, Section::Note(_)) {
            continue;
        }
        let is_block = |it| {
            matches!(
                it,
                &(Section::Table(_) | Section::Findings(_) | Section::Code(_))
            )
        };
        let starts_block = matches!(section, Section::Heading(_))
            || is_block(section)
            || previous.is_some_and(is_block);
        let follows_heading = matches!(previous, None | Some(Section::Heading(_)));
        if starts_block && !follows_heading {
            out.push('\n');
        }
        match section {
            Section::Heading(_) => indent = "  ",
            Section::Paragraph(_) | Section::Line(_) => indent = "",
            _ => {}
        }
        out += &render(section, indent, style);
        // The columns of further tables mostly have the same names.
        style.legend &= !matches!(section, Section::Table(_));
        previous = Some(section);
    }
    out
}

fn render(section: &Section<'_>, indent: &str, style: Style) -> String {
    let hung = |first: &str, next: &str, text: &str| {
        let mut out = String::new();
        hang(&mut out, first, next, &style.plain(text), style.columns());
        out
    };
    // Escape codes surround each line.
    let painted = |codes: &str, lines: String| -> String {
        let lines = lines.lines();
        lines.map(|line| style.paint(codes, line) + "\n").collect()
    };
    let facts = |lead: &str, facts: &[(String, String)]| -> String {
        let width = widest(facts.iter().map(|(name, _)| name));
        let line = |(name, value): &(String, String)| {
            let [first, next] = [name, ""].map(|name| format!("{lead}{name:width$}  "));
            hung(&first, &next, value)
        };
        let lines: String = facts.iter().map(line).collect();
        lines
            .lines()
            .map(|line| line.trim_end().to_owned() + "\n")
            .collect()
    };
    match section {
        Section::Heading(text) => painted("1", hung("", "  ", text)),
        Section::Paragraph(text) => hung("", "  ", text),
        Section::Line(text) => style.plain(text) + "\n",
        Section::Note(text) => hung(&format!("{indent}→ "), &format!("{indent}  "), text),
        Section::Facts(pairs) => facts(indent, pairs),
        Section::Conditions(pairs) => painted("2", facts("# ", pairs)),
        Section::Table(table) => table.rendered(Format::Table, style),
        Section::Findings(findings) => {
            let width = widest(findings.iter().map(|finding| &finding.code));
            let margin = " ".repeat(9 + width);
            let lines = |finding: &FindingText| {
                let (codes, word) = severity(finding.severity);
                let code = style.plain(&finding.code);
                let message = Some(finding.message.as_str()).filter(|text| !plain(text).is_empty());
                let first = format!("{word:9}{code:width$}  ");
                let text = hung(&first, &format!("{margin}  "), message.unwrap_or(NOTHING));
                let advice = finding
                    .advice
                    .as_ref()
                    .map(|advice| hung(&format!("{margin}  → "), &format!("{margin}    "), advice));
                // The severity is the first word of the first line.
                style.paint(codes, word) + &text[word.len()..] + &advice.unwrap_or_default()
            };
            findings.iter().map(lines).collect()
        }
        Section::Code(text) => {
            let line = |line| format!("    {line}").trim_end().to_owned() + "\n";
            text.lines().map(line).collect()
        }
    }
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

fn widest<'a>(names: impl Iterator<Item = &'a String>) -> usize {
    names.map(|name| display_width(name)).max().unwrap_or(0)
}

/// The colour of a severity, and its name.
fn severity(severity: Severity) -> (&'static str, &'static str) {
    let codes = match severity {
        Severity::Problem => "31",
        Severity::Note => "33",
        Severity::Unknown => "2",
        Severity::Ok => "32",
    };
    (codes, severity.name())
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
