//! Measures the time and the peak memory of `table` and `publish` for ten thousand reports of forty
//! timers. Each command runs in a separate process. The targets are 2 s and 300 MB for `table`, 8 s
//! and 200 MB for `table` of all columns as CSV, and 20 s for `publish`.

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use criterion::{Criterion, criterion_group, criterion_main};
use estimators::model::Report;
use reporting::format::json;
use reporting::report::read;

const PROGRAM: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../target/release/timermeter"
);
const REPORTS: u32 = 10_000;
const TIMERS: usize = 40;

/// A complete report of a real machine, from which the reports of the fleet are made.
const TEMPLATE: &str = "../../tests/data/xeon-2026-11-21.json";

/// Returns report `number` of the fleet. It is as large as a real report of forty timers. The
/// reports differ in their kernel release and slightly in their costs.
fn make_report(template: &Report, number: u32) -> Report {
    let mut report = template.clone();
    let rated: Vec<_> = template
        .timers
        .iter()
        .filter(|row| row.quality.is_some())
        .collect();
    report.timers = (0..TIMERS)
        .map(|index| {
            let mut row = rated[index % rated.len()].clone();
            row.id = format!("{}-{index}", row.id);
            let change = 1.0 + f64::from((number * 7 + index as u32) % 100) * 1e-3;
            row.cost_ns = row.cost_ns.map(|cost| cost.scaled(change));
            row
        })
        .collect();
    report.platform.kernel.release = Some(format!("6.{}.0", number % 12));
    report.created = format!(
        "2026-{:02}-{:02}T12:00:00Z",
        number % 12 + 1,
        number % 28 + 1
    );
    report
}

/// Writes the reports of the fleet below `base` and returns their folder.
fn write_fleet(base: &Path) -> PathBuf {
    let folder = base.join("fleet");
    let template = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(TEMPLATE));
    let template = template.expect("a valid report");
    let size = json::render_compact(&make_report(&template, 0)).len();
    println!(
        "{REPORTS} reports of {TIMERS} timers, {} kB each",
        size / 1000
    );
    for number in 0..REPORTS {
        let run = folder
            .join(format!("machine-{:03}", number % 500))
            .join(format!("run-{number:05}"));
        fs::create_dir_all(&run).expect("a folder");
        // `probe --save` writes reports in this form, too.
        let text = json::render_compact(&make_report(&template, number));
        fs::write(run.join("report.json"), text).expect("a file");
    }
    folder
}

/// Runs the program to its end, without printing its output.
fn run(args: &[&str]) {
    let mut command = Command::new(PROGRAM);
    let status = command
        .args(args)
        .stdout(Stdio::null())
        .status()
        .expect("it starts");
    assert!(status.success(), "{args:?}: {status}");
}

/// Runs the program and returns its peak memory in megabytes, as GNU time reports it; `None` if GNU
/// time is not installed.
fn peak_memory_mb(args: &[&str]) -> Option<u64> {
    let mut command = Command::new("/usr/bin/time");
    command
        .args(["-f", "%M", PROGRAM])
        .args(args)
        .stdout(Stdio::null());
    let output = command.stderr(Stdio::piped()).output().ok()?;
    String::from_utf8(output.stderr)
        .ok()?
        .lines()
        .last()?
        .trim()
        .parse::<u64>()
        .ok()
        .map(|kib| kib / 1024)
}

fn measure_commands(criterion: &mut Criterion) {
    let base = tempfile::tempdir().expect("a folder");
    let folder = write_fleet(base.path());
    let folder = folder.display().to_string();
    let site = base.path().join("site").display().to_string();
    let csv = base.path().join("clocks.csv").display().to_string();
    let mut group = criterion.benchmark_group("ten thousand reports");
    group.sample_size(10);
    for (name, args) in [
        ("table", vec!["table", &folder]),
        ("publish", vec!["publish", &folder, "--output", &site]),
        (
            "table as CSV of all columns",
            vec!["table", &folder, "--columns", "all", "-o", &csv],
        ),
    ] {
        match peak_memory_mb(&args) {
            Some(megabytes) => println!("{name}: peak memory {megabytes} MB"),
            None => println!("{name}: peak memory unknown, because /usr/bin/time is missing"),
        }
        group.bench_function(name, |bencher| bencher.iter(|| run(black_box(&args))));
    }
    group.finish();
}

criterion_group!(benches, measure_commands);
criterion_main!(benches);
