//! What a machine handed back.

use std::fs;
use std::path::{Path, PathBuf};

use timermeter::model::Report;

/// What a machine handed back.
pub struct Found {
    folder: PathBuf,
    /// What `probe` said; none where it was not asked, or said nothing that can be read.
    pub report: Option<Report>,
}

impl Found {
    /// What of a machine is kept in `folder`; `None` where it was never booted.
    pub fn read(folder: &Path, machine: &str) -> Option<Self> {
        let folder = folder.join(machine);
        let report = timermeter::report::read(&folder.join("report.json")).ok();
        folder.is_dir().then_some(Self { folder, report })
    }

    /// A text among what it handed back, or what its kernel said (`kernel.log`).
    pub fn text(&self, name: &str) -> Option<String> {
        Some(String::from_utf8_lossy(&fs::read(self.folder.join(name)).ok()?).into_owned())
    }
}
