use super::*;

fn located(samples: &[i64], step: f64) -> Located {
    let levels = Levels::new(samples.iter().copied(), step).expect("there are samples");
    Located::new(levels, 0.0, None)
}

fn samples() -> impl Strategy<Value = Vec<i64>> {
    let sample = prop_oneof![4 => 0..200_i64, 2 => 0..4_i64, 1 => 0..1_000_000_i64];
    vec(sample, 1..80)
}

fn any_samples() -> impl Strategy<Value = Vec<i64>> {
    let sample = prop_oneof![
        any::<i64>(),
        -5..50_i64,
        Just(0),
        Just(i64::MAX),
        Just(i64::MIN)
    ];
    prop_oneof![samples(), vec(sample, 1..50)]
}

fn step() -> impl Strategy<Value = f64> {
    prop_oneof![Just(1.0), Just(26.0), 0.1..100.0_f64]
}

/// Levels of durations of so many steps, at `phases` equidistant phases.
fn at_all_phases(durations: &[f64], phases: u32) -> Vec<i64> {
    let at = |steps: &f64| {
        let shown =
            move |phase| (steps + (f64::from(phase) + 0.5) / f64::from(phases)).floor() as i64;
        (0..phases).map(shown).collect::<Vec<i64>>()
    };
    durations.iter().flat_map(at).collect()
}

proptest! {
    #[test]
    fn everything_lies_within_a_large_reach(samples in samples(), step in step()) {
        prop_assert!(near(located(&samples, step).share_within(1e8).value, 1.0, 1e-9));
    }

    #[test]
    fn the_median_lies_among_the_samples(samples in samples(), step in step()) {
        let found = located(&samples, step).median * step;
        let least = *samples.iter().min().expect("there are samples") as f64;
        let most = *samples.iter().max().expect("there are samples") as f64;
        let reach = 1.501 * step;
        prop_assert!(least - reach <= found && found <= most + reach, "{found} outside {least} to {most}");
    }

    #[test]
    fn quantiles_do_not_fall(samples in samples(), step in step(), low in 0.01..0.99_f64, more in 0.0..0.5_f64) {
        let levels = located(&samples, step).levels;
        let (low, high) = (levels.quantile(low), levels.quantile((low + more).min(0.99)));
        prop_assert!(low <= high + 1e-6 * high.abs().max(1.0), "{low} {high}");
    }

    #[test]
    fn order_of_samples_is_irrelevant(samples in samples(), step in step(), seed: u64) {
        let (one, other) = (located(&samples, step), located(&shuffled(&samples, seed), step));
        prop_assert_eq!(one.median, other.median);
        prop_assert_eq!(one.levels.interruption_share(), other.levels.interruption_share());
        prop_assert_eq!(one.share_within(1.0), other.share_within(1.0));
    }

    #[test]
    fn whatever_it_is_given_it_answers(samples in any_samples(), step in step(), reach in 0.0..1e6_f64) {
        let found = located(&samples, step);
        let share = found.share_within(reach);
        prop_assert!(0.0 < share.low && share.low <= share.value, "{share:?}");
        prop_assert!(share.value <= share.high && share.high <= 1.0, "{share:?}");
        prop_assert!((0.0..1.0).contains(&found.levels.interruption_share()));
        prop_assert!((found.median + found.error).is_finite());
        prop_assert!(found.levels.quantile(0.99).is_finite());
    }

    /// Whatever the phase, the median of a constant duration is exact, and all durations lie within
    /// the shortest reach.
    #[test]
    fn constant_durations_are_exact(steps in 0.0..90.0_f64) {
        let levels = Levels::new(at_all_phases(&[steps], 1_000), 1.0).expect("there are samples");
        let found = Located::new(levels, 0.0, Some([0.0; 2]));
        prop_assert!((found.median - steps).abs() < 1e-3, "{steps}: {}", found.median);
        prop_assert!(found.error < 0.05 && found.share_within(0.5).value > 0.999);
    }
}

#[test]
fn nothing_has_no_levels() {
    assert!(Levels::new([], 1.0).is_none());
}

/// Half of the durations of one step less, most of them in a mode two steps above the median.
#[test]
fn far_modes_do_not_move_the_median() {
    let durations = [[4.3; 7].as_slice(), &[9.1; 3]].concat();
    let found = located(&at_all_phases(&durations, 500), 1.0);
    assert!((found.median - 4.3).abs() < 0.01, "{}", found.median);
    let share = found.share_within(2.0);
    assert!(
        (share.value - 0.7).abs() < 1e-3 && share.contains(0.7),
        "{share:?}"
    );
}

/// Within a step two durations look like one: the error has to reach both medians.
#[test]
fn durations_within_a_step_widen_the_error() {
    let levels =
        Levels::new(at_all_phases(&[4.2, 4.2, 4.8], 1_000), 1.0).expect("there are samples");
    let of_batches = variance_in_batches(&levels, 8.0).expect("there are batches");
    assert!(of_batches[1] > 0.0);
    let found = Located::new(levels, 0.0, Some([0.0, 0.08]));
    assert!((found.median - 4.2).abs() < found.error + 0.01, "{found:?}");
}
