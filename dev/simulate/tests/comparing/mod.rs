//! `compare` of simulated runs of one machine, whose truth is known: what did not change is not
//! called changed, what did is found, and intervals hold what was planted. Each seed is a machine
//! of its own.

use timermeter::comparison::{Compared, Comparison, Quantity, Verdict};
use timermeter::model::Report;
use timermeter::parallel;

use machine::{Machine, Planted, Scatter};

mod machine;

/// Quiet: reads in user mode differ by half a percent and less from run to run, calls of the kernel
/// by 2 to 5 %.
fn quiet() -> Scatter {
    Scatter {
        core: 0.017,
        in_user_mode: 0.002..0.005,
        by_kernel: 0.02..0.05,
    }
}

/// As ten runs of a busy guest did.
fn busy() -> Scatter {
    Scatter {
        core: 0.006,
        in_user_mode: 0.009..0.035,
        by_kernel: 0.07..0.11,
    }
}

fn runs(
    machine: &Machine,
    numbers: std::ops::Range<u64>,
    scatter: &Scatter,
    planted: Option<Planted>,
) -> Vec<Report> {
    numbers
        .map(|number| machine.run(number, scatter, planted))
        .collect()
}

fn compared(old: &[Report], new: &[Report], history: &[Report]) -> Comparison {
    let [old, new, history] = [old, new, history].map(|side| side.iter().collect::<Vec<&Report>>());
    Comparison::between(&old, &new, &history).expect("the same timers")
}

fn is_change(compared: &&Compared) -> bool {
    matches!(compared.verdict, Verdict::Better | Verdict::Worse)
}

/// How many of the machines have something that is called changed, though nothing is. `history` is
/// how many other runs tell what runs differ by.
fn alarms(machines: u64, side: u64, history: u64, scatter: &Scatter) -> u64 {
    let seeds: Vec<u64> = (1..=machines).collect();
    let alarmed = parallel::map(&seeds, |seed| {
        let machine = Machine::new(*seed);
        let (old, new) = (
            runs(&machine, 0..side, scatter, None),
            runs(&machine, side..2 * side, scatter, None),
        );
        let others = runs(&machine, 100..100 + history, scatter, None);
        u64::from(
            compared(&old, &new, &others)
                .figures
                .iter()
                .any(|compared| is_change(&compared)),
        )
    });
    alarmed.iter().sum()
}

/// The standard deviation of the logarithm of a timer's cost in cycles over kept runs; none where
/// it has no cost.
fn deviation(kept: &[Report], timer: &str) -> Option<f64> {
    let costs: Option<Vec<f64>> = kept
        .iter()
        .map(|run| {
            let row = run.timers.iter().find(|row| row.id == timer)?;
            Some((row.cost_ns?.value * run.frequency.effective_hz?.value).ln())
        })
        .collect();
    timermeter::statistics::standard_deviation(&costs?)
}

/// What became of planted changes.
#[derive(Debug, Default)]
struct Tally {
    planted: u32,
    found: u32,
    /// Found with the wrong sign.
    wrong: u32,
    /// Intervals that hold the change.
    covered: u32,
}

/// Plants a change in each timer of a machine in turn, up and down; its size is in standard errors
/// of the difference.
fn planted(
    machines: std::ops::Range<u64>,
    (side, history): (u64, usize),
    errors: f64,
    scatter: &Scatter,
    every: usize,
) -> Tally {
    const KEPT: u64 = 30;
    let seeds: Vec<u64> = machines.collect();
    let tallies = parallel::map(&seeds, |seed| {
        let machine = Machine::new(*seed);
        let kept = runs(&machine, 100..100 + KEPT, scatter, None);
        let old = runs(&machine, 0..side, scatter, None);
        let mut tally = Tally::default();
        for (at, timer) in machine
            .timers()
            .enumerate()
            .skip(*seed as usize % every)
            .step_by(every)
        {
            let Some(deviation) = deviation(&kept, timer) else {
                continue;
            };
            let size = errors
                * deviation
                * (2.0 / side as f64).sqrt()
                * if at % 2 == 0 { 1.0 } else { -1.0 };
            let change = Planted {
                timer,
                share: size.exp_m1(),
            };
            let new = runs(&machine, side..2 * side, scatter, Some(change));
            let comparison = compared(&old, &new, &kept[..history]);
            let cost = comparison
                .figures
                .iter()
                .find(|compared| compared.timer == timer && compared.quantity == Quantity::COST);
            let cost = cost.expect("it has a cost on both sides");
            let sign = if size > 0.0 {
                Verdict::Worse
            } else {
                Verdict::Better
            };
            let (low, high) = cost
                .change
                .percent
                .and_then(|by| by.ends())
                .expect("an interval");
            tally.planted += 1;
            tally.found += u32::from(cost.verdict == sign);
            tally.wrong += u32::from(is_change(&cost) && cost.verdict != sign);
            tally.covered += u32::from((low..=high).contains(&(100.0 * change.share)));
            assert!(
                cost.detectable.is_some_and(|change| change > 0.0),
                "{cost:?}"
            );
        }
        tally
    });
    tallies
        .into_iter()
        .fold(Tally::default(), |sum, one| Tally {
            planted: sum.planted + one.planted,
            found: sum.found + one.found,
            wrong: sum.wrong + one.wrong,
            covered: sum.covered + one.covered,
        })
}

#[test]
fn unchanged_figures_are_not_flagged() {
    // With 1 % of alarms six and more of 100 come once in two thousand times.
    for (scatter, side, history) in [
        (quiet(), 1, 0),
        (quiet(), 5, 0),
        (busy(), 5, 0),
        (quiet(), 1, 12),
    ] {
        let alarms = alarms(100, side, history, &scatter);
        assert!(
            alarms <= 5,
            "{alarms} of 100 with {side} a side and {history} others"
        );
    }
}

#[test]
fn five_runs_detect_change() {
    // Without a history no rule finds much more than four in five: what runs differ by is known too
    // poorly (METHODOLOGY.md).
    for (scatter, history, share) in [
        (quiet(), 0, 0.65),
        (busy(), 0, 0.65),
        (quiet(), 30, 0.9),
        (busy(), 30, 0.9),
    ] {
        let tally = planted(1..9, (5, history), 6.0, &scatter, 4);
        assert!(
            f64::from(tally.found) >= share * f64::from(tally.planted),
            "{history} others: {tally:?}"
        );
        assert_eq!(tally.wrong, 0, "{tally:?}");
    }
}

#[test]
fn single_run_bounds_the_change() {
    let tally = planted(1..9, (1, 0), 4.0, &quiet(), 4);
    assert!(
        f64::from(tally.covered) >= 0.9 * f64::from(tally.planted),
        "{tally:?}"
    );
}

/// Three percent more of a read in user mode, where its runs differ by half a percent at most.
#[test]
fn detects_three_percent_of_read() {
    let (found, all) = three_percent(1..=120);
    assert!(all >= 5 && 10 * found >= 8 * all, "{found} of {all}");
}

fn three_percent(seeds: std::ops::RangeInclusive<u64>) -> (usize, usize) {
    let scatter = quiet();
    let machines = seeds.map(Machine::new);
    let steady: Vec<Machine> = machines
        .filter(|machine| {
            deviation(&runs(machine, 100..130, &scatter, None), "monotonic")
                .is_some_and(|s| s <= 0.005)
        })
        .collect();
    let found = steady.iter().filter(|machine| {
        let change = Planted {
            timer: "monotonic",
            share: 0.03,
        };
        let (old, new) = (
            runs(machine, 0..5, &scatter, None),
            runs(machine, 5..10, &scatter, Some(change)),
        );
        let comparison = compared(&old, &new, &[]);
        let cost = |compared: &&Compared| {
            compared.timer == "monotonic" && compared.quantity == Quantity::COST
        };
        comparison
            .figures
            .iter()
            .find(cost)
            .is_some_and(|cost| cost.verdict == Verdict::Worse)
    });
    (found.count(), steady.len())
}

/// `cargo test --release -p simulate comparing:: -- --ignored --nocapture`: the same at length.
#[test]
#[ignore = "takes minutes"]
fn detection_rates_over_many_seeds() {
    for (name, scatter) in [("quiet", quiet()), ("busy", busy())] {
        for (side, history) in [(1, 0), (1, 10), (5, 0), (5, 10), (5, 30)] {
            println!(
                "{name}, {side} a side, {history} others, unchanged: {} of 400 show a change",
                alarms(400, side, history as u64, &scatter)
            );
            for errors in [6.0, 3.0] {
                println!(
                    "{name}, {side} a side, {history} others, {errors} errors: {:?}",
                    planted(1..41, (side, history), errors, &scatter, 2)
                );
            }
        }
    }
    println!(
        "3 % of monotonic where s is 0.5 % at most: {:?}",
        three_percent(1..=200)
    );
}
