//! Tables as web pages without scripts. Pages of reports are templates of `page`.

use std::io;

use askama::Template;

use super::escape_with;
use crate::model::Tool;
use crate::table::Table;

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
    escape_with(text, |c, out| match c {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '"' => out.push_str("&quot;"),
        '\'' => out.push_str("&#39;"),
        c => out.push(c),
    })
}
