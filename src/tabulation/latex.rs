//! A LaTeX document with one booktabs table, which may run over pages; with several where one would be wider than TeX can
//! set. To use a table alone, take what stands between `\begin{longtable}` and `\end{longtable}`.

use std::io::{self, Write};

use super::{Cell, Column, Grid, Head};
use crate::text::clipped;
use crate::text::escape::{latex as escape, latex_characters};

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
/// PDF readers show pages of up to 200 inches (5080 mm), and TeX knows no length beyond 16383.99 pt (5758 mm).
const WIDEST_MM: f64 = 5000.0;
/// Longer texts are cut; the other formats hold them whole.
const LONGEST: usize = 100;

pub(super) fn write(grid: &Grid<'_>, output: &mut dyn Write) -> io::Result<()> {
    let widths = widths_mm(grid);
    let width_of = |table: &[usize]| table.iter().map(|&at| widths[at]).sum::<f64>();
    let tables = tables(grid, &widths, WIDEST_MM - 2.0 * MARGIN_MM);
    let widest = tables.iter().map(|table| width_of(table)).fold(0.0, f64::max);
    let width = (widest + 2.0 * MARGIN_MM).ceil().max(PAPER_MM.0);
    let height = PAPER_MM.1;
    let (begin, rest) = PREAMBLE.split_at(PREAMBLE.find("\\usepackage{booktabs}").unwrap_or(0));
    output.write_all(begin.as_bytes())?;
    let paper = format!("paperwidth={width}mm,paperheight={height}mm,margin={MARGIN_MM}mm");
    writeln!(output, "\\usepackage[{paper}]{{geometry}}")?;
    output.write_all(rest.as_bytes())?;
    for (at, name) in grid.platforms.iter().enumerate() {
        writeln!(output, "\\noindent [{}] {}\\par", at + 1, escape(&clipped(name, 2 * LONGEST)))?;
    }
    for columns in &tables {
        table(grid, columns, output)?;
    }
    writeln!(output, "\\end{{document}}")
}

fn table(grid: &Grid<'_>, columns: &[usize], output: &mut dyn Write) -> io::Result<()> {
    let heads: Vec<Head> = columns.iter().map(|&at| grid.heads[at]).collect();
    let kinds: String = heads.iter().map(|head| if head.column.is_figure() { 'r' } else { 'l' }).collect();
    writeln!(output, "\\begin{{longtable}}{{{kinds}}}\n\\toprule")?;
    if !grid.platforms.is_empty() {
        platforms(&heads, output)?;
    }
    let titles: Vec<String> = heads.iter().map(|head| escape(head.column.heading())).collect();
    writeln!(output, "{} \\\\\n\\midrule\n\\endhead\n\\bottomrule\n\\endfoot", titles.join(" & "))?;
    for row in &grid.rows {
        let cells = columns.iter().map(|&at| escape(&shown(grid.heads[at].column, &row[at])));
        writeln!(output, "{} \\\\", cells.collect::<Vec<_>>().join(" & "))?;
    }
    writeln!(output, "\\end{{longtable}}")
}

fn shown(column: Column, cell: &Cell) -> String {
    clipped(&column.shown(cell), LONGEST)
}

/// About how wide each column will be: paper that is too narrow would cut columns off. Figures for 8 pt Computer Modern.
fn widths_mm(grid: &Grid<'_>) -> Vec<f64> {
    const CHARACTER: f64 = 1.75;
    const GAP: f64 = 4.3;
    let characters = |(at, head): (usize, &Head)| {
        let cells = grid.rows.iter().map(|row| latex_characters(&shown(head.column, &row[at])));
        cells.chain([latex_characters(head.column.heading())]).max().unwrap_or(0)
    };
    grid.heads.iter().enumerate().map(|head| characters(head) as f64 * CHARACTER + GAP).collect()
}

/// The columns of each table, so that none is wider than `most`. Each begins with the timers where the first does; a platform
/// is not torn apart unless it alone is too wide.
fn tables(grid: &Grid<'_>, widths: &[f64], most: f64) -> Vec<Vec<usize>> {
    let lead = grid.heads.first().filter(|head| head.column == Column::Timer).map(|_| 0);
    let (start, room) = (lead.map_or(0, |_| 1), most - lead.map_or(0.0, |at| widths[at]));
    let begin = || lead.into_iter().collect::<Vec<usize>>();
    let (mut tables, mut table, mut used) = (Vec::new(), begin(), 0.0);
    for at in start..widths.len() {
        let platform = grid.heads[at].platform;
        let begins = at == start || grid.heads[at - 1].platform != platform;
        let whole = (at..widths.len()).take_while(|&next| grid.heads[next].platform == platform);
        let whole: f64 = if platform.is_some() && begins { whole.map(|at| widths[at]).sum() } else { 0.0 };
        let needed = if whole <= room { whole.max(widths[at]) } else { widths[at] };
        if used > 0.0 && used + needed > room {
            tables.push(std::mem::replace(&mut table, begin()));
            used = 0.0;
        }
        table.push(at);
        used += widths[at];
    }
    tables.push(table);
    tables
}

/// A line above the headings that says which columns are whose.
fn platforms(heads: &[Head], output: &mut dyn Write) -> io::Result<()> {
    let (mut cells, mut rules, mut at) = (Vec::new(), String::new(), 1);
    for (width, platform) in Grid::spans_of(heads) {
        match platform {
            Some(platform) => {
                cells.push(format!("\\multicolumn{{{width}}}{{c}}{{{{[{}]}}}}", platform + 1));
                rules += &format!("\\cmidrule(lr){{{at}-{}}}", at + width - 1);
            }
            None => cells.push(String::new()),
        }
        at += width;
    }
    writeln!(output, "{} \\\\\n{rules}", cells.join(" & "))
}
