use super::*;

#[test]
fn steps_backwards_are_counted_and_measured() {
    let among = |deltas: &[i64]| Backward::among(deltas.iter().copied());
    let both = among(&[3, -7]).and(among(&[i64::MIN, 0, -1]));
    assert_eq!((both.steps, both.largest), (3, 1 << 63));
    assert_eq!(among(&[0, 5]), among(&[]));
}
