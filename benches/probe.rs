//! What whole runs of the program take: a quick probe of all native timers, and what should be over at once.

use std::process::{Command, Stdio};
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};

/// Runs the program to its end.
fn run(args: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_timermeter"));
    let status = command.args(args).stdout(Stdio::null()).status().expect("it starts");
    assert!(status.success(), "{args:?}: {status}");
}

fn a_probe(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("probe");
    group.sample_size(10).warm_up_time(Duration::from_secs(1));
    group.bench_function("quick", |bencher| bencher.iter(|| run(&["probe", "--quick", "--quiet"])));
    group.finish();
}

fn at_once(criterion: &mut Criterion) {
    let score = ["score", "--accuracy", "2400cycles", "--cost", "4800cycles", "--spread", "0.993"];
    // `pick --from` answers within 20 ms.
    let report = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/xeon-2026-11-21.json");
    let pick = ["pick", "--duration", "250ns", "--error", "1%", "--from", report];
    criterion.bench_function("pick", |bencher| bencher.iter(|| run(&pick)));
    criterion.bench_function("list", |bencher| bencher.iter(|| run(&["list"])));
    criterion.bench_function("score", |bencher| bencher.iter(|| run(&score)));
}

criterion_group!(benches, a_probe, at_once);
criterion_main!(benches);
