//! A folder for a test, on the file system of the program.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder"))
    }

    /// The path of a file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The path of a file in it, as an argument.
    pub fn arg(&self, name: &str) -> String {
        self.file(name)
            .into_os_string()
            .into_string()
            .expect("test folders have plain names")
    }

    /// The names of all that lies in it, hidden files too.
    pub fn names(&self) -> Vec<OsString> {
        let entries = fs::read_dir(self.0.path()).expect("it can be read");
        let mut names: Vec<OsString> = entries
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        names.sort();
        names
    }
}
