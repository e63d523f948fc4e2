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
use estimators::trace::Reference;
use reporting::text::{CleanStrings, json_error};

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
        let packer = GzEncoder::new(Vec::new(), Compression::default());
        let mut packer = BufWriter::with_capacity(CHUNK_BYTES, packer);
        serde_json::to_writer(&mut packer, self)?;
        packer
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?
            .finish()
    }

    /// Reads a recording from the bytes of a file; `name` identifies the file in errors.
    ///
    /// # Errors
    /// When the bytes are not a recording of this version; says what to do about it.
    pub fn unpack(bytes: &[u8], name: &str) -> Result<Self, String> {
        let read = serde_json::from_reader::<_, Self>(unpacking_reader(bytes));
        // The version is checked first, because a recording of another version causes misleading
        // errors.
        let version = match &read {
            Ok(recording) => Some(recording.schema.clone()),
            // Reading the version would fail in the same way.
            Err(error) if error.is_io() => None,
            Err(_) => serde_json::from_reader::<_, AnySchema>(unpacking_reader(bytes))
                .ok()
                .map(|any| any.schema.unwrap_or_else(|| "none".into())),
        };
        if let Some(other) = version.filter(|version| version != SCHEMA) {
            return Err(format!(
                "'{name}' has schema '{other}'; this build reads {SCHEMA} only: use the version of timermeter that wrote it"
            ));
        }
        let recording = read.map_err(|error| match error.is_io() {
            true => format!(
                "'{name}' is not a trace, or a damaged one: {}; write it again with `timermeter probe --trace`",
                io::Error::from(error)
            ),
            false => format!(
                "'{name}' does not hold a trace: {} (line {}, column {} of the unpacked JSON)",
                json_error(&error),
                error.line(),
                error.column()
            ),
        })?;
        match recording.inconsistency() {
            Some(what) => Err(format!("'{name}' is a damaged trace: {what}")),
            None => Ok(recording),
        }
    }

    /// The first value that no run of this program writes and that the analysis does not expect.
    fn inconsistency(&self) -> Option<String> {
        let measured = self.timers.iter().map(|observed| &observed.timer.id);
        let mut ids: Vec<&String> = measured
            .chain(self.unmeasured.iter().map(|row| &row.id))
            .collect();
        ids.sort_unstable();
        if let Some(pair) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
            return Some(format!("two timers have the id '{}'", pair[0]));
        }
        let is_tick = |ns: &f64| ns.is_normal() && *ns > 0.0;
        let mut references = Vec::new();
        for observed in &self.timers {
            let (id, trace) = (&observed.timer.id, observed.trace());
            let stored = trace.and_then(|trace| trace.ns_per_tick);
            let mut ticks = observed.timer.ns_per_tick.into_iter().chain(stored);
            if let Some(ns) = ticks.find(|ns| !is_tick(ns)) {
                return Some(format!("ns_per_tick of '{id}' is {ns}"));
            }
            let all = trace.into_iter();
            let all = all.flat_map(|it| [&it.reference].into_iter().chain(&it.calls_reference));
            references.extend(all.map(|reference| (id, reference)));
        }
        let waits = self.waits.iter();
        references.extend(waits.filter_map(|one| Some((&one.timer.id, &one.trace()?.reference))));
        let periods = self.periods.iter();
        references.extend(periods.filter_map(|one| Some((&one.timer.id, &one.trace()?.reference))));
        references.into_iter().find_map(|(id, reference)| {
            let is_impossible = |value: &f64| !(0.0..=MAX_OF_REFERENCE).contains(value);
            let mut properties = properties(reference).into_iter();
            let (name, value) = properties.find(|(_, value)| is_impossible(value))?;
            Some(format!("{name} of '{id}' is {value}"))
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
