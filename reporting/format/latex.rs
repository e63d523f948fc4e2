//! LaTeX: one table for `\input` by a paper, at `\footnotesize`, which is 8 pt in a class of 10 pt. It
//! is as wide as a column of a paper of two columns or else as its text; columns of text fold. More
//! rows than a page holds are a `longtable`, for documents of one column.

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
    let (columns, notes) = columns(table);
    let gaps = GAP * columns.len().saturating_sub(1);
    let all = |width: fn(&Column) -> usize| columns.iter().map(width).collect::<Vec<_>>();
    let fits = |widths: &[usize], room: usize| widths.iter().sum::<usize>() + gaps <= room;
    let least = all(|it| it.least());
    let folds_to_column = columns.len() <= MAX_COLUMNS_IN_ONE && fits(&least, COLUMN_WIDTH);
    let (room, star) = match folds_to_column || fits(&all(|it| it.natural()), COLUMN_WIDTH) {
        true => (COLUMN_WIDTH, ""),
        false => (TEXT_WIDTH, "*"),
    };
    let widths = widths(&columns, room.saturating_sub(gaps));
    let sized = || columns.iter().zip(&widths);

    let layout: String = sized()
        .map(|(column, width)| column.layout(*width))
        .collect();
    let layout = format!("{{@{{}}{layout}@{{}}}}");
    let line = |row: usize| {
        let cells: Vec<&str> = columns.iter().map(|it| &*it.cells[row].latex).collect();
        cells.join(" & ") + "\\\\\n"
    };
    let heading = format!("\\toprule\n{}\\midrule\n", line(0));
    let rows: String = (1..=table.rows.len()).map(line).collect();
    let mut around = notes
        .iter()
        .map(|note| note.natural() + width("mm"))
        .sum::<usize>();
    let caption = table.caption.as_ref().map_or_else(String::new, |caption| {
        let text = Text::new(&format!("{} {}", caption.text, caption.cite), false);
        // Its font is larger.
        around += text.natural() * 5 / 4;
        let label = caption
            .label
            .replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        format!("\\caption{{{}}}\\label{{tab:{label}}}", text.latex)
    });
    let latex_of_notes: String = notes
        .iter()
        .map(|note| format!("{}\\quad\n", note.latex))
        .collect();

    let height = |row: usize| sized().map(|(it, width)| it.cells[row].lines(*width)).max();
    let height: usize = (0..=table.rows.len()).filter_map(height).sum();
    let mut out = "% Packages: array, booktabs, longtable, textcomp; T1 fonts, UTF-8.\n".to_owned();
    if !fits(&widths, room) {
        out += "% Wider than the text of a paper: choose fewer columns.\n";
    }
    let size = "\\footnotesize\\setlength{\\tabcolsep}{2.5pt}";
    out + &if height + around / room > PAGE_LINES {
        format!(
            "{{{size}\\setlength{{\\LTcapwidth}}{{\\linewidth}}\n\\begin{{longtable}}{layout}\n\
             {caption}\\\\\n{heading}\\endfirsthead\n{heading}\\endhead\n\\bottomrule\n\\endfoot\n\
             {rows}\\end{{longtable}}\n\\raggedright\\noindent\n{latex_of_notes}\\par}}\n"
        )
    } else {
        format!(
            "\\begin{{table{star}}}\n\\centering{size}\n{caption}\n\\smallskip\n\\begin{{tabular}}{layout}\n\
             {heading}{rows}\\bottomrule\n\\end{{tabular}}\n\\par\\smallskip\\raggedright\n\
             {latex_of_notes}\\end{{table{star}}}\n"
        )
    }
}

/// The columns, with the marks of footnotes in the first one, and the footnotes.
fn columns<'a>(table: &'a Table<'_>) -> (Vec<Column<'a>>, Vec<Text>) {
    let all = table.columns.iter().enumerate();
    let (footnotes, shown): (Vec<_>, Vec<_>) = all.partition(|(_, column)| column.is_footnote);
    let text = |(at, column): (usize, &TableColumn), row: &[CellValue]| {
        column.format_in_document(row.get(at).unwrap_or(&CellValue::Nothing))
    };
    let column = |(at, source): (usize, &'a TableColumn)| {
        let cells = table
            .rows
            .iter()
            .map(|row| clipped(&text((at, source), row), MAX_CELL_CHARS));
        let cells = cells.map(|text| Text::new(&text, source.right_aligned));
        let heading = Text::new(source.document_heading(), false);
        let cells = std::iter::once(heading).chain(cells).collect();
        Column { source, cells }
    };
    let mut columns: Vec<Column> = shown.into_iter().map(column).collect();
    let marked = columns
        .first_mut()
        .into_iter()
        .flat_map(|first| &mut first.cells[1..]);
    let mut notes = IndexSet::new();
    for (cell, row) in marked.zip(&table.rows) {
        let of_row = footnotes.iter().map(|column| text(*column, row));
        for note in of_row.filter(|note| ![NOTHING, ""].contains(&note.as_str())) {
            let mark = letters(notes.insert_full(note).0);
            cell.latex += &format!("\\textsuperscript{{{mark}}}");
            if let Some([last, _]) = cell.parts.last_mut() {
                *last += width(&mark);
            }
        }
    }
    let notes = notes.iter().enumerate().map(|(at, note)| {
        let Text { latex, parts } = Text::new(note, false);
        let latex = format!("\\textsuperscript{{{}}}~{latex}", letters(at));
        Text { latex, parts }
    });
    (columns, notes.collect())
}

/// The widths of columns in `room`: no cell has more lines than necessary. Then columns are widened,
/// each time the one that lowers rows most for its millimetres, or else has the fewest lines.
fn widths(columns: &[Column], room: usize) -> Vec<usize> {
    let folded = |most| {
        columns
            .iter()
            .map(|it| it.narrowest(most))
            .collect::<Vec<_>>()
    };
    let fits = |widths: &Vec<usize>| widths.iter().sum::<usize>() <= room;
    let levels = (1..MAX_CELL_CHARS).map(folded);
    let mut widths = levels
        .into_iter()
        .find(fits)
        .unwrap_or_else(|| folded(MAX_CELL_CHARS));
    loop {
        let slack = room.saturating_sub(widths.iter().sum()) / 100;
        let lines: Vec<Vec<usize>> = columns
            .iter()
            .zip(&widths)
            .map(|(it, width)| it.lines(*width))
            .collect();
        let wider = (0..columns.len()).flat_map(|at| (1..=slack).map(move |mm| (at, mm)));
        let saves = |(at, mm): (usize, usize)| {
            let saved = columns[at]
                .lines(widths[at] + 100 * mm)
                .into_iter()
                .enumerate()
                .map(|(row, new)| {
                    let others = lines.iter().enumerate().filter(|(other, _)| *other != at);
                    let others = others.map(|(_, lines)| lines[row]).max().unwrap_or(1);
                    let old = lines[at][row];
                    100 * (old.max(others) - new.max(others)) + old - new
                });
            let saved = saved.sum::<usize>();
            (saved > 0).then_some((1_000 * saved / mm, at, mm))
        };
        let Some((_, at, mm)) = wider.filter_map(saves).max() else {
            return widths;
        };
        widths[at] += 100 * mm;
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

impl Column<'_> {
    fn natural(&self) -> usize {
        self.cells.iter().map(Text::natural).max().unwrap_or(0)
    }

    /// The width of the widest part.
    fn least(&self) -> usize {
        let parts = self.cells.iter().flat_map(|cell| &cell.parts);
        parts.map(|[part, _]| *part).max().unwrap_or(0)
    }

    /// The smallest width for cells of at most so many lines.
    fn narrowest(&self, most: usize) -> usize {
        let natural = self.natural();
        let mut widths = (self.least()..natural).step_by(50);
        let fits = |width: &usize| self.cells.iter().all(|cell| cell.lines(*width) <= most);
        widths.find(fits).unwrap_or(natural)
    }

    /// The number of lines of each cell.
    fn lines(&self, width: usize) -> Vec<usize> {
        self.cells.iter().map(|cell| cell.lines(width)).collect()
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
        let width = width as f64 / 100.0;
        format!(">{{\\ragged{ragged}\\arraybackslash}}p{{{width}mm}}")
    }
}

impl Text {
    /// A number, which may be broken before its interval, or a text, which may be broken at blanks
    /// and in long words.
    fn new(text: &str, is_number: bool) -> Self {
        // Neither line feeds nor non-breaking blanks are in plain text.
        let text = plain(text);
        let text = match is_number {
            true => text
                .replace(' ', "\u{a0}")
                .replace("\u{a0}[", " [")
                .replace("\u{a0}(", " ("),
            false => text.split(' ').map(breakable).collect::<Vec<_>>().join(" "),
        };
        let mut latex = String::new();
        text.chars().for_each(|c| escape(c, &mut latex));
        let parts = text.split_inclusive([' ', '\n', '-']).map(|part| {
            let word = part.trim_end_matches(' ');
            [width(word), width(part) - width(word)]
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
            if used > 0 && used + part > width {
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
    let mut left = word.chars().count();
    let is_long = left > MAX_WORD_CHARS;
    for c in word.chars() {
        if is_long && unbroken >= MAX_WORD_CHARS && left > 2 {
            out.push('\n');
            unbroken = 0;
        }
        out.push(c);
        left -= 1;
        unbroken = match c {
            '-' => 0,
            ':' | '.' | '_' | '/' | '=' | '&' | '?' => MAX_WORD_CHARS,
            _ => unbroken + 1,
        };
    }
    out
}

/// The width of a text in Computer Modern at 8 pt, rounded up.
fn width(text: &str) -> usize {
    let of = |c: char| match c {
        '\n' => 0,
        c if "ijl.,:;[]|!'".contains(c) => 93,
        c if "rstfI -()\u{a0}".contains(c) => 119,
        c if "cez".contains(c) => 134,
        c if c.is_ascii_digit() || "ao".contains(c) => 150,
        'a'..='l' | 'n'..='v' | 'x' | 'y' => 167,
        'm' | 'M' | '%' => 275,
        'W' | '…' => 310,
        c if is_latin1(c) || "≤±–→".contains(c) => 235,
        // A code point.
        _ => 1_200,
    };
    text.chars().map(of).sum()
}

/// Escapes a character for LaTeX. Characters beyond Latin-1 without a command are written as code
/// points, because pdfLaTeX fails at characters that its fonts do not contain.
pub(super) fn escape(c: char, out: &mut String) {
    match c {
        '\n' => out.push_str("\\allowbreak{}"),
        '\u{a0}' => out.push('~'),
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
        c => *out += &format!("U+{:04X}", u32::from(c)),
    }
}

fn is_latin1(c: char) -> bool {
    c.is_ascii() || ('\u{a1}'..='\u{ff}').contains(&c)
}
