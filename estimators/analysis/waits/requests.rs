//! What requests say of the step that they are rounded to. Lengths that were observed lie on a lattice, but one that lateness stretches
//! where it grows with length, as it does on a loaded machine: from those alone a step that is longer and lateness that grows look the
//! same. Requests were not late: where one more step begins among them is a whole number of steps from where another one does.

use super::lattice::numbers;
use crate::analysis::statistics::median;

/// The shortest and the longest step that explains which requests got which number of steps of about `step`; lists for each process.
/// `None` where none does, or where fewer than two steps begin among them.
pub(super) fn admissible(requests: &[Vec<f64>], observed: &[Vec<f64>], step: f64) -> Option<[f64; 2]> {
    let mut waits: Vec<(f64, i64)> = Vec::new();
    let mut first = None;
    for (requests, observed) in requests.iter().zip(observed) {
        let numbers = numbers(observed, step);
        let over = requests.iter().zip(&numbers).map(|(request, number)| request / step - number);
        let Some(over) = median(&over.collect::<Vec<f64>>()) else { continue };
        // A process that is late by more than half a step has other numbers, all by as much.
        let shift = (over - *first.get_or_insert(over)).round();
        waits.extend(
            requests.iter().zip(&numbers).map(|(request, number)| (*request, (number + shift) as i64)),
        );
    }
    waits.sort_by(|one, other| one.0.total_cmp(&other.0));
    let least = waits.iter().map(|wait| wait.1).min()?;
    let most = waits.iter().map(|wait| wait.1).max()?.min(least + waits.len() as i64);
    let begins: Vec<(i64, [f64; 2])> =
        (least..most).filter_map(|number| Some((number, boundary(&waits, number)?))).collect();
    let pairs = begins
        .iter()
        .enumerate()
        .flat_map(|(at, one)| begins[at + 1..].iter().map(move |other| (one, other)));
    let steps = pairs.map(|((number, here), (other, there))| {
        let apart = (other - number) as f64;
        [(there[0] - here[1]) / apart, (there[1] - here[0]) / apart]
    });
    let [shortest, longest] = steps.reduce(|[low, high], [least, most]| [low.max(least), high.min(most)])?;
    (shortest <= longest).then_some([shortest.max(0.0), longest])
}

/// Between which requests, sorted, those end that get so many steps and those begin that get more: where the fewest lie on the wrong
/// side. Where any do, some were late by a whole step, and the next one to the boundary may be as well.
fn boundary(waits: &[(f64, i64)], number: i64) -> Option<[f64; 2]> {
    let more = |wait: &(f64, i64)| wait.1 > number;
    // To begin with all lie above.
    let all = waits.iter().filter(|wait| !more(wait)).count();
    let wrong: Vec<usize> = waits
        .iter()
        .scan(all, |wrong, wait| {
            *wrong = if more(wait) { *wrong + 1 } else { *wrong - 1 };
            Some(*wrong)
        })
        .collect();
    let fewest = *wrong.iter().min()?;
    let near = |wrong: &usize| *wrong <= fewest + usize::from(fewest > 0);
    let (first, last) = (wrong.iter().position(near)?, wrong.iter().rposition(near)?);
    Some([waits[first].0, waits.get(last + 1)?.0])
}
