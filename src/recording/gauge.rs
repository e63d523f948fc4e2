//! A limit to what unpacks: a trace of some kilobytes can unpack to any size. It is unpacked as it is read, and looked at on its
//! way: how much it is, and how much memory its values will take.

use std::io::{self, Read};

/// Bytes that are unpacked at most. A thorough run of all timers takes some hundred million.
const MOST_BYTES: u64 = 1 << 30;
/// Nothing that was measured packs tighter than this; a trace of zeros does.
const MOST_TIMES: u64 = 100;
/// So many bytes may come of anything.
const FEW_BYTES: u64 = 4 << 20;
/// Values of a whole trace, an object counting as several: a thorough run of all timers has some thirty million.
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
    /// For what unpacks from so many bytes.
    pub(super) fn new(inner: R, packed: usize) -> Self {
        let room = most_from(packed);
        Self { inner, room, values: 0, list: 0 }
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
            return Err(too_much(format!("it holds a list of more than {LONGEST_LIST} values")));
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
    (packed as u64).saturating_mul(MOST_TIMES).clamp(FEW_BYTES, MOST_BYTES)
}

fn too_much(why: String) -> io::Error {
    io::Error::other(format!("{why}, as no run of this program does"))
}
