//! Which part of a fleet changed: nodes of a CPU, a kernel, a clock source or a hypervisor against all others, by ranks, which no odd node
//! moves. METHODOLOGY.md (*Where a fleet changed*) has it in words.

use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, Normal};

use super::robust::middle_and_width;
use crate::analysis::statistics::median;

/// An unchanged fleet is said to have changed somewhere this often, over all timers and all groups.
/// *Chance*.
const FALSE_ALARM: f64 = 0.02;
/// Nodes of a group, and outside it: the ranks of fewer say little.
/// *Judgement*.
pub const FEWEST: usize = 5;
/// Groups that are named one after the other; each makes the rest more alike.
/// *Judgement*.
const MOST_FOUND: usize = 12;
/// Standard deviations of a part, as its median deviation tells them, beyond which a node of it changed otherwise.
/// *Judgement*.
const OTHERWISE: f64 = 8.0;
/// Of a 95 % interval, what lies beyond either end.
/// *Definition*.
const BEYOND: f64 = 0.025;

/// A part of the fleet that can have changed: its nodes, in order. Neither all of them nor none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Places among the nodes.
    pub members: Vec<usize>,
}

/// Who changed, and by how much.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Which part, by place; nothing for the whole fleet, those left out that were found before.
    pub part: Option<usize>,
    /// The timers whose cost changed, in order.
    pub timers: Vec<usize>,
    /// Nodes that it rests on.
    pub nodes: usize,
    /// The median change of these nodes, each by the median of those timers, as a logarithm.
    pub change: f64,
    /// Its 95 % interval.
    pub low: f64,
    /// See above.
    pub high: f64,
    /// The same of all other nodes.
    pub rest: Option<f64>,
}

/// What changed of a fleet whose timers, each a row, changed so on its nodes, in logarithms. Shifts below `least` are passed over.
#[must_use]
pub fn attributed(changes: &[Vec<Option<f64>>], parts: &[Part], least: f64) -> Vec<Found> {
    let nodes = changes.iter().map(Vec::len).max().unwrap_or(0);
    let is_in: Vec<Vec<bool>> = parts.iter().map(|part| marked(part, nodes)).collect();
    let questions = changes.len() * (parts.len() + 1);
    let limit = deviations(FALSE_ALARM / questions.max(1) as f64);
    let mut left: Vec<Vec<Option<f64>>> = changes.to_vec();
    let mut found: Vec<Found> = Vec::new();
    while found.len() < MOST_FOUND {
        let Some((part, timers)) = clearest(&left, &is_in, limit, least) else { break };
        for &timer in &timers {
            let shift = shift(&left[timer], &is_in[part]).unwrap_or(0.0);
            let moved = left[timer].iter_mut().zip(&is_in[part]).filter(|(_, is_in)| **is_in);
            moved.for_each(|(change, _)| *change = change.map(|change| change - shift));
        }
        found.extend(told(changes, Some(part), &is_in[part], timers));
    }
    let apart = |node: usize| found.iter().any(|found| found.part.is_some_and(|part| is_in[part][node]));
    let rest: Vec<bool> = (0..nodes).map(|node| !apart(node)).collect();
    let timers: Vec<usize> =
        (0..changes.len()).filter(|timer| all_moved(&changes[*timer], &rest, limit, least)).collect();
    if !timers.is_empty() {
        found.extend(told(changes, None, &rest, timers));
    }
    found
}

fn marked(part: &Part, nodes: usize) -> Vec<bool> {
    let mut marks = vec![false; nodes];
    part.members.iter().filter(|node| **node < nodes).for_each(|node| marks[*node] = true);
    marks
}

/// How many standard deviations a normal law exceeds so seldom, on either side.
fn deviations(chance: f64) -> f64 {
    Normal::standard().inverse_cdf(1.0 - chance / 2.0)
}

/// A part by its place, with the timers in which it differs, by how many deviations at most, and how far it moved itself.
type Candidate = (usize, Vec<usize>, f64, f64);

/// The part that differs most clearly from all others, and in which timers.
fn clearest(
    left: &[Vec<Option<f64>>],
    parts: &[Vec<bool>],
    limit: f64,
    least: f64,
) -> Option<(usize, Vec<usize>)> {
    let ranked: Vec<Ranks> = left.iter().map(|changes| Ranks::of(changes)).collect();
    let each = parts.iter().enumerate().filter_map(|(place, part)| {
        let differs = |(timer, ranks): (usize, &Ranks)| {
            let far = ranks.deviations(part).filter(|far| *far > limit)?;
            (shift(&left[timer], part)?.abs() >= least).then_some((timer, far))
        };
        let timers: Vec<(usize, f64)> = ranked.iter().enumerate().filter_map(differs).collect();
        let most = timers.iter().map(|(_, far)| *far).fold(0.0, f64::max);
        let own: f64 =
            timers.iter().filter_map(|(timer, _)| Some(median_of(&left[*timer], part, true)?.abs())).sum();
        (!timers.is_empty()).then(|| (place, timers.into_iter().map(|(timer, _)| timer).collect(), most, own))
    });
    // Of two parts that are each other's rest, the one that moved.
    let clearer =
        |a: &Candidate, b: &Candidate| (a.2.total_cmp(&b.2)).then(a.3.total_cmp(&b.3)).then(b.0.cmp(&a.0));
    each.max_by(clearer).map(|(place, timers, ..)| (place, timers))
}

/// What was found of a part, or of all that are in none.
fn told(
    changes: &[Vec<Option<f64>>],
    part: Option<usize>,
    is_in: &[bool],
    timers: Vec<usize>,
) -> Option<Found> {
    let of_node = |node: usize| {
        let of_timers: Vec<f64> =
            timers.iter().filter_map(|timer| changes[*timer].get(node).copied()?).collect();
        median(&of_timers)
    };
    let of = |wanted: bool| {
        let nodes = (0..is_in.len()).filter(|node| is_in[*node] == wanted);
        nodes.filter_map(of_node).collect::<Vec<f64>>()
    };
    let own = alike(of(true));
    let (change, low, high) = middle(own.clone())?;
    let rest = part.and_then(|_| median(&of(false)));
    Some(Found { part, nodes: own.len(), change, low, high, rest, timers })
}

/// Those that did not change wholly otherwise: nodes that are throttled would move the median, as they all lie on one side of it.
fn alike(mut values: Vec<f64>) -> Vec<f64> {
    if let Some((middle, width)) = middle_and_width(&values).filter(|(_, width)| *width > 0.0) {
        values.retain(|value| (value - middle).abs() <= OTHERWISE * width);
    }
    values
}

/// The median with its 95 % interval by order statistics, which takes no law for granted; nothing of less than six.
fn middle(mut values: Vec<f64>) -> Option<(f64, f64, f64)> {
    values.sort_by(f64::total_cmp);
    let change = median(&values)?;
    let below = Binomial::new(0.5, values.len() as u64).ok()?;
    // The most that may be cut off either end.
    let cut = (0..values.len() as u64 / 2).take_while(|cut| below.cdf(*cut) <= BEYOND).last();
    let cut = cut.map_or(0, |cut| cut as usize);
    Some((change, values[cut], values[values.len() - 1 - cut]))
}

fn median_of(changes: &[Option<f64>], part: &[bool], wanted: bool) -> Option<f64> {
    let of =
        changes.iter().zip(part).filter(|(_, is_in)| **is_in == wanted).filter_map(|(change, _)| *change);
    median(&of.collect::<Vec<_>>())
}

/// By how much a part moved more than the others.
fn shift(changes: &[Option<f64>], part: &[bool]) -> Option<f64> {
    Some(median_of(changes, part, true)? - median_of(changes, part, false)?)
}

/// Whether a timer changed on all nodes that are left: Wilcoxon's signed ranks.
fn all_moved(changes: &[Option<f64>], rest: &[bool], limit: f64, least: f64) -> bool {
    let of = changes.iter().zip(rest).filter(|(_, is_in)| **is_in).filter_map(|(change, _)| *change);
    let values = alike(of.collect());
    if values.len() < FEWEST || median(&values).is_none_or(|middle| middle.abs() < least) {
        return false;
    }
    let ranks = Ranks::of(&values.iter().map(|value| Some(value.abs())).collect::<Vec<_>>());
    let signed: f64 =
        values.iter().zip(&ranks.ranks).map(|(value, rank)| value.signum() * rank.unwrap_or(0.0)).sum();
    let squares: f64 = ranks.ranks.iter().flatten().map(|rank| rank * rank).sum();
    squares > 0.0 && (signed.abs() - 1.0) / squares.sqrt() > limit
}

/// The ranks of the nodes by their changes; nodes that are equal share theirs.
struct Ranks {
    ranks: Vec<Option<f64>>,
    count: usize,
    /// What equal ones take off the variance of a sum.
    ties: f64,
}

impl Ranks {
    fn of(changes: &[Option<f64>]) -> Self {
        let mut order: Vec<(usize, f64)> =
            changes.iter().enumerate().filter_map(|(node, change)| Some((node, (*change)?))).collect();
        order.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (mut ranks, mut ties, mut before) = (vec![None; changes.len()], 0.0, 0);
        for alike in order.chunk_by(|a, b| a.1 == b.1) {
            let rank = before as f64 + (alike.len() as f64 + 1.0) / 2.0;
            alike.iter().for_each(|(node, _)| ranks[*node] = Some(rank));
            ties += (alike.len() as f64).powi(3) - alike.len() as f64;
            before += alike.len();
        }
        Self { ranks, count: order.len(), ties }
    }

    /// How many standard deviations the ranks of a part lie off (Mann and Whitney, 1947); nothing where it or the rest has too few nodes.
    fn deviations(&self, part: &[bool]) -> Option<f64> {
        let own: Vec<f64> =
            self.ranks.iter().zip(part).filter(|(_, is_in)| **is_in).filter_map(|(rank, _)| *rank).collect();
        let (inside, outside) = (own.len(), self.count - own.len());
        if inside.min(outside) < FEWEST {
            return None;
        }
        let (inside, outside, all) = (inside as f64, outside as f64, self.count as f64);
        let off = own.iter().sum::<f64>() - inside * (all + 1.0) / 2.0;
        let variance = inside * outside / 12.0 * (all + 1.0 - self.ties / (all * (all - 1.0)));
        (variance > 0.0).then(|| (off.abs() - 0.5).max(0.0) / variance.sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};
    use rand_distr::{Distribution, StudentT};

    const TIMERS: usize = 20;
    const NODES: usize = 120;

    /// Changes with the tails of Student's t of two degrees, and parts: five of one factor, three of another.
    fn fleet(seed: u64) -> (Vec<Vec<Option<f64>>>, Vec<Part>) {
        let mut random = StdRng::seed_from_u64(seed);
        let law = StudentT::new(2.0).unwrap();
        let mut of_node = || (0..NODES).map(|_| Some(0.01 * law.sample(&mut random))).collect();
        let changes: Vec<Vec<Option<f64>>> = (0..TIMERS).map(|_| of_node()).collect();
        let mut parts = Vec::new();
        for levels in [5, 3] {
            let level: Vec<usize> = (0..NODES).map(|_| random.random_range(0..levels)).collect();
            let of = |wanted| (0..NODES).filter(|node| level[*node] == wanted).collect();
            parts.extend((0..levels).map(|wanted| Part { members: of(wanted) }));
        }
        (changes, parts)
    }

    fn planted(part: usize, timers: std::ops::Range<usize>, seed: u64) -> (Vec<Found>, Vec<Part>) {
        let (mut changes, parts) = fleet(seed);
        for timer in timers {
            for node in &parts[part].members {
                changes[timer][*node] = changes[timer][*node].map(|change| change + 0.05);
            }
        }
        (attributed(&changes, &parts, 0.01), parts)
    }

    #[test]
    fn a_part_that_changed_is_named_with_its_size() {
        let (mut named, mut held) = (0, 0);
        for seed in 0..60 {
            let part = seed as usize % 8;
            let (found, _) = planted(part, 0..6, seed);
            let Some(first) = found.iter().find(|found| found.part == Some(part)) else { continue };
            named += 1;
            held += usize::from((first.low..=first.high).contains(&0.05));
        }
        assert!(named >= 57 && held * 100 >= named * 92, "{named} named, {held} held of 60");
    }

    #[test]
    fn an_unchanged_fleet_says_nothing() {
        let false_alarms = (1000..1200).filter(|seed| {
            let (changes, parts) = fleet(*seed);
            !attributed(&changes, &parts, 0.01).is_empty()
        });
        assert!(false_alarms.count() <= 10);
    }

    #[test]
    fn what_all_nodes_have_is_of_the_whole_fleet() {
        let (mut changes, parts) = fleet(7);
        changes[3].iter_mut().for_each(|change| *change = change.map(|change| change + 0.08));
        let found = attributed(&changes, &parts, 0.01);
        assert!(matches!(&found[..], [Found { part: None, timers, .. }] if timers == &[3]), "{found:?}");
        assert!((found[0].change - 0.08).abs() < 0.01, "{found:?}");
    }

    #[test]
    fn two_parts_are_found_one_after_the_other() {
        let (mut changes, parts) = fleet(9);
        for (part, timers, shift) in [(1, 0..10, 0.06), (6, 12..20, -0.05)] {
            for timer in timers {
                for node in &parts[part].members {
                    changes[timer][*node] = changes[timer][*node].map(|change| change + shift);
                }
            }
        }
        let mut found: Vec<_> =
            attributed(&changes, &parts, 0.01).iter().filter_map(|found| found.part).collect();
        found.sort_unstable();
        assert_eq!(found, [1, 6]);
    }

    #[test]
    fn few_nodes_and_none_are_no_fleet() {
        assert!(attributed(&[], &[], 0.01).is_empty());
        let few = vec![vec![Some(0.1), Some(0.1), None]];
        assert!(attributed(&few, &[Part { members: vec![0] }], 0.01).is_empty());
    }
}
