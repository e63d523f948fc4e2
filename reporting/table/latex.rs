//! Writes LaTeX tables (packages array, booktabs and graphicx) for `\input` by a document, which sets
//! the font size and the position. A table that is much wider or longer than a page becomes several
//! tables, which repeat the first columns; one that is a little wider is scaled.

use std::io::{self, Write};

use super::text::{MIN_FOLDED_WIDTH, fold_cell, total_width, widths};
use super::{Table, escape_with};
use crate::text::clipped;

/// The largest number of characters of a cell. Longer text is shortened, also where other formats
/// keep it.
const MAX_CELL_CHARS: usize = 200;
/// The width of a table that is scaled to the width of a page, in characters of 5 pt: 1.4 times the
/// 345 pt of the class article, so that its text has 7 pt instead of 10 pt.
const PAGE_CHARS: usize = 97;
/// The gap between columns, in characters: twice the 6 pt of `\tabcolsep`.
const GAP_CHARS: usize = 2;
/// The height of a page, in lines: the class article has 43, and rules take some space.
const PAGE_LINES: usize = 39;

pub(super) fn write(source: &Table<'_>, output: &mut dyn Write) -> io::Result<()> {
    writeln!(
        output,
        "% \\usepackage{{array}}, {{booktabs}}, {{graphicx}} and {{textcomp}}, T1 fonts, UTF-8"
    )?;
    let headings = source.columns.iter();
    let headings = headings.map(|column| column.heading_without_ns().to_owned());
    let rows = source.rows.iter().map(|row| {
        let cells = source.cells(row);
        cells
            .map(|(column, cell)| clipped(&column.format_with_unit(cell), MAX_CELL_CHARS))
            .collect()
    });
    let rows: Vec<Vec<String>> = std::iter::once(headings.collect()).chain(rows).collect();
    let natural = widths(&rows, source.columns.len());
    let folding = source.columns.iter().filter(|column| column.folds).count();
    let widths: Vec<usize> = (0..natural.len())
        .map(|at| match source.columns[at].folds {
            true => (PAGE_CHARS / (folding + 1))
                .max(MIN_FOLDED_WIDTH)
                .max(longest_word(rows.iter().map(|row| &row[at])))
                .min(natural[at]),
            false => natural[at],
        })
        .collect();
    for columns in pages_of_columns(source, &widths) {
        let layout: String = columns
            .iter()
            .map(
                |&at| match (widths[at] < natural[at], source.columns[at].right_aligned) {
                    (true, _) => format!(
                        ">{{\\raggedright\\arraybackslash}}p{{{}pt}}",
                        5 * widths[at]
                    ),
                    (false, true) => "r".to_owned(),
                    (false, false) => "l".to_owned(),
                },
            )
            .collect();
        let lines = |row: &Vec<String>| {
            let lines = |&at: &usize| fold_cell(&row[at], widths[at]).lines().count();
            columns.iter().map(lines).max().unwrap_or(1)
        };
        let line = |row: &Vec<String>| {
            let cells: Vec<String> = columns.iter().map(|&at| escape(&row[at])).collect();
            cells.join(" & ") + " \\\\\n"
        };
        for page in pages_of_rows(
            &rows[1..],
            PAGE_LINES.saturating_sub(lines(&rows[0])),
            lines,
        ) {
            write!(
                output,
                "\\noindent\\resizebox{{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}}{{!}}{{%\n\
                 \\begin{{tabular}}{{{layout}}}\n\\toprule\n{}\\midrule\n",
                line(&rows[0])
            )?;
            for row in page {
                output.write_all(line(row).as_bytes())?;
            }
            writeln!(output, "\\bottomrule\n\\end{{tabular}}}}\\par")?;
        }
    }
    Ok(())
}

/// The length of the longest word, which LaTeX does not break: it does so at blanks and after hyphens.
fn longest_word<'a>(cells: impl Iterator<Item = &'a String>) -> usize {
    let words = cells.flat_map(|cell| cell.split_inclusive([' ', '-']));
    words.map(|word| word.chars().count()).max().unwrap_or(0)
}

/// The columns of each table: the first ones, up to the first column of numbers, and as many of the
/// others as fit beside them.
fn pages_of_columns(source: &Table<'_>, widths: &[usize]) -> Vec<Vec<usize>> {
    let is_text = |at: &usize| !source.columns[*at].right_aligned;
    let first: Vec<usize> = (0..widths.len()).take_while(is_text).collect();
    let mut pages = vec![first.clone()];
    for column in first.len()..widths.len() {
        let page = pages.last_mut().expect("there is one page at least");
        let shown: Vec<usize> = page.iter().chain([&column]).map(|&at| widths[at]).collect();
        if page.len() == first.len() || total_width(&shown, GAP_CHARS) <= PAGE_CHARS {
            page.push(column);
        } else {
            pages.push([&first[..], &[column]].concat());
        }
    }
    pages
}

/// The rows of each table, at most so many lines; a table without rows remains one.
fn pages_of_rows<R>(rows: &[R], most: usize, lines: impl Fn(&R) -> usize) -> Vec<&[R]> {
    let mut height = rows.first().map_or(0, &lines);
    let mut fits = |row: &R| {
        height += lines(row);
        let fits = height <= most;
        if !fits {
            height = lines(row);
        }
        fits
    };
    match rows {
        [] => vec![rows],
        _ => rows.chunk_by(|_, next| fits(next)).collect(),
    }
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
