//! A table in GitHub's Markdown.

use std::io::{self, Write};

use super::Grid;
use crate::text::escape::markdown as escape;

pub(super) fn write(grid: &Grid<'_>, output: &mut dyn Write) -> io::Result<()> {
    let heads: Vec<String> = grid.heads.iter().map(|&head| escape(&grid.heading(head))).collect();
    writeln!(output, "| {} |", heads.join(" | "))?;
    let rules = grid.heads.iter().map(|head| if head.column.is_figure() { "--:" } else { ":--" });
    writeln!(output, "|{}|", rules.collect::<Vec<_>>().join("|"))?;
    for row in &grid.rows {
        let cells: Vec<String> =
            grid.heads.iter().zip(row.iter()).map(|(head, cell)| escape(&head.column.shown(cell))).collect();
        writeln!(output, "| {} |", cells.join(" | "))?;
    }
    Ok(())
}
