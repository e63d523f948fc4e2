//! GitHub Markdown.

use super::escape_with;
use crate::document::Section;
use crate::table::{CellValue, Table};

/// The sections, separated by blank lines.
pub(super) fn document(sections: &[Section<'_>]) -> String {
    sections.iter().map(block).collect::<Vec<_>>().join("\n")
}

fn block(section: &Section<'_>) -> String {
    match section {
        Section::Heading(text) => format!("### {}\n", escape(text)),
        Section::Paragraph(text) | Section::Line(text) => escape(text) + "\n",
        Section::Note(text) => format!("- {}\n", escape(text)),
        Section::Facts(facts) | Section::Conditions(facts) => facts
            .iter()
            .map(|(name, value)| format!("- **{}**: {}\n", escape(name), escape(value)))
            .collect(),
        Section::Table(it) => table(it),
        Section::Findings(findings) => findings
            .iter()
            .map(|finding| {
                let [code, message] = [&finding.code, &finding.message].map(|it| escape(it));
                let advice = finding
                    .advice
                    .as_ref()
                    .map(|it| format!(" → {}", escape(it)));
                let (severity, advice) = (finding.severity.name(), advice.unwrap_or_default());
                format!("- {severity} **{code}**: {message}{advice}\n")
            })
            .collect(),
        Section::Code(text) => format!("```\n{}\n```\n", text.trim_end()),
    }
}

/// The table between its caption and how to cite it.
pub(super) fn table(table: &Table<'_>) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let columns = || table.columns.iter();
    let headings = columns().map(|column| escape(column.heading)).collect();
    let sides = columns().map(|column| if column.right_aligned { "--:|" } else { ":--|" });
    let mut out = line(headings) + "|" + &sides.collect::<String>() + "\n";
    for row in &table.rows {
        let cells = table.cells(row).map(|(column, cell)| {
            let text = column.format_in_document(cell);
            match (cell, cell.address()) {
                // The brackets of an interval are no link.
                (CellValue::Figure(_), _) => text,
                (_, Some(address)) => format!("[{}]({address})", escape(&text)),
                (_, None) => escape(&text),
            }
        });
        out += &line(cells.collect());
    }
    match &table.caption {
        Some(caption) => format!(
            "{}\n\n{out}\n{}\n",
            escape(&caption.text),
            escape(&caption.cite)
        ),
        None => out,
    }
}

/// Escapes text for Markdown, also for cells of its tables, and for HTML within Markdown.
pub(super) fn escape(text: &str) -> String {
    escape_with(text, |c, out| match c {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '~' | '$' | '!' => out.extend(['\\', c]),
        c => out.push(c),
    })
}
