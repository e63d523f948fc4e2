//! Writes a table as an HTML page without scripts and links, or as GitHub Markdown.

use std::io::{self, Write};

use super::{Table, TableColumn, escape_with};

/// The HTML before the table.
const PAGE_HEAD: &str = "<!doctype html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width\">
<title>Timers</title>
<style>
:root { color-scheme: light dark; font: 15px/1.4 system-ui, sans-serif }
div { overflow-x: auto }
table { border-collapse: collapse }
th, td { padding: .2em .7em; text-align: left; border-bottom: 1px solid #8884 }
.n { text-align: right; font-variant-numeric: tabular-nums }
</style>
</head>
<body>
<div>
";

/// Writes an HTML page. Cells of right-aligned columns have the class `n`.
pub(super) fn write_html(table: &Table<'_>, output: &mut dyn Write) -> io::Result<()> {
    output.write_all(PAGE_HEAD.as_bytes())?;
    writeln!(output, "<table>")?;
    if let Some(caption) = &table.caption {
        writeln!(output, "<caption>{}</caption>", escape_html(&caption.text))?;
    }
    writeln!(output, "<thead>")?;
    let class = |column: &TableColumn| {
        if column.right_aligned {
            " class=\"n\""
        } else {
            ""
        }
    };
    let headings = table.columns.iter().map(|column| {
        format!(
            "<th scope=\"col\"{}>{}</th>",
            class(column),
            escape_html(column.heading_without_ns())
        )
    });
    writeln!(
        output,
        "<tr>{}</tr>\n</thead>\n<tbody>",
        headings.collect::<String>()
    )?;
    table.write_rows(output, ["<tr>", "", "</tr>"], |column, cell| {
        let mut text = escape_html(&column.format_with_unit(cell));
        if let Some(address) = cell.address() {
            text = format!("<a href=\"{}\">{text}</a>", escape_html(&address));
        }
        format!("<td{}>{text}</td>", class(column))
    })?;
    writeln!(output, "</tbody>\n</table>\n</div>")?;
    if let Some(caption) = &table.caption {
        writeln!(output, "<p>{}</p>", escape_html(&caption.cite))?;
    }
    writeln!(output, "</body>\n</html>")
}

/// Escapes text for HTML, between tags and in quoted attributes.
pub fn escape_html(text: &str) -> String {
    escape_with(text, |c, out| match c {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '"' => out.push_str("&quot;"),
        '\'' => out.push_str("&#39;"),
        c => out.push(c),
    })
}

pub(super) fn write_markdown(table: &Table<'_>, output: &mut dyn Write) -> io::Result<()> {
    let cite = table.caption.as_ref().map(|caption| &caption.cite);
    if let Some(caption) = &table.caption {
        writeln!(output, "{}\n", escape_markdown(&caption.text))?;
    }
    let columns = table.columns.iter();
    let headings = columns.map(|column| escape_markdown(column.heading_without_ns()));
    writeln!(
        output,
        "|{}",
        headings
            .map(|heading| format!(" {heading}").trim_end().to_owned() + " |")
            .collect::<String>()
    )?;
    let alignments = table
        .columns
        .iter()
        .map(|column| if column.right_aligned { "--:" } else { ":--" });
    writeln!(output, "|{}|", alignments.collect::<Vec<_>>().join("|"))?;
    table.write_rows(output, ["| ", " | ", " |"], |column, cell| {
        let text = escape_markdown(&column.format_with_unit(cell));
        match cell.address() {
            Some(address) => format!("[{text}]({address})"),
            None => text,
        }
    })?;
    match cite {
        Some(cite) if !cite.is_empty() => writeln!(output, "\n{}", escape_markdown(cite)),
        _ => Ok(()),
    }
}

/// Escapes text for Markdown, also for cells of its tables, and for HTML within Markdown.
pub fn escape_markdown(text: &str) -> String {
    escape_with(text, |c, out| match c {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '~' | '$' | '!' => out.extend(['\\', c]),
        c => out.push(c),
    })
}
