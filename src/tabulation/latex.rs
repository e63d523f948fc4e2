//! A LaTeX document with one booktabs table, which may run over pages. To use the table alone, take what stands between
//! `\begin{longtable}` and `\end{longtable}`.

use std::io::{self, Write};

use super::{Grid, Head};
use crate::report::escape::latex as escape;

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

pub(super) fn write(grid: &Grid<'_>, output: &mut dyn Write) -> io::Result<()> {
    let (begin, rest) = PREAMBLE.split_at(PREAMBLE.find("\\usepackage{booktabs}").unwrap_or(0));
    let width = (width_mm(grid) + 2.0 * MARGIN_MM).ceil().max(PAPER_MM.0);
    let height = PAPER_MM.1;
    output.write_all(begin.as_bytes())?;
    let paper = format!("paperwidth={width}mm,paperheight={height}mm,margin={MARGIN_MM}mm");
    writeln!(output, "\\usepackage[{paper}]{{geometry}}")?;
    output.write_all(rest.as_bytes())?;
    for (at, name) in grid.platforms.iter().enumerate() {
        writeln!(output, "\\noindent [{}] {}\\par", at + 1, escape(name))?;
    }
    let columns: String =
        grid.heads.iter().map(|head| if head.column.is_figure() { 'r' } else { 'l' }).collect();
    writeln!(output, "\\begin{{longtable}}{{{columns}}}\n\\toprule")?;
    if !grid.platforms.is_empty() {
        platforms(grid, output)?;
    }
    let heads: Vec<String> = grid.heads.iter().map(|head| escape(head.column.heading())).collect();
    writeln!(output, "{} \\\\\n\\midrule\n\\endhead\n\\bottomrule\n\\endfoot", heads.join(" & "))?;
    for row in &grid.rows {
        let cells: Vec<String> =
            grid.heads.iter().zip(row).map(|(head, cell)| escape(&head.column.shown(cell))).collect();
        writeln!(output, "{} \\\\", cells.join(" & "))?;
    }
    writeln!(output, "\\end{{longtable}}\n\\end{{document}}")
}

/// About how wide the table will be: paper that is too narrow would cut columns off. Figures for 8 pt Computer Modern.
fn width_mm(grid: &Grid<'_>) -> f64 {
    const CHARACTER: f64 = 1.75;
    const GAP: f64 = 4.3;
    let characters = |(at, head): (usize, &Head)| {
        let cells = grid.rows.iter().map(|row| head.column.shown(row[at]).chars().count());
        cells.chain([head.column.heading().chars().count()]).max().unwrap_or(0)
    };
    grid.heads.iter().enumerate().map(|head| characters(head) as f64 * CHARACTER + GAP).sum()
}

/// A line above the headings that says which columns are whose.
fn platforms(grid: &Grid<'_>, output: &mut dyn Write) -> io::Result<()> {
    let (mut cells, mut rules, mut at) = (Vec::new(), String::new(), 1);
    for (width, platform) in grid.spans() {
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
