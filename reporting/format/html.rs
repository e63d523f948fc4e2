//! Tables as web pages without scripts. Pages of reports are templates of `page`.

use std::io;

use askama::Template;
use askama::filters::{Escaper, Html};

use crate::model::Tool;
use crate::table::Table;
use crate::text::plain;

#[derive(Template)]
#[template(path = "table.html")]
struct TablePage<'a> {
    table: &'a Table<'a>,
    /// The version of timermeter.
    version: String,
}

pub(super) fn page(table: &Table<'_>) -> io::Result<String> {
    let version = Tool::this().version;
    TablePage { table, version }
        .render()
        .map_err(io::Error::other)
}

/// Escapes text for HTML, between tags and in quoted attributes.
pub fn escape(text: &str) -> String {
    let mut out = String::new();
    let escaped = Html.write_escaped_str(&mut out, &plain(text));
    escaped.expect("a string takes it");
    out
}
