//! What the analysis costs. The throughput counts samples, so the time a sample shows.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use simulate::Case;
use simulate::population::regular;
use timermeter::campaign::sampling::Plan;
use timermeter::cost::singles::successive;
use timermeter::distribution::moments::Moments;
use timermeter::distribution::shape::Fits;
use timermeter::profile::profile;
use timermeter::resolution::{Context, resolve};
use timermeter::trace::{Intervals, Trace};

/// Traces of simulated timers, one a kind of timer.
fn traces() -> Vec<(Case, Trace)> {
    let mut seen = Vec::new();
    let mut traces = Vec::new();
    for case in regular(60, 1) {
        if !seen.contains(&case.timer.name) {
            seen.push(case.timer.name.clone());
            let (trace, _) = case.probe(&Plan::QUICK).expect("the reference is sound");
            traces.push((case, trace));
        }
    }
    traces
}

fn samples(trace: &Trace) -> usize {
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
        run.readings.values.len() + batches + intervals(&run.intervals)
    });
    runs.sum::<usize>() + intervals(&trace.slow)
}

fn intervals(groups: &[Intervals]) -> usize {
    groups.iter().map(|group| group.deltas.len()).sum()
}

fn a_profile(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("profile");
    group.sample_size(10);
    for (case, trace) in traces() {
        group.throughput(Throughput::Elements(samples(&trace) as u64));
        group.bench_with_input(
            BenchmarkId::from_parameter(&case.timer.name),
            &trace,
            |bencher, trace| {
                bencher.iter(|| profile(black_box(trace)));
            },
        );
    }
    group.finish();
}

fn a_shape(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("shape");
    for (case, trace) in traces() {
        let Some(run) = trace.runs.first() else {
            continue;
        };
        group.throughput(Throughput::Elements(run.singles.deltas.len() as u64));
        group.bench_with_input(
            BenchmarkId::from_parameter(&case.timer.name),
            run,
            |bencher, run| {
                bencher.iter(|| {
                    Fits::from_samples(
                        black_box(&run.singles.deltas),
                        trace.reference.step,
                        Moments::UNKNOWN,
                        Moments::UNKNOWN,
                    )
                });
            },
        );
    }
    group.finish();
}

fn a_step(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("resolve");
    for (case, trace) in traces() {
        let groups: Vec<Intervals> = trace
            .runs
            .iter()
            .flat_map(|run| &run.intervals)
            .chain(&trace.slow)
            .cloned()
            .collect();
        let tight: Vec<Vec<i64>> = trace
            .runs
            .iter()
            .map(|run| successive(&run.readings.values))
            .collect();
        group.throughput(Throughput::Elements(intervals(&groups) as u64));
        group.bench_with_input(
            BenchmarkId::from_parameter(&case.timer.name),
            &groups,
            |bencher, groups| {
                bencher.iter(|| resolve(black_box(groups), black_box(&tight), &Context::default()));
            },
        );
    }
    group.finish();
}

criterion_group!(benches, a_profile, a_shape, a_step);
criterion_main!(benches);
