//! What stands in a row of a part, by the names of its columns, of which parts of other versions lack some.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, RecordBatch};

use crate::fields::instant;

/// A row of a part.
#[derive(Clone, Copy)]
pub struct Cells<'a> {
    batch: &'a RecordBatch,
    row: usize,
}

impl<'a> Cells<'a> {
    /// All rows.
    pub fn of(batch: &'a RecordBatch) -> impl Iterator<Item = Self> {
        (0..batch.num_rows()).map(move |row| Self { batch, row })
    }

    /// A column that this version of the part has, where it is not null in this row.
    fn column(self, name: &str) -> Option<&'a dyn Array> {
        let column = self.batch.column_by_name(name)?;
        (!column.is_null(self.row)).then_some(column.as_ref())
    }

    /// What a column of text holds.
    pub fn text(self, name: &str) -> Option<&'a str> {
        Some(self.column(name)?.as_string_opt::<i32>()?.value(self.row))
    }

    /// A column of figures.
    pub fn figure(self, name: &str) -> Option<f64> {
        Some(self.column(name)?.as_primitive_opt::<Float64Type>()?.value(self.row))
    }

    /// A column of counts.
    pub fn count<T: TryFrom<i64>>(self, name: &str) -> Option<T> {
        T::try_from(self.column(name)?.as_primitive_opt::<Int64Type>()?.value(self.row)).ok()
    }

    /// A column of truths.
    pub fn truth(self, name: &str) -> Option<bool> {
        Some(self.column(name)?.as_boolean_opt()?.value(self.row))
    }

    /// A column of times, as reports write them.
    pub fn time(self, name: &str) -> Option<String> {
        let micros = self.column(name)?.as_primitive_opt::<TimestampMicrosecondType>()?.value(self.row);
        Some(humantime::format_rfc3339(instant(micros)?).to_string())
    }
}
