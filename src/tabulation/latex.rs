//! A LaTeX document with one booktabs table, which may run over pages. To use the table alone, take what stands between
//! `\begin{longtable}` and `\end{longtable}`.

use std::io::{self, Write};

use super::Grid;
use crate::report::escape::latex as escape;

const PREAMBLE: &str = r"\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{textcomp}
\usepackage[margin=15mm,landscape]{geometry}
\usepackage{booktabs}
\usepackage{longtable}
\begin{document}
\footnotesize
";

pub(super) fn write(grid: &Grid<'_>, output: &mut dyn Write) -> io::Result<()> {
    output.write_all(PREAMBLE.as_bytes())?;
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
