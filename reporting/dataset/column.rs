//! The columns of files: the fields that files have, and where those are found that a report does not hold itself.

use super::origin::Origin;
use crate::fields::{Field, Kind, of_kind};
use crate::table::Value;

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
