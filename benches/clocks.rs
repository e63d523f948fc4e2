//! Measures the same operations with three clocks: the time stamp counter, the CPU time of the
//! thread, and the clock that `timermeter pick` would choose for operations of 20 ns. The choice
//! uses the report whose path is in `TIMERMETER_REPORT`, or a quick probe if that is not set. Run
//! it with `cargo bench --bench clocks --features criterion`.

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};

use criterion::Criterion;
use timermeter::choice::{Requirement, choose};
use timermeter::measure::criterion::ClockTime;
use timermeter::measure::{Clock, Registered};
use timermeter::model::{Nanos, Report};
use timermeter::report::{parse, read};
use timers::{Timer, Visitor};

/// Measures the operations with the clock of `criterion`, as a group named `clock`.
fn measure_operations<C: Clock + 'static>(criterion: &mut Criterion<ClockTime<C>>, clock: &str) {
    let mut group = criterion.benchmark_group(clock);
    group.bench_function("logarithm", |bencher| {
        bencher.iter(|| black_box(123.456_f64).ln())
    });
    group.bench_function("clone of 1 000 bytes", |bencher| {
        let bytes = vec![7_u8; 1_000];
        bencher.iter(|| black_box(&bytes).clone());
    });
    group.finish();
}

/// Measures the operations with the timer that it visits.
struct Benchmarks {
    group: String,
}

impl Visitor for Benchmarks {
    type Output = Result<(), Box<dyn Error>>;

    fn visit<T: Timer + 'static>(self, timer: T) -> Self::Output {
        let clock = ClockTime(Registered::from_timer(timer)?);
        let mut criterion = Criterion::default()
            .with_measurement(clock)
            .configure_from_args();
        measure_operations(&mut criterion, &self.group);
        criterion.final_summary();
        Ok(())
    }
}

/// Measures the operations with the timer `id`.
fn measure_with(id: &str, group: String) -> Result<(), Box<dyn Error>> {
    timers::visit(id, Benchmarks { group }).ok_or_else(|| format!("there is no timer `{id}`"))??
}

/// Returns the id of the best clock for operations of 20 ns and an error of 1 %; if no clock
/// reaches that error, the id of the clock that comes nearest.
fn pick_clock() -> Result<String, Box<dyn Error>> {
    let report = match std::env::var_os("TIMERMETER_REPORT") {
        Some(path) => read(Path::new(&path))?,
        None => probe()?,
    };
    let choice = choose(&report, &Requirement::new(Nanos(20.0), 0.01)?)?;
    Ok(choice
        .picked
        .or(choice.nearest)
        .ok_or("no clock is suitable")?
        .id)
}

/// Runs a quick probe and returns its report.
fn probe() -> Result<Report, Box<dyn Error>> {
    let mut probe = Command::new(env!("CARGO_BIN_EXE_timermeter"));
    let output = probe
        .args(["probe", "--quick", "--format", "json"])
        .stderr(Stdio::inherit())
        .output()?;
    Ok(parse(&String::from_utf8(output.stdout)?, "probe")?)
}

fn main() {
    for id in ["rdtsc", "thread-cputime"] {
        measure_with(id, id.into()).unwrap_or_else(|error| eprintln!("skipped: {id}: {error}"));
    }
    let result = pick_clock().and_then(|id| measure_with(&id, format!("picked ({id})")));
    result.unwrap_or_else(|error| eprintln!("skipped: the picked clock: {error}"));
}
