use super::*;

proptest! {
    #[test]
    fn steps_backwards_are_counted_and_measured(deltas in prop::collection::vec(any::<i64>(), 0..60), at in 0..60_usize) {
        let found = Backward::among(deltas.iter().copied());
        let back = deltas.iter().filter(|delta| **delta < 0).map(|delta| delta.unsigned_abs());
        prop_assert_eq!(found.steps, back.clone().count() as u64);
        prop_assert_eq!(found.largest, back.max().unwrap_or(0));
        // In two halves it is the same.
        let (one, other) = deltas.split_at(at.min(deltas.len()));
        let halves = Backward::among(one.iter().copied()).and(Backward::among(other.iter().copied()));
        prop_assert_eq!(found, halves);
    }
}
