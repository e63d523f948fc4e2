//! Rows as a file of columns: Parquet or Arrow. It is made in memory piece by piece, and its caller takes what is ready.

use std::mem;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Float64Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::Compression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use super::sheet::{Choice, Place, Sheet, places};
use crate::fields::{self, Kind};
use crate::model::Tool;
use crate::table::{Type, Value};

/// Reports that are turned into columns at once.
const AT_ONCE: usize = 256;
/// Rows of a row group, which is in memory before it is written: a few megabytes.
const ROW_GROUP: usize = 1 << 15;
/// Where the file says what its rows are of.
pub const KIND: &str = "timermeter.kind";
/// Where it says what wrote it.
const VERSION: &str = "timermeter.version";

/// How columns are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// Apache Parquet, compressed by Snappy.
    Parquet,
    /// Apache Arrow's own file, which Feather is too.
    Arrow,
}

/// A file that could not be made; there is nothing that it could be made of other than its rows, so this tells of a fault.
#[derive(Debug, thiserror::Error)]
#[error("the columns cannot be written: {0}")]
pub struct FileError(String);

impl From<arrow_schema::ArrowError> for FileError {
    fn from(error: arrow_schema::ArrowError) -> Self {
        Self(error.to_string())
    }
}

impl From<parquet::errors::ParquetError> for FileError {
    fn from(error: parquet::errors::ParquetError) -> Self {
        Self(error.to_string())
    }
}

/// A file that is being made.
pub struct TableFile {
    schema: SchemaRef,
    columns: Vec<(Place, Type)>,
    sink: Sink,
}

enum Sink {
    Parquet(Box<ArrowWriter<Vec<u8>>>),
    Arrow(Box<FileWriter<Vec<u8>>>),
}

impl TableFile {
    /// A file without rows; what folders tell is left out where it lies `in_folders`.
    ///
    /// # Errors
    /// None that is known.
    pub fn new(format: FileFormat, choice: &Choice, in_folders: bool) -> Result<Self, FileError> {
        let kept = |field: &&&fields::Field| !(in_folders && field.in_path);
        let placed = choice.columns.iter().zip(places(&choice.columns)).filter(|(column, _)| kept(column));
        let columns = placed.map(|(column, place)| (place, column.kind)).collect();
        let fields: Vec<Field> = choice.columns.iter().filter(kept).map(|column| typed(column)).collect();
        let schema = Arc::new(Schema::new(fields));
        let sink = match format {
            FileFormat::Parquet => Sink::Parquet(Box::new(parquet(schema.clone(), kind_name(choice.kind))?)),
            FileFormat::Arrow => {
                let mut writer = FileWriter::try_new(Vec::new(), &schema)?;
                told(kind_name(choice.kind))
                    .into_iter()
                    .for_each(|(key, value)| writer.write_metadata(key, value));
                Sink::Arrow(Box::new(writer))
            }
        };
        Ok(Self { schema, columns, sink })
    }

    /// Adds the rows of reports.
    ///
    /// # Errors
    /// None that is known.
    pub fn push(&mut self, sheets: &[&Sheet]) -> Result<(), FileError> {
        for sheets in sheets.chunks(AT_ONCE) {
            if sheets.iter().all(|sheet| sheet.rows() == 0) {
                continue;
            }
            let array = |&(place, kind): &(Place, Type)| {
                array(kind, sheets.iter().flat_map(move |sheet| sheet.column(place)))
            };
            let arrays = self.columns.iter().map(array).collect();
            let batch = RecordBatch::try_new(self.schema.clone(), arrays)?;
            match &mut self.sink {
                Sink::Parquet(writer) => writer.write(&batch)?,
                Sink::Arrow(writer) => writer.write(&batch)?,
            }
        }
        Ok(())
    }

    /// Takes what is ready of the file.
    pub fn written(&mut self) -> Vec<u8> {
        mem::take(match &mut self.sink {
            Sink::Parquet(writer) => writer.inner_mut(),
            Sink::Arrow(writer) => writer.get_mut(),
        })
    }

    /// The rest of it.
    ///
    /// # Errors
    /// None that is known.
    pub fn finish(self) -> Result<Vec<u8>, FileError> {
        Ok(match self.sink {
            Sink::Parquet(writer) => writer.into_inner()?,
            Sink::Arrow(writer) => writer.into_inner()?,
        })
    }
}

/// A Parquet file without rows.
pub(super) fn parquet(schema: SchemaRef, kind: &str) -> Result<ArrowWriter<Vec<u8>>, FileError> {
    let told = told(kind).map(|(key, value)| KeyValue::new(key.into(), value)).to_vec();
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        // Row groups are small: figures of pages would be as large as what they spare.
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_max_row_group_row_count(Some(ROW_GROUP))
        .set_created_by(format!("timermeter {}", Tool::this().version))
        .set_key_value_metadata(Some(told))
        .build();
    // Parquet has names for all types that there are, so that Arrow's are not needed.
    let options = ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
    Ok(ArrowWriter::try_new_with_options(Vec::new(), schema, options)?)
}

/// What a file says of itself.
fn told(kind: &str) -> [(&'static str, String); 2] {
    [(KIND, kind.to_owned()), (VERSION, Tool::this().version)]
}

/// A column as files have it.
pub(super) fn typed(column: &fields::Field) -> Field {
    Field::new(column.key, data_type(column.kind), true)
}

/// What a file calls what its rows are of.
pub fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Clocks => "clocks",
        Kind::Waits => "waits",
        Kind::Periods => "periods",
    }
}

fn text(value: &Value) -> Option<&str> {
    matches!(value, Value::Text(_) | Value::Word(_)).then(|| value.as_text())
}

fn data_type(kind: Type) -> DataType {
    match kind {
        Type::Text => DataType::Utf8,
        Type::Figure => DataType::Float64,
        Type::Count => DataType::Int64,
        Type::Truth => DataType::Boolean,
        Type::Time => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        Type::Day => DataType::Date32,
    }
}

macro_rules! of {
    ($values:ident, $kind:ident) => {
        $values.map(|value| if let Value::$kind(value) = value { Some(*value) } else { None })
    };
}

/// A column; a value that is none of its type was not determined.
fn array<'a>(kind: Type, values: impl Iterator<Item = &'a Value>) -> ArrayRef {
    match kind {
        Type::Text => Arc::new(values.map(text).collect::<StringArray>()),
        Type::Figure => Arc::new(of!(values, Figure).collect::<Float64Array>()),
        Type::Count => Arc::new(of!(values, Count).collect::<Int64Array>()),
        Type::Truth => Arc::new(of!(values, Truth).collect::<BooleanArray>()),
        Type::Time => Arc::new(of!(values, Time).collect::<TimestampMicrosecondArray>().with_timezone("UTC")),
        Type::Day => Arc::new(of!(values, Day).collect::<Date32Array>()),
    }
}
