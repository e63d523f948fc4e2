//! Benchmarks of the analysis: all figures of a clock, the levels of single calls, and
//! the search for the step. The throughput is in samples per second.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use estimators::cost::singles::successive;
use estimators::distribution::Levels;
use estimators::figures::figures;
use estimators::resolution::{KnownDurations, resolve};
use estimators::trace::{Differences, Trace};
use simulate::Case;
use simulate::population::regular;
use timermeter::plan::Plan;

/// Probes one simulated timer of each kind.
fn probe_each_kind() -> Vec<(Case, Trace)> {
    let mut names = Vec::new();
    let mut traces = Vec::new();
    for case in regular(60, 1) {
        if !names.contains(&case.timer.name) {
            names.push(case.timer.name.clone());
            let (trace, _) = case.probe(&Plan::QUICK).expect("the reference is sound");
            traces.push((case, trace));
        }
    }
    traces
}

/// The number of samples in a trace.
fn count_samples(trace: &Trace) -> usize {
    let runs = trace.runs.iter().map(|run| {
        let batches: usize = [
            &run.bracket,
            &run.singles,
            &run.batches,
            &run.small_batches,
            &run.floor,
        ]
        .map(|batches| batches.deltas.len())
        .iter()
        .sum();
        run.readings.values.len()
            + batches
            + count_intervals(&run.intervals.iter().collect::<Vec<_>>())
    });
    runs.sum::<usize>() + count_intervals(&trace.slow)
}

fn count_intervals(groups: &[Differences]) -> usize {
    groups.iter().map(|group| group.deltas.len()).sum()
}

fn benchmark_profile(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("profile");
    group.sample_size(10);
    for (case, trace) in probe_each_kind() {
        group.throughput(Throughput::Elements(count_samples(&trace) as u64));
        group.bench_with_input(
            BenchmarkId::from_parameter(&case.timer.name),
            &trace,
            |bencher, trace| {
                bencher.iter(|| figures(black_box(trace)));
            },
        );
    }
    group.finish();
}

fn benchmark_shape_fit(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("shape");
    for (case, trace) in probe_each_kind() {
        let Some(run) = trace.runs.first() else {
            continue;
        };
        group.throughput(Throughput::Elements(run.singles.deltas.len() as u64));
        group.bench_with_input(
            BenchmarkId::from_parameter(&case.timer.name),
            run,
            |bencher, run| {
                bencher.iter(|| {
                    Levels::new(black_box(&run.singles.deltas).iter(), trace.reference.step)
                });
            },
        );
    }
    group.finish();
}

fn benchmark_resolution(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("resolve");
    for (case, trace) in probe_each_kind() {
        let groups: Vec<Differences> = trace.groups().collect();
        let read_differences: Vec<Vec<i64>> = trace
            .runs
            .iter()
            .map(|run| successive(&run.readings.values))
            .collect();
        group.throughput(Throughput::Elements(count_intervals(&groups) as u64));
        group.bench_with_input(
            BenchmarkId::from_parameter(&case.timer.name),
            &groups,
            |bencher, groups| {
                bencher.iter(|| {
                    resolve(
                        black_box(groups),
                        black_box(&read_differences),
                        &KnownDurations::default(),
                    )
                });
            },
        );
    }
    group.finish();
}

criterion_group!(
    benches,
    benchmark_profile,
    benchmark_shape_fit,
    benchmark_resolution
);
criterion_main!(benches);
