//! Reads the kept results of a machine.

use std::fs;
use std::path::{Path, PathBuf};

use timermeter::model::Report;

/// The results of a machine.
pub struct Found {
    folder: PathBuf,
    /// The report of `probe`; `None` if it was not run or its report cannot be read.
    pub report: Option<Report>,
}

impl Found {
    /// Reads the results of a machine below `folder`; `None` if there are none.
    pub fn read(folder: &Path, machine: &str) -> Option<Self> {
        let folder = folder.join(machine);
        let report = timermeter::report::read(&folder.join("report.json")).ok();
        folder.is_dir().then_some(Self { folder, report })
    }

    /// Returns a text file of the results, such as `kernel.log`; `None` if it does not exist.
    pub fn text(&self, name: &str) -> Option<String> {
        Some(String::from_utf8_lossy(&fs::read(self.folder.join(name)).ok()?).into_owned())
    }
}
