//! Tables as web pages without scripts. Pages of reports are templates of `page`.

use std::io;

use askama::Template;

use crate::table::Table;
use estimators::model::Tool;

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
