//! An array of objects, one a row; a bound is `{"at_most": …}`, what was not determined is null.

use std::io::{self, Write};

use serde_json::{Map, Value as Json, json};

use super::{Table, Value};

pub(super) fn write(table: &Table<'_>, output: &mut dyn Write) -> io::Result<()> {
    let mut next = "[\n";
    for row in &table.rows {
        let members = table.cells(row).map(|(column, cell)| (column.key.to_owned(), value(cell)));
        write!(output, "{next}  {}", Json::Object(members.collect::<Map<_, _>>()))?;
        next = ",\n";
    }
    writeln!(output, "{}", if table.rows.is_empty() { "[]" } else { "\n]" })
}

fn value(cell: &Value) -> Json {
    match cell {
        Value::Nothing => Json::Null,
        Value::Figure(figure) => json!(figure),
        Value::AtMost(bound) => json!({ "at_most": bound }),
        Value::Count(count) => json!(count),
        Value::Truth(truth) => json!(truth),
        Value::Word(_) | Value::Text(_) => json!(cell.as_text()),
        Value::Time(_) | Value::Day(_) => json!(cell.to_string()),
    }
}
