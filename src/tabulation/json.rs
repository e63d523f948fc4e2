//! An array of objects, one a row; a bound is `{"at_most": …}`, what was not determined is null.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::{Cell, Grid};

pub(super) fn write(grid: &Grid<'_>, output: &mut dyn Write) -> io::Result<()> {
    let mut next = "[\n";
    for row in &grid.rows {
        let object: Map<String, Value> = grid
            .heads
            .iter()
            .zip(row.iter())
            .map(|(head, cell)| (head.column.key().to_owned(), value(cell)))
            .collect();
        write!(output, "{next}  {}", Value::Object(object))?;
        next = ",\n";
    }
    writeln!(output, "{}", if grid.rows.is_empty() { "[]" } else { "\n]" })
}

fn value(cell: &Cell) -> Value {
    match cell {
        Cell::Nothing => Value::Null,
        Cell::Number(figure) => json!(figure),
        Cell::AtMost(bound) => json!({ "at_most": bound }),
        Cell::Text(text) => json!(text.as_ref()),
    }
}
