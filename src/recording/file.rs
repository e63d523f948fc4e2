//! A recording as a file: JSON, compressed with Zstandard (RFC 8878). `docs/trace.md` describes it.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{Recording, SCHEMA};
use crate::report::text::clipped;

/// Most bytes that are unpacked; a run of all timers takes some ten million.
const MOST_BYTES: u64 = 1 << 30;
/// Level 9 packs thrice as tight as 3 and still takes less than a second.
const LEVEL: i32 = 9;

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
    /// It is no Zstandard file, was cut off, or was changed.
    #[error(
        "'{name}' is no trace, or a damaged one: {source}; write it anew with `timermeter probe --trace`"
    )]
    Packed {
        /// Where the bytes came from.
        name: String,
        /// What the decoder said.
        source: io::Error,
    },
    /// It unpacks to more than any run of this program writes.
    #[error("'{name}' unpacks to more than {most} bytes; no trace is that large", most = MOST_BYTES)]
    TooLarge {
        /// Where the bytes came from.
        name: String,
    },
    /// What is in it is no recording.
    #[error("'{name}' holds no trace: {message} (line {line}, column {column} of what it unpacks to)")]
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
        let mut packer = zstd::Encoder::new(Vec::new(), LEVEL)?;
        packer.include_checksum(true)?;
        serde_json::to_writer(&mut packer, self)?;
        packer.finish()
    }

    /// Reads the recording in the file `path`.
    ///
    /// # Errors
    /// When the file cannot be read or does not hold a recording of this version.
    pub fn read(path: &Path) -> Result<Self, RecordingError> {
        let mut bytes = Vec::new();
        crate::input::read(path, &mut bytes)
            .map_err(|source| RecordingError::File { path: path.to_owned(), source })?;
        Self::unpack(&bytes, &path.display().to_string())
    }

    /// Reads a recording from the bytes of a file; `name` says in errors where they came from.
    ///
    /// # Errors
    /// When they are no recording of this version.
    pub fn unpack(bytes: &[u8], name: &str) -> Result<Self, RecordingError> {
        let json = unpacked(bytes, name)?;
        let broken = |error: serde_json::Error| RecordingError::Json {
            name: name.to_owned(),
            message: crate::report::json::message(&error),
            line: error.line(),
            column: error.column(),
        };
        let recording = match serde_json::from_slice::<Self>(&json) {
            Ok(recording) if recording.schema == SCHEMA => recording,
            other => {
                // The version first: another one fails to fit in ways that explain nothing.
                let any: AnySchema = serde_json::from_slice(&json).map_err(broken)?;
                let found = any.schema.unwrap_or_else(|| "none".into());
                return Err(match other {
                    Err(error) if found == SCHEMA => broken(error),
                    _ => RecordingError::OtherSchema { name: name.to_owned(), found: clipped(&found, 80) },
                });
            }
        };
        match recording.inconsistency() {
            Some(what) => Err(RecordingError::Inconsistent { name: name.to_owned(), what }),
            None => Ok(recording),
        }
    }

    /// What no run of this program writes, and what the analysis does not expect.
    fn inconsistency(&self) -> Option<String> {
        let asked = self.timers.iter().map(|observed| &observed.id);
        let mut ids: Vec<&String> = asked.chain(self.unasked.iter().map(|row| &row.id)).collect();
        ids.sort_unstable();
        if let Some(pair) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
            return Some(format!("two timers have the id '{}'", clipped(pair[0], 80)));
        }
        self.timers.iter().find_map(|observed| {
            let trace = observed.outcome.as_ref().ok().map(|stored| &stored.trace);
            let ticks = [observed.ns_per_tick, trace.and_then(|trace| trace.ns_per_tick)];
            if let Some(ns) = ticks.into_iter().flatten().find(|ns| !(ns.is_normal() && *ns > 0.0)) {
                return Some(format!("ns_per_tick of '{}' is {ns}", clipped(&observed.id, 80)));
            }
            let reference = &trace?.reference;
            let figures = [
                ("reference.ns_per_tick", reference.ns_per_tick),
                ("reference.step", reference.step),
                ("reference.ns_per_work", reference.ns_per_work),
            ];
            let (figure, value) =
                figures.into_iter().find(|(_, value)| !value.is_finite() || *value < 0.0)?;
            Some(format!("{figure} of '{}' is {value}", clipped(&observed.id, 80)))
        })
    }
}

fn unpacked(bytes: &[u8], name: &str) -> Result<Vec<u8>, RecordingError> {
    let packed = |source| RecordingError::Packed { name: name.to_owned(), source };
    let mut json = Vec::new();
    let unpacker = zstd::Decoder::new(bytes).map_err(packed)?;
    unpacker.take(MOST_BYTES + 1).read_to_end(&mut json).map_err(packed)?;
    if json.len() as u64 > MOST_BYTES {
        return Err(RecordingError::TooLarge { name: name.to_owned() });
    }
    Ok(json)
}

#[cfg(test)]
mod tests;
