//! Detects events of a runtime that disturb a measurement: garbage collections and compilations.
//! Some agents report them in their answers (`"disturbed":["gc"]`), some runtimes in a log.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// A garbage collection: its window is discarded.
pub const GC: &str = "gc";
/// A compilation of the measured loops: all earlier measurements are discarded too.
pub const COMPILATION: &str = "compilation";
/// The runtime discarded the compiled code of the measured loops: treated like a compilation.
pub const DEOPTIMISATION: &str = "deoptimisation";

/// Whether an event voids all earlier measurements of the process, not only the window of the
/// event.
pub fn voids_all(event: &str) -> bool {
    event == COMPILATION || event == DEOPTIMISATION
}

/// The log of a running process. The runtime writes a line before it continues, so the file
/// contains every event before an answer when the answer arrives.
pub(super) struct RuntimeLog {
    path: PathBuf,
    position: u64,
}

impl RuntimeLog {
    /// The log at `path`, in which `%p` stands for the process id.
    pub(super) fn open(path: &Path, process: u32) -> Self {
        let path = path.to_string_lossy().replace("%p", &process.to_string());
        Self {
            path: path.into(),
            position: 0,
        }
    }

    /// Reads the events that the runtime wrote since the last call; empty if the log cannot be
    /// read.
    pub(super) fn read_events(&mut self) -> Vec<String> {
        let mut bytes = Vec::new();
        let read = File::open(&self.path).and_then(|mut file| {
            file.seek(SeekFrom::Start(self.position))?;
            file.read_to_end(&mut bytes)
        });
        if read.is_err() {
            return Vec::new();
        }
        // An incomplete line is read again by the next call.
        let complete_bytes = bytes
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |end| end + 1);
        self.position += complete_bytes as u64;
        let text = String::from_utf8_lossy(&bytes[..complete_bytes]);
        text.lines()
            .filter_map(hotspot_event)
            .map(str::to_owned)
            .collect()
    }
}

/// The event that HotSpot reports with `-Xlog:gc,jit+compilation=debug`. The measured loops are the
/// methods of the class `Loops`.
fn hotspot_event(line: &str) -> Option<&'static str> {
    if line.contains("[gc") && line.contains("Pause") {
        return Some(GC);
    }
    if !line.contains("[jit,compilation]") || !line.contains(" Loops::") {
        return None;
    }
    Some(
        if line.contains("made not entrant") || line.contains("made zombie") {
            DEOPTIMISATION
        } else {
            COMPILATION
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognises_hotspot_events() {
        for (line, event) in [
            ("[0.003s][info][gc] Using Serial", None),
            (
                "[1.2s][info][gc] GC(0) Pause Young (Allocation Failure) 12M->1M(61M) 1.234ms",
                Some(GC),
            ),
            (
                "[0.1s][debug][jit,compilation]  131    b  4       Loops::intervals (80 bytes)",
                Some(COMPILATION),
            ),
            (
                "[0.1s][debug][jit,compilation]  12   3  Loops::batches (65 bytes)   made not entrant",
                Some(DEOPTIMISATION),
            ),
            (
                "[0.1s][debug][jit,compilation]  124    b  3       java.lang.Object::<init> (1 bytes)",
                None,
            ),
        ] {
            assert_eq!(hotspot_event(line), event, "{line}");
        }
    }

    #[test]
    fn reads_growing_log_by_line() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = RuntimeLog::open(&folder.path().join("%p.log"), 17);
        assert!(log.read_events().is_empty(), "the log does not exist yet");
        let path = folder.path().join("17.log");
        std::fs::write(&path, "[gc] Pause Full\nx [gc] Pau").unwrap();
        assert_eq!(log.read_events(), [GC]);
        std::fs::write(&path, "[gc] Pause Full\nx [gc] Pause Young\n").unwrap();
        assert_eq!(log.read_events(), [GC]);
        assert!(log.read_events().is_empty());
    }
}
