//! Writes a booktabs table for `\input`. The including document sets the font size and the
//! position.

use std::io::{self, Write};

use super::{Table, rewritten};
use crate::text::clipped;

/// The longest text of a cell, in characters; longer texts are truncated, unlike in other formats.
const MAX_CELL_CHARS: usize = 100;

pub(super) fn write(source: &Table<'_>, output: &mut dyn Write) -> io::Result<()> {
    writeln!(
        output,
        "% \\usepackage{{booktabs}} and {{textcomp}}, T1 fonts, UTF-8"
    )?;
    for (at, name) in source.groups.iter().enumerate() {
        let name = escape(&clipped(name, 2 * MAX_CELL_CHARS));
        writeln!(output, "\\noindent [{}] {name}\\par", at + 1)?;
    }
    let columns = source.columns.iter();
    let kinds = columns.map(|column| if column.right { 'r' } else { 'l' });
    let kinds: String = kinds.collect();
    writeln!(output, "\\begin{{tabular}}{{{kinds}}}\n\\toprule")?;
    let titles = source.columns.iter().map(|column| {
        let number = column.group.map(|group| format!("[{}] ", group + 1));
        escape(&(number.unwrap_or_default() + column.scaled_heading()))
    });
    write_line(titles, output)?;
    writeln!(output, "\\midrule")?;
    for row in &source.rows {
        let cells = source.cells(row);
        let cells =
            cells.map(|(column, cell)| escape(&clipped(&column.scaled(cell), MAX_CELL_CHARS)));
        write_line(cells, output)?;
    }
    writeln!(output, "\\bottomrule\n\\end{{tabular}}")
}

fn write_line(cells: impl Iterator<Item = String>, output: &mut dyn Write) -> io::Result<()> {
    writeln!(output, "{} \\\\", cells.collect::<Vec<_>>().join(" & "))
}

/// Escapes text for LaTeX. pdfLaTeX fails at characters missing from its fonts, so characters
/// beyond Latin-1 are written as numbers.
pub(super) fn escape(text: &str) -> String {
    rewritten(text, |c, out| match c {
        '\\' => out.push_str("\\textbackslash{}"),
        '{' | '}' | '$' | '&' | '#' | '%' | '_' => out.extend(['\\', c]),
        '^' => out.push_str("\\textasciicircum{}"),
        '~' => out.push_str("\\textasciitilde{}"),
        '<' => out.push_str("\\textless{}"),
        '>' => out.push_str("\\textgreater{}"),
        '|' => out.push_str("\\textbar{}"),
        '"' => out.push_str("\\textquotedbl{}"),
        '\'' => out.push_str("\\textquotesingle{}"),
        '`' => out.push_str("\\textasciigrave{}"),
        '[' | ']' => out.extend(['{', c, '}']),
        // Two or three hyphens would form a dash.
        '-' if out.ends_with('-') => out.push_str("{}-"),
        'µ' | 'μ' => out.push_str("\\textmu{}"),
        '≤' => out.push_str("$\\le$"),
        '±' => out.push_str("$\\pm$"),
        '–' => out.push_str("\\textendash{}"),
        '…' => out.push_str("\\dots{}"),
        '→' => out.push_str("$\\to$"),
        c if is_one_glyph(c) => out.push(c),
        c => *out += &by_number(c),
    })
}

fn is_one_glyph(c: char) -> bool {
    c.is_ascii() || ('\u{a1}'..='\u{ff}').contains(&c)
}

fn by_number(c: char) -> String {
    format!("U+{:04X}", u32::from(c))
}
