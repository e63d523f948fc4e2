//! Where the files of the kernel are looked for.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use timers::os::Told;

/// The most that is read of a file that ought to be short.
const SHORT: u64 = 1 << 16;

/// The longest name of a governor, a clock source or the like that is believed.
const LONGEST_NAME: usize = 200;

/// The folder that holds `proc`, `sys`, `etc` and the others: `/`, or one that was made up. None on systems that have no
/// such files, where what they would tell is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root(Option<PathBuf>);

impl Root {
    /// That of this machine.
    #[must_use]
    pub fn system() -> Self {
        Self(timers::os::machine::files())
    }

    /// A folder that stands for it.
    #[must_use]
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self(Some(folder.into()))
    }

    /// What this system tells of the machine by its calls, where no folder stands for another one.
    #[must_use]
    pub fn told(&self, cpu: Option<u32>) -> Told {
        if *self == Self::system() { timers::os::machine::told(cpu) } else { Told::default() }
    }

    /// The place of the file that is `path` on a machine.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<PathBuf> {
        Some(self.0.as_ref()?.join(Path::new(path.trim_start_matches('/'))))
    }

    /// Whether there is such a file or folder.
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        self.file(path).is_some_and(|path| std::fs::exists(path).unwrap_or(false))
    }

    /// A small file of the kernel, trimmed; `None` when there is nothing to be read. One that is not small is not that
    /// file, and half of it might say something else.
    pub(super) fn content(&self, path: &str) -> Option<String> {
        self.beginning(path, SHORT + 1).filter(|text| text.len() as u64 <= SHORT)
    }

    /// A file that holds a name: one line of text.
    #[must_use]
    pub fn name(&self, path: &str) -> Option<String> {
        self.content(path).filter(|name| name.len() <= LONGEST_NAME && !name.chars().any(is_odd))
    }

    /// The beginning of a file of the kernel, trimmed; `None` when there is nothing to be read. Only the beginning,
    /// because some of them grow with the number of CPUs and take the kernel milliseconds to write.
    pub(super) fn beginning(&self, path: &str, bytes: u64) -> Option<String> {
        let text = String::from_utf8_lossy(&self.bytes(path, bytes)?).trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// A file of one line that may be empty, as that of the isolated CPUs where there are none. `None` without a line.
    pub(super) fn line(&self, path: &str) -> Option<String> {
        let text = String::from_utf8_lossy(&self.bytes(path, SHORT + 1)?).into_owned();
        if text.len() as u64 > SHORT {
            return None;
        }
        text.split_once('\n').map(|(line, _)| line.trim().to_owned())
    }

    /// The first bytes of a file.
    pub(super) fn bytes(&self, path: &str, most: u64) -> Option<Vec<u8>> {
        /// The kernel writes so much at once.
        const PAGE: usize = 4096;
        let mut content = Vec::with_capacity(PAGE);
        // What was read before an error is as good as a shorter file.
        let _ = File::open(self.file(path)?).ok()?.take(most).read_to_end(&mut content);
        Some(content)
    }
}

fn is_odd(c: char) -> bool {
    c.is_control() || c == char::REPLACEMENT_CHARACTER
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_none() {
        let root = Root::system();
        for path in ["/nonexistent/file", "/", "\0", "/dev/null"] {
            assert_eq!(root.content(path), None, "{path:?}");
            assert_eq!(root.line(path), None, "{path:?}");
        }
        assert!(root.has("/dev/null") && !root.has("/nonexistent/file"));
    }

    #[test]
    fn only_the_beginning_is_read() {
        if let Some(status) = Root::system().beginning("/proc/self/status", 5) {
            assert_eq!(status, "Name:");
        }
    }

    #[test]
    fn an_empty_line_is_not_an_empty_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Root::at(folder.path());
        for (text, line) in [("\n", Some("")), ("2-3\n", Some("2-3")), ("", None), ("2-", None)] {
            std::fs::write(root.file("/list").expect("a root"), text).expect("it can be written");
            assert_eq!(root.line("/list").as_deref(), line, "{text:?}");
        }
    }
}
