//! A dataset as reports again: which there are, what their timers cost, and those that are chosen, as far as rows hold them.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use indexmap::IndexSet;

use super::cells::Cells;
use super::compact::partitions;
use super::identity::Identity;
use super::partitions::DatasetError;
use super::parts::{PartError, each_batch_of, parts_in, unreadable};
use super::restored::{report_of, row_of};
use crate::fields::Kind;
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
        let mut timers = IndexSet::new();
        for folder in partitions(place)? {
            let platform =
                folder.components().next().map(|part| part.as_os_str().to_string_lossy().into_owned());
            let platform =
                platform.as_deref().and_then(|part| part.strip_prefix("platform=")).unwrap_or_default();
            let whole = place.join(&folder);
            for part in parts_in(&whole).map_err(|error| unreadable(&whole, error))? {
                found.add(part, platform, &mut timers)?;
            }
        }
        Ok(found)
    }

    fn add(&mut self, path: PathBuf, platform: &str, timers: &mut IndexSet<String>) -> Result<(), PartError> {
        let part = self.parts.len();
        each_batch_of(&path, Kind::Clocks, Some(&OF_ALL), |batch| {
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
                    let known = timers.get_index_of(timer);
                    let number = known.unwrap_or_else(|| timers.insert_full(timer.to_owned()).0);
                    self.costs[at].push((number, cost));
                }
            }
            Ok(())
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
            each_batch_of(&self.parts[part], Kind::Clocks, None, |batch| {
                for cells in Cells::of(batch) {
                    let id = cells.text("report_id").and_then(Identity::parse);
                    if let Some(at) = id.and_then(|id| ids.get(&id)) {
                        let report = found.entry(*at).or_insert_with(|| report_of(cells));
                        report.timers.extend(row_of(cells));
                    }
                }
                Ok(())
            })?;
            found.into_iter().for_each(|(at, report)| take(at, report));
        }
        Ok(())
    }
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
