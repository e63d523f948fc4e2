//! A dataset as reports again: which there are, what their timers cost, and those that are chosen, as far as rows hold them.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use parquet::arrow::ProjectionMask;

use super::cells::Cells;
use super::compact::partitions;
use super::identity::Identity;
use super::partitions::DatasetError;
use super::parts::{PartError, kind_of, opened, unreadable};
use super::restored::{report_of, row_of};
use crate::fleet::roll::Called;
use crate::model::Report;

/// What is read of all reports.
const OF_ALL: [&str; 7] = ["report_id", "file", "host", "created", "cpu", "timer", "cost_ns"];

/// The reports of a dataset.
#[derive(Debug, Default)]
pub struct Collected {
    parts: Vec<PathBuf>,
    /// What tells them apart.
    pub called: Vec<Called>,
    /// What the timers of each cost, by their number.
    pub costs: Vec<Vec<(usize, f64)>>,
    /// Where each lies, and its id.
    places: Vec<(usize, Identity)>,
    /// Which is which.
    ids: HashMap<Identity, usize>,
}

impl Collected {
    /// The reports of clocks in the dataset `place`.
    ///
    /// # Errors
    /// When a part cannot be read, or is of something else.
    pub fn read(place: &Path) -> Result<Self, DatasetError> {
        let mut found = Self::default();
        let mut timers: HashMap<String, usize> = HashMap::new();
        for folder in partitions(place)? {
            let platform =
                folder.components().next().map(|part| part.as_os_str().to_string_lossy().into_owned());
            let platform =
                platform.as_deref().and_then(|part| part.strip_prefix("platform=")).unwrap_or_default();
            for part in parts_of(&place.join(&folder))? {
                found.add(part, platform, &mut timers)?;
            }
        }
        Ok(found)
    }

    fn add(
        &mut self,
        path: PathBuf,
        platform: &str,
        timers: &mut HashMap<String, usize>,
    ) -> Result<(), PartError> {
        let part = self.parts.len();
        each_batch(&path, Some(&OF_ALL), |batch| {
            for cells in Cells::of(batch) {
                let Some(id) = cells.text("report_id").and_then(Identity::parse) else { continue };
                let at = *self.ids.entry(id).or_insert_with(|| {
                    self.called.push(called(cells, platform));
                    self.costs.push(Vec::new());
                    self.places.push((part, id));
                    self.called.len() - 1
                });
                // A report that two parts hold counts once.
                if self.places[at].0 != part {
                    continue;
                }
                if let (Some(timer), Some(cost)) = (cells.text("timer"), cells.figure("cost_ns")) {
                    let number = match timers.get(timer) {
                        Some(number) => *number,
                        None => {
                            timers.insert(timer.to_owned(), timers.len());
                            timers.len() - 1
                        }
                    };
                    self.costs[at].push((number, cost));
                }
            }
        })?;
        self.parts.push(path);
        Ok(())
    }

    /// Hands over the reports at these places, as far as rows hold them, part by part.
    ///
    /// # Errors
    /// When a part cannot be read any more.
    pub fn each_report(
        &self,
        wanted: impl Iterator<Item = usize>,
        mut take: impl FnMut(usize, Report),
    ) -> Result<(), DatasetError> {
        let mut by_part: BTreeMap<usize, HashMap<Identity, usize>> = BTreeMap::new();
        for at in wanted {
            let (part, id) = self.places[at];
            by_part.entry(part).or_default().insert(id, at);
        }
        for (part, ids) in by_part {
            let mut found: BTreeMap<usize, Report> = BTreeMap::new();
            each_batch(&self.parts[part], None, |batch| {
                for cells in Cells::of(batch) {
                    let id = cells.text("report_id").and_then(Identity::parse);
                    if let Some(at) = id.and_then(|id| ids.get(&id)) {
                        let report = found.entry(*at).or_insert_with(|| report_of(cells));
                        report.timers.extend(row_of(cells));
                    }
                }
            })?;
            found.into_iter().for_each(|(at, report)| take(at, report));
        }
        Ok(())
    }
}

/// The parts of a partition, sorted.
fn parts_of(folder: &Path) -> Result<Vec<PathBuf>, PartError> {
    let entries = fs::read_dir(folder).map_err(|error| unreadable(folder, error))?;
    let paths = entries.map(|entry| Ok(entry.map_err(|error| unreadable(folder, error))?.path()));
    let mut parts: Vec<PathBuf> = paths.collect::<Result<_, PartError>>()?;
    parts.retain(|path| {
        let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        !hidden && path.extension().is_some_and(|ending| ending == "parquet")
    });
    parts.sort();
    Ok(parts)
}

/// The rows of a part, those columns only where some are named.
fn each_batch(
    path: &Path,
    columns: Option<&[&str]>,
    mut work: impl FnMut(&RecordBatch),
) -> Result<(), PartError> {
    let reader = opened(path)?;
    let kind = kind_of(reader.metadata());
    if kind != Some("clocks") {
        let found = kind.unwrap_or("something that is not of timermeter").to_owned();
        return Err(PartError::OtherKind { path: path.to_owned(), found, wanted: "clocks" });
    }
    let mask = columns.map_or_else(ProjectionMask::all, |columns| {
        ProjectionMask::columns(reader.parquet_schema(), columns.iter().copied())
    });
    for batch in reader.with_projection(mask).build().map_err(|error| unreadable(path, error))? {
        work(&batch.map_err(|error| unreadable(path, error))?);
    }
    Ok(())
}

fn called(cells: Cells, platform: &str) -> Called {
    Called {
        name: cells.text("host").map(str::to_owned),
        file: Path::new(cells.text("file").unwrap_or_default())
            .with_extension("")
            .to_string_lossy()
            .into_owned(),
        created: cells.time("created").unwrap_or_default(),
        cpu: cells.text("cpu").unwrap_or_default().to_owned(),
        platform: platform.to_owned(),
    }
}
