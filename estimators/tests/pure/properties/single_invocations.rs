use super::*;

/// What is known besides the samples: their moments, and the kind of their shape.
type Hint = (Moments, ModelKind);

const NO_HINT: Hint = (Moments::UNKNOWN, ModelKind::OneCost);

fn hint() -> impl Strategy<Value = Hint> {
    let variance = prop_oneof![Just(0.0), 0.0..4.0_f64, 0.0..1e4_f64];
    let error = prop_oneof![Just(f64::INFINITY), 1e-3..10.0_f64];
    let skewness = prop::option::of((-10.0..10.0_f64, 0.1..2.0_f64));
    let moments = (variance, error, skewness).prop_map(|(value, error, skewness)| Moments {
        variance: (value, error),
        skewness,
    });
    let kinds = prop::sample::select(vec![
        ModelKind::OneCost,
        ModelKind::TwoCosts,
        ModelKind::TwoVariableCosts,
        ModelKind::Interpolated,
    ]);
    (moments, kinds)
}

fn shape_of(samples: &[i64], step: f64, (moments, kind): Hint) -> CostShape {
    Fits::from_samples(samples, step, moments, moments)
        .expect("there are samples")
        .shape(kind)
}

fn samples() -> impl Strategy<Value = Vec<i64>> {
    let sample = prop_oneof![4 => 0..200_i64, 2 => 0..4_i64, 1 => 0..1_000_000_i64];
    prop::collection::vec(sample, 1..80)
}

fn any_samples() -> impl Strategy<Value = Vec<i64>> {
    let sample = prop_oneof![
        any::<i64>(),
        -5..50_i64,
        Just(0),
        Just(i64::MAX),
        Just(i64::MIN)
    ];
    prop_oneof![samples(), prop::collection::vec(sample, 1..50)]
}

fn step() -> impl Strategy<Value = f64> {
    prop_oneof![Just(1.0), Just(26.0), 0.1..100.0_f64]
}

proptest! {
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
    fn order_of_samples_is_irrelevant(samples in samples(), step in step(), seed: u64) {
        let one = shape_of(&samples, step, NO_HINT);
        let other = shape_of(&shuffled(&samples, seed), step, NO_HINT);
        prop_assert_eq!(one.median(), other.median());
        prop_assert_eq!(one.interruption_share(), other.interruption_share());
        prop_assert_eq!(one.share_within(step), other.share_within(step));
        prop_assert!(near(one.core_mean(), other.core_mean(), 1e-9));
    }

    #[test]
    fn whatever_it_is_given_it_answers(samples in any_samples(), step in step(), hint in hint(), reach in 0.0..1e6_f64) {
        let shape = shape_of(&samples, step, hint);
        let share = shape.share_within(reach);
        prop_assert!(share > 0.0 && share <= 1.0, "{share}");
        prop_assert!((0.0..1.0).contains(&shape.interruption_share()), "{}", shape.interruption_share());
        prop_assert!(shape.median().is_finite());
    }
}

#[test]
fn of_nothing_there_is_no_shape() {
    assert!(Fits::from_samples(&[], 1.0, Moments::UNKNOWN, Moments::UNKNOWN).is_none());
}
