//! `collect --compact`: one part of many, whole or not at all, with all columns that any part has.

#[cfg(target_os = "linux")]
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
#[cfg(target_os = "linux")]
use std::process::Command;
use std::process::Output;
use std::sync::Arc;
#[cfg(target_os = "linux")]
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Float64Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use super::{duckdb, files, folder, kept, printed, timermeter, told};

/// Reports of these minutes of one node, collected one after the other: a part each.
fn grown(folder: &Path, minutes: &[&str]) -> PathBuf {
    for minute in minutes {
        let created = format!("\"created\": \"2026-11-{minute}:00Z\"");
        let text: Vec<String> = kept()
            .lines()
            .map(|line| match line.trim_start().starts_with("\"created\"") {
                true => format!("{created},"),
                false => line.to_owned(),
            })
            .collect();
        fs::write(folder.join("node7.json"), text.join("\n")).unwrap();
        let added = timermeter(folder, &["collect", "node7.json", "-o", "fleet"]);
        assert!(added.status.success() && printed(&added).contains("1 report added"), "{added:?}");
    }
    folder.join("fleet")
}

fn compacted(folder: &Path) -> Output {
    timermeter(folder, &["collect", "--compact", "-o", "fleet"])
}

fn batches(path: &Path) -> Vec<RecordBatch> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    reader.build().unwrap().map(Result::unwrap).collect()
}

fn cell(column: &dyn Array, row: usize) -> String {
    if column.is_null(row) {
        return String::new();
    }
    if let Some(texts) = column.as_string_opt::<i32>() {
        return texts.value(row).to_owned();
    }
    if let Some(truths) = column.as_boolean_opt() {
        return truths.value(row).to_string();
    }
    macro_rules! of {
        ($($kind:ty),*) => {
            $(if let Some(numbers) = column.as_primitive_opt::<$kind>() {
                return numbers.value(row).to_string();
            })*
        };
    }
    of!(Float64Type, Int64Type, TimestampMicrosecondType, Date32Type);
    panic!("{:?}", column.data_type())
}

/// All rows in the order in which they are read, each with its partition, as `name=value` of what is not null.
fn rows(fleet: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for file in files(fleet) {
        for batch in batches(&fleet.join(&file)) {
            let schema = batch.schema();
            for row in 0..batch.num_rows() {
                let cells = schema.fields().iter().zip(batch.columns()).filter_map(|(field, column)| {
                    let cell = cell(column, row);
                    (!cell.is_empty()).then(|| format!("{}={cell}", field.name()))
                });
                let mut cells: Vec<String> = cells.collect();
                cells.sort();
                found.push(format!("{} {}", file.parent().unwrap().display(), cells.join(" ")));
            }
        }
    }
    found
}

/// Writes a part anew with other columns.
fn changed(path: &Path, change: impl Fn(RecordBatch) -> Vec<(String, ArrayRef)>) {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let told: Vec<KeyValue> = reader.metadata().file_metadata().key_value_metadata().unwrap().clone();
    let batches: Vec<RecordBatch> = batches(path);
    assert_eq!(batches.len(), 1);
    let batch = {
        let columns = change(batches[0].clone()).into_iter().map(|(name, column)| (name, column, true));
        RecordBatch::try_from_iter_with_nullable(columns).unwrap()
    };
    let properties = WriterProperties::builder().set_key_value_metadata(Some(told)).build();
    let mut writer =
        ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn columns(batch: &RecordBatch) -> Vec<(String, ArrayRef)> {
    let names = batch.schema();
    names.fields().iter().map(|field| field.name().clone()).zip(batch.columns().iter().cloned()).collect()
}

/// As an older version wrote it: without a column.
fn older(path: &Path) {
    changed(path, |batch| {
        columns(&batch).into_iter().filter(|(name, _)| name != "adds_latency_ns").collect()
    });
}

/// As a newer one will: with two columns more, one of them first.
fn newer(path: &Path) {
    changed(path, |batch| {
        let rows = batch.num_rows();
        let figures: ArrayRef = Arc::new(Float64Array::from(vec![1.5; rows]));
        let words: ArrayRef = Arc::new(StringArray::from(vec!["later"; rows]));
        let mut all = columns(&batch);
        all.insert(0, ("of_tomorrow".into(), figures));
        all.push(("said_tomorrow".into(), words));
        all
    });
}

#[test]
fn the_parts_of_a_partition_become_one_with_the_same_rows() {
    let folder = folder();
    let fleet = grown(folder.path(), &["20T12:00", "20T12:01", "20T12:02", "21T12:00"]);
    let before = rows(&fleet);
    assert_eq!(files(&fleet).len(), 4);
    let done = compacted(folder.path());
    assert!(done.status.success() && told(&done).is_empty(), "{done:?}");
    assert!(printed(&done).starts_with("fleet: 3 parts of 1 partition made one each, "), "{done:?}");
    assert_eq!((files(&fleet).len(), rows(&fleet)), (2, before.clone()));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing unfinished stays");
    let names = files(&fleet);
    // There is nothing to do any more, and what was collected is known.
    assert!(printed(&compacted(folder.path())).starts_with("fleet: 0 parts"));
    let again = timermeter(folder.path(), &["collect", "node7.json", "-o", "fleet", "--compact"]);
    assert!(again.status.success() && printed(&again).starts_with("fleet: 0 reports added"), "{again:?}");
    assert_eq!(files(&fleet), names);
    // Collected and made one at once.
    grown(folder.path(), &["20T12:03"]);
    assert_eq!(files(&fleet).len(), 3);
    let once = timermeter(folder.path(), &["collect", "node7.json", "-o", "fleet", "--compact"]);
    assert!(once.status.success(), "{once:?}");
    assert_eq!((files(&fleet).len(), rows(&fleet).len() > before.len()), (2, true));
}

#[test]
fn all_parts_have_the_columns_of_all() {
    let folder = folder();
    let fleet = grown(folder.path(), &["20T12:00", "20T12:01", "21T12:00", "22T12:00"]);
    let parts: Vec<PathBuf> = files(&fleet).iter().map(|part| fleet.join(part)).collect();
    older(&parts[0]);
    newer(&parts[2]);
    let mut before = rows(&fleet);
    before.sort();
    let done = compacted(folder.path());
    assert!(done.status.success(), "{done:?}");
    assert!(printed(&done).starts_with("fleet: 4 parts of 3 partitions made one each, "), "{done:?}");
    let mut after = rows(&fleet);
    after.sort();
    assert_eq!(after, before);
    let schemas: Vec<_> = files(&fleet).iter().map(|part| batches(&fleet.join(part))[0].schema()).collect();
    assert!(schemas.len() == 3 && schemas.iter().all(|schema| *schema == schemas[0]));
    let names: Vec<&str> = schemas[0].fields().iter().map(|field| field.name().as_str()).collect();
    let own = timermeter::dataset::columns(timermeter::fields::Kind::Clocks);
    let own: Vec<&str> = own.iter().filter(|column| !column.in_path).map(|column| column.key).collect();
    assert_eq!(names, [own.as_slice(), &["of_tomorrow", "said_tomorrow"]].concat());
    // A column that holds something else is no column of both.
    changed(&fleet.join(&files(&fleet)[0]), |batch| {
        let mut all = columns(&batch);
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["7"; batch.num_rows()]));
        all.iter_mut().find(|(name, _)| name == "cost_ns").unwrap().1 = texts;
        all
    });
    let refused = compacted(folder.path());
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert!(told(&refused).contains("column 'cost_ns'"), "{refused:?}");
}

/// What a machine leaves that stops between moving the new part in and removing the old ones, where folders cannot be exchanged.
#[test]
fn what_an_interruption_left_counts_once() {
    let folder = folder();
    let fleet = grown(folder.path(), &["20T12:00", "20T12:01"]);
    let (parts, before) = (files(&fleet), rows(&fleet));
    let olds: Vec<Vec<u8>> = parts.iter().map(|part| fs::read(fleet.join(part)).unwrap()).collect();
    assert!(compacted(folder.path()).status.success());
    for (part, old) in parts.iter().zip(olds) {
        fs::write(fleet.join(part), old).unwrap();
    }
    assert_eq!(rows(&fleet).len(), 2 * before.len());
    let again = compacted(folder.path());
    assert!(again.status.success() && told(&again).contains("left out"), "{again:?}");
    let (mut before, mut after) = (before, rows(&fleet));
    before.sort();
    after.sort();
    assert_eq!((files(&fleet).len(), after), (1, before));
}

#[test]
fn what_is_no_part_is_not_lost_and_what_is_no_dataset_is_refused() {
    let folder = folder();
    let fleet = grown(folder.path(), &["20T12:00", "20T12:01"]);
    let note = fleet.join(files(&fleet)[0].parent().unwrap()).join("note.txt");
    fs::write(&note, "mine").unwrap();
    let refused = compacted(folder.path());
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert!(told(&refused).contains("note.txt' is no part of a dataset"), "{refused:?}");
    assert_eq!((files(&fleet).len(), fs::read(&note).unwrap().as_slice()), (3, &b"mine"[..]));
    let missing = timermeter(folder.path(), &["collect", "--compact", "-o", "nowhere"]);
    assert_eq!(missing.status.code(), Some(1), "{missing:?}");
    assert!(told(&missing).contains("there is no dataset 'nowhere'"), "{missing:?}");
    assert_eq!(timermeter(folder.path(), &["collect", "-o", "fleet"]).status.code(), Some(2));
}

/// A disk that is full leaves the partition as it was.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_all_parts() {
    let folder = folder();
    let fleet = grown(folder.path(), &["20T12:00", "20T12:01"]);
    let before = files(&fleet);
    let script = format!("trap '' XFSZ; ulimit -f 1; exec '{}' collect --compact -o fleet", super::program());
    let full = Command::new("bash").args(["-c", &script]).current_dir(folder.path()).output().unwrap();
    assert_eq!(full.status.code(), Some(1), "{full:?}");
    assert_eq!(files(&fleet), before);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing unfinished stays");
}

/// Who lists a partition at any moment finds each report that was added by then, once; a file that is gone by the time it is opened is told by the
/// system, and what was listed is then asked for anew.
#[cfg(target_os = "linux")]
#[test]
fn readers_find_each_report_once_at_every_moment() {
    let folder = folder();
    let fleet = grown(folder.path(), &["20T12:00"]);
    let place = fleet.join(files(&fleet)[0].parent().unwrap());
    let (added, done) = (AtomicUsize::new(1), AtomicBool::new(false));
    let seen = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut seen = 0;
            while !done.load(Ordering::SeqCst) {
                let least = added.load(Ordering::SeqCst);
                if let Some(ids) = listed(&place) {
                    let distinct: BTreeSet<&String> = ids.iter().collect();
                    assert!(distinct.len() >= least, "{} of {least}", distinct.len());
                    assert_eq!(distinct.len(), ids.len(), "none is there twice");
                    seen += 1;
                }
            }
            seen
        });
        for minute in 1..9 {
            grown(folder.path(), &[format!("20T12:0{minute}").as_str()]);
            added.fetch_add(1, Ordering::SeqCst);
            if minute % 2 == 0 {
                assert!(compacted(folder.path()).status.success());
            }
        }
        done.store(true, Ordering::SeqCst);
        reader.join().unwrap()
    });
    assert!(seen > 0);
}

/// The reports of all parts, each part's once; nothing where a part is gone that was listed.
#[cfg(target_os = "linux")]
fn listed(place: &Path) -> Option<Vec<String>> {
    let parts: Vec<PathBuf> = fs::read_dir(place)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some())
        .collect();
    let mut found = Vec::new();
    for part in parts {
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(part).ok()?).unwrap();
        let of_part = reader.build().unwrap().map(Result::unwrap).flat_map(|batch| {
            let ids = batch.column_by_name("report_id").unwrap().as_string::<i32>().clone();
            ids.iter().flatten().map(str::to_owned).collect::<Vec<_>>()
        });
        found.extend(of_part.collect::<BTreeSet<String>>());
    }
    Some(found)
}

/// How docs/dataset.md has parts of several versions read, and how parts are read that are compacted.
const READERS: &str = r#"
import json, sys
import polars, pyarrow.dataset, pyarrow.parquet
def names(table): return sorted(table)
def arrow():
    parts = pyarrow.dataset.dataset("fleet", partitioning="hive")
    if sys.argv[1] == "mixed":
        schema = pyarrow.unify_schemas([pyarrow.parquet.read_schema(file) for file in parts.files] + [parts.schema])
        parts = parts.replace_schema(schema)
    return parts.to_table()
def frame():
    if sys.argv[1] == "mixed":
        import glob
        parts = [polars.scan_parquet(file, hive_partitioning=True) for file in sorted(glob.glob("fleet/**/*.parquet", recursive=True))]
        return polars.concat(parts, how="diagonal").collect()
    return polars.scan_parquet("fleet", hive_partitioning=True).collect()
table, rows = arrow(), frame()
json.dump({
    "rows": [table.num_rows, rows.height],
    "columns": [sorted(table.column_names), sorted(rows.columns)],
    "null": [table.column("adds_latency_ns").null_count, rows["adds_latency_ns"].null_count()],
    "tomorrow": [table.num_rows - table.column("of_tomorrow").null_count, rows.height - rows["of_tomorrow"].null_count()],
}, sys.stdout)
"#;

#[test]
fn polars_and_pyarrow_read_parts_of_several_versions() {
    if duckdb::lacks("polars") || duckdb::lacks("pyarrow") {
        return;
    }
    let folder = folder();
    let fleet = grown(folder.path(), &["20T12:00", "21T12:00", "22T12:00"]);
    let parts: Vec<PathBuf> = files(&fleet).iter().map(|part| fleet.join(part)).collect();
    older(&parts[0]);
    newer(&parts[1]);
    let (all, of_one) = (rows(&fleet).len(), batches(&parts[1])[0].num_rows());
    let read = |how: &str| -> serde_json::Value {
        let done = duckdb::python(READERS).arg(how).current_dir(folder.path()).output().unwrap();
        assert!(done.status.success(), "{how}: {}", told(&done));
        serde_json::from_slice(&done.stdout).unwrap()
    };
    let mixed = read("mixed");
    assert!(compacted(folder.path()).status.success());
    let one = read("compacted");
    assert_eq!(mixed, one);
    assert_eq!(one["rows"], serde_json::json!([all, all]));
    assert_eq!(one["tomorrow"], serde_json::json!([of_one, of_one]));
    assert_eq!(one["columns"][0], one["columns"][1]);
}
