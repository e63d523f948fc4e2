//! CSV (RFC 4180) with all digits; empty is "not determined". It begins with a byte order mark, without which
//! spreadsheets take UTF-8 for something else.

use std::io::{self, Write};

use super::{Cell, Grid};
use crate::text::escape::csv as escape;

pub(super) fn write(grid: &Grid<'_>, output: &mut dyn Write) -> io::Result<()> {
    output.write_all("\u{feff}".as_bytes())?;
    let mut writer = ::csv::Writer::from_writer(output);
    writer.write_record(grid.heads.iter().map(|head| match head.platform {
        Some(platform) => escape(&format!("{} {}", grid.platforms[platform], head.column.key())),
        None => head.column.key().to_owned(),
    }))?;
    for row in &grid.rows {
        writer.write_record(row.iter().map(|cell| match cell {
            Cell::Nothing => String::new(),
            Cell::Number(figure) => figure.to_string(),
            Cell::AtMost(bound) => format!("≤ {bound}"),
            Cell::Text(text) => escape(text),
        }))?;
    }
    writer.flush()
}
