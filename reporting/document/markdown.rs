//! Renders the sections of a document as Markdown.

use super::Section;
use crate::table::{Format, escape_markdown as escape};

/// Renders the sections as Markdown blocks.
pub(super) fn render(sections: &[Section<'_>]) -> String {
    let blocks: Vec<String> = sections
        .iter()
        .map(block)
        .filter(|block| !block.is_empty())
        .collect();
    blocks.join("\n")
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
        Section::Table(table) => table.render(Format::Markdown),
        Section::Data(_) => String::new(),
        Section::Findings(findings) => findings
            .iter()
            .map(|finding| {
                let [code, message] = [&finding.code, &finding.message].map(|it| escape(it));
                let advice = finding
                    .advice
                    .as_deref()
                    .map_or(String::new(), |it| format!(" → {}", escape(it)));
                format!(
                    "- {} **{code}**: {message}{advice}\n",
                    finding.severity.name()
                )
            })
            .collect(),
        Section::Code(text) => format!("```\n{}\n```\n", text.trim_end()),
    }
}
