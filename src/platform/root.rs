//! Reads the files of the kernel, and parses their text: one field per line, and lists of CPUs such
//! as `0-3,5,7-8`.

use std::fs::File;
use std::io::Read;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// Maximum size in bytes of a file that is expected to be short.
const MAX_SMALL_FILE_BYTES: u64 = 1 << 16;

/// Maximum size of the list of mounts, in bytes: hosts of many containers have many mounts.
const MAX_MOUNTS_BYTES: u64 = 1 << 20;

/// Maximum length in bytes of the name of a governor, a clock source or the like; a longer name is
/// rejected.
const MAX_NAME_BYTES: usize = 200;

/// The folder that contains `proc`, `sys`, `etc` and others: `/`, or a folder of a test. `None` on
/// systems without such files, whose contents are then unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root(Option<PathBuf>);

impl Root {
    /// The root of this machine.
    pub fn system() -> Self {
        Self(timers::os::machine::system_root())
    }

    /// A folder that replaces `/`, for tests and for files copied from another machine.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self(Some(folder.into()))
    }

    /// The path, below this root, of the file that has the absolute path `path` on a machine.
    pub fn file(&self, path: &str) -> Option<PathBuf> {
        Some(self.0.as_ref()?.join(path.trim_start_matches('/')))
    }

    /// Whether the file or folder exists.
    pub fn exists(&self, path: &str) -> bool {
        self.file(path)
            .is_some_and(|path| std::fs::exists(path).unwrap_or(false))
    }

    /// The folder or file of its own file system that is mounted at `place`, as this process sees it
    /// (proc_pid_mountinfo(5)); `None` if nothing is mounted there, or the mounts are unknown.
    pub(super) fn mounted_at(&self, place: &str) -> Option<String> {
        let mounts = self.read_start("/proc/self/mountinfo", MAX_MOUNTS_BYTES)?;
        // The last mount covers the others.
        mounts.lines().rev().find_map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            (*words.get(4)? == place).then(|| words[3].to_owned())
        })
    }

    /// Reads a small file of the kernel, trimmed; `None` if it is empty or unreadable. A longer
    /// file is rejected, because its first part alone might be misread.
    pub(super) fn read_text(&self, path: &str) -> Option<String> {
        self.read_start(path, MAX_SMALL_FILE_BYTES + 1)
            .filter(|text| text.len() as u64 <= MAX_SMALL_FILE_BYTES)
    }

    /// Reads a file that holds a name: one line of text.
    pub fn read_name(&self, path: &str) -> Option<String> {
        let is_unprintable = |c: char| c.is_control() || c == char::REPLACEMENT_CHARACTER;
        self.read_text(path)
            .filter(|name| name.len() <= MAX_NAME_BYTES && !name.chars().any(is_unprintable))
    }

    /// Reads the beginning of a file of the kernel, trimmed; `None` if it is empty or unreadable.
    /// The size is limited because the kernel needs milliseconds to write files that grow with the
    /// number of CPUs.
    pub(super) fn read_start(&self, path: &str, bytes: u64) -> Option<String> {
        let text = String::from_utf8_lossy(&self.read_bytes(path, bytes)?)
            .trim()
            .to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// Reads at most `max_bytes` bytes from the start of a file.
    pub(super) fn read_bytes(&self, path: &str, max_bytes: u64) -> Option<Vec<u8>> {
        /// Bytes that the kernel writes in one read.
        const PAGE_BYTES: usize = 4096;
        let mut content = Vec::with_capacity(PAGE_BYTES);
        // The bytes before a read error are treated as a shorter file.
        let _ = File::open(self.file(path)?)
            .ok()?
            .take(max_bytes)
            .read_to_end(&mut content);
        Some(content)
    }
}

/// The number of CPUs in a list such as `0-3,5`; 0 for an empty list, `None` if the text is not a
/// list.
pub fn cpu_count(list: &str) -> Option<u32> {
    parse_cpus(list).map(|cpus| cpus.len() as u32)
}

/// The numbers of the CPUs in a list such as `0-3,5`, which may be empty; `None` if the text is not
/// a list, or if there are more CPUs than any machine has.
pub fn parse_cpus(list: &str) -> Option<Vec<u32>> {
    /// A bound of the numbers of CPUs, several times the largest `CONFIG_NR_CPUS`.
    const MAX_CPUS: u32 = 1 << 16;
    if list.trim().is_empty() {
        return Some(Vec::new());
    }
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        (first <= last && last < MAX_CPUS).then_some(first..=last)
    };
    let ranges: Option<Vec<RangeInclusive<u32>>> = list.split(',').map(range).collect();
    Some(ranges?.into_iter().flatten().collect())
}

/// Formats CPU numbers, which are in ascending order, as a list such as `0-3,5`.
pub fn format_cpus(cpus: &[u32]) -> String {
    let mut ranges: Vec<RangeInclusive<u32>> = Vec::new();
    for &cpu in cpus {
        match ranges.last_mut() {
            Some(range) if range.end().checked_add(1) == Some(cpu) => *range = *range.start()..=cpu,
            _ => ranges.push(cpu..=cpu),
        }
    }
    let text = |range: RangeInclusive<u32>| match (range.start(), range.end()) {
        (first, last) if first == last => first.to_string(),
        (first, last) => format!("{first}-{last}"),
    };
    ranges.into_iter().map(text).collect::<Vec<_>>().join(",")
}

/// The name in a table of marks and names whose mark `is_found`, the first of several.
pub(super) fn name_by_mark(
    table: &[(&str, &'static str)],
    is_found: impl Fn(&str) -> bool,
) -> Option<&'static str> {
    table
        .iter()
        .find(|(mark, _)| is_found(mark))
        .map(|(_, name)| *name)
}

/// The first value of a field in `/proc/cpuinfo`, `/proc/self/status` and similar files: `name :
/// value` on each line.
pub fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim())
        .filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn unreadable_files_are_none() {
        let root = Root::system();
        for path in ["/nonexistent/file", "/", "\0", "/dev/null"] {
            assert_eq!(root.read_text(path), None, "{path:?}");
        }
        assert!(root.exists("/dev/null") && !root.exists("/nonexistent/file"));
    }

    #[test]
    fn parses_lists_of_cpus() {
        assert_eq!(parse_cpus("0-3,5,7-8\n"), Some(vec![0, 1, 2, 3, 5, 7, 8]));
        assert_eq!(parse_cpus("0"), Some(vec![0]));
        for malformed in [",", "3-1", "a", "0-", "-1", "0-3,", "4294967296"] {
            assert_eq!(parse_cpus(malformed), None, "{malformed:?}");
        }
    }

    proptest! {
        #[test]
        fn formatted_lists_are_parsed(cpus in prop::collection::btree_set(0_u32..5_000, 1..40)) {
            let cpus: Vec<u32> = cpus.into_iter().collect();
            prop_assert_eq!(parse_cpus(&format_cpus(&cpus)), Some(cpus));
        }
    }

    #[test]
    fn finds_fields_of_cpuinfo() {
        let cpuinfo = "processor\t: 0\nmodel name\t: AMD EPYC: 9\nmicrocode\t: 0xa101148\npower management:\n\n\
                       processor\t: 1\nmicrocode\t: 0xffff\n";
        assert_eq!(field(cpuinfo, "microcode"), Some("0xa101148"));
        assert_eq!(field(cpuinfo, "model name"), Some("AMD EPYC: 9"));
        assert_eq!(field(cpuinfo, "power management"), None);
        assert_eq!(field(cpuinfo, "model"), None);
    }
}
