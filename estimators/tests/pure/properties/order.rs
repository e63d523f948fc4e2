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
