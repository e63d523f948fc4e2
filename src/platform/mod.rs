//! Who this machine is, and how fast its cores run.
//!
//! Everything here is asked of the processor and of files of the kernel; each file holds its pure parsers beside
//! the reading. What a machine does not tell is `None`: none of this is needed to measure.

pub mod cpu;
#[cfg(any(test, target_arch = "aarch64"))]
mod cpu_arm;
pub mod frequency;
pub mod quietest;
pub mod system;

use std::fs::File;
use std::io::Read;

use crate::report::Platform;

pub use quietest::quietest_cpu;

/// Identifies this machine. `cpu` is the one that measures; its governor is reported, without it that of the first
/// CPU this process may run on.
#[must_use]
pub fn identify(cpu: Option<u32>) -> Platform {
    Platform {
        cpu: cpu::identify(cpu),
        os: system::os(),
        kernel: system::kernel(),
        hypervisor: system::hypervisor(),
        clocksource: system::clocksource(),
    }
}

/// The beginning of a file of the kernel, trimmed; `None` when there is nothing to be read. Only the beginning,
/// because some of them grow with the number of CPUs and take the kernel milliseconds to write.
fn beginning(path: &str, bytes: u64) -> Option<String> {
    let mut content = Vec::new();
    // What was read before an error is as good as a shorter file.
    let _ = File::open(path).ok()?.take(bytes).read_to_end(&mut content);
    let text = String::from_utf8_lossy(&content).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// A small file of the kernel, trimmed; `None` when there is nothing to be read.
fn content(path: &str) -> Option<String> {
    beginning(path, 1 << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifies_any_machine() {
        for cpu in [None, Some(0), Some(u32::MAX)] {
            let platform = identify(cpu);
            assert_eq!(platform.cpu.architecture, std::env::consts::ARCH);
            assert_eq!(platform.os.family, std::env::consts::OS);
        }
        assert_eq!(identify(Some(u32::MAX)).cpu.governor, None, "there is no such CPU");
    }

    #[test]
    fn what_cannot_be_read_is_none() {
        assert_eq!(content("/nonexistent/file"), None);
        assert_eq!(content("/"), None);
        assert_eq!(content("\0"), None);
        assert_eq!(content("/dev/null"), None);
    }

    #[test]
    fn only_the_beginning_is_read() {
        if let Some(status) = beginning("/proc/self/status", 5) {
            assert_eq!(status, "Name:");
        }
    }
}
