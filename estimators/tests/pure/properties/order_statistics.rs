use super::*;

proptest! {
    #[test]
    fn a_quantile_lies_among_the_values(values in figures(1), probability in -0.5..1.5_f64) {
        let sorted = sorted(&values);
        let found = quantile(&sorted, probability).unwrap();
        prop_assert!(sorted[0] <= found && found <= sorted[sorted.len() - 1]);
    }

    #[test]
    fn quantiles_grow_with_the_probability(values in figures(1), low in 0.0..1.0_f64, more in 0.0..1.0_f64) {
        let sorted = sorted(&values);
        let slack = 1e-9 * sorted[sorted.len() - 1];
        prop_assert!(quantile(&sorted, low) <= quantile(&sorted, low + more).map(|high| high + slack));
    }

    #[test]
    fn order_of_values_is_irrelevant(values in figures(1), seed: u64) {
        let other = shuffled(&values, seed);
        prop_assert_eq!(median(&values), median(&other));
        prop_assert_eq!(midmean(&values), midmean(&other));
    }

    #[test]
    fn another_unit_scales_them(values in figures(1), factor in 1e-3..1e3_f64) {
        let scaled: Vec<f64> = values.iter().map(|value| value * factor).collect();
        for of in [median, mean, midmean] {
            let (before, after) = (of(&values).unwrap(), of(&scaled).unwrap());
            prop_assert!((after - factor * before).abs() <= 1e-9 * factor * 1e9, "{after} {before}");
        }
    }

    #[test]
    fn midmean_ignores_few_interruptions(
        values in vec(100.0..110.0_f64, 8..60),
        length in 1e3..1e12_f64,
        share in 0.0..0.249_f64,
    ) {
        let mut values = values;
        // Fewer than a quarter of all values, rounded the safe way.
        let interrupted = ((values.len() as f64) * share / (1.0 - share)).floor() as usize;
        let interrupted = interrupted.min((values.len() + interrupted) / 4);
        values.extend(std::iter::repeat_n(length, interrupted));
        let found = midmean(&values).unwrap();
        prop_assert!((100.0..=110.0).contains(&found), "{found}");
    }

    #[test]
    fn dropping_highest_never_raises_midmean(values in figures(1), share in 0.0..2.0_f64) {
        let all = midmean(&values).unwrap();
        if let Some(fewer) = midmean_without_highest(&values, share) {
            prop_assert!(fewer <= all * (1.0 + 1e-9), "{fewer} {all}");
        }
    }

    #[test]
    fn interval_over_processes_holds_value(values in figures(1)) {
        let found = mean_over_processes(&values).unwrap();
        prop_assert_eq!(found.is_bounded(), values.len() > 1);
        prop_assert!(found.low <= found.value && found.value <= found.high, "{found:?}");
    }
}

#[test]
fn of_nothing_there_is_nothing() {
    assert_eq!(quantile(&[], 0.5), None);
    for of in [median, mean, midmean] {
        assert_eq!(of(&[]), None);
    }
    assert_eq!(mean_over_processes([0.0; 0]), None);
}
