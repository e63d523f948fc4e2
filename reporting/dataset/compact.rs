//! One part of many: a dataset that grows every minute gets a part a minute. The parts of a partition become one, with the same rows in
//! the same order, and all parts of the dataset get the same columns: those of this version, then those that only other versions know.
//!
//! The new parts are made beside the dataset, each in a folder that then changes places with that of the partition, at once: a reader finds
//! the parts before or the one after. Where the file system cannot do that the part is moved in before the others are removed; a reader in
//! between sees rows twice, and so it stays if the machine stops there, until the next time: a report that two parts hold counts once.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use arrow_array::{RecordBatch, new_null_array};
use arrow_schema::{Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use timers::os::files;

use super::column::columns;
use super::file::{FileError, kind_name, parquet, typed};
use super::identity::Identity;
use super::partitions::{DatasetError, held, without_links};
use super::parts::{PartError, ids_of, kind_of, of_kind, opened, unreadable};
use crate::fields::Kind;
use crate::report::OutputError;
use crate::scratch::{Remains, ScratchFolder};

/// Rows that are held at once.
const AT_ONCE: usize = 8192;
/// How long the old parts stay after they are no longer in the dataset: a reader that had opened a folder has listed it by then.
const GRACE: Duration = Duration::from_millis(200);

/// What became of the parts of a dataset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compacted {
    /// Partitions whose parts became one.
    pub partitions: usize,
    /// The parts that they had.
    pub parts: usize,
    /// The rows of those.
    pub rows: usize,
    /// Rows that two parts held, as after a machine that stopped; they are there once now.
    pub twice: usize,
    /// Whether a reader saw the parts before or the one after at any moment.
    pub at_once: bool,
}

/// The parts of a partition.
struct Partition {
    /// Below the dataset.
    folder: PathBuf,
    /// In the order in which they are read.
    parts: Vec<PathBuf>,
    /// The columns of the only one.
    alone: Option<SchemaRef>,
}

/// All columns of a dataset.
struct Union {
    kind: Kind,
    fields: Vec<Field>,
}

/// Has each partition of the dataset `place` have one part, and all parts the same columns.
///
/// # Errors
/// When it is no dataset, a part cannot be read, or the disk is full: the partition is then as it was.
pub fn compact(place: &Path) -> Result<Compacted, DatasetError> {
    if fs::symlink_metadata(place).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        return Err(DatasetError::Missing { path: place.to_owned() });
    }
    let _lock = held(place)?;
    let mut union = None;
    let partitions = partitions(place)?.into_iter().map(|folder| Partition::of(place, folder, &mut union));
    let partitions = partitions.collect::<Result<Vec<_>, _>>()?;
    let explained = |source| DatasetError::from(OutputError::explained(place, place, source));
    let (beside, at_once) = beside(place).map_err(explained)?;
    let mut done = Compacted { at_once, ..Compacted::default() };
    let Some(union) = union else { return Ok(done) };
    let schema = Arc::new(Schema::new(union.fields.clone()));
    let made = ScratchFolder::within(&beside, 0o777).map_err(explained)?;
    let mut ready = Vec::new();
    for partition in partitions.into_iter().filter(|partition| !partition.is_done(&schema)) {
        let path = made.path().join(ready.len().to_string());
        let merged = Merged::of(&partition, &union, &schema, &path, place)?;
        done.partitions += 1;
        done.parts += partition.parts.len();
        done.rows += merged.rows;
        done.twice += merged.twice;
        let name = format!("part-{}.parquet", Identity::of_all(merged.reports.into_iter().collect()));
        ready.push(Ready { partition, made: path, name });
    }
    if !ready.is_empty() {
        put_in_place(made, place, &ready, at_once).map_err(explained)?;
    }
    Ok(done)
}

/// The folders of the partitions, below the dataset, sorted.
pub(super) fn partitions(place: &Path) -> Result<Vec<PathBuf>, DatasetError> {
    let mut found = Vec::new();
    for platform in listed(place)?.into_iter().filter(|name| name.to_string_lossy().starts_with("platform="))
    {
        let dates = listed(&place.join(&platform))?;
        for date in dates.into_iter().filter(|name| name.to_string_lossy().starts_with("date=")) {
            let folder = platform.join(date);
            without_links(place, &folder)?;
            found.push(folder);
        }
    }
    Ok(found)
}

/// The names in a folder, sorted.
fn listed(folder: &Path) -> Result<Vec<PathBuf>, DatasetError> {
    let explained = |source| OutputError::explained(folder, folder, source);
    let names = fs::read_dir(folder).map_err(explained)?.map(|entry| Ok(entry?.file_name().into()));
    let mut names: Vec<PathBuf> = names.collect::<io::Result<_>>().map_err(explained)?;
    names.sort();
    Ok(names)
}

/// Where parts are made, and whether what is made there can change places with what is in the dataset: beside it, where readers of the dataset
/// do not look, if that is the same file system and may be written to.
fn beside(place: &Path) -> io::Result<(PathBuf, bool)> {
    let whole = fs::canonicalize(place)?;
    let inside = ScratchFolder::within(place, 0o777)?;
    let Some(parent) = whole.parent() else { return Ok((place.to_owned(), false)) };
    let exchanged = ScratchFolder::within(parent, 0o777).and_then(|outside| {
        let both = [outside.path().join("one"), inside.path().join("other")];
        both.iter().try_for_each(fs::create_dir)?;
        files::exchange(&both[0], &both[1])
    });
    let at_once = exchanged.unwrap_or(false);
    Ok((if at_once { parent.to_owned() } else { place.to_owned() }, at_once))
}

impl Partition {
    /// Lists its parts, and adds their columns to those of the dataset.
    fn of(place: &Path, folder: PathBuf, union: &mut Option<Union>) -> Result<Self, DatasetError> {
        let whole = place.join(&folder);
        let mut parts = Vec::new();
        let mut alone = None;
        for name in listed(&whole)? {
            let path = whole.join(&name);
            let named = name.to_string_lossy();
            let is_file = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
            if !is_file || named.starts_with('.') || !named.ends_with(".parquet") {
                return Err(DatasetError::Stray { path });
            }
            let part = opened(&path)?;
            let union = match union {
                Some(union) => union,
                None => union.insert(Union::of(&path, kind_of(part.metadata()))?),
            };
            union.add(&path, kind_of(part.metadata()), part.schema())?;
            alone = Some(part.schema().clone());
            parts.push(path);
        }
        Ok(Self { folder, alone: alone.filter(|_| parts.len() == 1), parts })
    }

    /// Whether it has one part, with all columns.
    fn is_done(&self, schema: &Schema) -> bool {
        let names = |schema: &Schema| -> Vec<String> {
            schema.fields().iter().map(|field| field.name().clone()).collect()
        };
        self.parts.is_empty() || self.alone.as_ref().is_some_and(|own| names(own) == names(schema))
    }
}

impl Union {
    /// The columns that this version has of such rows.
    fn of(path: &Path, told: Option<&str>) -> Result<Self, PartError> {
        let kinds = [Kind::Clocks, Kind::Waits, Kind::Periods];
        let kind = kinds.into_iter().find(|kind| told == Some(kind_name(*kind)));
        let kind = kind.ok_or_else(|| unreadable(path, "it does not say what its rows are of"))?;
        let columns = columns(kind);
        let fields = columns.iter().filter(|column| !column.in_path).map(|column| typed(column));
        Ok(Self { kind, fields: fields.collect() })
    }

    /// Adds what columns a part has that are not known yet.
    fn add(&mut self, path: &Path, told: Option<&str>, schema: &Schema) -> Result<(), PartError> {
        of_kind(path, told, self.kind)?;
        for field in schema.fields() {
            match self.fields.iter().find(|known| known.name() == field.name()) {
                Some(known) if known.data_type() != field.data_type() => {
                    return Err(PartError::OtherType {
                        path: path.to_owned(),
                        column: field.name().clone(),
                        found: field.data_type().to_string(),
                        wanted: known.data_type().to_string(),
                    });
                }
                Some(_) => {}
                None => self.fields.push(Field::new(field.name(), field.data_type().clone(), true)),
            }
        }
        Ok(())
    }
}

/// A part that was made of others.
#[derive(Default)]
struct Merged {
    reports: HashSet<Identity>,
    rows: usize,
    twice: usize,
}

impl Merged {
    /// Writes the rows of all parts to `path`.
    fn of(
        partition: &Partition,
        union: &Union,
        schema: &SchemaRef,
        path: &Path,
        place: &Path,
    ) -> Result<Self, DatasetError> {
        let explained = |source| DatasetError::from(OutputError::explained(place, place, source));
        let mut file = File::create_new(path).map_err(explained)?;
        let mut writer = parquet(schema.clone(), kind_name(union.kind))?;
        let mut merged = Self::default();
        for part in &partition.parts {
            let batches = opened(part)?.with_batch_size(AT_ONCE).build();
            let batches = batches.map_err(|error| unreadable(part, error))?;
            let mut here = HashSet::new();
            for batch in batches {
                let batch = batch.map_err(|error| unreadable(part, error))?;
                merged.push(part, &widened(&batch, schema)?, &mut here, &mut writer)?;
                file.write_all(writer.inner()).map_err(explained)?;
                writer.inner_mut().clear();
            }
            merged.reports.extend(here);
        }
        let rest = writer.into_inner().map_err(FileError::from)?;
        file.write_all(&rest).and_then(|()| file.sync_all()).map_err(explained)?;
        Ok(merged)
    }

    /// Adds rows of a part, but those of reports that a part before it holds.
    fn push(
        &mut self,
        part: &Path,
        batch: &RecordBatch,
        here: &mut HashSet<Identity>,
        writer: &mut ArrowWriter<Vec<u8>>,
    ) -> Result<(), DatasetError> {
        let ids: Vec<Option<Identity>> = ids_of(part, batch)?.collect();
        here.extend(ids.iter().flatten().filter(|id| !self.reports.contains(*id)));
        let is_new = |id: &Option<Identity>| id.is_none_or(|id| !self.reports.contains(&id));
        let mut at = 0;
        for run in ids.chunk_by(|one, other| is_new(one) == is_new(other)) {
            if is_new(&run[0]) {
                writer.write(&batch.slice(at, run.len())).map_err(FileError::from)?;
                self.rows += run.len();
            } else {
                self.twice += run.len();
            }
            at += run.len();
        }
        Ok(())
    }
}

/// The same rows with all columns; what they lack is null.
fn widened(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, FileError> {
    let column = |field: &Arc<Field>| {
        let own = batch.column_by_name(field.name()).cloned();
        own.unwrap_or_else(|| new_null_array(field.data_type(), batch.num_rows()))
    };
    Ok(RecordBatch::try_new(schema.clone(), schema.fields().iter().map(column).collect())?)
}

/// A part that is made, and those that it was made of.
struct Ready {
    partition: Partition,
    made: PathBuf,
    name: String,
}

/// Has the parts that were made take the place of those that they were made of.
fn put_in_place(made: ScratchFolder, place: &Path, ready: &[Ready], at_once: bool) -> io::Result<()> {
    made.become_what_it_shall(|_| {
        for one in ready {
            let there = place.join(&one.partition.folder);
            if at_once { one.exchange(&there)? } else { one.in_steps(&there)? }
        }
        if at_once {
            thread::sleep(GRACE);
        }
        Ok(((), Remains::Rubbish))
    })
}

impl Ready {
    /// Both folders change places.
    fn exchange(&self, there: &Path) -> io::Result<()> {
        let new = self.made.with_extension("new");
        fs::create_dir(&new)?;
        fs::set_permissions(&new, fs::metadata(there)?.permissions())?;
        fs::rename(&self.made, new.join(&self.name))?;
        match files::exchange(&new, there)? {
            true => Ok(()),
            false => Err(io::Error::other("this file system no longer exchanges folders")),
        }
    }

    /// The new part first, then no longer those that it was made of, of which one may have its name.
    fn in_steps(&self, there: &Path) -> io::Result<()> {
        let new = there.join(&self.name);
        fs::rename(&self.made, &new)?;
        self.partition.parts.iter().filter(|part| **part != new).try_for_each(fs::remove_file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_an_exchange_the_new_part_comes_before_the_old_ones_go() {
        let base = tempfile::tempdir().unwrap();
        let there = base.path().join("there");
        fs::create_dir(&there).unwrap();
        let parts: Vec<PathBuf> = ["a", "b", "c"].map(|name| there.join(name)).into();
        parts.iter().for_each(|part| fs::write(part, "old").unwrap());
        let made = base.path().join("made");
        fs::write(&made, "new").unwrap();
        let partition = Partition { folder: PathBuf::new(), parts, alone: None };
        Ready { partition, made, name: "b".into() }.in_steps(&there).unwrap();
        assert_eq!(fs::read_to_string(there.join("b")).unwrap(), "new");
        assert_eq!(fs::read_dir(&there).unwrap().count(), 1);
    }
}
