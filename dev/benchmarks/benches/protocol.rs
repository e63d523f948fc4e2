//! Measures the throughput of the agent protocol: readings per second from a native agent.

use std::cell::RefCell;
use std::hint::black_box;
use std::rc::Rc;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use timermeter::agents::connection::Connection;
use timermeter::agents::process::AgentCommand;
use timermeter::agents::subject::subject;

/// Readings in the answer to one question.
const READINGS_PER_ANSWER: u32 = 10_000;
/// The time that all answers of the connection together may take, longer than the benchmark.
const TIMEOUT: Duration = Duration::from_secs(3600);

fn measure_readings(criterion: &mut Criterion) {
    let args = vec!["agent".into(), "monotonic".into()];
    let program = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../target/release/timermeter"
    );
    let command = AgentCommand::new("native", program, args);
    let connection = Connection::start(&command, None, TIMEOUT).expect("the agent starts");
    let connection = Rc::new(RefCell::new(connection));
    let mut group = criterion.benchmark_group("readings");
    group.throughput(Throughput::Elements(u64::from(READINGS_PER_ANSWER)));
    let mut timer = subject(&connection, "monotonic");
    group.bench_function("monotonic", |bencher| {
        bencher.iter(|| black_box(timer.readings(READINGS_PER_ANSWER).expect("it answers")));
    });
    group.finish();
}

criterion_group!(benches, measure_readings);
criterion_main!(benches);
