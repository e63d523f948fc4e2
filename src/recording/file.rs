//! A recording as a file: JSON, packed with gzip (RFC 1952). `docs/trace.md` describes it.
//!
//! A limit to what unpacks: a trace of some kilobytes can unpack to any size. It is unpacked as it
//! is read, and looked at on its way: how much it is, and how much memory its values will take.

use std::io::{self, BufReader, BufWriter, Read};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use serde::Deserialize;

use super::{Recording, SCHEMA};
use crate::text::{CleanStrings, json_error};

/// Why a recording could not be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The file cannot be read.
    #[error("cannot read '{}': {source}", .path.display())]
    File {
        /// The path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is no packed file, was cut off, or was changed.
    #[error(
        "'{name}' is no trace, or a damaged one: {source}; write it anew with `timermeter probe --trace`"
    )]
    Packed {
        /// Where the bytes came from.
        name: String,
        /// What the decoder said.
        source: io::Error,
    },
    /// What is in it is no recording.
    #[error(
        "'{name}' holds no trace: {message} (line {line}, column {column} of what it unpacks to)"
    )]
    Json {
        /// Where the bytes came from.
        name: String,
        /// What is wrong.
        message: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// Another version of the recording, or another document.
    #[error(
        "'{name}' has schema '{found}'; this build reads {SCHEMA} only: use the version of timermeter that wrote it"
    )]
    OtherSchema {
        /// Where the bytes came from.
        name: String,
        /// The schema it names.
        found: String,
    },
    /// Its observations do not fit together.
    #[error("'{name}' is a damaged trace: {what}")]
    Inconsistent {
        /// Where the bytes came from.
        name: String,
        /// What is wrong.
        what: String,
    },
}

/// Bytes of the longest trace, packed; most take some million.
const LONGEST_TRACE: u64 = 64 << 20;
/// Bytes that are packed at a time.
const PIECE: usize = 64 << 10;

#[derive(Deserialize)]
struct AnySchema {
    schema: Option<String>,
}

impl Recording {
    /// The bytes of the file.
    ///
    /// # Errors
    /// When memory runs out.
    pub fn pack(&self) -> io::Result<Vec<u8>> {
        // Millions of integers and commas: each write to the packer itself clears a buffer of its
        // own.
        let mut packer = BufWriter::with_capacity(PIECE, packer());
        serde_json::to_writer(&mut packer, self)?;
        packer
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?
            .finish()
    }

    /// Reads the recording in the file `path`.
    ///
    /// # Errors
    /// When the file cannot be read or does not hold a recording of this version.
    pub fn read(path: &Path) -> Result<Self, RecordingError> {
        let mut bytes = Vec::new();
        crate::input::read(path, LONGEST_TRACE, &mut bytes).map_err(|source| {
            RecordingError::File {
                path: path.to_owned(),
                source,
            }
        })?;
        Self::unpack(&bytes, &path.display().to_string())
    }

    /// Reads a recording from the bytes of a file; `name` says in errors where they came from.
    ///
    /// # Errors
    /// When they are no recording of this version.
    pub fn unpack(bytes: &[u8], name: &str) -> Result<Self, RecordingError> {
        let broken = |error: serde_json::Error| match error.is_io() {
            true => RecordingError::Packed {
                name: name.to_owned(),
                source: error.into(),
            },
            false => RecordingError::Json {
                name: name.to_owned(),
                message: json_error(&error),
                line: error.line(),
                column: error.column(),
            },
        };
        let recording = match serde_json::from_reader::<_, Self>(unpacked(bytes)) {
            Ok(recording) if recording.schema == SCHEMA => recording,
            Err(error) if error.is_io() => return Err(broken(error)),
            other => {
                // The version first: another one fails to fit in ways that explain nothing.
                let any: AnySchema = serde_json::from_reader(unpacked(bytes)).map_err(broken)?;
                let found = any.schema.unwrap_or_else(|| "none".into());
                return Err(match other {
                    Err(error) if found == SCHEMA => broken(error),
                    _ => RecordingError::OtherSchema {
                        name: name.to_owned(),
                        found,
                    },
                });
            }
        };
        match recording.inconsistency() {
            Some(what) => Err(RecordingError::Inconsistent {
                name: name.to_owned(),
                what,
            }),
            None => Ok(recording),
        }
    }

    /// What no run of this program writes, and what the analysis does not expect.
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
            let trace = observed.outcome.as_ref().ok().map(|stored| stored);
            let ticks = [
                observed.timer.ns_per_tick,
                trace.and_then(|trace| trace.ns_per_tick),
            ];
            if let Some(ns) = ticks
                .into_iter()
                .flatten()
                .find(|ns| !(ns.is_normal() && *ns > 0.0))
            {
                return Some(format!("ns_per_tick of '{}' is {ns}", observed.timer.id));
            }
            let reference = &trace?.reference;
            let figures = [
                ("reference.ns_per_tick", reference.ns_per_tick),
                ("reference.step", reference.step),
                ("reference.ns_per_work", reference.ns_per_work),
            ];
            let (figure, value) = figures
                .into_iter()
                .find(|(_, value)| !value.is_finite() || *value < 0.0)?;
            Some(format!("{figure} of '{}' is {value}", observed.timer.id))
        })
    }
}

/// What a packed recording unpacks to, as it is read.
fn unpacked(bytes: &[u8]) -> impl Read + '_ {
    let unpacked = Gauge::new(MultiGzDecoder::new(bytes), bytes.len());
    CleanStrings::new(BufReader::with_capacity(1 << 16, unpacked))
}

/// What packs.
fn packer() -> GzEncoder<Vec<u8>> {
    GzEncoder::new(Vec::new(), Compression::default())
}

/// Bytes that are unpacked at most. A thorough run of all timers takes some hundred million.
const MOST_BYTES: u64 = 1 << 30;
/// Nothing that was measured packs tighter than this; a trace of zeros does.
const MOST_TIMES: u64 = 100;
/// Bytes that any file may unpack to.
const FEW_BYTES: u64 = 4 << 20;
/// Values of a whole trace, an object counting as several: a thorough run of all timers has some
/// thirty million.
const MOST_VALUES: u64 = 48 << 20;
/// Values that an object takes the room of.
const OBJECT: u64 = 6;
/// Values of a single list; a process is never asked for more.
const LONGEST_LIST: u64 = 1 << 20;

/// Reads on from `inner` until it is too much.
pub(super) struct Gauge<R> {
    inner: R,
    /// Bytes that may still come.
    room: u64,
    values: u64,
    list: u64,
}

impl<R: Read> Gauge<R> {
    /// For what unpacks from a number of bytes.
    pub(super) fn new(inner: R, packed: usize) -> Self {
        let room = most_from(packed);
        Self {
            inner,
            room,
            values: 0,
            list: 0,
        }
    }

    fn look(&mut self, bytes: &[u8]) -> io::Result<()> {
        for byte in bytes {
            match byte {
                b',' => {
                    self.values += 1;
                    self.list += 1;
                }
                b'{' => {
                    self.values += OBJECT;
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
                "it unpacks to more than {MOST_TIMES} times its size, or more than {MOST_BYTES} bytes"
            ))
        })?;
        self.look(&buffer[..read])?;
        Ok(read)
    }
}

fn most_from(packed: usize) -> u64 {
    (packed as u64)
        .saturating_mul(MOST_TIMES)
        .clamp(FEW_BYTES, MOST_BYTES)
}

fn too_much(why: String) -> io::Error {
    io::Error::other(format!("{why}, as no run of this program does"))
}

#[cfg(test)]
mod tests;
