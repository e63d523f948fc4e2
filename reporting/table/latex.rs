//! A booktabs table for `\input`, as wide as it gets: how large its letters are, and where it
//! stands, is up to the document.

use std::io::{self, Write};

use super::{Table, rewritten};
use crate::text::clipped;

/// Longer texts are cut; the other formats hold them whole.
const LONGEST: usize = 100;

pub(super) fn write(source: &Table<'_>, output: &mut dyn Write) -> io::Result<()> {
    writeln!(
        output,
        "% \\usepackage{{booktabs}} and {{textcomp}}, T1 fonts, UTF-8"
    )?;
    for (at, name) in source.groups.iter().enumerate() {
        let name = escape(&clipped(name, 2 * LONGEST));
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
        let cells = cells.map(|(column, cell)| escape(&clipped(&column.scaled(cell), LONGEST)));
        write_line(cells, output)?;
    }
    writeln!(output, "\\bottomrule\n\\end{{tabular}}")
}

fn write_line(cells: impl Iterator<Item = String>, output: &mut dyn Write) -> io::Result<()> {
    writeln!(output, "{} \\\\", cells.collect::<Vec<_>>().join(" & "))
}

/// Text for LaTeX. pdfLaTeX stops at characters its fonts lack, so what lies beyond Latin-1 is
/// written by its number.
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
        // Two or three of them would join to a dash.
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
