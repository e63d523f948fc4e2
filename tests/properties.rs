//! What holds for the pure functions whatever they are given.

use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use timermeter::analysis::moments::Moments;
use timermeter::analysis::order::Backward;
use timermeter::analysis::rate::{ns_per_tick, ticks_per_work};
use timermeter::analysis::resolution::{Context, Resolution, resolve};
use timermeter::analysis::shape::Shape;
use timermeter::analysis::spread::successive;
use timermeter::analysis::statistics::{
    mean, median, midmean, midmean_but, over_processes, quantile, sorted,
};
use timermeter::trace::Intervals;

fn near(found: f64, expected: f64, share: f64) -> bool {
    (found - expected).abs() <= share * expected.abs().max(1e-9)
}

fn shuffled<T: Clone>(values: &[T], seed: u64) -> Vec<T> {
    let mut values = values.to_vec();
    values.shuffle(&mut StdRng::seed_from_u64(seed));
    values
}

/// Figures as they occur: times in nanoseconds or ticks.
fn figures(least: usize) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(0.0..1e9_f64, least..60)
}

mod order_statistics {
    use super::*;

    proptest! {
        #[test]
        fn a_quantile_lies_among_the_values(values in figures(1), probability in -0.5..1.5_f64) {
            let sorted = sorted(&values);
            let found = quantile(&sorted, probability).expect("not empty");
            prop_assert!(sorted[0] <= found && found <= sorted[sorted.len() - 1]);
        }

        #[test]
        fn quantiles_grow_with_the_probability(values in figures(1), low in 0.0..1.0_f64, more in 0.0..1.0_f64) {
            let sorted = sorted(&values);
            let slack = 1e-9 * sorted[sorted.len() - 1];
            prop_assert!(quantile(&sorted, low) <= quantile(&sorted, low + more).map(|high| high + slack));
        }

        #[test]
        fn the_order_of_the_values_does_not_matter(values in figures(1), seed: u64) {
            let other = shuffled(&values, seed);
            prop_assert_eq!(median(&values), median(&other));
            prop_assert_eq!(midmean(&values), midmean(&other));
        }

        #[test]
        fn another_unit_scales_them(values in figures(1), factor in 1e-3..1e3_f64) {
            let scaled: Vec<f64> = values.iter().map(|value| value * factor).collect();
            for of in [median, mean, midmean] {
                let (before, after) = (of(&values).expect("not empty"), of(&scaled).expect("not empty"));
                prop_assert!((after - factor * before).abs() <= 1e-9 * factor * 1e9, "{after} {before}");
            }
        }

        #[test]
        fn the_midmean_does_not_see_a_few_interruptions(
            values in prop::collection::vec(100.0..110.0_f64, 8..60),
            length in 1e3..1e12_f64,
            share in 0.0..0.249_f64,
        ) {
            let mut values = values;
            // Fewer than a quarter of all values, rounded the safe way.
            let interrupted = ((values.len() as f64) * share / (1.0 - share)).floor() as usize;
            let interrupted = interrupted.min((values.len() + interrupted) / 4);
            values.extend(std::iter::repeat_n(length, interrupted));
            let found = midmean(&values).expect("not empty");
            prop_assert!((100.0..=110.0).contains(&found), "{found}");
        }

        #[test]
        fn leaving_out_the_highest_never_raises_the_midmean(values in figures(1), share in 0.0..2.0_f64) {
            let all = midmean(&values).expect("not empty");
            if let Some(fewer) = midmean_but(&values, share) {
                prop_assert!(fewer <= all * (1.0 + 1e-9), "{fewer} {all}");
            }
        }

        #[test]
        fn the_interval_over_processes_holds_its_value(values in figures(1)) {
            let found = over_processes(&values).expect("not empty");
            prop_assert!(found.low <= found.value && found.value <= found.high, "{found:?}");
            prop_assert_eq!(found.samples, values.len());
        }

        #[test]
        fn processes_that_agree_leave_no_doubt(value in 0.0..1e9_f64, count in 2..30_usize) {
            let found = over_processes(&vec![value; count]).expect("not empty");
            prop_assert!(near(found.low, value, 1e-9) && near(found.high, value, 1e-9), "{found:?}");
        }
    }

    #[test]
    fn of_nothing_there_is_nothing() {
        assert_eq!(quantile(&[], 0.5), None);
        for of in [median, mean, midmean] {
            assert_eq!(of(&[]), None);
        }
        assert_eq!(over_processes(&[]), None);
    }
}

mod resolution {
    use super::*;

    /// Intervals of an ideal counter that moves by `step` whole ticks: growing work, then random work, then the same
    /// work again. The read costs a quarter of a step, a unit of work takes `unit` steps.
    fn clean(step: i64, unit: f64, seed: u64) -> Vec<Intervals> {
        let mut random = StdRng::seed_from_u64(seed);
        let mut delta = |work: u64| {
            let phase: f64 = random.random_range(0.0..1.0);
            step * (phase + 0.25 + work as f64 * unit).floor() as i64
        };
        let mut groups = vec![Intervals { work: 0, deltas: (0..100).map(|_| delta(0)).collect() }];
        let most = (4.0 / unit) as u64;
        let works: Vec<u64> = (0..400).map(|number| number * most / 400).collect();
        groups.extend(works.iter().map(|&work| Intervals { work, deltas: vec![delta(work)].into() }));
        groups.push(Intervals { work: most / 2, deltas: (0..50).map(|_| delta(most / 2)).collect() });
        groups
    }

    fn step_of(groups: &[Intervals]) -> Result<f64, TestCaseError> {
        match resolve(groups, &[], &Context::default()) {
            Resolution::Resolved { step, .. } => Ok(step.value),
            other => Err(TestCaseError::fail(format!("{other:?}"))),
        }
    }

    prop_compose! {
        fn case()(step in 5..100_000_i64, unit in 0.001..0.3_f64, seed: u64) -> (i64, Vec<Intervals>) {
            (step, clean(step, unit, seed))
        }
    }

    fn map(groups: &[Intervals], of: impl Fn(i64) -> i64) -> Vec<Intervals> {
        let deltas = |group: &Intervals| group.deltas.iter().copied().map(&of).collect();
        groups.iter().map(|group| Intervals { work: group.work, deltas: deltas(group) }).collect()
    }

    const LARGEST: i64 = i64::MAX;

    /// Anything that a subject could answer, the absurd included.
    fn anything() -> impl Strategy<Value = Vec<Intervals>> {
        let delta = prop_oneof![
            any::<i64>(),
            -3..30_i64,
            Just(0),
            Just(1),
            Just(LARGEST),
            Just(i64::MIN),
            (0..9_i64).prop_map(|level| 26 * level),
        ];
        let work = prop_oneof![0..100_u64, any::<u64>()];
        let group = (work, prop::collection::vec(delta, 0..40));
        prop::collection::vec(group, 0..30).prop_map(|groups| {
            groups.into_iter().map(|(work, deltas)| Intervals { work, deltas: deltas.into() }).collect()
        })
    }

    fn context() -> impl Strategy<Value = Context> {
        let figure = || prop_oneof![Just(0.0), 0.0..100.0_f64, 0.0..1e9_f64];
        prop::array::uniform6(figure()).prop_map(
            |[cost, cost_deviation, cost_lower_width, cost_edge, reference_step, work_unit]| Context {
                reference_step,
                cost_deviation,
                cost_lower_width,
                cost_edge,
                cost,
                work_unit,
            },
        )
    }

    proptest! {
        #[test]
        fn the_step_of_an_ideal_counter_is_found((step, groups) in case()) {
            let found = step_of(&groups)?;
            prop_assert!(near(found, step as f64, 0.01), "{found} instead of {step}");
        }

        #[test]
        fn it_scales_with_the_ticks((_, groups) in case(), factor in 2..1_000_i64) {
            let scaled = map(&groups, |delta| delta * factor);
            let (before, after) = (step_of(&groups)?, step_of(&scaled)?);
            prop_assert!(near(after, before * factor as f64, 0.001), "{after} instead of {factor} × {before}");
        }

        #[test]
        fn the_order_of_groups_and_of_intervals_does_not_matter((_, groups) in case(), seed: u64) {
            let mut other = shuffled(&groups, seed);
            for group in &mut other {
                group.deltas = shuffled(&group.deltas, seed).into();
            }
            let (before, after) = (step_of(&groups)?, step_of(&other)?);
            prop_assert!(near(after, before, 1e-6), "{after} instead of {before}");
        }

        #[test]
        fn a_few_interruptions_do_not_move_it(
            (_, groups) in case(), share in 0.0..0.02_f64, seed: u64, longest in 100.0..1e6_f64,
        ) {
            let mut random = StdRng::seed_from_u64(seed);
            let before = step_of(&groups)?;
            let all: usize = groups.iter().map(|group| group.deltas.len()).sum();
            let mut left = (share * all as f64) as usize;
            let mut other = groups.clone();
            while left > 0 {
                let at = random.random_range(0..other.len());
                let deltas = &mut other[at].deltas;
                let length = before * random.random_range(20.0..longest);
                deltas.push(length as i64);
                left -= 1;
            }
            let after = step_of(&other)?;
            prop_assert!(near(after, before, 0.01), "{after} instead of {before}");
        }

        #[test]
        fn whatever_it_is_given_it_answers(
            groups in anything(),
            tight in prop::collection::vec(prop::collection::vec(any::<i64>(), 0..20), 0..4),
            context in context(),
        ) {
            match resolve(&groups, &tight, &context) {
                Resolution::Resolved { step, .. } => {
                    prop_assert!(step.value > 0.0 && step.value.is_finite(), "{step:?}");
                    prop_assert!(step.low <= step.value && step.value <= step.high, "{step:?}");
                }
                Resolution::AtMost { bound, .. } => prop_assert!(bound > 0.0, "{bound}"),
                Resolution::Unmoved => {
                    let moved = groups.iter().flat_map(|group| &group.deltas).any(|&delta| delta > 0);
                    prop_assert!(!moved);
                }
            }
        }

    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn many_random_intervals_of_any_size_are_answered(seed: u64, context in context()) {
            // Enough of them for the spectrum, some at the end of what fits.
            let mut random = StdRng::seed_from_u64(seed);
            let groups: Vec<Intervals> = (0..900)
                .map(|_| {
                    let absurd = random.random_bool(0.01);
                    let delta = if absurd { LARGEST - random.random_range(0..300_i64) } else { random.random_range(1..200) };
                    Intervals { work: random.random_range(0..40), deltas: vec![delta].into() }
                })
                .collect();
            let _ = resolve(&groups, &[successive(&[0, 3, 5, 9])], &context);
        }

    }

    proptest! {
        #[test]
        fn what_stands_still_has_no_step(works in prop::collection::vec(0..1_000_u64, 0..40), repeat in 0..20_usize) {
            let groups: Vec<Intervals> =
                works.into_iter().map(|work| Intervals { work, deltas: vec![0; repeat].into() }).collect();
            prop_assert_eq!(resolve(&groups, &[vec![0; repeat]], &Context::default()), Resolution::Unmoved);
        }
    }
}

mod single_invocations {
    use super::*;

    /// What is known besides the samples: their moments, the kind of their shape, whether they are the timer's own.
    type Hint = (Moments, Option<usize>, bool);

    const NO_HINT: Hint = (Moments { deviation: 0.0, skewness: None }, None, false);

    fn hint() -> impl Strategy<Value = Hint> {
        let deviation = prop_oneof![Just(0.0), 0.0..2.0_f64, 0.0..100.0_f64];
        let moments = (deviation, prop::option::of(-10.0..10.0_f64))
            .prop_map(|(deviation, skewness)| Moments { deviation, skewness });
        (moments, prop::option::of(0..4_usize), any::<bool>())
    }

    fn shape_of(samples: &[i64], step: f64, (moments, kind, own): Hint) -> Shape {
        Shape::of(samples, step, moments, kind, own).expect("there are samples")
    }

    fn samples() -> impl Strategy<Value = Vec<i64>> {
        let sample = prop_oneof![4 => 0..200_i64, 2 => 0..4_i64, 1 => 0..1_000_000_i64];
        prop::collection::vec(sample, 1..80)
    }

    fn any_samples() -> impl Strategy<Value = Vec<i64>> {
        let sample = prop_oneof![any::<i64>(), -5..50_i64, Just(0), Just(i64::MAX), Just(i64::MIN)];
        prop::collection::vec(sample, 1..50)
    }

    fn step() -> impl Strategy<Value = f64> {
        prop_oneof![Just(1.0), Just(26.0), 0.1..100.0_f64]
    }

    proptest! {
        #[test]
        fn the_share_is_a_share(samples in samples(), step in step(), hint in hint(), reach in 0.0..1e6_f64) {
            let shape = shape_of(&samples, step, hint);
            let share = shape.share_within(reach);
            prop_assert!(share > 0.0 && share <= 1.0, "{share}");
            prop_assert!((0.0..1.0).contains(&shape.rare()), "{}", shape.rare());
        }

        #[test]
        fn everything_lies_within_a_large_reach(samples in samples(), step in step(), hint in hint()) {
            let shape = shape_of(&samples, step, hint);
            prop_assert!(near(shape.share_within(1e7), 1.0, 1e-9));
        }

        #[test]
        fn the_median_lies_among_the_samples(samples in samples(), step in step(), hint in hint()) {
            let shape = shape_of(&samples, step, hint);
            let least = *samples.iter().min().expect("there are samples") as f64;
            let most = *samples.iter().max().expect("there are samples") as f64;
            let found = shape.median();
            // Half a step to the level at which a sample counts, one step from there to its cost.
            let reach = 1.501 * step;
            prop_assert!(least - reach <= found && found <= most + reach, "{found} outside {least} to {most}");
        }

        #[test]
        fn quantiles_do_not_fall(samples in samples(), step in step(), low in 0.01..0.99_f64, more in 0.0..0.5_f64) {
            let shape = shape_of(&samples, step, NO_HINT);
            let (low, high) = (shape.quantile(low), shape.quantile((low + more).min(0.99)));
            prop_assert!(low <= high + 1e-6 * high.abs().max(step), "{low} {high}");
        }

        #[test]
        fn the_order_of_the_samples_does_not_matter(samples in samples(), step in step(), seed: u64) {
            let one = shape_of(&samples, step, NO_HINT);
            let other = shape_of(&shuffled(&samples, seed), step, NO_HINT);
            prop_assert_eq!(one.median(), other.median());
            prop_assert_eq!(one.rare(), other.rare());
            prop_assert_eq!(one.share_within(step), other.share_within(step));
            prop_assert!(near(one.core_mean(), other.core_mean(), 1e-9));
        }

        #[test]
        fn whatever_it_is_given_it_answers(samples in any_samples(), step in step(), hint in hint(), reach in 0.0..1e6_f64) {
            let shape = shape_of(&samples, step, hint);
            let share = shape.share_within(reach);
            prop_assert!(share > 0.0 && share <= 1.0, "{share}");
            prop_assert!(shape.median().is_finite());
        }
    }

    #[test]
    fn of_nothing_there_is_no_shape() {
        assert!(Shape::of(&[], 1.0, Moments::default(), None, false).is_none());
    }
}

mod rates {
    use super::*;

    proptest! {
        #[test]
        fn a_line_has_its_slope(
            slope in 1..1_000_i64, start in 0..1_000_i64, works in prop::collection::vec(0..10_000_u64, 2..20), seed: u64,
        ) {
            let group = |&work: &u64| Intervals { work, deltas: vec![start + slope * work as i64; 3].into() };
            let groups: Vec<Intervals> = shuffled(&works, seed).iter().map(group).collect();
            let differ = works.iter().any(|work| *work != works[0]);
            match ticks_per_work(&groups) {
                Some(found) => prop_assert!(differ && near(found, slope as f64, 1e-9), "{found}"),
                None => prop_assert!(!differ),
            }
        }

        #[test]
        fn a_rate_is_positive_or_unknown(
            groups in prop::collection::vec((any::<u64>(), prop::collection::vec(any::<i64>(), 0..5)), 0..6),
            timer: i64, clock: i64,
        ) {
            let groups: Vec<Intervals> =
                groups.into_iter().map(|(work, deltas)| Intervals { work, deltas: deltas.into() }).collect();
            prop_assert!(ticks_per_work(&groups).is_none_or(|found| found > 0.0 && found.is_finite()));
            match ns_per_tick(timer, clock, 1.0) {
                Some(found) => prop_assert!(found >= 1e-3 && timer > 0 && clock > 0),
                // Nothing counts a thousand times a nanosecond.
                None => prop_assert!(timer <= 0 || clock <= 0 || clock < timer / 1_000 + 1),
            }
        }
    }
}

mod order {
    use super::*;

    proptest! {
        #[test]
        fn steps_backwards_are_counted_and_measured(deltas in prop::collection::vec(any::<i64>(), 0..60), at in 0..60_usize) {
            let found = Backward::among(deltas.iter().copied());
            prop_assert_eq!(found.steps, deltas.iter().filter(|delta| **delta < 0).count() as u64);
            prop_assert_eq!(found.largest, deltas.iter().filter(|delta| **delta < 0).map(|delta| delta.unsigned_abs()).max().unwrap_or(0));
            // In two halves it is the same.
            let (one, other) = deltas.split_at(at.min(deltas.len()));
            let halves = Backward::among(one.iter().copied()).and(Backward::among(other.iter().copied()));
            prop_assert_eq!(found, halves);
        }

        #[test]
        fn rising_readings_never_step_back(mut readings in prop::collection::vec(0..i64::MAX, 0..60)) {
            readings.sort_unstable();
            prop_assert_eq!(Backward::among(successive(&readings)), Backward::default());
        }
    }
}
