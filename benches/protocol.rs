//! What the agent protocol carries: integers a second from a native agent to the prober.

use std::cell::RefCell;
use std::hint::black_box;
use std::rc::Rc;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use timermeter::hosts::connection::Connection;
use timermeter::hosts::hosted::subject;
use timermeter::hosts::process::Command;

/// Readings in a question.
const COUNT: u32 = 10_000;
/// All questions of the benchmark go over one connection, and all together within this time.
const PATIENCE: Duration = Duration::from_secs(3600);

fn readings(criterion: &mut Criterion) {
    let args = vec!["agent".into(), timers::FLOOR_ID.into(), "monotonic".into()];
    let program = env!("CARGO_BIN_EXE_timermeter");
    let command = Command::new("native", program, args);
    let connection =
        Connection::start(&command, None, PATIENCE).expect("the agent introduces itself");
    let connection = Rc::new(RefCell::new(connection));
    let mut group = criterion.benchmark_group("readings");
    group.throughput(Throughput::Elements(u64::from(COUNT)));
    // The first takes next to no time to read: what is left is the protocol.
    for id in [timers::FLOOR_ID, "monotonic"] {
        let mut timer = subject(&connection, id);
        group.bench_function(id, |bencher| {
            bencher.iter(|| black_box(timer.readings(COUNT).expect("it answers")));
        });
    }
    group.finish();
}

criterion_group!(benches, readings);
criterion_main!(benches);
