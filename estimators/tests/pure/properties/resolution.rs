use super::*;

/// Differences of an ideal counter that moves by `step` whole ticks: growing work, then random work,
/// then the same work again. The read costs a quarter of a step, a unit of work takes `unit` steps.
fn clean(step: i64, unit: f64, seed: u64) -> Vec<Differences> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut delta = |work: u64| {
        let phase: f64 = random.random_range(0.0..1.0);
        step * (phase + 0.25 + work as f64 * unit).floor() as i64
    };
    let mut groups = vec![group(0, (0..100).map(|_| delta(0)).collect())];
    let most = (4.0 / unit) as u64;
    let works: Vec<u64> = (0..400).map(|number| number * most / 400).collect();
    groups.extend(works.iter().map(|&work| group(work, vec![delta(work)])));
    let again = (0..50).map(|_| delta(most / 2)).collect();
    groups.push(group(most / 2, again));
    groups
}

fn step_of(groups: &[Differences]) -> Result<f64, TestCaseError> {
    match resolve(groups, &[], &KnownDurations::default()) {
        Step::Resolved { step, .. } => Ok(step.value),
        other => Err(TestCaseError::fail(format!("{other:?}"))),
    }
}

prop_compose! {
    fn case()(step in 5..100_000_000_i64, unit in 0.001..0.3_f64, seed: u64) -> (i64, Vec<Differences>) {
        (step, clean(step, unit, seed))
    }
}

const LARGEST: i64 = i64::MAX;

/// Anything that a subject could answer, the absurd included.
fn anything() -> impl Strategy<Value = Vec<Differences>> {
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
    let groups = (work, vec(delta, 0..40)).prop_map(|(work, deltas)| group(work, deltas));
    vec(groups, 0..30)
}

fn context() -> impl Strategy<Value = KnownDurations> {
    let figure = || prop_oneof![Just(0.0), 0.0..100.0_f64, 0.0..1e9_f64];
    prop::array::uniform4(figure()).prop_map(|[cost, cost_width, reference_step, work_unit]| {
        KnownDurations {
            reference_step,
            cost_width,
            cost,
            work_unit,
            is_rounded: false,
        }
    })
}

proptest! {
    #[test]
    fn finds_step_of_ideal_counter((step, groups) in case()) {
        let found = step_of(&groups)?;
        prop_assert!(near(found, step as f64, 0.01), "{found} instead of {step}");
    }

    #[test]
    fn order_of_intervals_is_irrelevant((_, groups) in case(), seed: u64) {
        let mut other = shuffled(&groups, seed);
        for group in &mut other {
            group.deltas = shuffled(&group.deltas, seed).into();
        }
        let (before, after) = (step_of(&groups)?, step_of(&other)?);
        prop_assert!(near(after, before, 1e-6), "{after} instead of {before}");
    }

    #[test]
    fn few_interruptions_keep_the_step(
        (_, groups) in case(), share in 0.0..0.02_f64, seed: u64, longest in 100.0..1e6_f64,
    ) {
        let mut random = StdRng::seed_from_u64(seed);
        let before = step_of(&groups)?;
        let all: usize = groups.iter().map(|group| group.deltas.len()).sum();
        let mut other = groups.clone();
        for _ in 0..(share * all as f64) as usize {
            let at = random.random_range(0..other.len());
            let length = before * random.random_range(20.0..longest);
            other[at].deltas.push(length as i64);
        }
        let after = step_of(&other)?;
        prop_assert!(near(after, before, 0.01), "{after} instead of {before}");
    }

    #[test]
    fn processes_widen_without_moving_step(each in vec(anything(), 0..4), ideal in vec(case(), 0..3), unit in 0.0..9.0_f64) {
        let ideal = ideal.into_iter().map(|(_, groups)| groups);
        let runs: Vec<Vec<Differences>> = each.into_iter().chain(ideal).collect();
        let pooled = resolve(&runs.concat(), &[], &KnownDurations::default());
        let processes: Vec<Process> = runs.iter().map(|intervals| Process::new(intervals)).collect();
        match (&pooled, confirm_by_processes(pooled.clone(), &processes, unit)) {
            (Step::Resolved { step: before, .. }, Step::Resolved { step: after, .. }) => {
                prop_assert_eq!(before.value, after.value);
                prop_assert!(after.low <= before.low && before.high <= after.high, "{:?} of {:?}", after, before);
            }
            (Step::Resolved { .. }, Step::AtMost { bound, .. }) => prop_assert!(bound > 0.0, "{bound}"),
            (_, after) => prop_assert_eq!(&pooled, &after),
        }
    }

    #[test]
    fn processes_of_one_step_agree((_, groups) in case(), count in 2..6_usize) {
        let pooled = resolve(&groups, &[], &KnownDurations::default());
        let processes: Vec<Process> = (0..count).map(|_| Process::new(&groups)).collect();
        let resolved = matches!(confirm_by_processes(pooled, &processes, 0.0), Step::Resolved { .. });
        prop_assert!(resolved);
    }

    #[test]
    fn whatever_it_is_given_it_answers(
        groups in anything(),
        tight in vec(vec(any::<i64>(), 0..20), 0..4),
        context in context(),
    ) {
        match resolve(&groups, &tight, &context) {
            Step::Resolved { step, .. } => {
                prop_assert!(step.value > 0.0 && step.value.is_finite(), "{step:?}");
                prop_assert!(step.low <= step.value && step.value <= step.high, "{step:?}");
            }
            Step::AtMost { bound, .. } => prop_assert!(bound > 0.0, "{bound}"),
            Step::Unmoved => {
                let moved = groups.iter().flat_map(|group| &group.deltas).any(|&delta| delta > 0);
                prop_assert!(!moved);
            }
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn answers_random_intervals(seed: u64, context in context()) {
        // Enough of them for the spectrum, some at the end of what fits.
        let mut random = StdRng::seed_from_u64(seed);
        let groups: Vec<Differences> = (0..900)
            .map(|_| {
                let absurd = random.random_bool(0.01);
                let delta = if absurd { LARGEST - random.random_range(0..300_i64) } else { random.random_range(1..200) };
                group(random.random_range(0..40), vec![delta])
            })
            .collect();
        let _ = resolve(&groups, &[successive(&vec![0, 3, 5, 9].into())], &context);
    }

}

proptest! {
    #[test]
    fn what_stands_still_has_no_step(works in vec(0..1_000_u64, 0..40), repeat in 0..20_usize) {
        let groups: Vec<Differences> = works.into_iter().map(|work| group(work, vec![0; repeat])).collect();
        prop_assert_eq!(resolve(&groups, &[vec![0; repeat]], &KnownDurations::default()), Step::Unmoved);
    }
}
