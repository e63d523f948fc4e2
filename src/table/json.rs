//! An array of objects, one a row; a bound is `{"at_most": …}`, what was not determined is null.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::{Cell, Table};

pub(super) fn write(table: &Table<'_>, output: &mut dyn Write) -> io::Result<()> {
    let mut next = "[\n";
    for row in &table.rows {
        let members = table.cells(row).map(|(column, cell)| (column.key.to_owned(), value(cell)));
        write!(output, "{next}  {}", Value::Object(members.collect::<Map<_, _>>()))?;
        next = ",\n";
    }
    writeln!(output, "{}", if table.rows.is_empty() { "[]" } else { "\n]" })
}

fn value(cell: &Cell) -> Value {
    match cell {
        Cell::Nothing => Value::Null,
        Cell::Number(figure) => json!(figure),
        Cell::AtMost(bound) => json!({ "at_most": bound }),
        Cell::Text(text) => json!(text.as_ref()),
    }
}
