//! What whole runs of the program take: a quick probe of all native timers, and what should be over
//! at once; and beside those of another program, that of before a change, whose path the variable
//! `TIMERMETER_BENCH_BEFORE` holds. Nothing else may run on the machine.

use std::ffi::OsStr;
use std::process::{Command, Stdio};
use std::time::Duration;

use criterion::measurement::{Measurement, WallTime};
use criterion::{Criterion, criterion_group, criterion_main};

const PROGRAM: &str = env!("CARGO_BIN_EXE_timermeter");
/// Runs of this program, of which the middle one counts; that of before runs once.
const RUNS: usize = 3;

/// Runs the program to its end.
fn run(args: &[&str]) {
    run_program(PROGRAM.as_ref(), args);
}

fn run_program(program: &OsStr, args: &[&str]) {
    let status = Command::new(program)
        .args(args)
        .stdout(Stdio::null())
        .status()
        .expect("it starts");
    assert!(status.success(), "{args:?}: {status}");
}

/// The same commands by both programs, and how long one takes of the time of the other.
fn against_before(_: &mut Criterion) {
    let Some(before) = std::env::var_os("TIMERMETER_BENCH_BEFORE") else {
        println!(
            "against a program of before: skipped, as TIMERMETER_BENCH_BEFORE does not name any"
        );
        return;
    };
    let seconds = |program: &OsStr, args: &[&str]| {
        let begun = WallTime.start();
        run_program(program, args);
        WallTime.end(begun).as_secs_f64()
    };
    let commands: [&[&str]; 6] = [
        &["probe", "--quiet"],
        &["probe", "--quick", "--quiet"],
        &["wait", "--quiet"],
        &["wait", "--quick", "--quiet"],
        &["period", "--quiet"],
        &["period", "--quick", "--quiet"],
    ];
    for args in commands {
        let old = seconds(&before, args);
        let mut new = [(); RUNS].map(|()| seconds(PROGRAM.as_ref(), args));
        new.sort_unstable_by(f64::total_cmp);
        let middle = new[RUNS / 2];
        println!(
            "{}: {new:.2?} s, {:.2} of the {old:.2} s of before",
            args.join(" "),
            middle / old
        );
    }
}

fn a_probe(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("probe");
    group.sample_size(10).warm_up_time(Duration::from_secs(1));
    group.bench_function("quick", |bencher| {
        bencher.iter(|| run(&["probe", "--quick", "--quiet"]))
    });
    group.finish();
}

fn at_once(criterion: &mut Criterion) {
    // `pick --from` answers within 20 ms.
    let report = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/data/xeon-2026-11-21.json"
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

criterion_group!(benches, a_probe, at_once, against_before);
criterion_main!(benches);
