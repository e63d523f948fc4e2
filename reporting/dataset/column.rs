//! The columns of files: the fields that files have, and where those are found that a report does not hold itself.

use std::sync::Arc;

use super::identity::Identity;
use crate::fields::{Field, Kind, of_kind};
use crate::table::Value;

/// Where a report was found, and what it is told apart by.
#[derive(Clone, Debug)]
pub struct Origin {
    pub(super) id: Identity,
    pub(super) file: Arc<str>,
    pub(super) host: Option<Arc<str>>,
    pub(super) platform: Arc<str>,
    /// In microseconds since 1970; `None` where the report says no time.
    pub(super) created: Option<i64>,
    /// As in `2026-11-20`; `None` where the report says no time.
    pub(super) date: Option<Arc<str>>,
}

/// The columns of rows of a kind: those of the report first.
#[must_use]
pub fn columns(kind: Kind) -> Vec<&'static Field> {
    of_kind(kind).filter(|field| field.in_files).collect()
}

/// What a column holds for all rows of a report; `None` where it is one of rows.
pub(super) fn of_report(field: &Field, origin: &Origin, report: &crate::model::Report) -> Option<Value> {
    if !field.is_of_report() {
        return None;
    }
    let found = match field.key {
        "report_id" => origin.id.to_string().into(),
        "file" => origin.file.clone().into(),
        "host" => origin.host.clone().into(),
        "platform" => origin.platform.clone().into(),
        _ => field.of_report(report).unwrap_or(Value::Nothing),
    };
    Some(found.of_type(field.kind))
}
