//! A temporary folder for a test. It is in the target folder, so it is on the same file system as
//! the program.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap())
    }

    /// The path of a file in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The path of a file in the folder, as an argument.
    pub fn arg(&self, name: &str) -> String {
        self.file(name).into_os_string().into_string().unwrap()
    }

    /// Writes an executable shell script, and returns its path.
    #[cfg(unix)]
    pub fn script(&self, name: &str, body: &str) -> String {
        use std::os::unix::fs::PermissionsExt;
        fs::write(self.file(name), format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(self.file(name), fs::Permissions::from_mode(0o755)).unwrap();
        self.arg(name)
    }

    /// The sorted names of all files in the folder, including hidden ones.
    pub fn names(&self) -> Vec<OsString> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<OsString> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    }
}
