//! Schedules pairs of CPUs: every pair once, in as few rounds as possible, with each CPU at most
//! once per round.

/// Returns rounds of disjoint pairs, by the circle method of round-robin tournaments. For `n` CPUs,
/// there are `n - 1` rounds if `n` is even, and `n` rounds if it is odd. If there are more than
/// `max_rounds`, returns `max_rounds` of them, spread evenly.
pub fn schedule_rounds(cpus: &[u32], max_rounds: usize) -> Vec<Vec<[u32; 2]>> {
    let mut seats: Vec<Option<u32>> = cpus.iter().copied().map(Some).collect();
    if seats.len() % 2 == 1 {
        // The CPU paired with this empty seat has no partner in that round.
        seats.push(None);
    }
    let all = seats.len().saturating_sub(1);
    let mut rounds = Vec::with_capacity(all);
    for _ in 0..all {
        let half = seats.len() / 2;
        let pairs =
            (0..half).filter_map(|seat| Some([seats[seat]?, seats[seats.len() - 1 - seat]?]));
        rounds.push(pairs.collect());
        // The first seat stays, the others rotate by one.
        seats[1..].rotate_right(1);
    }
    if all <= max_rounds {
        return rounds;
    }
    (0..max_rounds)
        .map(|turn| std::mem::take(&mut rounds[turn * all / max_rounds]))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn schedules_every_pair_once() {
        for count in [2_u32, 3, 4, 7, 16, 63, 64, 128] {
            let cpus: Vec<u32> = (0..count).map(|cpu| 3 * cpu + 1).collect();
            let rounds = schedule_rounds(&cpus, usize::MAX);
            assert_eq!(
                rounds.len() as u32,
                if count % 2 == 0 { count - 1 } else { count },
                "{count} CPUs"
            );
            let mut met = BTreeSet::new();
            for round in &rounds {
                let mut busy = BTreeSet::new();
                for [a, b] in round {
                    assert!(
                        busy.insert(a) && busy.insert(b),
                        "{count} CPUs: a CPU is in two pairs of a round"
                    );
                    assert!(
                        met.insert([a.min(b), a.max(b)]),
                        "{count} CPUs: {a} and {b} are paired twice"
                    );
                }
            }
            assert_eq!(met.len() as u32, count * (count - 1) / 2);
        }
    }

    #[test]
    fn few_cpus_need_few_rounds() {
        assert!(schedule_rounds(&[], 9).is_empty());
        assert!(schedule_rounds(&[5], 9).iter().all(Vec::is_empty));
        assert_eq!(schedule_rounds(&[5, 2], 9), [[[5, 2]]]);
    }

    #[test]
    fn bounds_number_of_rounds() {
        let cpus: Vec<u32> = (0..256).collect();
        let kept = schedule_rounds(&cpus, 63);
        assert_eq!(kept.len(), 63);
        assert!(kept.iter().all(|round| round.len() == 128));
    }
}
