use super::*;

proptest! {
    #[test]
    fn a_line_has_its_slope(
        slope in 1..1_000_i64, start in 0..1_000_i64, works in vec(0..10_000_u64, 2..20), seed: u64,
    ) {
        let exact = |work: u64| group(work, vec![start + slope * work as i64; 3]);
        let groups: Vec<Differences> = shuffled(&works, seed).into_iter().map(exact).collect();
        let differ = works.iter().any(|work| *work != works[0]);
        match ticks_per_work(&groups) {
            Some(found) => prop_assert!(differ && near(found, slope as f64, 1e-9), "{found}"),
            None => prop_assert!(!differ),
        }
    }

    #[test]
    fn a_rate_is_positive_or_unknown(
        groups in vec((any::<u64>(), vec(any::<i64>(), 0..5)), 0..6),
        timer: i64, clock: i64,
    ) {
        let groups: Vec<Differences> =
            groups.into_iter().map(|(work, deltas)| group(work, deltas)).collect();
        prop_assert!(ticks_per_work(&groups).is_none_or(|found| found > 0.0 && found.is_finite()));
        match ns_per_tick(timer, clock, 1.0) {
            Some(found) => prop_assert!(found >= 1e-3 && timer > 0 && clock > 0),
            // Nothing counts a thousand times a nanosecond.
            None => prop_assert!(timer <= 0 || clock <= 0 || clock < timer / 1_000 + 1),
        }
    }
}
