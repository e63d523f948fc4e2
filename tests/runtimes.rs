//! The hosts of other runtimes, each as far as its runtime is installed; what is skipped is said
//! aloud.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use agent_scenarios::{Verdict, check};
use tempfile::TempDir;
use timermeter::hosts::children::this_program;
use timermeter::hosts::connection::Connection;
use timermeter::hosts::hosted::subject;
use timermeter::hosts::hosted::waiter;
use timermeter::hosts::process::Command;
use timermeter::hosts::protocol::HostedWaiter;
use timermeter::hosts::runtimes::{self, Ready};
use timers::agents::{RUNTIMES, runtime};
use timers::waits::{Wait, WaitRequest};
use timers::{During, Subject};

use crate::program::program;
use crate::skipping::{not_installed, skipped};

const PATIENCE: Duration = Duration::from_secs(60);

/// Those without which `.ci/run` fails, as it sees to them itself. All others are a step of their
/// own.
const NEEDED: [&str; 2] = ["dotnet", "python"];

/// The hosts of a runtime, and the folder that they live in.
fn prepare(name: &str) -> Option<(TempDir, Vec<Ready>)> {
    let folder = tempfile::tempdir().expect("a folder");
    let runtime = runtime(name).expect("it is in the list");
    match runtimes::prepare(runtime, folder.path(), &[]) {
        Ok(ready) => Some((folder, ready.into_iter().map(by_the_program).collect())),
        Err(why) => {
            let lacking = format!("{name}: {}", why.reason);
            if NEEDED.contains(&name) {
                not_installed(lacking, &why.remedy);
            } else {
                skipped(lacking, &why.remedy);
            }
            None
        }
    }
}

/// What this program hosts itself, as browsers are, the program that is tested does, and not the
/// one that tests it.
fn by_the_program(mut ready: Ready) -> Ready {
    let (own, _) = this_program().expect("it is known");
    if ready.command.program == own {
        ready.command.program = program().into();
    }
    ready
}

fn start(ready: &Ready, timer: Option<&str>) -> Rc<RefCell<Connection>> {
    let mut command = ready.command.clone();
    command.args.extend(timer.map(Into::into));
    let connection = Connection::start(&command, None, PATIENCE);
    Rc::new(RefCell::new(
        connection.unwrap_or_else(|fault| panic!("{}: {fault}", ready.prefix)),
    ))
}

/// Its reference, and all its timers but the floor.
fn timers(connection: &RefCell<Connection>) -> (String, Vec<String>) {
    let hello = connection.borrow().hello().clone();
    let reference = hello
        .timers
        .iter()
        .find(|timer| timer.reference)
        .expect("there is a reference")
        .id
        .clone();
    let ids = hello
        .timers
        .into_iter()
        .map(|timer| timer.id)
        .filter(|id| id != timers::FLOOR_ID);
    (reference, ids.collect())
}

fn least(values: &[i64]) -> i64 {
    values.iter().copied().min().expect("there are values")
}

/// The least of many values of each question, asked in turns until `holds` is true of them: another
/// test that runs meanwhile only ever adds, so that the least come down to what is true, if it is.
/// Those of one turn will do: they found the core as it was then, while a short question alone may
/// once have had it to itself.
fn least_until<const N: usize>(
    holds: impl Fn([i64; N]) -> bool,
    mut ask: impl FnMut() -> [Vec<i64>; N],
) -> Result<(), [i64; N]> {
    const TURNS: u32 = 40;
    let mut all = [i64::MAX; N];
    for _ in 0..TURNS {
        let turn = ask().each_ref().map(|values| least(values));
        all = std::array::from_fn(|at| all[at].min(turn[at]));
        if holds(turn) || holds(all) {
            return Ok(());
        }
    }
    Err(all)
}

fn twice(few: i64, many: i64) -> bool {
    (1.5..2.7).contains(&(many as f64 / few as f64))
}

/// The least that a clock was seen to move by: the step of a coarse one, and a read of a fine one.
fn grain(ready: &Ready, timer: &mut dyn Subject) -> i64 {
    const MOVES: usize = 5;
    const MOST: u32 = 1_000_000;
    let mut count = 300;
    loop {
        let readings = timer.readings(count).expect("readings");
        assert!(readings.is_sorted(), "{}: it goes backwards", ready.prefix);
        let moved: Vec<i64> = readings
            .windows(2)
            .map(|pair| pair[1] - pair[0])
            .filter(|by| *by > 0)
            .collect();
        // Of a clock of microseconds some thirty reads show one, of a browser's some thousand, or
        // ten thousand.
        if moved.len() >= MOVES {
            return least(&moved);
        }
        assert!(
            count < MOST,
            "{}: it moved {} times in {count}",
            ready.prefix,
            moved.len()
        );
        count *= 8;
    }
}

/// What ends as late as coarse steps leave it: eight of them are reported from sixteen.
const GRAINS: i64 = 8;

/// Work that takes as many grains.
fn turns_of_grains(timer: &mut dyn Subject, grain: i64) -> u64 {
    let mut turns = 20_000;
    while least(&timer.intervals(&[turns], 15).expect("intervals")[0]) < GRAINS * grain {
        turns *= 2;
    }
    turns
}

/// That no timer's calls were optimised away, and none was taken out of its loop: what is asked for
/// more often takes longer, as often as it is asked for, and longer than the loop with nothing in
/// it.
fn keeps_its_calls(ready: &Ready) {
    const REPEAT: u32 = 11;
    let connection = start(ready, None);
    let (reference, ids) = timers(&connection);
    let hello = connection.borrow().hello().clone();
    let ns_per_tick = hello
        .timers
        .iter()
        .find_map(|timer| timer.ns_per_tick.filter(|_| timer.reference));
    let ns_per_tick = ns_per_tick.expect("the reference has a unit");
    let grain_ns = grain(ready, subject(&connection, &reference).as_mut()) as f64 * ns_per_tick;
    let span_ns = (GRAINS as f64 * grain_ns).max(300e3);
    let mut floor = subject(&connection, timers::FLOOR_ID);
    for id in ids {
        let mut timer = subject(&connection, &id);
        let mut batch = |calls| timer.batches(&reference, calls, REPEAT).expect("batches");
        let calls = affordable(&mut batch, span_ns, ns_per_tick);
        let reported = least_until(
            // A call of an interpreter may cost less than its loop.
            |[few, many, without]| twice(few, many) && 5 * without < 4 * many,
            || {
                let [few, many] = [calls, 2 * calls].map(&mut batch);
                [
                    few,
                    many,
                    floor
                        .batches(&reference, 2 * calls, REPEAT)
                        .expect("batches"),
                ]
            },
        );
        assert_eq!(
            reported,
            Ok(()),
            "{}:{id}: {calls} calls, twice as many, and none at all",
            ready.prefix
        );
    }
}

/// As many calls as take some hundred microseconds, longer where steps are, or many where calls
/// seem to cost nothing.
fn affordable(mut batch: impl FnMut(u64) -> Vec<i64>, span_ns: f64, ns_per_tick: f64) -> u64 {
    const FEWEST: u64 = 20;
    /// Within so long no clock that is known costs so little.
    const CHEAPEST_NS: f64 = 20.0;
    let most = ((span_ns / CHEAPEST_NS) as u64).max(4_000);
    let none = least(&batch(0));
    let mut calls = FEWEST;
    while calls < most && ((least(&batch(calls)) - none) as f64) * ns_per_tick < span_ns {
        calls *= 2;
    }
    calls.min(most)
}

/// That neither read around the work was moved, and the work is done: what is more takes longer, as
/// much as it is more.
fn keeps_its_reads(ready: &Ready) {
    let (reference, _) = timers(&start(ready, None));
    let connection = start(ready, Some(&reference));
    let mut timer = subject(&connection, &reference);
    let grain = grain(ready, timer.as_mut());
    let turns = turns_of_grains(timer.as_mut(), grain);
    let mut intervals = |turns: &[u64]| timer.intervals(turns, 15).expect("intervals");
    let reported = least_until(
        |[none, some, more]| twice(some - none, more - none),
        || {
            intervals(&[0, turns, 2 * turns])
                .try_into()
                .expect("three rows")
        },
    );
    assert_eq!(
        reported,
        Ok(()),
        "{}: intervals do not take as long as their work",
        ready.prefix
    );
}

/// Every timer answers the three questions, warm or not; and moves with time or says nothing about
/// it.
fn reads_all_its_timers(ready: &Ready) {
    let connection = start(ready, None);
    let (reference, ids) = timers(&connection);
    let mut itself = subject(&connection, &reference);
    let grain = grain(ready, itself.as_mut());
    let turns = turns_of_grains(itself.as_mut(), grain);
    for id in ids {
        let mut timer = subject(&connection, &id);
        assert_eq!(
            timer.readings(3).map(|readings| readings.len()),
            Ok(3),
            "{}:{id}",
            ready.prefix
        );
        assert_eq!(
            timer.intervals(&[0, 5], 4).map(|rows| rows.len()),
            Ok(2),
            "{}:{id}",
            ready.prefix
        );
        assert!(
            timer
                .batches(&reference, 4, 4)
                .is_ok_and(|all| least(&all) >= 0),
            "{}:{id}",
            ready.prefix
        );
        let compared = timer
            .comparisons(&reference, turns, 5)
            .expect("they can be compared");
        assert_eq!(compared.len(), 5, "{}:{id}", ready.prefix);
        let times: Vec<i64> = compared
            .iter()
            .flat_map(|[before, _, after]| [*before, *after])
            .collect();
        assert!(
            times.is_sorted() && times[0] < times[9],
            "{}:{id}: {compared:?}",
            ready.prefix
        );
        let moved = timer
            .advance(&reference, During::Spin, 40)
            .expect("it can be watched");
        assert!(
            moved.timer >= 0 && moved.reference > 0,
            "{}:{id}: {moved:?}",
            ready.prefix
        );
    }
}

/// Every timer that waits answers what it offers: as many waits and wake-ups as were asked for,
/// none of which ends before it begins.
fn waits_with_all_its_timers(ready: &Ready) {
    const LENGTHS: [u64; 3] = [0, 50_000, 1_200_000];
    let named = |waiter: &HostedWaiter| format!("{}:{}", ready.prefix, waiter.id);
    let all = start(ready, None);
    let (reference, _) = timers(&all);
    let hosted = all.borrow().hello().waiters.clone();
    let answering = |op: &str| {
        hosted
            .iter()
            .filter(|waiter| waiter.ops.iter().any(|offered| offered == op))
            .count()
    };
    assert!(
        answering("waits") > 1 && answering("periods") > 0,
        "{}: {hosted:?}",
        ready.prefix
    );
    for hosted in &hosted {
        let offers = |op: &str| hosted.ops.iter().any(|offered| offered == op);
        // As the prober starts it, and as one of all.
        for connection in [&start(ready, Some(&hosted.id)), &all] {
            let mut timer = waiter(connection, &hosted.id);
            let request = WaitRequest {
                lengths_ns: &LENGTHS,
                repeat: 4,
                pause_ns: 30_000,
                break_ns: None,
            };
            let waits = timer.waits(&reference, request);
            assert_eq!(
                waits.is_ok(),
                offers("waits"),
                "{}: {waits:?}",
                named(hosted)
            );
            for (row, length) in waits.unwrap_or_default().iter().zip(LENGTHS) {
                assert!(
                    row.len() == 4 && row.iter().all(|wait| wait.after >= wait.before),
                    "{}",
                    named(hosted)
                );
                assert!(
                    row.windows(2).all(|pair| pair[1].before >= pair[0].after),
                    "{}: {length} ns: {row:?}",
                    named(hosted)
                );
                assert!(
                    row.iter()
                        .all(|wait| wait.cpu_ns.is_none_or(|cpu| cpu >= 0)),
                    "{}: {row:?}",
                    named(hosted)
                );
            }
            let periods = timer.periods(&reference, 2_000_000, 9, &[2]);
            assert_eq!(
                periods.is_ok(),
                offers("periods"),
                "{}: {periods:?}",
                named(hosted)
            );
            assert!(
                periods.unwrap_or_default().is_sorted_by_key(|tick| tick.at),
                "{}",
                named(hosted)
            );
            let arms = timer.arms(&reference, 5);
            assert_eq!(arms.is_ok(), offers("arms"), "{}: {arms:?}", named(hosted));
            assert!(
                arms.unwrap_or_default().iter().all(|&took| took >= 0),
                "{}",
                named(hosted)
            );
        }
    }
}

/// What is later than it may be is the last of the answer.
fn ends_with_a_late_wait(ready: &Ready) {
    let connection = start(ready, None);
    let (reference, _) = timers(&connection);
    let hosted = connection.borrow().hello().waiters.clone();
    for HostedWaiter { id, .. } in &hosted {
        let request = WaitRequest {
            lengths_ns: &[0],
            repeat: 3,
            pause_ns: 0,
            break_ns: Some(0),
        };
        // Nothing takes no time, but for a clock that stands still meanwhile.
        let Ok(rows) = waiter(&connection, id).waits(&reference, request) else {
            continue;
        };
        let late = |wait: &Wait| wait.after > wait.before;
        let first = rows[0].iter().position(late).map_or(3, |first| first + 1);
        assert_eq!(rows[0].len(), first, "{}:{id}: {rows:?}", ready.prefix);
    }
}

pub fn speaks_the_protocol(command: &Command) {
    for finding in check(command, PATIENCE) {
        assert!(
            !matches!(finding.verdict, Verdict::Fail { .. }),
            "{}: {finding:?}",
            command.name
        );
    }
}

fn all_of(name: &str) {
    let Some((_folder, hosts)) = prepare(name) else {
        return;
    };
    // Isolated pages and workers run the loops of plain pages, and a browser takes seconds to
    // start.
    let is_page = ["chromium", "firefox"].contains(&name);
    for (at, ready) in hosts.iter().enumerate() {
        if at == 0 || !is_page {
            keeps_its_calls(ready);
            keeps_its_reads(ready);
            waits_with_all_its_timers(ready);
            ends_with_a_late_wait(ready);
        }
        reads_all_its_timers(ready);
        speaks_the_protocol(&ready.command);
    }
}

#[test]
#[ignore = "long"]
fn java_agent_passes_scenarios() {
    all_of("java");
}

#[test]
#[ignore = "long"]
fn dotnet_agent_passes_scenarios() {
    all_of("dotnet");
}

#[test]
#[ignore = "long"]
fn python_agent_passes_scenarios() {
    all_of("python");
}

#[test]
#[ignore = "long"]
fn node_agent_passes_scenarios() {
    all_of("node");
}

/// What there is beside those above: some seconds each, of which `.ci/runtimes` has all.
#[test]
#[ignore = "a step of its own: .ci/runtimes"]
fn all_other_agents_pass_the_scenarios() {
    let others = RUNTIMES.iter().map(|runtime| runtime.name);
    others
        .filter(|name| !["java", "dotnet", "python", "node"].contains(name))
        .for_each(all_of);
}

#[test]
fn the_example_agents_speak_the_protocol() {
    for (program, agent) in [("python3", "minimal.py"), ("perl", "clocks.pl")] {
        let found = std::process::Command::new(program)
            .arg("--version")
            .output();
        if !found.is_ok_and(|output| output.status.success()) {
            not_installed(
                format!("{agent}: there is no `{program}`"),
                &format!("install it, as in `apt install {program}`"),
            );
            continue;
        }
        let path = format!("{}/examples/agents/{agent}", env!("CARGO_MANIFEST_DIR"));
        speaks_the_protocol(&Command::new(agent, program, vec![path.into()]));
    }
}

#[test]
fn float_clock_keeps_its_mantissa() {
    let Some((_folder, hosts)) = prepare("python") else {
        return;
    };
    let connection = start(&hosts[0], Some("time"));
    let hello = connection.borrow().hello().clone();
    let time = hello
        .timers
        .iter()
        .find(|timer| timer.id == "time")
        .expect("it is served");
    // Seconds since 1970 need 31 bits until 2038, which leaves 22 of 53 behind the point.
    assert_eq!(time.ns_per_tick, Some(1e9 / f64::from(1 << 22)));
    let readings = subject(&connection, "time")
        .readings(200)
        .expect("they are exact");
    assert!(
        readings.windows(2).any(|pair| pair[1] - pair[0] == 1),
        "its steps are single ticks: {readings:?}"
    );
}

#[test]
fn missing_java_counter_has_remedy() {
    let Some((folder, hosts)) = prepare("java") else {
        return;
    };
    let compiled = folder.path().join("java/0/0/HighResCounter.class");
    if compiled.exists() {
        std::fs::remove_file(compiled).expect("it is ours");
    }
    let hello = start(&hosts[0], None).borrow().hello().clone();
    assert!(
        hello
            .timers
            .iter()
            .all(|timer| timer.id != "highResCounter"),
        "{hello:?}"
    );
    let missing = hello
        .unavailable
        .iter()
        .find(|missing| missing.id == "highResCounter")
        .expect("it is known");
    assert!(missing.reason.contains("jdk.internal.perf"), "{missing:?}");
    assert!(
        missing
            .remedy
            .as_ref()
            .is_some_and(|remedy| remedy.contains("--add-exports")),
        "{missing:?}"
    );
}

#[test]
fn repeats_windows_with_garbage_collection() {
    let hello = r#"{"protocol":1,"runtime":{"name":"sh","version":"1"},"timers":[{"id":"a","label":"A","ns_per_tick":1,"reference":true}],"ops":["readings"]}"#;
    let script = format!(
        r#"ask() {{ read -r request; }}; ask; echo '{hello}'
        for n in 1 2; do ask; echo '{{"values":[0],"disturbed":["gc"]}}'; done
        ask; echo '{{"values":[7]}}'
        ask; echo '{{"values":[8],"disturbed":["gc","compilation"]}}'
        while ask; do echo '{{"values":[9],"disturbed":["gc"]}}'; done"#
    );
    let command = Command::new("test", "sh", vec!["-c".into(), script.into()]);
    let connection = Rc::new(RefCell::new(
        Connection::start(&command, None, PATIENCE).expect("it is there"),
    ));
    let mut timer = subject(&connection, "a");
    assert_eq!(
        timer.readings(1),
        Ok(vec![7]),
        "the first that nothing disturbed"
    );
    assert_eq!(connection.borrow().windows().dropped["gc"], 2);
    assert_eq!(
        timer.readings(1),
        Ok(vec![8]),
        "what voids all is left to the one who asks"
    );
    assert_eq!(connection.borrow().windows().voided, 1);
    assert_eq!(timer.readings(1), Ok(vec![9]), "not for ever");
    assert_eq!(connection.borrow().windows().disturbed, 1);
}
