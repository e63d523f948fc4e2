//! A dataset: `platform=…/date=…/part-….parquet`, as Hive lays it out. What is added is made aside and put in place when all of it is
//! there. A report that the dataset holds is not added again, so that collecting once more changes nothing; a file is called by the
//! reports that it holds.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use timers::os::files;

use super::file::{FileError, FileFormat, TableFile};
use super::identity::Identity;
use super::parts::{PartError, reports_in};
use super::sheet::{Choice, Sheet};
use crate::fields::UNSET_UNTIL;
use crate::report::OutputError;
use crate::scratch::{Remains, ScratchFolder};

/// As Hive calls the folder of what has no date.
const UNDATED: &str = "__HIVE_DEFAULT_PARTITION__";

/// Rows that are held before they are written, some hundred megabytes: the more, the fewer files where platforms are many.
const HELD: usize = 24_000;

/// Why a dataset cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    /// A file or folder cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The columns cannot be made.
    #[error(transparent)]
    File(#[from] FileError),
    /// What lies there cannot be added to.
    #[error(transparent)]
    Part(#[from] PartError),
    /// It is a folder with something else in it.
    #[error("'{}' is no dataset: there is '{name}' in it; choose a folder that is not there yet", .path.display())]
    Foreign {
        /// The folder.
        path: PathBuf,
        /// What does not belong there.
        name: String,
    },
    /// A link in it leads elsewhere.
    #[error("'{}' is a link, which may lead out of the dataset; put what it leads to in its place", .path.display())]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// It is no folder.
    #[error("'{}' is there, and is no folder, as a dataset is; choose another name", .path.display())]
    NoFolder {
        /// What is there.
        path: PathBuf,
    },
    /// It is not there.
    #[error("there is no dataset '{}'; collect reports into it first", .path.display())]
    Missing {
        /// What was named.
        path: PathBuf,
    },
    /// Something lies among its parts that is none.
    #[error("'{}' is no part of a dataset; put it elsewhere: what lies beside parts that become one would be lost", .path.display())]
    Stray {
        /// It.
        path: PathBuf,
    },
    /// Another process adds to it.
    #[error("another `timermeter collect` writes to '{}'; try again when it is done", .path.display())]
    Busy {
        /// The folder.
        path: PathBuf,
    },
}

/// What was added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// Reports.
    pub reports: usize,
    /// Their rows.
    pub rows: usize,
    /// Files.
    pub files: usize,
    /// Reports that were there already, or came twice.
    pub known: usize,
    /// Reports without a row of the kind.
    pub empty: usize,
    /// Reports that say no time.
    pub undated: usize,
    /// Reports of 1970, when clocks begin that were never set.
    pub unset: usize,
    /// Names that several machines have.
    pub shared_names: BTreeSet<Arc<str>>,
}

/// A dataset that is added to. Dropped before it is [put in place](Self::put_in_place) nothing was added.
pub struct Dataset<'a> {
    place: PathBuf,
    choice: &'a Choice,
    made: ScratchFolder,
    /// Held while it is added to; none where there is no dataset yet.
    lock: Option<File>,
    /// Which reports each folder holds.
    known: HashMap<PathBuf, HashSet<Identity>>,
    /// The platform of each name, and what of that name measured when.
    hosts: HashMap<Arc<str>, Arc<str>>,
    times: HashSet<(Arc<str>, i64)>,
    /// Reports that are not written yet.
    held: Vec<Sheet>,
    held_rows: usize,
    open: Option<Part>,
    /// Files that are made, and where they will be.
    ready: Vec<(PathBuf, PathBuf)>,
    added: Added,
}

/// A file that is being made.
struct Part {
    folder: PathBuf,
    table: TableFile,
    file: File,
    path: PathBuf,
    reports: Vec<Identity>,
}

impl<'a> Dataset<'a> {
    /// Makes sure that `place` can be added to, or made.
    ///
    /// # Errors
    /// When it cannot.
    pub fn prepare(place: &Path, choice: &'a Choice) -> Result<Self, DatasetError> {
        let explained = |source| OutputError::explained(place, place, source);
        let lock = match fs::symlink_metadata(place) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(explained(error).into()),
            Ok(_) => Some(held(place)?),
        };
        // Beside where it will be, so that it is moved there at once.
        let beside = match place.parent() {
            _ if lock.is_some() => place,
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let made = ScratchFolder::within(beside, 0o777).map_err(explained)?;
        Ok(Self {
            place: place.to_owned(),
            choice,
            made,
            lock,
            known: HashMap::new(),
            hosts: HashMap::new(),
            times: HashSet::new(),
            held: Vec::new(),
            held_rows: 0,
            open: None,
            ready: Vec::new(),
            added: Added::default(),
        })
    }

    /// Adds reports.
    ///
    /// # Errors
    /// When the disk is full, or what is there cannot be read.
    pub fn add(&mut self, sheets: Vec<Sheet>) -> Result<(), DatasetError> {
        for sheet in sheets {
            if self.is_new(&sheet)? {
                self.held_rows += sheet.rows();
                self.held.push(sheet);
            }
        }
        if self.held_rows < HELD { Ok(()) } else { self.write_held() }
    }

    fn write_held(&mut self) -> Result<(), DatasetError> {
        self.held_rows = 0;
        let held = std::mem::take(&mut self.held);
        let mut folders: Vec<(PathBuf, Sheet)> =
            held.into_iter().map(|sheet| (folder_of(&sheet), sheet)).collect();
        // The one that is open goes on.
        let open = self.open.as_ref().map(|part| part.folder.clone());
        folders.sort_by(|(a, _), (b, _)| (open.as_ref() != Some(a), a).cmp(&(open.as_ref() != Some(b), b)));
        for group in folders.chunk_by(|(a, _), (b, _)| a == b) {
            let sheets: Vec<&Sheet> = group.iter().map(|(_, sheet)| sheet).collect();
            self.write(&group[0].0, &sheets)?;
        }
        Ok(())
    }

    /// Puts all of it in place, and returns what was added.
    ///
    /// # Errors
    /// When the disk is full, or the folder changed since.
    pub fn put_in_place(mut self) -> Result<Added, DatasetError> {
        self.write_held()?;
        self.close()?;
        let explained = |source| OutputError::explained(&self.place, &self.place, source);
        self.added.files = self.ready.len();
        if self.ready.is_empty() {
            return Ok(self.added);
        }
        let (ready, place, exists) = (&self.ready, &self.place, self.lock.is_some());
        let moved = self.made.become_what_it_shall(|made| {
            let whole = made.join("dataset");
            let base = if exists { place } else { &whole };
            for (from, to) in ready {
                let to = base.join(to);
                fs::create_dir_all(to.parent().unwrap_or(base))?;
                fs::rename(from, to)?;
            }
            if !exists {
                // A rename never replaces a folder with something in it: the process that was faster keeps its own.
                fs::rename(&whole, place)?;
            }
            Ok(((), Remains::Rubbish))
        });
        moved.map_err(explained)?;
        Ok(self.added)
    }

    /// Whether the dataset does not hold it yet; and counts what is to be told of it.
    fn is_new(&mut self, sheet: &Sheet) -> Result<bool, DatasetError> {
        if sheet.rows() == 0 {
            self.added.empty += 1;
            return Ok(false);
        }
        let folder = folder_of(sheet);
        if !self.known.contains_key(&folder) {
            without_links(&self.place, &folder)?;
            let there = reports_in(&self.place.join(&folder), self.choice.kind)?;
            self.known.insert(folder.clone(), there);
        }
        let new = self.known.get_mut(&folder).is_some_and(|known| known.insert(sheet.origin.id));
        if !new {
            self.added.known += 1;
            return Ok(false);
        }
        self.added.reports += 1;
        self.added.rows += sheet.rows();
        self.notice(sheet);
        Ok(true)
    }

    fn notice(&mut self, sheet: &Sheet) {
        let origin = &sheet.origin;
        self.added.undated += usize::from(origin.created.is_none());
        self.added.unset += usize::from(origin.created.is_some_and(|created| created < UNSET_UNTIL));
        let Some(host) = &origin.host else { return };
        let platform = self.hosts.entry(host.clone()).or_insert_with(|| origin.platform.clone());
        let other = *platform != origin.platform;
        let at_once = origin.created.is_some_and(|created| !self.times.insert((host.clone(), created)));
        if other || at_once {
            self.added.shared_names.insert(host.clone());
        }
    }

    fn write(&mut self, folder: &Path, sheets: &[&Sheet]) -> Result<(), DatasetError> {
        if self.open.as_ref().is_none_or(|part| part.folder != folder) {
            self.close()?;
            let path = self.made.path().join(self.ready.len().to_string());
            let file = File::create_new(&path).map_err(|source| self.explained(source))?;
            let table = TableFile::new(FileFormat::Parquet, self.choice, true)?;
            self.open = Some(Part { folder: folder.to_owned(), table, file, path, reports: Vec::new() });
        }
        let Some(part) = &mut self.open else { return Ok(()) };
        part.reports.extend(sheets.iter().map(|sheet| sheet.origin.id));
        part.table.push(sheets)?;
        let written = part.file.write_all(&part.table.written());
        written.map_err(|source| self.explained(source))
    }

    /// Ends the file that is open.
    fn close(&mut self) -> Result<(), DatasetError> {
        let Some(Part { folder, table, mut file, path, reports }) = self.open.take() else { return Ok(()) };
        let rest = table.finish()?;
        let written = file.write_all(&rest).and_then(|()| file.sync_all());
        written.map_err(|source| self.explained(source))?;
        let name = format!("part-{}.parquet", Identity::of_all(reports));
        self.ready.push((path, folder.join(name)));
        Ok(())
    }

    fn explained(&self, source: io::Error) -> DatasetError {
        OutputError::explained(&self.place, &self.place, source).into()
    }
}

/// The folder of a report in a dataset.
fn folder_of(sheet: &Sheet) -> PathBuf {
    let date = sheet.origin.date.as_deref().unwrap_or(UNDATED);
    Path::new(&format!("platform={}", sheet.origin.platform)).join(format!("date={date}"))
}

/// Whether nothing on the way from the dataset to one of its folders leads elsewhere.
pub(super) fn without_links(place: &Path, folder: &Path) -> Result<(), DatasetError> {
    let mut path = place.to_owned();
    for part in folder {
        path.push(part);
        if fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) {
            return Err(DatasetError::Link { path });
        }
    }
    Ok(())
}

/// The lock of a dataset, which has to be one, or an empty folder.
pub(super) fn held(place: &Path) -> Result<File, DatasetError> {
    let explained = |source| OutputError::explained(place, place, source);
    if !place.is_dir() {
        return Err(DatasetError::NoFolder { path: place.to_owned() });
    }
    for entry in fs::read_dir(place).map_err(explained)? {
        let name = entry.map_err(explained)?.file_name().to_string_lossy().into_owned();
        // Readers of datasets pass over names that begin like these.
        if !name.starts_with("platform=") && !name.starts_with(['.', '_']) {
            return Err(DatasetError::Foreign { path: place.to_owned(), name });
        }
    }
    let file = files::open_itself(place).map_err(explained)?;
    match files::lock(&file) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            Err(DatasetError::Busy { path: place.to_owned() })
        }
        // A file system without locks has none that another process holds.
        _ => Ok(file),
    }
}
