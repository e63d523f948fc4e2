//! How a recording is packed: with gzip (RFC 1952). What older versions packed with Zstandard (RFC 8878) is still read.

use std::io::{self, Read};

use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use crate::recording::gauge;

/// Both begin with these.
const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTANDARD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// What a frame of Zstandard may look back for, in bytes: older versions wrote less.
const LONGEST_WINDOW: u64 = 1 << 24;

/// Whether a file that begins so is packed.
pub(crate) fn is_packed(first: &[u8]) -> bool {
    first.starts_with(&GZIP) || first.starts_with(&ZSTANDARD)
}

/// What packs.
pub(super) fn packer() -> GzEncoder<Vec<u8>> {
    GzEncoder::new(Vec::new(), Compression::default())
}

/// What unpacks, as it is read.
///
/// # Errors
/// When the bytes do not begin as a packed recording does, or say that they unpack to too much.
pub(super) fn unpacker(bytes: &[u8]) -> io::Result<Box<dyn Read + '_>> {
    if bytes.starts_with(&ZSTANDARD) {
        return Ok(Box::new(Frame::open(bytes)?));
    }
    Ok(Box::new(MultiGzDecoder::new(bytes)))
}

/// A frame of Zstandard. What the decoder leaves to others is looked at here: the check, the length, and that nothing follows.
struct Frame<'a> {
    decoder: StreamingDecoder<&'a [u8], FrameDecoder>,
    length: u64,
}

impl<'a> Frame<'a> {
    fn open(bytes: &'a [u8]) -> io::Result<Self> {
        let decoder =
            StreamingDecoder::new_with_max_window_size(bytes, LONGEST_WINDOW).map_err(io::Error::other)?;
        gauge::refuse_declared(decoder.decoder.content_size(), bytes.len())?;
        Ok(Self { decoder, length: 0 })
    }

    fn uncertainty(&self) -> Option<&'static str> {
        let frame = &self.decoder.decoder;
        let check = frame.get_checksum_from_data();
        // A length of 0 is one that the frame does not declare.
        let declared = frame.content_size();
        if check.is_some() && check != frame.get_calculated_checksum() {
            Some("its checksum does not fit")
        } else if declared != 0 && declared != self.length {
            Some("its length is not what it says at its head")
        } else if !self.decoder.get_ref().is_empty() {
            Some("something follows its end")
        } else {
            None
        }
    }
}

impl Read for Frame<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.decoder.read(buffer)?;
        self.length += read as u64;
        if read == 0
            && !buffer.is_empty()
            && let Some(why) = self.uncertainty()
        {
            return Err(io::Error::other(why));
        }
        Ok(read)
    }
}
