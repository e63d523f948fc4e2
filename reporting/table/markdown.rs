//! A table in GitHub's Markdown.

use std::io::{self, Write};

use super::{Table, rewritten};

pub(super) fn write(table: &Table<'_>, output: &mut dyn Write) -> io::Result<()> {
    let heads = table.columns.iter().map(|column| match column.group {
        Some(group) => escape(&format!("{}, {}", table.groups[group], column.heading)),
        None => escape(column.heading),
    });
    writeln!(
        output,
        "|{}",
        heads.map(|head| format!(" {head}").trim_end().to_owned() + " |").collect::<String>()
    )?;
    let rules = table.columns.iter().map(|column| if column.right { "--:" } else { ":--" });
    writeln!(output, "|{}|", rules.collect::<Vec<_>>().join("|"))?;
    let shown = |row| table.cells(row).map(|(column, cell)| escape(&column.shown(cell)));
    table.rows.iter().try_for_each(|row| line(output, shown(row)))
}

fn line(output: &mut dyn Write, cells: impl Iterator<Item = String>) -> io::Result<()> {
    writeln!(output, "| {} |", cells.collect::<Vec<_>>().join(" | "))
}

/// Text that Markdown and the HTML in it leave alone, in a cell of a table too.
#[must_use]
pub fn escape(text: &str) -> String {
    rewritten(text, |c, out| match c {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '~' | '$' | '!' => out.extend(['\\', c]),
        c => out.push(c),
    })
}
