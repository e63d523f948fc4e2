//! Tests `compare` on simulated runs of one machine: it reports no change of unchanged figures,
//! finds planted changes, and its intervals contain them. Each seed is another machine.

use timermeter::comparison::{Compared, Comparison, Quantity, Verdict};
use timermeter::model::Report;
use timermeter::parallel;

use machine::{Machine, PlantedChange, Scatter};

mod machine;

/// The variation between runs on a quiet machine: at most half a percent for reads in user mode, 2
/// to 5 % for system calls.
fn quiet_scatter() -> Scatter {
    Scatter {
        core_frequency: 0.017,
        in_user_mode: 0.002..0.005,
        by_kernel: 0.02..0.05,
    }
}

/// The variation between ten runs on a busy virtual machine.
fn busy_scatter() -> Scatter {
    Scatter {
        core_frequency: 0.006,
        in_user_mode: 0.009..0.035,
        by_kernel: 0.07..0.11,
    }
}

/// Simulates the runs with these numbers.
fn simulate_runs(
    machine: &Machine,
    numbers: std::ops::Range<u64>,
    scatter: &Scatter,
    planted: Option<PlantedChange>,
) -> Vec<Report> {
    numbers
        .map(|number| machine.run(number, scatter, planted))
        .collect()
}

/// Compares runs; those in `history` show the variation between runs.
fn compare_runs(old: &[Report], new: &[Report], history: &[Report]) -> Comparison {
    let [old, new, history] = [old, new, history].map(|side| side.iter().collect::<Vec<&Report>>());
    Comparison::between(&old, &new, &history).expect("the same timers")
}

fn is_change(compared: &&Compared) -> bool {
    matches!(compared.verdict, Verdict::Better | Verdict::Worse)
}

/// Returns the number of machines for which `compare` reports a change although nothing changed.
/// `side` is the number of runs on each side; `history` is the number of other runs, from which
/// `compare` determines the variation between runs.
fn count_false_alarms(machines: u64, side: u64, history: u64, scatter: &Scatter) -> u64 {
    let seeds: Vec<u64> = (1..=machines).collect();
    let alarmed = parallel::map(&seeds, |seed| {
        let machine = Machine::new(*seed);
        let (old, new) = (
            simulate_runs(&machine, 0..side, scatter, None),
            simulate_runs(&machine, side..2 * side, scatter, None),
        );
        let others = simulate_runs(&machine, 100..100 + history, scatter, None);
        u64::from(
            compare_runs(&old, &new, &others)
                .figures
                .iter()
                .any(|compared| is_change(&compared)),
        )
    });
    alarmed.iter().sum()
}

/// The standard deviation, over kept runs, of the logarithm of a timer's cost in cycles; `None` if
/// a run has no cost for the timer.
fn cost_deviation(kept: &[Report], timer: &str) -> Option<f64> {
    let costs: Option<Vec<f64>> = kept
        .iter()
        .map(|run| {
            let row = run.timers.iter().find(|row| row.id == timer)?;
            Some((row.cost_ns?.value * run.frequency.effective_hz?.value).ln())
        })
        .collect();
    timermeter::statistics::standard_deviation(&costs?)
}

/// Counts of planted changes.
#[derive(Debug, Default)]
struct Tally {
    planted: u32,
    found: u32,
    /// Reported with the wrong sign.
    wrong: u32,
    /// Intervals that contain the planted change.
    covered: u32,
}

/// Plants a change in one timer at a time, alternately upwards and downwards, in every `every`-th
/// timer of each machine. The size of a change is `errors` standard errors of the difference
/// between the sides.
fn plant_changes(
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
        let kept = simulate_runs(&machine, 100..100 + KEPT, scatter, None);
        let old = simulate_runs(&machine, 0..side, scatter, None);
        let mut tally = Tally::default();
        for (at, timer) in machine
            .timers()
            .enumerate()
            .skip(*seed as usize % every)
            .step_by(every)
        {
            let Some(deviation) = cost_deviation(&kept, timer) else {
                continue;
            };
            let size = errors
                * deviation
                * (2.0 / side as f64).sqrt()
                * if at % 2 == 0 { 1.0 } else { -1.0 };
            let change = PlantedChange {
                timer,
                share: size.exp_m1(),
            };
            let new = simulate_runs(&machine, side..2 * side, scatter, Some(change));
            let comparison = compare_runs(&old, &new, &kept[..history]);
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
        .fold(Tally::default(), |sum, tally| Tally {
            planted: sum.planted + tally.planted,
            found: sum.found + tally.found,
            wrong: sum.wrong + tally.wrong,
            covered: sum.covered + tally.covered,
        })
}

#[test]
fn unchanged_figures_are_not_flagged() {
    // If 1 % of the machines give a false alarm, six or more of 100 do so once in 2000 tests.
    for (scatter, side, history) in [
        (quiet_scatter(), 1, 0),
        (quiet_scatter(), 5, 0),
        (busy_scatter(), 5, 0),
        (quiet_scatter(), 1, 12),
    ] {
        let alarms = count_false_alarms(100, side, history, &scatter);
        assert!(
            alarms <= 5,
            "{alarms} of 100 with {side} a side and {history} others"
        );
    }
}

#[test]
fn five_runs_detect_change() {
    // Without a history no rule finds much more than four in five changes, because five runs
    // determine the variation between runs too poorly (METHODOLOGY.md).
    for (scatter, history, share) in [
        (quiet_scatter(), 0, 0.65),
        (busy_scatter(), 0, 0.65),
        (quiet_scatter(), 30, 0.9),
        (busy_scatter(), 30, 0.9),
    ] {
        let tally = plant_changes(1..9, (5, history), 6.0, &scatter, 4);
        assert!(
            f64::from(tally.found) >= share * f64::from(tally.planted),
            "{history} others: {tally:?}"
        );
        assert_eq!(tally.wrong, 0, "{tally:?}");
    }
}

#[test]
fn single_run_bounds_the_change() {
    let tally = plant_changes(1..9, (1, 0), 4.0, &quiet_scatter(), 4);
    assert!(
        f64::from(tally.covered) >= 0.9 * f64::from(tally.planted),
        "{tally:?}"
    );
}

/// A cost of `monotonic` that is 3 % higher is found if the runs differ by at most half a percent.
#[test]
fn detects_three_percent_of_read() {
    let (found, all) = find_three_percent(1..=120);
    assert!(all >= 5 && 10 * found >= 8 * all, "{found} of {all}");
}

/// Returns the number of machines on which a cost of `monotonic` that is 3 % higher is found, and
/// the number of machines on which its runs differ by at most half a percent.
fn find_three_percent(seeds: std::ops::RangeInclusive<u64>) -> (usize, usize) {
    let scatter = quiet_scatter();
    let machines = seeds.map(Machine::new);
    let steady: Vec<Machine> = machines
        .filter(|machine| {
            cost_deviation(
                &simulate_runs(machine, 100..130, &scatter, None),
                "monotonic",
            )
            .is_some_and(|s| s <= 0.005)
        })
        .collect();
    let found = steady.iter().filter(|machine| {
        let change = PlantedChange {
            timer: "monotonic",
            share: 0.03,
        };
        let (old, new) = (
            simulate_runs(machine, 0..5, &scatter, None),
            simulate_runs(machine, 5..10, &scatter, Some(change)),
        );
        let comparison = compare_runs(&old, &new, &[]);
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

/// `cargo test --release -p simulate comparing:: -- --ignored --nocapture` prints the rates for
/// many seeds.
#[test]
#[ignore = "takes minutes"]
fn detection_rates_over_many_seeds() {
    for (name, scatter) in [("quiet", quiet_scatter()), ("busy", busy_scatter())] {
        for (side, history) in [(1, 0), (1, 10), (5, 0), (5, 10), (5, 30)] {
            println!(
                "{name}, {side} a side, {history} others, unchanged: {} of 400 show a change",
                count_false_alarms(400, side, history as u64, &scatter)
            );
            for errors in [6.0, 3.0] {
                println!(
                    "{name}, {side} a side, {history} others, {errors} errors: {:?}",
                    plant_changes(1..41, (side, history), errors, &scatter, 2)
                );
            }
        }
    }
    println!(
        "3 % of monotonic if the standard deviation is at most 0.5 %: {:?}",
        find_three_percent(1..=200)
    );
}
