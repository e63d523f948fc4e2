//! The same operations by three clocks: `cargo bench --bench clocks --features criterion`. The bare counter, CPU time of the
//! thread, and the clock that `timermeter pick --duration 20ns --error 1%` names on most machines.

use std::hint::black_box;

use criterion::Criterion;
use timermeter::measure::criterion::ClockTime;
use timermeter::measure::{Clock, Registered};
use timers::Timer;
use timers::clocks::{Rdtsc, RdtscLfence, ThreadCputime};

fn operations<C: Clock + 'static>(criterion: &mut Criterion<ClockTime<C>>, clock: &str) {
    let mut group = criterion.benchmark_group(clock);
    group.bench_function("logarithm", |bencher| bencher.iter(|| black_box(123.456_f64).ln()));
    group.bench_function("clone of 1 000 bytes", |bencher| {
        let bytes = vec![7_u8; 1_000];
        bencher.iter(|| black_box(&bytes).clone());
    });
    group.finish();
}

fn with<T: Timer>() {
    match Registered::<T>::open() {
        Ok(clock) => {
            let mut criterion = Criterion::default().with_measurement(ClockTime(clock)).configure_from_args();
            operations(&mut criterion, T::INFO.id);
            criterion.final_summary();
        }
        Err(error) => eprintln!("skipped: {error}"),
    }
}

fn main() {
    with::<Rdtsc>();
    with::<ThreadCputime>();
    with::<RdtscLfence>();
}
