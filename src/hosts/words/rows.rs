//! A line of integers as the answer to a request.

use smallvec::SmallVec;

use super::json;
use crate::hosts::protocol::{Request, answers};

/// The integers of a line, if it holds nothing else.
pub(super) fn integers(line: &str) -> Option<Vec<i64>> {
    line.split_ascii_whitespace()
        .map(|word| word.parse().ok())
        .collect()
}

/// What they answer; `None` where their number cannot be right. `cpu_time` is whether waits report
/// theirs.
pub(super) fn reply(
    request: &Request,
    values: &[i64],
    cpu_time: bool,
    disturbed: &[&str],
) -> Option<Vec<u8>> {
    Some(match request {
        Request::Intervals(asked) => {
            let rows = chunks(values, asked.repeat as usize, asked.work.len())?;
            let intervals = rows.map(<[i64]>::to_vec).collect();
            json(&answers::Intervals { intervals }, disturbed)
        }
        Request::Batches(_) => {
            let (batches, around) = (values.into(), None);
            json(&answers::Batches { batches, around }, disturbed)
        }
        Request::Readings(_) => {
            let (readings, around) = (values.into(), None);
            json(&answers::Readings { readings, around }, disturbed)
        }
        Request::Handoffs(_) => {
            let handoffs = tuples(values)?;
            json(&answers::Handoffs { handoffs }, disturbed)
        }
        Request::Comparisons(_) => {
            let comparisons = tuples(values)?;
            json(&answers::Comparisons { comparisons }, disturbed)
        }
        Request::Advance(_) => {
            let &[timer, reference] = values else {
                return None;
            };
            json(&answers::Advanced { timer, reference }, disturbed)
        }
        Request::Waits(asked) => {
            let waits = waits(values, asked.request_ns.len(), cpu_time)?;
            json(&answers::Waits { waits }, disturbed)
        }
        Request::Periods(_) => {
            let periods = values.iter().map(|&at| [at, 1]).collect();
            json(&answers::Periods { periods }, disturbed)
        }
        _ => return None,
    })
}

/// So many rows, each as long; also of rows that hold nothing.
fn chunks(values: &[i64], length: usize, rows: usize) -> Option<impl Iterator<Item = &[i64]>> {
    (values.len() == length.checked_mul(rows)?)
        .then(|| (0..rows).map(move |row| &values[row * length..(row + 1) * length]))
}

fn tuples<const N: usize>(values: &[i64]) -> Option<Vec<[i64; N]>> {
    let (tuples, rest) = values.as_chunks();
    rest.is_empty().then(|| tuples.into())
}

/// Lengths come in turn, so that the first wait is of the first length, the second of the second,
/// and so on.
fn waits(values: &[i64], lengths: usize, cpu_time: bool) -> Option<Vec<Vec<SmallVec<[i64; 4]>>>> {
    let length = if cpu_time { 3 } else { 2 };
    let mut rows = vec![Vec::new(); lengths];
    if !values.len().is_multiple_of(length) || (lengths == 0 && !values.is_empty()) {
        return None;
    }
    for (at, wait) in values.chunks_exact(length).enumerate() {
        rows[at % lengths].push(SmallVec::from_slice(wait));
    }
    Some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_wrong_number_of_rows() {
        let rows = |length, rows| {
            chunks(&[1, 2, 3, 4, 5, 6], length, rows)
                .map(|all| all.map(<[i64]>::len).collect::<Vec<_>>())
        };
        assert_eq!(rows(3, 2), Some(vec![3, 3]));
        assert_eq!(rows(4, 2), None);
        assert_eq!(chunks(&[], 0, 2).map(Iterator::count), Some(2));
        assert_eq!(tuples::<3>(&[1, 2, 3, 4]), None);
        assert_eq!(tuples(&[1, 2, 3, 4]), Some(vec![[1, 2], [3, 4]]));
    }

    #[test]
    fn assigns_waits_to_lengths() {
        let rows = waits(&[1, 2, 3, 4, 5, 6], 2, false).expect("three waits");
        assert_eq!(rows.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(rows[0][1].as_slice(), [5, 6]);
        assert_eq!(waits(&[1, 2, 3, 4], 2, true), None);
        assert_eq!(waits(&[1, 2], 0, false), None);
    }
}
