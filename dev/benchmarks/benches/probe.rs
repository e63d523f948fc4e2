//! Measures the duration of whole runs of the program: a quick probe of all native timers, and
//! commands that should end immediately. Also compares runs with those of an older version of the
//! program, whose path is in the environment variable `TIMERMETER_BENCH_BEFORE`. No other programs
//! should run meanwhile.

use std::ffi::OsStr;
use std::process::{Command, Stdio};
use std::time::Duration;

use criterion::measurement::{Measurement, WallTime};
use criterion::{Criterion, criterion_group, criterion_main};

const PROGRAM: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../target/release/timermeter"
);
/// Runs of this program per command, of which the median counts. The older version runs once.
const RUNS: usize = 3;

/// Runs this program to its end.
fn run(args: &[&str]) {
    run_program(PROGRAM.as_ref(), args);
}

/// Runs a program to its end, without printing its output.
fn run_program(program: &OsStr, args: &[&str]) {
    let status = Command::new(program)
        .args(args)
        .stdout(Stdio::null())
        .status()
        .expect("it starts");
    assert!(status.success(), "{args:?}: {status}");
}

/// Runs the same commands with this program and the older version, and prints the ratio of their
/// durations.
fn compare_with_before(_: &mut Criterion) {
    let Some(before) = std::env::var_os("TIMERMETER_BENCH_BEFORE") else {
        println!(
            "comparison with an older version: skipped, because TIMERMETER_BENCH_BEFORE is not set"
        );
        return;
    };
    let seconds = |program: &OsStr, args: &[&str]| {
        let start = WallTime.start();
        run_program(program, args);
        WallTime.end(start).as_secs_f64()
    };
    let commands: [&[&str]; 4] = [
        &["probe", "--quiet"],
        &["probe", "--quick", "--quiet"],
        &["wait", "--quiet"],
        &["wait", "--quick", "--quiet"],
    ];
    for args in commands {
        let old = seconds(&before, args);
        let mut new = [(); RUNS].map(|()| seconds(PROGRAM.as_ref(), args));
        new.sort_unstable_by(f64::total_cmp);
        let median = new[RUNS / 2];
        println!(
            "{}: {new:.2?} s; older version {old:.2} s; ratio {:.2}",
            args.join(" "),
            median / old
        );
    }
}

fn measure_probe(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("probe");
    group.sample_size(10).warm_up_time(Duration::from_secs(1));
    group.bench_function("quick", |bencher| {
        bencher.iter(|| run(&["probe", "--quick", "--quiet"]))
    });
    group.finish();
}

fn measure_short_commands(criterion: &mut Criterion) {
    // The target for `pick --from` is 20 ms.
    let report = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/data/xeon-2026-11-21.json"
    );
    let pick = [
        "pick",
        "--duration",
        "250ns",
        "--error",
        "1%",
        "--from",
        report,
    ];
    criterion.bench_function("pick", |bencher| bencher.iter(|| run(&pick)));
    criterion.bench_function("list", |bencher| bencher.iter(|| run(&["list"])));
}

criterion_group!(
    benches,
    measure_probe,
    measure_short_commands,
    compare_with_before
);
criterion_main!(benches);
