//! Lists of CPUs as the kernel writes them: `0-3,5,7-8`.

use std::ops::RangeInclusive;

/// A list of CPUs. `None` when it is something else.
#[must_use]
pub fn parse_list(list: &str) -> Option<Vec<RangeInclusive<u32>>> {
    list.trim()
        .split(',')
        .map(|part| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
            (first <= last).then_some(first..=last)
        })
        .collect()
}

/// How many CPUs a list has.
#[must_use]
pub fn count(list: &[RangeInclusive<u32>]) -> Option<u32> {
    let cpus = list.iter().map(|range| u64::from(range.end() - range.start()) + 1).sum::<u64>();
    u32::try_from(cpus).ok()
}

/// How many CPUs a list has, as text; none for an empty one.
#[must_use]
pub fn count_of(list: &str) -> Option<u32> {
    if list.trim().is_empty() { Some(0) } else { count(&parse_list(list)?) }
}

/// The CPUs of a list; `None` where they are more than any machine has.
#[must_use]
pub fn cpus_in(list: &str) -> Option<Vec<u32>> {
    /// Of the largest `CONFIG_NR_CPUS` several times as many.
    const MOST: u32 = 1 << 16;
    let ranges = parse_list(list)?;
    (count(&ranges)? <= MOST).then(|| ranges.into_iter().flatten().collect())
}

/// CPUs in ascending order as a list.
#[must_use]
pub fn written(cpus: &[u32]) -> String {
    let mut ranges: Vec<RangeInclusive<u32>> = Vec::new();
    for &cpu in cpus {
        match ranges.last_mut() {
            Some(range) if range.end().checked_add(1) == Some(cpu) => *range = *range.start()..=cpu,
            _ => ranges.push(cpu..=cpu),
        }
    }
    let text = |range: RangeInclusive<u32>| match (range.start(), range.end()) {
        (first, last) if first == last => first.to_string(),
        (first, last) => format!("{first}-{last}"),
    };
    ranges.into_iter().map(text).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lists_of_cpus() {
        assert_eq!(parse_list("0-3,5,7-8\n"), Some(vec![0..=3, 5..=5, 7..=8]));
        assert_eq!(parse_list("0"), Some(vec![0..=0]));
        for odd in ["", ",", "3-1", "a", "0-", "-1", "0-3,", "4294967296"] {
            assert_eq!(parse_list(odd), None, "{odd:?}");
        }
    }

    #[test]
    fn counts_of_cpus() {
        for (list, counted) in [
            ("0-3,5,7-8", Some(7)),
            ("0-8191", Some(8192)),
            ("0-4294967295", None),
            (" \n", Some(0)),
            ("none", None),
        ] {
            assert_eq!(count_of(list), counted, "{list:?}");
        }
    }

    proptest! {
        #[test]
        fn parsers_never_panic(text in any::<String>(), list in "[-0-9, \n]{0,40}") {
            let _ = count_of(&text);
            let _ = count_of(&list);
        }

        #[test]
        fn what_is_written_is_read(cpus in prop::collection::btree_set(0_u32..5_000, 1..40)) {
            let cpus: Vec<u32> = cpus.into_iter().collect();
            let read = parse_list(&written(&cpus)).expect("it is a list");
            prop_assert_eq!(read.into_iter().flatten().collect::<Vec<_>>(), cpus);
        }
    }
}
