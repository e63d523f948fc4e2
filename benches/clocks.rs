//! The same operations by three clocks: `cargo bench --bench clocks --features criterion`. The bare
//! counter, CPU time of the thread, and the clock that is picked for them on this machine, by the
//! report that `TIMERMETER_REPORT` names or, without it, by a quick probe.

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};

use criterion::Criterion;
use timermeter::measure::criterion::ClockTime;
use timermeter::measure::{Clock, Registered};
use timermeter::method::{Requirement, choose};
use timermeter::model::{Nanos, Report};
use timermeter::report::{parse, read};
use timers::{Timer, Visitor};

fn operations<C: Clock + 'static>(criterion: &mut Criterion<ClockTime<C>>, clock: &str) {
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

/// Runs the operations by whichever timer it is handed.
struct By {
    title: String,
}

impl Visitor for By {
    type Output = Result<(), Box<dyn Error>>;

    fn visit<T: Timer>(self, timer: T) -> Self::Output {
        let clock = ClockTime(Registered::from_timer(timer)?);
        let mut criterion = Criterion::default()
            .with_measurement(clock)
            .configure_from_args();
        operations(&mut criterion, &self.title);
        criterion.final_summary();
        Ok(())
    }
}

/// By a timer of the registry.
fn by(id: &str, title: String) -> Result<(), Box<dyn Error>> {
    timers::visit(id, By { title }).ok_or_else(|| format!("there is no timer `{id}`"))??
}

/// The clock for operations of some 20 ns, where 1 % off is good enough.
fn picked() -> Result<String, Box<dyn Error>> {
    let report = match std::env::var_os("TIMERMETER_REPORT") {
        Some(path) => read(Path::new(&path))?,
        None => probe()?,
    };
    let choice = choose(&report, &Requirement::new(Nanos(20.0), 0.01, 0.95)?)?;
    Ok(choice
        .picked
        .or(choice.nearest)
        .ok_or("no clock can be measured with")?
        .id)
}

fn probe() -> Result<Report, Box<dyn Error>> {
    let mut probe = Command::new(env!("CARGO_BIN_EXE_timermeter"));
    let done = probe
        .args(["probe", "--quick", "--format", "json"])
        .stderr(Stdio::inherit())
        .output()?;
    Ok(parse(&String::from_utf8(done.stdout)?, "probe")?)
}

fn main() {
    for id in ["rdtsc", "thread-cputime"] {
        by(id, id.into()).unwrap_or_else(|error| eprintln!("skipped: {id}: {error}"));
    }
    let found = picked().and_then(|id| by(&id, format!("picked ({id})")));
    found.unwrap_or_else(|error| eprintln!("skipped: the picked clock: {error}"));
}
