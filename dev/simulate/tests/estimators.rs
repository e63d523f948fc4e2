//! The estimators against simulated truth, over many timers and several seeds, none of which the
//! rules were chosen on.

use rayon::prelude::*;
use simulate::score::{Score, Summary, median_is_identifiable};
use simulate::{Case, Verdict, population};
use simulated::Surroundings;
use timermeter::campaign::sampling::Plan;
use timermeter::model::value_of;
use timermeter::profile::{Profile, profile};
use timermeter::scoring::profile_quality;

const SEEDS: [u64; 3] = [11, 12, 13];
const COUNT: usize = 100;

fn verdicts(population: fn(usize, u64) -> Vec<Case>, plan: &Plan) -> Vec<(Case, Verdict)> {
    let cases: Vec<Case> = SEEDS
        .into_iter()
        .flat_map(|seed| population(COUNT, seed))
        .collect();
    cases
        .into_par_iter()
        .map(|case| {
            (
                case.clone(),
                case.judge(plan).expect("a sound reference serves"),
            )
        })
        .collect()
}

fn summary<'a>(verdicts: impl Iterator<Item = &'a Verdict>) -> Summary {
    let mut score = Score::default();
    verdicts.for_each(|verdict| score.add(verdict));
    score.summary()
}

#[test]
fn figures_right_and_intervals_cover() {
    for plan in [Plan::QUICK, Plan::DEFAULT] {
        let verdicts = verdicts(population::regular, &plan);
        let all = summary(verdicts.iter().map(|(_, verdict)| verdict));
        // Where processes differ by percents, so do figures; a sample of 300 scatters by a percent
        // or two around what holds for the population.
        let name = plan.name;
        // Where a longer step cannot be excluded a counter that moves at every tick has a bound and
        // no number.
        let numbers = verdicts
            .iter()
            .map(|(_, verdict)| verdict)
            .filter(|verdict| verdict.resolution.value.is_some());
        let numbers = summary(numbers);
        assert!(
            numbers.resolution.right >= Some(0.99),
            "{name}: resolution right on {:?}",
            numbers.resolution
        );
        assert!(
            100 * numbers.timers >= 97 * all.timers,
            "{name}: {} of {} determined",
            numbers.timers,
            all.timers
        );
        let shown = || {
            verdicts
                .iter()
                .filter(|(case, _)| median_is_identifiable(case))
        };
        let seen = summary(
            shown()
                .map(|(_, verdict)| verdict)
                .filter(|verdict| verdict.resolution.value.is_some()),
        );
        assert!(
            seen.spread.right >= Some(0.95),
            "{name}: spread right on {:?}",
            seen.spread
        );
        assert!(
            seen.quality.right >= Some(0.95),
            "{name}: Quality right on {:?}",
            seen.quality
        );
        assert!(all.order >= 0.99, "{name}: order right on {:?}", all.order);
        for figure in [all.resolution, all.cost, all.spread, all.quality] {
            assert!(figure.covered >= Some(0.9), "{name}: covered on {figure:?}");
        }
        let identical =
            shown().filter(|(case, _)| case.surroundings.processes == Default::default());
        let identical = summary(identical.map(|(_, verdict)| verdict));
        assert!(
            identical.cost.right >= Some(0.96),
            "{name}: cost right on {:?}",
            identical.cost
        );
    }
}

#[test]
fn cost_lies_below_single_call_tail() {
    for (case, verdict) in verdicts(population::regular, &Plan::QUICK) {
        let median = value_of(verdict.row.cost_ns);
        let cost = verdict.row.cost.expect("single calls were made");
        assert!(median <= cost.p99_ns, "{median:?}, {cost:?} of {case:?}");
    }
}

/// A host that answers batches of many calls with nothing measured nothing: its timer has no cost,
/// and so no Quality.
#[test]
fn unmoving_batches_measure_nothing() {
    for case in population::regular(5, 14) {
        let (mut trace, _) = case.probe(&Plan::QUICK).expect("a sound reference serves");
        for run in &mut trace.runs {
            for batches in [
                &mut run.bracket,
                &mut run.singles,
                &mut run.batches,
                &mut run.small_batches,
                &mut run.medium_batches,
            ] {
                batches.deltas.fill(0);
            }
        }
        let profile = profile(&trace);
        assert_eq!((profile.cost, profile.spread), (None, None), "{case:?}");
        assert!(
            profile
                .no_cost_reason
                .is_some_and(|why| why.contains("took no time")),
            "{case:?}"
        );
    }
}

/// What was dropped is kept with what counts, for a later version to judge it again.
#[test]
fn windows_that_were_dropped_are_kept() {
    let unstable = Surroundings {
        wander: 0.06,
        ..Surroundings::default()
    };
    let mut kept = 0;
    for case in population::regular(5, 15) {
        let (trace, _) = Case {
            surroundings: unstable,
            ..case
        }
        .probe(&Plan::QUICK)
        .expect("a sound reference serves");
        kept += trace
            .runs
            .iter()
            .flat_map(|run| &run.dropped)
            .filter(|window| !window.values.is_empty())
            .count();
    }
    assert!(
        kept > 0,
        "a frequency that wanders by 6 % changed within no window"
    );
}

#[test]
fn stepless_clock_gets_no_number() {
    for (_, verdict) in verdicts(population::irregular, &Plan::DEFAULT) {
        assert_eq!(verdict.resolution.value, None, "{verdict:?}");
        assert_eq!(verdict.quality.value, None, "{verdict:?}");
    }
}

/// Where every process was disturbed, intervals reach over all of them and a tenth beyond, as no
/// other tells what disturbed them all.
#[test]
fn always_shared_core_widens_figures() {
    for case in population::regular(20, 16) {
        let (mut trace, hertz) = case.probe(&Plan::QUICK).expect("a sound reference serves");
        let alone = profile(&trace);
        trace.disturbed_runs = trace.runs.len() as u32;
        trace
            .runs
            .iter_mut()
            .for_each(|run| run.batches.unstable = true);
        let shared = profile(&trace);
        let (Some(cost), Some(spread)) = (shared.cost, shared.spread) else {
            continue;
        };
        for (process, _) in &shared.processes {
            assert!(
                cost.low <= 0.9 * process && 1.1 * process <= cost.high,
                "{cost:?} of {process}"
            );
        }
        assert!(
            spread.high >= 1.0 && spread.low <= spread.value,
            "{spread:?}"
        );
        let width = |profile: &Profile| {
            profile_quality(profile, hertz).map(|quality| quality.high - quality.low)
        };
        assert!(
            width(&shared) > width(&alone),
            "{:?} {:?}",
            width(&shared),
            width(&alone)
        );
    }
}
