//! For people: columns set by blanks. Platforms side by side are numbered, as their names are longer than figures.

use std::borrow::Cow;
use std::io::{self, Write};

use rayon::prelude::*;

use super::{Cell, Column, Grid};
use crate::text::clipped;

const GAP: usize = 2;
const LONGEST: usize = 100;
/// Lines that are kept together.
const CHUNK: usize = 1 << 10;
/// Of these, how many are set at once.
const AT_ONCE: usize = 64;
/// Parts the cells of a line that is not set yet; no cell holds it, as text loses its control characters.
const PART: char = '\u{1f}';

pub(super) fn write(grid: &Grid<'_>, output: &mut dyn Write) -> io::Result<()> {
    for (at, name) in grid.platforms.iter().enumerate() {
        writeln!(output, "# [{}]  {}", at + 1, clipped(name, 2 * LONGEST))?;
    }
    if !grid.platforms.is_empty() {
        writeln!(output)?;
    }
    let heads: Vec<String> = grid
        .heads
        .iter()
        .map(|head| match head.platform {
            Some(platform) => format!("[{}] {}", platform + 1, head.column.heading()),
            None => head.column.heading().to_owned(),
        })
        .collect();
    // A string for many lines: a hundred thousand of their own would take more memory than what is in them.
    let chunks: Vec<String> = grid.rows.par_chunks(CHUNK).map(|rows| lines(grid, rows)).collect();
    let narrowest: Vec<usize> = heads.iter().map(|head| head.chars().count()).collect();
    let wider = |mut widths: Vec<usize>, cells: &mut dyn Iterator<Item = usize>| {
        widths.iter_mut().zip(cells).for_each(|(width, cell)| *width = (*width).max(cell));
        widths
    };
    let widths = chunks
        .par_iter()
        .flat_map_iter(|chunk| chunk.lines())
        .fold(
            || narrowest.clone(),
            |widths, line| wider(widths, &mut line.split(PART).map(|cell| cell.chars().count())),
        )
        .reduce(|| narrowest.clone(), |a, b| wider(a, &mut b.into_iter()));
    let figures: Vec<bool> = grid.heads.iter().map(|head| head.column.is_figure()).collect();
    output.write_all(set(&heads.join(&PART.to_string()), &widths, &figures).as_bytes())?;
    for some in chunks.chunks(AT_ONCE) {
        let set: Vec<String> = some
            .par_iter()
            .map(|chunk| chunk.lines().map(|line| set(line, &widths, &figures)).collect())
            .collect();
        set.iter().try_for_each(|lines| output.write_all(lines.as_bytes()))?;
    }
    Ok(())
}

/// Lines that are not set yet. No cell breaks one, as text loses its control characters.
fn lines(grid: &Grid<'_>, rows: &[Cow<'_, [Cell]>]) -> String {
    let mut lines = String::new();
    for row in rows {
        for (at, (head, cell)) in grid.heads.iter().zip(row.iter()).enumerate() {
            if at > 0 {
                lines.push(PART);
            }
            match cell {
                Cell::Text(text) => lines += &shortened(head.column, text),
                other => lines += &head.column.shown(other),
            }
        }
        lines.push('\n');
    }
    lines.shrink_to_fit();
    lines
}

/// Names of files and platforms are what reports are told apart by, so they are not cut.
fn shortened(column: Column, text: &str) -> String {
    let most = if matches!(column, Column::File | Column::Platform) { usize::MAX } else { LONGEST };
    clipped(text, most)
}

/// Figures to the right, text to the left.
fn set(line: &str, widths: &[usize], figures: &[bool]) -> String {
    let mut out = String::with_capacity(line.len() * 2);
    for ((cell, &width), &figure) in line.split(PART).zip(widths).zip(figures) {
        let blanks = width - cell.chars().count();
        if figure {
            out.extend(std::iter::repeat_n(' ', blanks));
            out += cell;
        } else {
            out += cell;
            out.extend(std::iter::repeat_n(' ', blanks));
        }
        out.extend([' '; GAP]);
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}
