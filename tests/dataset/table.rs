//! `table` as Parquet and Arrow, read again.

use std::fs::{self, File};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, TimestampMicrosecondType};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::FileReader;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use timermeter::report::parse;

use super::{folder, kept, timermeter, told};

/// Both formats of the same reports.
fn both(args: &[&str]) -> [RecordBatch; 2] {
    let folder = folder();
    fs::write(folder.path().join("node7.json"), kept()).unwrap();
    for name in ["t.parquet", "t.arrow"] {
        let done = timermeter(folder.path(), &[&["table", "node7.json", "-o", name], args].concat());
        assert!(done.status.success() && done.stdout.is_empty(), "{done:?}");
    }
    let open = |name: &str| File::open(folder.path().join(name)).unwrap();
    let mut parquet = ParquetRecordBatchReaderBuilder::try_new(open("t.parquet")).unwrap().build().unwrap();
    let mut arrow = FileReader::try_new(open("t.arrow"), None).unwrap();
    [parquet.next().unwrap().unwrap(), arrow.next().unwrap().unwrap()]
}

#[test]
fn figures_are_those_of_the_report() {
    let report = parse(&kept(), "kept").unwrap();
    for batch in both(&["--all"]) {
        let column = |name: &str| batch.column_by_name(name).unwrap_or_else(|| panic!("{name}")).clone();
        let text = |name: &str| {
            column(name).as_string::<i32>().iter().map(|text| text.map(str::to_owned)).collect::<Vec<_>>()
        };
        let figures = |name: &str| column(name).as_primitive::<Float64Type>().iter().collect::<Vec<_>>();
        let rows = &report.timers;
        assert_eq!(batch.num_rows(), rows.len());
        assert_eq!(text("timer"), rows.iter().map(|row| Some(row.id.clone())).collect::<Vec<_>>());
        assert_eq!(
            text("status"),
            rows.iter().map(|row| Some(row.status.name().to_owned())).collect::<Vec<_>>()
        );
        assert_eq!(figures("quality"), rows.iter().map(|row| row.quality).collect::<Vec<_>>());
        assert_eq!(
            figures("cost_low_ns"),
            rows.iter().map(|row| row.cost.as_ref()?.low_ns).collect::<Vec<_>>()
        );
        assert_eq!(figures("accuracy_ns"), rows.iter().map(|row| row.accuracy?.ns).collect::<Vec<_>>());
        let monotonic =
            rows.iter().map(|row| Some(row.verdicts.as_ref()?.monotonic.outcome.in_words().to_owned()));
        assert_eq!(text("monotonic"), monotonic.collect::<Vec<_>>());
        assert!(text("host").iter().all(|host| host.as_deref() == Some("node7")));
        assert!(text("cpu").iter().all(|cpu| *cpu == report.platform.cpu.model));
        let created = humantime::parse_rfc3339(&report.created).unwrap();
        let created = created.duration_since(std::time::UNIX_EPOCH).unwrap().as_micros();
        let times = column("created");
        let times = times.as_primitive::<TimestampMicrosecondType>();
        assert!(times.iter().all(|time| time == i64::try_from(created).ok()));
        let offset = |row: &timermeter::model::TimerRow| {
            let offsets = row.verdicts.as_ref()?.thread_safe.offsets.iter().map(|offset| offset.ns.abs());
            offsets.reduce(f64::max)
        };
        assert_eq!(figures("offset_max_ns"), rows.iter().map(offset).collect::<Vec<_>>());
    }
}

#[test]
fn rows_without_figures_are_left_out_unless_they_are_asked_for() {
    let report = parse(&kept(), "kept").unwrap();
    let with_figures = report.timers.iter().filter(|row| row.accuracy.is_some()).count();
    assert!(with_figures < report.timers.len());
    let [parquet, arrow] = both(&[]);
    assert_eq!((parquet.num_rows(), arrow.num_rows()), (with_figures, with_figures));
    // Both hold the same.
    for (one, other) in parquet.columns().iter().zip(arrow.columns()) {
        assert_eq!(one.to_data(), other.to_data());
    }
}

#[test]
fn what_makes_no_sense_for_columns_is_refused() {
    let folder = folder();
    fs::write(folder.path().join("a.json"), kept()).unwrap();
    for args in [["--sort", "cost"], ["--columns", "cost"], ["--layout", "beside"]] {
        let args = [&["table", "a.json", "--format", "parquet", "-o", "t.parquet"][..], &args].concat();
        let refused = timermeter(folder.path(), &args);
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
        assert!(told(&refused).contains("all columns"), "{refused:?}");
    }
    let broken = timermeter(folder.path(), &["table", "no.json", "-o", "t.parquet"]);
    assert_eq!(broken.status.code(), Some(1), "{broken:?}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing half done stays");
}

#[test]
fn text_goes_to_files_too_by_their_endings() {
    let folder = folder();
    fs::write(folder.path().join("a.json"), kept()).unwrap();
    let done = timermeter(folder.path(), &["table", "a.json", "-o", "t.csv"]);
    assert!(done.status.success() && done.stdout.is_empty(), "{done:?}");
    let by_pipe = timermeter(folder.path(), &["table", "a.json", "--format", "csv"]);
    assert_eq!(fs::read(folder.path().join("t.csv")).unwrap(), by_pipe.stdout);
}

#[test]
fn a_site_holds_all_clocks_as_one_table() {
    let folder = folder();
    fs::create_dir(folder.path().join("reports")).unwrap();
    for name in ["node7", "node8"] {
        fs::write(folder.path().join(format!("reports/{name}.json")), kept()).unwrap();
    }
    let done = timermeter(folder.path(), &["publish", "reports", "-o", "site"]);
    assert!(done.status.success(), "{}", told(&done));
    let index = fs::read_to_string(folder.path().join("site/index.html")).unwrap();
    assert!(index.contains(r#"href="clocks.parquet""#), "the index names it");
    let file = File::open(folder.path().join("site/clocks.parquet")).unwrap();
    let batches = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    let rows: usize = batches.map(|batch| batch.unwrap().num_rows()).sum();
    let clocks = parse(&kept(), "kept").unwrap().timers;
    assert_eq!(rows, 2 * clocks.iter().filter(|row| row.accuracy.is_some()).count());
}
