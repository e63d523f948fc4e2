//! How a recording is packed: with gzip (RFC 1952).

use std::io::{self, Read};

use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;

/// It begins so.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// So began what was packed before the first release, with Zstandard (RFC 8878).
const ZSTANDARD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

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
/// When they are packed in another way.
pub(super) fn unpacker(bytes: &[u8]) -> io::Result<impl Read + '_> {
    if bytes.starts_with(&ZSTANDARD) {
        return Err(io::Error::other(
            "it is packed with Zstandard, as before the first release; `zstd -dc FILE | gzip > NEW` packs it with gzip",
        ));
    }
    Ok(MultiGzDecoder::new(bytes))
}
