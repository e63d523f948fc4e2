//! Writes the table as Parquet (Snappy), with one row group for each part to limit memory use.

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
use crate::table::{Type, Value};

/// Writes all rows of one kind from the reports at `paths`.
///
/// # Errors
/// When the file cannot be written.
pub(super) fn write(paths: &[PathBuf], kind: Kind, file: &mut WholeFile) -> io::Result<Written> {
    let mut schema = "message timermeter {".to_owned();
    for field in columns(kind) {
        let [physical, logical] = match field.unit.kind() {
            Type::Text => ["BYTE_ARRAY", " (STRING)"],
            Type::Figure => ["DOUBLE", ""],
            Type::Count => ["INT64", ""],
            Type::Truth => ["BOOLEAN", ""],
            Type::Time => ["INT64", " (TIMESTAMP(MICROS,true))"],
            Type::Day => ["INT32", " (DATE)"],
        };
        write!(schema, "OPTIONAL {physical} {}{logical};", field.key).expect("a string takes all");
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
            let mut column = group.next_column()?.expect("as many as the schema has");
            let cells = rows.iter().map(|row| &row[at]);
            write_column(&mut column, field.unit.kind(), cells)?;
            column.close()?;
        }
        group.close()?;
        Ok(())
    })?;
    writer.close()?;
    Ok(written)
}

macro_rules! of {
    ($kind:ident) => {
        |cell| {
            if let Value::$kind(value) = cell {
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
    cells: impl Iterator<Item = &'a Value>,
) -> Result<()> {
    match kind {
        Type::Text => put::<ByteArrayType>(column, cells, |cell| {
            matches!(cell, Value::Text(_) | Value::Word(_)).then(|| cell.as_text().into())
        }),
        Type::Figure => put::<DoubleType>(column, cells, of!(Figure)),
        Type::Count => put::<Int64Type>(column, cells, of!(Count)),
        Type::Truth => put::<BoolType>(column, cells, of!(Truth)),
        Type::Time => put::<Int64Type>(column, cells, of!(Time)),
        Type::Day => put::<Int32Type>(column, cells, of!(Day)),
    }
}

fn put<'a, T: DataType>(
    column: &mut SerializedColumnWriter,
    cells: impl Iterator<Item = &'a Value>,
    of: impl Fn(&Value) -> Option<T::T>,
) -> Result<()> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    for value in cells.map(of) {
        levels.push(i16::from(value.is_some()));
        values.extend(value);
    }
    column
        .typed::<T>()
        .write_batch(&values, Some(&levels), None)?;
    Ok(())
}
