//! LaTeX: one table for `\input` by a paper, at `\footnotesize`, which is 8 pt in a class of 10 pt. It
//! is as wide as a column of a paper of two columns or else as its text; columns of text fold. More
//! rows than a page holds are a `longtable`, for documents of one column.

use std::iter;

use indexmap::IndexSet;

use crate::table::{CellValue, Table, TableColumn};
use crate::text::numbers::NOTHING;
use crate::text::{clipped, plain};

// Widths are in hundredths of a millimetre.

/// The width of the text of a paper. *Definition*: 7 inches, as of IEEE and ACM.
const TEXT_WIDTH: usize = 17_800;
/// The width of one of its two columns. *Definition*.
const COLUMN_WIDTH: usize = 8_400;
/// The most columns of a table that folds to the width of a column of the paper. *Judgement*.
const MAX_COLUMNS_IN_ONE: usize = 4;
/// The gap between columns: 5 pt.
const GAP: usize = 176;
/// The height of a page in lines of 9.5 pt, less rules: 9 inches. *Definition*: as of IEEE and ACM.
const PAGE_LINES: usize = 62;
/// The first line.
const PACKAGES: &str = "% Packages: array, booktabs, longtable, textcomp; T1 fonts, UTF-8.\n";
/// The largest number of characters of a cell. Longer text is shortened, also where other formats
/// keep it.
const MAX_CELL_CHARS: usize = 200;
/// The length of words that are not broken but after hyphens, and of the parts of others.
const MAX_WORD_CHARS: usize = 12;

/// A text with the places where a line may end.
struct Text {
    latex: String,
    /// The widths of the parts that stay on a line, and of the blanks after them.
    parts: Vec<[usize; 2]>,
}

/// A column with the heading and the cells.
struct Column<'a> {
    source: &'a TableColumn,
    cells: Vec<Text>,
}

pub(super) fn table(table: &Table<'_>) -> String {
    if table.columns.is_empty() {
        return "% It has no figures.\n".to_owned();
    }
    let (columns, notes) = columns(table);
    let gaps = GAP * columns.len().saturating_sub(1);
    let fits =
        |width: fn(&Column) -> usize, room| columns.iter().map(width).sum::<usize>() + gaps <= room;
    let folds_to_column =
        columns.len() <= MAX_COLUMNS_IN_ONE && fits(|it| it.least(), COLUMN_WIDTH);
    let (room, star) = match folds_to_column || fits(|it| it.natural(), COLUMN_WIDTH) {
        true => (COLUMN_WIDTH, ""),
        false => (TEXT_WIDTH, "*"),
    };
    let widths = widths(&columns, room.saturating_sub(gaps));
    let layout: String = columns
        .iter()
        .zip(&widths)
        .map(|(it, width)| it.layout(*width))
        .collect();
    let line = |row: usize| {
        let cells: Vec<&str> = columns.iter().map(|it| &*it.cells[row].latex).collect();
        cells.join(" & ") + "\\\\\n"
    };
    let heading = format!("\\toprule\n{}\\midrule\n", line(0));
    let rows: String = (1..=table.rows.len()).map(line).collect();
    let caption = table.caption.clone().unwrap_or_default();
    let text = Text::new(&(caption.text + " " + &caption.cite), false);
    // Captions have a larger font.
    let mut around = text.natural() * 5 / 4;
    let mut caption = format!(
        "\\caption{{{}}}\\label{{tab:{}}}",
        text.latex, caption.label
    );
    if table.caption.is_none() {
        caption.clear();
    }
    let mut footnotes = String::new();
    for note in notes {
        footnotes += &format!("{}\\quad\n", note.latex);
        around += note.natural();
    }
    let is_long = heights(&columns, &widths)
        .map(|[height, _]| height)
        .sum::<usize>()
        + around / room
        > PAGE_LINES;
    let size = "\\footnotesize\\setlength{\\tabcolsep}{2.5pt}";
    let (begin, head, end) = match is_long {
        true => (
            format!("{{{size}\\setlength{{\\LTcapwidth}}{{\\linewidth}}\n\\begin{{longtable}}"),
            format!(
                "{caption}\\\\\n{heading}\\endfirsthead\n{heading}\\endhead\n\\bottomrule\n\\endfoot\n"
            ),
            format!("\\end{{longtable}}\n\\raggedright\\noindent\n{footnotes}\\par}}\n"),
        ),
        false => (
            format!(
                "\\begin{{table{star}}}\n\\centering{size}\n{caption}\n\\smallskip\n\\begin{{tabular}}"
            ),
            heading,
            format!(
                "\\bottomrule\n\\end{{tabular}}\n\\par\\smallskip\\raggedright\n{footnotes}\\end{{table{star}}}\n"
            ),
        ),
    };
    let note = match widths.iter().sum::<usize>() + gaps > room {
        true => "% Wider than the text of a paper: choose fewer columns.\n",
        false => "",
    };
    format!("{PACKAGES}{note}{begin}{{@{{}}{layout}@{{}}}}\n{head}{rows}{end}")
}

/// The columns, with the marks of footnotes in the first one, and the footnotes.
fn columns<'a>(table: &'a Table<'_>) -> (Vec<Column<'a>>, Vec<Text>) {
    let (mut columns, mut notes) = (Vec::<Column>::new(), IndexSet::new());
    for (at, source) in table.columns.iter().enumerate() {
        let cell = |row: &[CellValue]| {
            source.format_in_document(row.get(at).unwrap_or(&CellValue::Nothing))
        };
        let cells = table.rows.iter().map(|row| cell(row));
        if !source.is_footnote {
            let cells =
                cells.map(|cell| Text::new(&clipped(&cell, MAX_CELL_CHARS), source.right_aligned));
            let cells = iter::once(Text::new(source.heading, false))
                .chain(cells)
                .collect();
            columns.push(Column { source, cells });
        } else if let Some(first) = columns.first_mut() {
            for (marked, note) in first.cells[1..]
                .iter_mut()
                .zip(cells)
                .filter(|(_, note)| note != NOTHING)
            {
                marked.latex += &mark(notes.insert_full(note).0);
                if let Some([last, _]) = marked.parts.last_mut() {
                    *last += width("r");
                }
            }
        }
    }
    let notes = notes.iter().enumerate().map(|(at, note)| {
        let Text { latex, parts } = Text::new(note, false);
        Text {
            latex: mark(at) + "~" + &latex,
            parts,
        }
    });
    (columns, notes.collect())
}

/// The mark of a footnote: a, b, …, z, aa, bb, …
fn mark(at: usize) -> String {
    let letter = char::from(b'a' + (at % 26) as u8).to_string();
    format!("\\textsuperscript{{{}}}", letter.repeat(1 + at / 26))
}

/// The lines of each row: its height, and the sum over its cells.
fn heights(columns: &[Column], widths: &[usize]) -> impl Iterator<Item = [usize; 2]> {
    let rows = columns.first().map_or(0, |first| first.cells.len());
    (0..rows).map(move |row| {
        let lines = columns
            .iter()
            .zip(widths)
            .map(|(it, width)| it.cells[row].lines(*width));
        [lines.clone().max().unwrap_or(1), lines.sum()]
    })
}

/// The widths of columns in `room`, which begin with the least ones: the column is widened that
/// lowers rows most for its millimetres, or else has the fewest lines.
fn widths(columns: &[Column], room: usize) -> Vec<usize> {
    let mut widths: Vec<usize> = columns.iter().map(Column::least).collect();
    let lines = |widths: &[usize]| {
        heights(columns, widths)
            .map(|[height, lines]| 100 * height + lines)
            .sum::<usize>()
    };
    loop {
        let slack = room.saturating_sub(widths.iter().sum()) / 100;
        let now = lines(&widths);
        let wider = (0..columns.len()).flat_map(|at| (1..=slack).map(move |mm| (at, mm)));
        let saved = wider.map(|(at, mm)| {
            let mut wider = widths.clone();
            wider[at] += 100 * mm;
            (1_000 * now.saturating_sub(lines(&wider)) / mm, at, mm)
        });
        let Some((1.., at, mm)) = saved.max() else {
            return widths;
        };
        widths[at] += 100 * mm;
    }
}

impl Column<'_> {
    fn natural(&self) -> usize {
        self.cells.iter().map(Text::natural).max().unwrap_or(0)
    }

    /// The width of the widest part.
    fn least(&self) -> usize {
        let parts = self.cells.iter().flat_map(|cell| &cell.parts);
        parts.map(|[part, _]| *part).max().unwrap_or(0)
    }

    /// The column in the preamble: lines are folded if the column is narrower than its cells.
    fn layout(&self, width: usize) -> String {
        let (side, ragged) = match self.source.right_aligned {
            true => ("r", "left"),
            false => ("l", "right"),
        };
        if width >= self.natural() {
            return side.to_owned();
        }
        format!(
            ">{{\\ragged{ragged}\\arraybackslash}}p{{{}mm}}",
            width as f64 / 100.0
        )
    }
}

impl Text {
    /// A number, which may be broken before its interval, or a text, which may be broken at blanks
    /// and in long words.
    fn new(text: &str, is_number: bool) -> Self {
        // Neither line feeds nor non-breaking blanks are in plain text.
        let text = match is_number {
            true => text
                .replace(' ', "\u{a0}")
                .replace("\u{a0}[", " [")
                .replace("\u{a0}(", " ("),
            false => plain(text)
                .split(' ')
                .map(breakable)
                .collect::<Vec<_>>()
                .join(" "),
        };
        let mut latex = String::new();
        text.chars().for_each(|c| escape(c, &mut latex));
        let parts = text.split_inclusive([' ', '\n', '-']).map(|part| {
            let word = width(part.trim_end_matches(' '));
            [word, width(part) - word]
        });
        let parts = parts.collect();
        Self { latex, parts }
    }

    fn natural(&self) -> usize {
        self.parts.iter().flatten().sum()
    }

    /// The number of lines in a column of this width.
    fn lines(&self, width: usize) -> usize {
        let (mut lines, mut used) = (1, 0);
        for [part, blank] in &self.parts {
            if used + part > width && used > 0 {
                (lines, used) = (lines + 1, 0);
            }
            used += part + blank;
        }
        lines
    }
}

/// A word with line feeds where a line may end, besides after hyphens.
fn breakable(word: &str) -> String {
    let (mut out, mut unbroken) = (String::new(), 0);
    let length = word.chars().count();
    for (at, c) in word.chars().enumerate() {
        if unbroken >= MAX_WORD_CHARS && length > at + 2 {
            out.push('\n');
            unbroken = 0;
        }
        out.push(c);
        unbroken = match c {
            '-' => 0,
            ':' | '.' | '_' | '/' | '=' | '&' | '?' if length > MAX_WORD_CHARS => MAX_WORD_CHARS,
            _ => unbroken + 1,
        };
    }
    out
}

/// The width of a text in Computer Modern at 8 pt, rounded up.
fn width(text: &str) -> usize {
    let of = |c: char| match c {
        '\n' => 0,
        _ if "ijl.,:;[]|!'".contains(c) => 93,
        _ if "rstfI -()\u{a0}".contains(c) => 119,
        'c' | 'e' | 'z' => 134,
        '0'..='9' | 'a' | 'o' => 150,
        'm' | 'M' | 'W' | '%' | '…' => 280,
        'a'..='z' => 167,
        _ if is_latin1(c) || "≤±–→".contains(c) => 235,
        // A code point.
        _ => 1_200,
    };
    text.chars().map(of).sum()
}

/// Escapes a character for LaTeX. Characters beyond Latin-1 without a command are written as code
/// points, because pdfLaTeX fails at characters that its fonts do not contain.
pub(super) fn escape(c: char, out: &mut String) {
    let command = match c {
        '\n' => "\\allowbreak{}",
        '\u{a0}' => "~",
        '\\' => "\\textbackslash{}",
        '^' => "\\textasciicircum{}",
        '~' => "\\textasciitilde{}",
        '<' => "\\textless{}",
        '>' => "\\textgreater{}",
        '|' => "\\textbar{}",
        '"' => "\\textquotedbl{}",
        '\'' => "\\textquotesingle{}",
        '`' => "\\textasciigrave{}",
        '[' => "{[}",
        ']' => "{]}",
        // Two or three hyphens would form a dash.
        '-' if out.ends_with('-') => "{}-",
        'µ' | 'μ' => "\\textmu{}",
        '≤' => "$\\le$",
        '±' => "$\\pm$",
        '–' => "\\textendash{}",
        '…' => "\\dots{}",
        '→' => "$\\to$",
        '{' | '}' | '$' | '&' | '#' | '%' | '_' => return out.extend(['\\', c]),
        _ if is_latin1(c) => return out.push(c),
        _ => &format!("U+{:04X}", u32::from(c)),
    };
    out.push_str(command);
}

fn is_latin1(c: char) -> bool {
    c.is_ascii() || ('\u{a1}'..='\u{ff}').contains(&c)
}
