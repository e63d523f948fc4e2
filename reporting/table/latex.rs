//! Writes a LaTeX table (package booktabs) for `\input` by a document, which sets the font size and
//! the position.

use std::io::{self, Write};

use super::{Table, escape_with};
use crate::text::clipped;

/// The largest number of characters of a cell. Longer text is shortened, also where other formats
/// keep it, because LaTeX does not fold cells.
const MAX_CELL_CHARS: usize = 200;

pub(super) fn write(source: &Table<'_>, output: &mut dyn Write) -> io::Result<()> {
    writeln!(
        output,
        "% \\usepackage{{booktabs}} and {{textcomp}}, T1 fonts, UTF-8"
    )?;
    for (at, name) in source.groups.iter().enumerate() {
        let name = escape(&clipped(name, MAX_CELL_CHARS));
        writeln!(output, "\\noindent [{}] {name}\\par", at + 1)?;
    }
    let alignments: String = source
        .columns
        .iter()
        .map(|column| if column.right_aligned { 'r' } else { 'l' })
        .collect();
    writeln!(output, "\\begin{{tabular}}{{{alignments}}}\n\\toprule")?;
    let titles = source
        .columns
        .iter()
        .map(|column| {
            let number = column.group.map(|group| format!("[{}] ", group + 1));
            escape(&(number.unwrap_or_default() + column.heading_without_ns()))
        })
        .collect::<Vec<_>>()
        .join(" & ");
    writeln!(output, "{titles} \\\\\n\\midrule")?;
    source.write_rows(output, ["", " & ", " \\\\"], |column, cell| {
        escape(&clipped(&column.format_with_unit(cell), MAX_CELL_CHARS))
    })?;
    writeln!(output, "\\bottomrule\n\\end{{tabular}}")
}

/// Escapes text for LaTeX. Characters beyond Latin-1 without a command are written as code points,
/// because pdfLaTeX fails at characters that its fonts do not contain.
pub(super) fn escape(text: &str) -> String {
    escape_with(text, |c, out| match c {
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
        c if is_latin1(c) => out.push(c),
        c => *out += &code_point(c),
    })
}

fn is_latin1(c: char) -> bool {
    c.is_ascii() || ('\u{a1}'..='\u{ff}').contains(&c)
}

fn code_point(c: char) -> String {
    format!("U+{:04X}", u32::from(c))
}
