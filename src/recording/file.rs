//! Reads and writes a recording as a file: JSON compressed with gzip (RFC 1952). `docs/trace.md`
//! describes the format.
//!
//! The decompressed size is limited, because a trace of some kilobytes can decompress to any size.
//! While the trace is read, the decompressed bytes and the values that need memory are counted.

use std::io::{self, BufReader, BufWriter, Read};

use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use serde::Deserialize;

use super::{SCHEMA, TraceFile};
use estimators::model::WaitConditions;
use estimators::trace::Reference;
use reporting::text::{CleanStrings, json_error};

/// The reason why a recording could not be read, and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum TraceFileError {
    /// The bytes cannot be decompressed.
    #[error(
        "'{0}' is not a trace, or a damaged one: {1}; write it again with `timermeter probe --trace`"
    )]
    Damaged(String, io::Error),
    /// The decompressed text does not describe a recording.
    #[error(
        "'{name}' does not hold a trace: {message} (line {line}, column {column} of the unpacked JSON)"
    )]
    Malformed {
        /// The file.
        name: String,
        /// What is wrong.
        message: String,
        /// The line.
        line: usize,
        /// The column.
        column: usize,
    },
    /// The recording has another version.
    #[error(
        "'{0}' has schema '{1}'; this build reads {schema} only: use the version of timermeter that wrote it",
        schema = SCHEMA
    )]
    Version(String, String),
    /// A value that no run of this program writes.
    #[error("'{0}' is a damaged trace: {1}")]
    Inconsistent(String, Inconsistency),
}

/// A value of a recording that no run of this program writes and that the analysis does not expect.
#[derive(Debug, thiserror::Error)]
pub enum Inconsistency {
    /// Two timers have the same id.
    #[error("two timers have the id '{0}'")]
    SameId(String),
    /// A property of a timer or of its reference is impossible.
    #[error("{0} of '{1}' is {2}")]
    Value(&'static str, String, f64),
}

/// The largest compressed trace that is read, in bytes; most traces have some million.
pub const MAX_PACKED_BYTES: u64 = 64 << 20;
/// Bytes that are compressed at a time.
const CHUNK_BYTES: usize = 64 << 10;

#[derive(Deserialize)]
struct AnySchema {
    schema: Option<String>,
}

impl TraceFile {
    /// Returns the compressed bytes of the file.
    pub fn pack(&self) -> io::Result<Vec<u8>> {
        // The JSON consists of millions of short writes, and each write to the compressor clears
        // one of its buffers.
        let mut packer = BufWriter::with_capacity(CHUNK_BYTES, new_packer());
        serde_json::to_writer(&mut packer, self)?;
        packer
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?
            .finish()
    }

    /// Reads a recording from the bytes of a file; `name` identifies the file in errors.
    ///
    /// # Errors
    /// When the bytes are not a recording of this version.
    pub fn unpack(bytes: &[u8], name: &str) -> Result<Self, TraceFileError> {
        let describe_error = |error: serde_json::Error| match error.is_io() {
            true => TraceFileError::Damaged(name.into(), error.into()),
            false => TraceFileError::Malformed {
                name: name.into(),
                message: json_error(&error),
                line: error.line(),
                column: error.column(),
            },
        };
        let read = serde_json::from_reader::<_, Self>(unpacking_reader(bytes));
        let is_version_known = match &read {
            Ok(recording) => recording.schema == SCHEMA,
            // Reading the version would fail in the same way.
            Err(error) => error.is_io(),
        };
        if !is_version_known {
            // The version is checked first, because a recording of another version causes
            // misleading errors.
            let any: AnySchema =
                serde_json::from_reader(unpacking_reader(bytes)).map_err(describe_error)?;
            let found = any.schema.unwrap_or_else(|| "none".into());
            if found != SCHEMA {
                return Err(TraceFileError::Version(name.into(), found));
            }
        }
        let mut recording = read.map_err(describe_error)?;
        let is_loaded = |one: &Option<WaitConditions>| one.as_ref().is_some_and(|it| it.loaded);
        recording.waits.retain(|one| !is_loaded(&one.conditions));
        (recording.periods).retain(|one| !is_loaded(&one.conditions));
        match recording.inconsistency() {
            Some(what) => Err(TraceFileError::Inconsistent(name.into(), what)),
            None => Ok(recording),
        }
    }

    /// Returns the first value that no run of this program writes and that the analysis does not
    /// expect.
    fn inconsistency(&self) -> Option<Inconsistency> {
        let mut ids: Vec<&String> = self
            .timers
            .iter()
            .map(|observed| &observed.timer.id)
            .chain(self.unmeasured.iter().map(|row| &row.id))
            .collect();
        ids.sort_unstable();
        if let Some(pair) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
            return Some(Inconsistency::SameId(pair[0].clone()));
        }
        let is_tick = |ns: &f64| ns.is_normal() && *ns > 0.0;
        let mut references = Vec::new();
        for observed in &self.timers {
            let (id, trace) = (&observed.timer.id, observed.outcome.as_ref().ok());
            let ticks = [
                observed.timer.ns_per_tick,
                trace.and_then(|trace| trace.ns_per_tick),
            ];
            if let Some(ns) = ticks.into_iter().flatten().find(|ns| !is_tick(ns)) {
                return Some(Inconsistency::Value("ns_per_tick", id.clone(), ns));
            }
            if let Some(trace) = trace {
                let all = [&trace.reference].into_iter().chain(&trace.calls_reference);
                references.extend(all.map(|reference| (id, reference)));
            }
        }
        references.extend(
            self.waits
                .iter()
                .filter_map(|one| Some((&one.timer.id, &one.outcome.as_ref().ok()?.reference))),
        );
        references.extend(
            self.periods
                .iter()
                .filter_map(|one| Some((&one.timer.id, &one.outcome.as_ref().ok()?.reference))),
        );
        references.into_iter().find_map(|(id, reference)| {
            let (name, value) = properties(reference)
                .into_iter()
                .find(|(_, value)| !(0.0..=MAX_OF_REFERENCE).contains(value))?;
            Some(Inconsistency::Value(name, id.clone(), value))
        })
    }
}

/// The largest property of a reference that is read: with it, all intervals are finite.
const MAX_OF_REFERENCE: f64 = 1e18;

/// The properties of a reference that the analysis multiplies, with their names.
fn properties(reference: &Reference) -> [(&'static str, f64); 5] {
    [
        ("reference.ns_per_tick", reference.ns_per_tick),
        ("reference.step", reference.step),
        (
            "reference.step_at_most",
            reference.step_at_most.unwrap_or_default(),
        ),
        ("reference.ns_per_work", reference.ns_per_work),
        ("reference.rate_uncertainty", reference.rate_uncertainty),
    ]
}

/// Returns a reader that decompresses a recording.
fn unpacking_reader(bytes: &[u8]) -> impl Read + '_ {
    let unpacked = SizeLimit::new(MultiGzDecoder::new(bytes), bytes.len());
    CleanStrings::new(BufReader::with_capacity(1 << 16, unpacked))
}

/// Creates a compressor that writes to memory.
fn new_packer() -> GzEncoder<Vec<u8>> {
    GzEncoder::new(Vec::new(), Compression::default())
}

/// The largest number of decompressed bytes. A thorough run of all timers has some hundred million.
const MAX_UNPACKED_BYTES: u64 = 1 << 30;
/// The highest accepted compression ratio: measured values never compress better, a trace of zeros
/// does.
const MAX_RATIO: u64 = 100;
/// Decompressed bytes that are always allowed.
const ALWAYS_ALLOWED_BYTES: u64 = 4 << 20;
/// The largest number of values of a trace; each object counts as `VALUES_PER_OBJECT` values. A
/// thorough run of all timers has some thirty million.
const MAX_VALUES: u64 = 48 << 20;
/// The number of values that need as much memory as an object.
const VALUES_PER_OBJECT: u64 = 6;
/// The largest number of values of a list; no process measures more at a time.
const MAX_LIST_VALUES: u64 = 1 << 20;

/// A reader that passes on the bytes of `inner` and fails beyond the limits.
pub(super) struct SizeLimit<R> {
    inner: R,
    /// Bytes that are still allowed.
    remaining_bytes: u64,
    /// The number of values so far; an object counts as several.
    values: u64,
    /// The number of values so far of the current list.
    list_values: u64,
}

impl<R: Read> SizeLimit<R> {
    /// Creates a reader for a source of `packed` compressed bytes.
    pub(super) fn new(inner: R, packed: usize) -> Self {
        let remaining_bytes = max_unpacked_bytes(packed);
        Self {
            inner,
            remaining_bytes,
            values: 0,
            list_values: 0,
        }
    }

    /// Counts the values in these bytes of JSON.
    ///
    /// # Errors
    /// When there are more values than allowed, in all or in one list.
    fn count_values(&mut self, bytes: &[u8]) -> io::Result<()> {
        for byte in bytes {
            match byte {
                b',' => {
                    self.values += 1;
                    self.list_values += 1;
                }
                b'{' => {
                    self.values += VALUES_PER_OBJECT;
                    self.list_values = 0;
                }
                b'[' | b']' | b'}' => self.list_values = 0,
                _ => {}
            }
        }
        if self.values > MAX_VALUES {
            return Err(limit_error(format!("it has more than {MAX_VALUES} values")));
        }
        if self.list_values > MAX_LIST_VALUES {
            return Err(limit_error(format!(
                "it has a list of more than {MAX_LIST_VALUES} values"
            )));
        }
        Ok(())
    }
}

impl<R: Read> Read for SizeLimit<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.remaining_bytes = self.remaining_bytes.checked_sub(read as u64).ok_or_else(|| {
            limit_error(format!(
                "it unpacks to more than {MAX_RATIO} times its size, or more than {MAX_UNPACKED_BYTES} bytes"
            ))
        })?;
        self.count_values(&buffer[..read])?;
        Ok(read)
    }
}

/// The number of bytes to which a file of `packed` bytes may decompress.
fn max_unpacked_bytes(packed: usize) -> u64 {
    (packed as u64)
        .saturating_mul(MAX_RATIO)
        .clamp(ALWAYS_ALLOWED_BYTES, MAX_UNPACKED_BYTES)
}

fn limit_error(why: String) -> io::Error {
    io::Error::other(format!("{why}; no recording by this program does"))
}

#[cfg(test)]
mod tests;
