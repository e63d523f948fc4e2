//! Writes all columns as Parquet with Snappy compression. Each part of the reports is a row group,
//! so that only one part is in memory.

use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;

use super::{Written, each_part};
use crate::fields::{Kind, columns};
use crate::model::Tool;
use crate::report::WholeFile;
use crate::table::{CellValue, Type};

/// Writes all rows of one kind from the reports at `paths`.
///
/// # Errors
/// When the file cannot be written.
pub(super) fn write(paths: &[PathBuf], kind: Kind, file: &mut WholeFile) -> io::Result<Written> {
    let mut schema = "message timermeter {".to_owned();
    for field in columns(kind) {
        let [physical, logical] = match field.unit.rules().column_type {
            Type::Text => ["BYTE_ARRAY", " (STRING)"],
            Type::Figure => ["DOUBLE", ""],
            Type::Count => ["INT64", ""],
            Type::Truth => ["BOOLEAN", ""],
            Type::Time => ["INT64", " (TIMESTAMP(MICROS,true))"],
            Type::Day => ["INT32", " (DATE)"],
        };
        write!(schema, "OPTIONAL {physical} {}{logical};", field.key)
            .expect("writing to a string succeeds");
    }
    let schema = parse_message_type(&(schema + "}"))?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        // Row groups are small, so page statistics would be as large as the data that they let
        // readers skip.
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_created_by(format!("timermeter {}", Tool::this().version))
        .build();
    let mut writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))?;
    let written = each_part(paths, kind, |columns, rows| {
        let mut group = writer.next_row_group()?;
        for (at, field) in columns.iter().enumerate() {
            let mut column = group
                .next_column()?
                .expect("the group has a column for each field");
            let cells = rows.iter().map(|row| &row[at]);
            write_column(&mut column, field.unit.rules().column_type, cells)?;
            column.close()?;
        }
        group.close()?;
        Ok(())
    })?;
    writer.close()?;
    Ok(written)
}

/// A function that returns the value of a cell of the given variant; `None` for other cells.
macro_rules! value_of {
    ($kind:ident) => {
        |cell| {
            if let CellValue::$kind(value) = cell {
                Some(*value)
            } else {
                None
            }
        }
    };
}

/// Writes a column. A value of another type than the column is written as undetermined.
fn write_column<'a>(
    column: &mut SerializedColumnWriter,
    kind: Type,
    cells: impl Iterator<Item = &'a CellValue>,
) -> Result<()> {
    match kind {
        Type::Text => write_cells::<ByteArrayType>(column, cells, |cell| {
            matches!(cell, CellValue::Text(_) | CellValue::Word(_)).then(|| cell.as_text().into())
        }),
        Type::Figure => write_cells::<DoubleType>(column, cells, CellValue::number),
        Type::Count => write_cells::<Int64Type>(column, cells, value_of!(Count)),
        Type::Truth => write_cells::<BoolType>(column, cells, value_of!(Truth)),
        Type::Time => write_cells::<Int64Type>(column, cells, value_of!(Time)),
        Type::Day => write_cells::<Int32Type>(column, cells, value_of!(Day)),
    }
}

/// Writes the values that `value` returns; `None` becomes undetermined.
fn write_cells<'a, T: DataType>(
    column: &mut SerializedColumnWriter,
    cells: impl Iterator<Item = &'a CellValue>,
    value: impl Fn(&CellValue) -> Option<T::T>,
) -> Result<()> {
    // The definition level of a cell is 1 if the cell has a value, otherwise 0.
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    for value in cells.map(value) {
        levels.push(i16::from(value.is_some()));
        values.extend(value);
    }
    column
        .typed::<T>()
        .write_batch(&values, Some(&levels), None)?;
    Ok(())
}
