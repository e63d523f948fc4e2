//! What ten thousand reports of forty timers take: `table`, all of it as CSV and Parquet, and
//! `publish`. Each runs in a process of its own, whose greatest memory is printed as well. The
//! targets are 2 s and 300 MB for `table`, 8 s and 200 MB for all of it, 20 s for `publish`.

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use criterion::{Criterion, criterion_group, criterion_main};
use timermeter::model::Report;
use timermeter::report::{json, read};

const REPORTS: u32 = 10_000;
const TIMERS: usize = 40;

/// A kept run of this program: with all that a report holds.
const KEPT: &str = "tests/data/xeon-2026-11-21.json";

/// Report `number` of a fleet: platforms differ in a few ways, figures a little. It is as large as
/// that of a real run of forty timers.
fn report(kept: &Report, number: u32) -> Report {
    let mut report = kept.clone();
    let sound: Vec<_> = kept
        .timers
        .iter()
        .filter(|row| row.quality.is_some())
        .collect();
    report.timers = (0..TIMERS)
        .map(|at| {
            let mut row = sound[at % sound.len()].clone();
            row.id = format!("{}-{at}", row.id);
            let change = 1.0 + f64::from((number * 7 + at as u32) % 100) * 1e-3;
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

fn fleet(base: &Path) -> PathBuf {
    let folder = base.join("fleet");
    let kept = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(KEPT)).expect("a kept run");
    let size = json::dense(&report(&kept, 0)).len();
    println!(
        "{REPORTS} reports of {TIMERS} timers, {} kB each",
        size / 1000
    );
    for number in 0..REPORTS {
        let run = folder
            .join(format!("machine-{:03}", number % 500))
            .join(format!("run-{number:05}"));
        fs::create_dir_all(&run).expect("a folder");
        // As `probe --save` writes them.
        let text = json::dense(&report(&kept, number));
        fs::write(run.join("report.json"), text).expect("a file");
    }
    folder
}

fn run(args: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_timermeter"));
    let status = command
        .args(args)
        .stdout(Stdio::null())
        .status()
        .expect("it starts");
    assert!(status.success(), "{args:?}: {status}");
}

/// The greatest memory of a run in megabytes, as GNU time tells it; nothing where there is none.
fn greatest_memory(args: &[&str]) -> Option<u64> {
    let mut command = Command::new("/usr/bin/time");
    command
        .args(["-f", "%M", env!("CARGO_BIN_EXE_timermeter")])
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

fn many(criterion: &mut Criterion) {
    let base = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let folder = fleet(base.path());
    let folder = folder.display().to_string();
    let site = base.path().join("site").display().to_string();
    let csv = base.path().join("clocks.csv").display().to_string();
    #[cfg(feature = "parquet")]
    let parquet = base.path().join("clocks.parquet").display().to_string();
    let mut group = criterion.benchmark_group("ten thousand reports");
    group.sample_size(10);
    for (name, args) in [
        ("table", vec!["table", &folder]),
        (
            "table beside",
            vec!["table", &folder, "--layout", "beside", "--format", "csv"],
        ),
        ("publish", vec!["publish", &folder, "--output", &site]),
        (
            "table as CSV of all columns",
            vec!["table", &folder, "--columns", "all", "-o", &csv],
        ),
        #[cfg(feature = "parquet")]
        ("table as Parquet", vec!["table", &folder, "-o", &parquet]),
    ] {
        match greatest_memory(&args) {
            Some(megabytes) => println!("{name}: at most {megabytes} MB"),
            None => println!("{name}: memory not reported, /usr/bin/time is missing"),
        }
        group.bench_function(name, |bencher| bencher.iter(|| run(black_box(&args))));
    }
    group.finish();
}

criterion_group!(benches, many);
criterion_main!(benches);
