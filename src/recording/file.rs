//! Reads and writes a recording as a file: JSON compressed with gzip (RFC 1952). `docs/trace.md`
//! describes the format.
//!
//! The decompressed size is limited, because a trace of some kilobytes can decompress to any size.
//! While the trace is read, the decompressed bytes and the values that need memory are counted.

use std::io::{self, BufReader, BufWriter, Read};
use std::path::Path;

use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use serde::Deserialize;

use super::{Recording, SCHEMA};
use crate::text::{CleanStrings, json_error};

/// The reason why a recording could not be read, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct RecordingError(String);

/// Longest compressed trace, in bytes; most traces have some million.
const LONGEST_TRACE: u64 = 64 << 20;
/// Bytes that are compressed at a time.
const CHUNK_BYTES: usize = 64 << 10;

#[derive(Deserialize)]
struct AnySchema {
    schema: Option<String>,
}

impl Recording {
    /// Returns the compressed bytes of the file.
    pub fn pack(&self) -> io::Result<Vec<u8>> {
        // The JSON consists of millions of short writes, and each write to the compressor clears
        // one of its buffers.
        let mut packer = BufWriter::with_capacity(CHUNK_BYTES, packer());
        serde_json::to_writer(&mut packer, self)?;
        packer
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?
            .finish()
    }

    /// Reads the recording in the file `path`.
    ///
    /// # Errors
    /// When the file cannot be read or contains no recording of this version.
    pub fn read(path: &Path) -> Result<Self, RecordingError> {
        let (mut bytes, name) = (Vec::new(), path.display().to_string());
        crate::input::read(path, LONGEST_TRACE, &mut bytes)
            .map_err(|error| RecordingError(format!("cannot read '{name}': {error}")))?;
        Self::unpack(&bytes, &name)
    }

    /// Reads a recording from the bytes of a file; `name` identifies the file in errors.
    ///
    /// # Errors
    /// When the bytes are not a recording of this version.
    pub fn unpack(bytes: &[u8], name: &str) -> Result<Self, RecordingError> {
        let broken = |error: serde_json::Error| {
            let (line, column) = (error.line(), error.column());
            RecordingError(if error.is_io() {
                let error = io::Error::from(error);
                format!(
                    "'{name}' is no trace, or a damaged one: {error}; write it anew with `timermeter probe --trace`"
                )
            } else {
                let message = json_error(&error);
                format!(
                    "'{name}' holds no trace: {message} (line {line}, column {column} of what it unpacks to)"
                )
            })
        };
        let read = serde_json::from_reader::<_, Self>(unpacked(bytes));
        let is_ours = match &read {
            Ok(recording) => recording.schema == SCHEMA,
            Err(error) => error.is_io(),
        };
        if !is_ours {
            // The version is checked first, because a recording of another version causes
            // misleading errors.
            let any: AnySchema = serde_json::from_reader(unpacked(bytes)).map_err(broken)?;
            let found = any.schema.unwrap_or_else(|| "none".into());
            if found != SCHEMA {
                return Err(RecordingError(format!(
                    "'{name}' has schema '{found}'; this build reads {SCHEMA} only: use the version of timermeter that wrote it"
                )));
            }
        }
        let recording = read.map_err(broken)?;
        match recording.inconsistency() {
            Some(what) => Err(RecordingError(format!(
                "'{name}' is a damaged trace: {what}"
            ))),
            None => Ok(recording),
        }
    }

    /// Returns a description of the first value that no run of this program writes and that the
    /// analysis does not expect.
    fn inconsistency(&self) -> Option<String> {
        let asked = self.timers.iter().map(|observed| &observed.timer.id);
        let mut ids: Vec<&String> = asked
            .chain(self.unasked.iter().map(|row| &row.id))
            .collect();
        ids.sort_unstable();
        if let Some(pair) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
            return Some(format!("two timers have the id '{}'", pair[0]));
        }
        self.timers.iter().find_map(|observed| {
            let (id, trace) = (&observed.timer.id, observed.outcome.as_ref().ok());
            let ticks = [
                observed.timer.ns_per_tick,
                trace.and_then(|trace| trace.ns_per_tick),
            ];
            let mut ticks = ticks.into_iter().flatten();
            if let Some(ns) = ticks.find(|ns| !(ns.is_normal() && *ns > 0.0)) {
                return Some(format!("ns_per_tick of '{id}' is {ns}"));
            }
            let reference = &trace?.reference;
            let figures = [
                ("ns_per_tick", reference.ns_per_tick),
                ("step", reference.step),
                ("ns_per_work", reference.ns_per_work),
            ];
            let mut figures = figures.into_iter();
            let (figure, value) = figures.find(|(_, value)| !value.is_finite() || *value < 0.0)?;
            Some(format!("reference.{figure} of '{id}' is {value}"))
        })
    }
}

/// Returns a reader that decompresses a recording.
fn unpacked(bytes: &[u8]) -> impl Read + '_ {
    let unpacked = Gauge::new(MultiGzDecoder::new(bytes), bytes.len());
    CleanStrings::new(BufReader::with_capacity(1 << 16, unpacked))
}

/// Returns a compressor.
fn packer() -> GzEncoder<Vec<u8>> {
    GzEncoder::new(Vec::new(), Compression::default())
}

/// Most decompressed bytes. A thorough run of all timers has some hundred million.
const MOST_BYTES: u64 = 1 << 30;
/// Highest compression ratio: measured values never compress better, a trace of zeros does.
const MAX_RATIO: u64 = 100;
/// Decompressed bytes that are always allowed.
const ALWAYS_ALLOWED_BYTES: u64 = 4 << 20;
/// Most values of a trace, each object counting as `VALUES_PER_OBJECT` values: a thorough run of
/// all timers has some thirty million.
const MOST_VALUES: u64 = 48 << 20;
/// Values that need as much memory as an object.
const VALUES_PER_OBJECT: u64 = 6;
/// Most values of a single list; no process is asked for more.
const LONGEST_LIST: u64 = 1 << 20;

/// A reader that passes on the bytes of `inner` and fails beyond the limits.
pub(super) struct Gauge<R> {
    inner: R,
    /// Bytes that are still allowed.
    room: u64,
    values: u64,
    list: u64,
}

impl<R: Read> Gauge<R> {
    /// Creates a reader for a source of `packed` compressed bytes.
    pub(super) fn new(inner: R, packed: usize) -> Self {
        let room = max_bytes(packed);
        Self {
            inner,
            room,
            values: 0,
            list: 0,
        }
    }

    fn count(&mut self, bytes: &[u8]) -> io::Result<()> {
        for byte in bytes {
            match byte {
                b',' => {
                    self.values += 1;
                    self.list += 1;
                }
                b'{' => {
                    self.values += VALUES_PER_OBJECT;
                    self.list = 0;
                }
                b'[' | b']' | b'}' => self.list = 0,
                _ => {}
            }
        }
        if self.values > MOST_VALUES {
            return Err(too_much(format!("it holds more than {MOST_VALUES} values")));
        }
        if self.list > LONGEST_LIST {
            return Err(too_much(format!(
                "it holds a list of more than {LONGEST_LIST} values"
            )));
        }
        Ok(())
    }
}

impl<R: Read> Read for Gauge<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.room = self.room.checked_sub(read as u64).ok_or_else(|| {
            too_much(format!(
                "it unpacks to more than {MAX_RATIO} times its size, or more than {MOST_BYTES} bytes"
            ))
        })?;
        self.count(&buffer[..read])?;
        Ok(read)
    }
}

fn max_bytes(packed: usize) -> u64 {
    (packed as u64)
        .saturating_mul(MAX_RATIO)
        .clamp(ALWAYS_ALLOWED_BYTES, MOST_BYTES)
}

fn too_much(why: String) -> io::Error {
    io::Error::other(format!("{why}, as no run of this program does"))
}

#[cfg(test)]
mod tests;
