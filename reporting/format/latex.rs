//! LaTeX: one table for `\input` by a paper, at `\footnotesize`, which is 8 pt in a class of 10 pt. It
//! is as wide as a column of a paper of two columns or else as its text; columns of text fold. More
//! rows than a page holds are a `longtable`, for documents of one column.

use indexmap::IndexSet;

use super::{escape_with, fit};
use crate::table::{CellValue, Table, TableColumn};
use crate::text::{clipped, plain};

// Widths are in hundredths of a millimetre.

/// The width of the text of a paper. *Definition*: 7 inches, as of IEEE and ACM.
const TEXT_WIDTH: usize = 17_800;
/// The width of one of its two columns. *Definition*.
const COLUMN_WIDTH: usize = 8_400;
/// The most columns of a table that folds to the width of a column of the paper. *Judgement*.
const MAX_COLUMNS_IN_ONE: usize = 4;
/// The gap between columns: 6 pt.
const GAP: usize = 211;
/// The height of a page in lines of 9.5 pt, without caption and rules; a row is as high as its lines.
const PAGE_LINES: usize = 48;
/// The largest number of characters of a cell. Longer text is shortened, also where other formats
/// keep it.
const MAX_CELL_CHARS: usize = 200;
/// The length of words that are not broken but after hyphens, and of the parts of others.
const MAX_WORD_CHARS: usize = 16;

/// A text with the places where a line may end.
struct Text {
    latex: String,
    /// The widths of the parts that stay on a line, each with the blank after it.
    parts: Vec<usize>,
}

/// A column with its heading and its cells.
struct Column<'a> {
    source: &'a TableColumn,
    cells: Vec<Text>,
    natural: usize,
    /// The width of the widest part.
    least: usize,
}

pub(super) fn table(table: &Table<'_>) -> String {
    let mut notes = IndexSet::new();
    let marks: Vec<String> = table
        .rows
        .iter()
        .map(|row| marks(table, row, &mut notes))
        .collect();
    let columns = table.columns.iter().enumerate();
    let columns = columns.filter(|(_, column)| !column.is_footnote);
    let columns: Vec<Column> = columns
        .map(|(at, column)| {
            let cells = table
                .rows
                .iter()
                .map(|row| row.get(at).unwrap_or(&CellValue::Nothing));
            Column::new(column, cells)
        })
        .collect();
    let gaps = GAP * columns.len().saturating_sub(1);
    let all = |width: fn(&Column) -> usize| columns.iter().map(width).collect::<Vec<_>>();
    let fits = |widths: &[usize], room: usize| widths.iter().sum::<usize>() + gaps <= room;
    let (natural, least) = (all(|it| it.natural), all(|it| it.least));
    let folds_to_column = columns.len() <= MAX_COLUMNS_IN_ONE && fits(&least, COLUMN_WIDTH);
    let (room, star) = match folds_to_column || fits(&natural, COLUMN_WIDTH) {
        true => (COLUMN_WIDTH, ""),
        false => (TEXT_WIDTH, "*"),
    };
    // Numbers are folded only if folding text does not suffice.
    let of_text = all(|it| {
        if it.source.right_aligned {
            it.natural
        } else {
            it.least
        }
    });
    let least = if fits(&of_text, room) { of_text } else { least };
    let widths = fit(&natural, &least, room.saturating_sub(gaps));
    let layout = columns
        .iter()
        .zip(&widths)
        .map(|(column, width)| column.layout(*width));
    let layout = format!("{{@{{}}{}@{{}}}}", layout.collect::<String>());

    let line = |row: usize, mark: &str| {
        let cells: Vec<&str> = columns
            .iter()
            .map(|column| &*column.cells[row].latex)
            .collect();
        format!(
            "{}\\\\\n",
            cells.join(" & ").replacen(" &", &format!("{mark} &"), 1)
        )
    };
    let height = |row: usize| {
        let lines = columns
            .iter()
            .zip(&widths)
            .map(|(it, width)| it.cells[row].lines(*width));
        lines.max().unwrap_or(1)
    };
    let heading = format!("\\toprule\n{}\\midrule\n", line(0, ""));
    let rows = marks
        .iter()
        .enumerate()
        .map(|(at, mark)| line(at + 1, mark));
    let rows: String = rows.collect();
    let is_long = (0..=marks.len()).map(height).sum::<usize>() + notes.len() > PAGE_LINES;
    let caption = table.caption.as_ref().map_or_else(String::new, |caption| {
        let text = Text::new(&format!("{} {}", caption.text, caption.cite), false).latex;
        let label = caption
            .label
            .replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        format!("\\caption{{{text}}}\\label{{tab:{label}}}")
    });
    let notes = notes.iter().enumerate().map(|(at, note)| {
        format!(
            "\\textsuperscript{{{}}}~{}\\par\n",
            letters(at),
            Text::new(note, false).latex
        )
    });
    let notes: String = notes.collect();
    let mut out = "% Packages: array, booktabs, longtable, textcomp; T1 fonts, UTF-8.\n".to_owned();
    if !fits(&widths, room) {
        out += "% Wider than the text of a paper: choose fewer columns.\n";
    }
    let size = "\\footnotesize\\setlength{\\tabcolsep}{3pt}";
    out + &if is_long {
        format!(
            "{{{size}\\setlength{{\\LTcapwidth}}{{\\linewidth}}\n\\begin{{longtable}}{layout}\n\
             {caption}\\\\\n{heading}\\endfirsthead\n{heading}\\endhead\n\\bottomrule\n\\endfoot\n\
             {rows}\\end{{longtable}}\n\\raggedright\\noindent {notes}}}\n"
        )
    } else {
        format!(
            "\\begin{{table{star}}}\n\\centering{size}\n{caption}\n\\begin{{tabular}}{layout}\n\
             {heading}{rows}\\bottomrule\n\\end{{tabular}}\n\\par\\smallskip\\raggedright\n{notes}\\end{{table{star}}}\n"
        )
    }
}

/// The marks of the footnotes of a row; adds the footnotes to `notes`.
fn marks(table: &Table<'_>, row: &[CellValue], notes: &mut IndexSet<String>) -> String {
    let cells = table.cells(row).filter(|(column, cell)| {
        column.is_footnote && ![CellValue::Nothing, "".into()].contains(*cell)
    });
    let letters =
        cells.map(|(column, cell)| letters(notes.insert_full(column.format_in_document(cell)).0));
    match letters.collect::<Vec<_>>().join(",") {
        none if none.is_empty() => none,
        letters => format!("\\textsuperscript{{{letters}}}"),
    }
}

/// a, b, …, z, aa, ab, …
fn letters(at: usize) -> String {
    let last = char::from(b'a' + (at % 26) as u8);
    match at / 26 {
        0 => last.to_string(),
        more => letters(more - 1) + &last.to_string(),
    }
}

impl<'a> Column<'a> {
    fn new<'c>(source: &'a TableColumn, cells: impl Iterator<Item = &'c CellValue>) -> Self {
        let cells = cells.map(|cell| clipped(&source.format_in_document(cell), MAX_CELL_CHARS));
        let cells = cells.map(|text| Text::new(&text, source.right_aligned));
        let cells: Vec<Text> = std::iter::once(Text::new(source.document_heading(), false))
            .chain(cells)
            .collect();
        Self {
            source,
            natural: cells
                .iter()
                .map(|cell| cell.parts.iter().sum())
                .max()
                .unwrap_or(0),
            least: cells
                .iter()
                .flat_map(|cell| &cell.parts)
                .copied()
                .max()
                .unwrap_or(0),
            cells,
        }
    }

    /// The column in the preamble: lines are folded if the column is narrower than its cells.
    fn layout(&self, width: usize) -> String {
        let (side, ragged) = match self.source.right_aligned {
            true => ("r", "left"),
            false => ("l", "right"),
        };
        if width >= self.natural {
            return side.to_owned();
        }
        let width = width as f64 / 100.0;
        format!(">{{\\ragged{ragged}\\arraybackslash}}p{{{width}mm}}")
    }
}

impl Text {
    /// A text that may be broken at blanks and within long words, or a number that may be broken
    /// before its interval.
    fn new(text: &str, is_number: bool) -> Self {
        let text = plain(text);
        let words: Vec<String> = match is_number {
            true => text
                .replacen(" [", "\n[", 1)
                .lines()
                .map(str::to_owned)
                .collect(),
            false => text.split(' ').map(str::to_owned).collect(),
        };
        let mut parts = Vec::new();
        let words = words.into_iter().map(|word| {
            let pieces = if is_number { vec![word] } else { pieces(&word) };
            let hyphenated = pieces.iter().flat_map(|piece| piece.split_inclusive('-'));
            parts.extend(hyphenated.map(width));
            if let Some(last) = parts.last_mut() {
                *last += width(" ");
            }
            let pieces = pieces.iter().map(|piece| escape(piece).replace(' ', "~"));
            pieces.collect::<Vec<_>>().join("\\allowbreak{}")
        });
        let latex = words.collect::<Vec<_>>().join(" ");
        Self { latex, parts }
    }

    /// The number of lines in a column of this width.
    fn lines(&self, width: usize) -> usize {
        let (mut lines, mut used) = (1, 0);
        for part in &self.parts {
            if used > 0 && used + part > width {
                (lines, used) = (lines + 1, 0);
            }
            used += part;
        }
        lines
    }
}

/// The parts of a word between which a line may end, besides after hyphens.
fn pieces(word: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let is_long = word.chars().count() > MAX_WORD_CHARS;
    for c in word.chars() {
        if let Some(last) = pieces.last_mut() {
            last.push(c);
            let unbroken = last.chars().rev().take_while(|c| *c != '-').count();
            if is_long && (":._/(=&?".contains(c) || unbroken == MAX_WORD_CHARS) {
                pieces.push(String::new());
            }
        }
    }
    pieces
}

/// The width of a text in Computer Modern at 8 pt, rounded up.
fn width(text: &str) -> usize {
    let of = |c: char| match c {
        _ if "ijl.,:;[]|!'".contains(c) => 93,
        _ if "rstfI -()".contains(c) => 119,
        '0'..='9' => 150,
        'm' | 'M' | 'w' | 'W' | '%' | '…' => 310,
        'a'..='z' => 167,
        c if c.is_ascii() || escape(&c.to_string()).starts_with(['\\', '$']) => 235,
        c if is_latin1(c) => 235,
        // A code point.
        _ => 1_200,
    };
    text.chars().map(of).sum()
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
