//! A booktabs table for `\input`; or a LaTeX document with one, which may run over pages, and with
//! several where one would be wider than TeX can set.

use std::io::{self, Write};

use super::{Table, TableColumn, Value, rewritten, spans};
use crate::text::{clipped, plain};

const PREAMBLE: &str = r"\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{textcomp}
\usepackage{booktabs}
\usepackage{longtable}
\begin{document}
\footnotesize
";

/// A4, lying.
const PAPER_MM: (f64, f64) = (297.0, 210.0);
const MARGIN_MM: f64 = 15.0;
/// PDF readers show pages of up to 200 inches (5080 mm), and TeX knows no length beyond 16383.99 pt
/// (5758 mm).
const WIDEST_MM: f64 = 5000.0;
/// Longer texts are cut; the other formats hold them whole.
const LONGEST: usize = 100;

/// The table alone, as wide as it gets: how large its letters are, and where it stands, is up to
/// the document.
pub(super) fn write(source: &Table<'_>, output: &mut dyn Write) -> io::Result<()> {
    writeln!(
        output,
        "% \\usepackage{{booktabs}} and {{textcomp}}, T1 fonts, UTF-8"
    )?;
    names(source, output)?;
    let columns: Vec<usize> = (0..source.columns.len()).collect();
    head(source, &columns, "tabular", output)?;
    writeln!(output, "\\midrule")?;
    rows(source, &columns, output)?;
    writeln!(output, "\\bottomrule\n\\end{{tabular}}")
}

pub(super) fn write_document(source: &Table<'_>, output: &mut dyn Write) -> io::Result<()> {
    let widths = widths_mm(source);
    let width_of = |table: &[usize]| table.iter().map(|&at| widths[at]).sum::<f64>();
    let tables = tables(source, &widths, WIDEST_MM - 2.0 * MARGIN_MM);
    let widest = tables
        .iter()
        .map(|table| width_of(table))
        .fold(0.0, f64::max);
    let width = (widest + 2.0 * MARGIN_MM).ceil().max(PAPER_MM.0);
    let height = PAPER_MM.1;
    let (begin, rest) = PREAMBLE.split_at(PREAMBLE.find("\\usepackage{booktabs}").unwrap_or(0));
    output.write_all(begin.as_bytes())?;
    let paper = format!("paperwidth={width}mm,paperheight={height}mm,margin={MARGIN_MM}mm");
    writeln!(output, "\\usepackage[{paper}]{{geometry}}")?;
    output.write_all(rest.as_bytes())?;
    names(source, output)?;
    for columns in &tables {
        head(source, columns, "longtable", output)?;
        writeln!(output, "\\midrule\n\\endhead\n\\bottomrule\n\\endfoot")?;
        rows(source, columns, output)?;
        writeln!(output, "\\end{{longtable}}")?;
    }
    writeln!(output, "\\end{{document}}")
}

/// What the numbers of groups stand for.
fn names(source: &Table<'_>, output: &mut dyn Write) -> io::Result<()> {
    for (at, name) in source.groups.iter().enumerate() {
        writeln!(
            output,
            "\\noindent [{}] {}\\par",
            at + 1,
            escape(&clipped(name, 2 * LONGEST))
        )?;
    }
    Ok(())
}

/// The beginning of a table in an environment of this name.
fn head(
    source: &Table<'_>,
    columns: &[usize],
    name: &str,
    output: &mut dyn Write,
) -> io::Result<()> {
    let heads: Vec<&TableColumn> = columns.iter().map(|&at| &source.columns[at]).collect();
    let kinds: String = heads
        .iter()
        .map(|head| if head.right { 'r' } else { 'l' })
        .collect();
    writeln!(output, "\\begin{{{name}}}{{{kinds}}}\n\\toprule")?;
    if !source.groups.is_empty() {
        groups(&heads, output)?;
    }
    let titles: Vec<String> = heads
        .iter()
        .map(|head| escape(head.scaled_heading()))
        .collect();
    writeln!(output, "{} \\\\", titles.join(" & "))
}

fn rows(source: &Table<'_>, columns: &[usize], output: &mut dyn Write) -> io::Result<()> {
    for row in &source.rows {
        let cells = columns
            .iter()
            .map(|&at| escape(&shown(&source.columns[at], row.get(at))));
        writeln!(output, "{} \\\\", cells.collect::<Vec<_>>().join(" & "))?;
    }
    Ok(())
}

fn shown(column: &TableColumn, cell: Option<&Value>) -> String {
    clipped(&column.scaled(cell.unwrap_or(&Value::Nothing)), LONGEST)
}

/// About how wide each column will be: paper that is too narrow would cut columns off. Figures for
/// 8 pt Computer Modern.
fn widths_mm(source: &Table<'_>) -> Vec<f64> {
    const CHARACTER: f64 = 1.75;
    const GAP: f64 = 4.3;
    let longest = |(at, head): (usize, &TableColumn)| {
        let cells = source
            .rows
            .iter()
            .map(|row| characters(&shown(head, row.get(at))));
        cells
            .chain([characters(head.scaled_heading())])
            .max()
            .unwrap_or(0)
    };
    source
        .columns
        .iter()
        .enumerate()
        .map(|head| longest(head) as f64 * CHARACTER + GAP)
        .collect()
}

/// The columns of each table, so that none is wider than `most`. Each begins with the first column;
/// a group is not torn apart unless it alone is too wide.
fn tables(source: &Table<'_>, widths: &[f64], most: f64) -> Vec<Vec<usize>> {
    let room = most - widths.first().copied().unwrap_or_default();
    let (mut tables, mut table, mut used) = (Vec::new(), vec![0], 0.0);
    for at in 1..widths.len() {
        let group = source.columns[at].group;
        let begins = at == 1 || source.columns[at - 1].group != group;
        let whole = (at..widths.len()).take_while(|&next| source.columns[next].group == group);
        let whole: f64 = if group.is_some() && begins {
            whole.map(|at| widths[at]).sum()
        } else {
            0.0
        };
        let needed = if whole <= room {
            whole.max(widths[at])
        } else {
            widths[at]
        };
        if used > 0.0 && used + needed > room {
            tables.push(std::mem::replace(&mut table, vec![0]));
            used = 0.0;
        }
        table.push(at);
        used += widths[at];
    }
    tables.push(table);
    tables
}

/// A line above the headings that says which columns are whose.
fn groups(heads: &[&TableColumn], output: &mut dyn Write) -> io::Result<()> {
    let (mut cells, mut rules, mut at) = (Vec::new(), String::new(), 1);
    for (width, group) in spans(heads.iter().copied()) {
        match group {
            Some(group) => {
                cells.push(format!(
                    "\\multicolumn{{{width}}}{{c}}{{{{[{}]}}}}",
                    group + 1
                ));
                rules += &format!("\\cmidrule(lr){{{at}-{}}}", at + width - 1);
            }
            None => cells.push(String::new()),
        }
        at += width;
    }
    writeln!(output, "{} \\\\\n{rules}", cells.join(" & "))
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

/// How many characters [`escape`] sets for `text`, counted by their width: capitals and what is
/// written by its number take more than a small letter.
pub(super) fn characters(text: &str) -> usize {
    let quarters = |c: char| match c {
        'M' | 'W' | '@' | '%' | '…' => 7,
        c if c.is_uppercase() => 5,
        '≤' | '±' | '→' | 'μ' | '–' => 5,
        c if is_one_glyph(c) => 4,
        c => 5 * by_number(c).len(),
    };
    plain(text).chars().map(quarters).sum::<usize>().div_ceil(4)
}

fn is_one_glyph(c: char) -> bool {
    c.is_ascii() || ('\u{a1}'..='\u{ff}').contains(&c)
}

fn by_number(c: char) -> String {
    format!("U+{:04X}", u32::from(c))
}
