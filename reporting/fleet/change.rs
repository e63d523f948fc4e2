//! What changed in a fleet: the mean change of the nodes, and which of them changed unlike the rest.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::random_effects::{Observed, Pooled, pooled};
use super::robust::middle_and_width;
use crate::analysis::statistics::median;

/// A fleet of nodes without fault has one that is called unlike the rest this often, a figure.
/// *Chance*: of 130 figures of a fleet one in eight fleets names a node wrongly.
const FALSE_ALARM: f64 = 0.001;
/// Deviations by which no node is unlike the rest: so that most nodes need no quantile. Of another machine than it was it takes no more.
/// *Chance*: with eight nodes and any degrees of freedom the quantile lies beyond.
const SURELY_ALIKE: f64 = 4.0;
/// Where more than this share is unlike the rest, they are part of the fleet, and its mean is that of all.
/// *Judgement*: what one node in ten is, is no exception.
const MOST_LEFT_OUT: f64 = 0.1;
/// With fewer nodes it is unknown what the rest does.
/// *Judgement*: half of them have to show what the rest does.
const FEWEST: usize = 8;

/// The change of a figure in a fleet.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Of the nodes that behave alike.
    pub pooled: Pooled,
    /// Those that changed unlike the rest, by their places, in order.
    pub unlike: Vec<usize>,
    /// Whether these are left out of the mean.
    pub left_out: bool,
}

/// The change of a fleet whose nodes changed like that; nothing of less than two. Those that are `other` machines now than they were are
/// left out, unless half of the fleet is: what became of them is no change of the rest.
#[must_use]
pub fn of(nodes: &[Observed], other: &[bool]) -> Option<Change> {
    let others = other.iter().filter(|other| **other).count();
    let same = |at: &usize| 2 * others >= nodes.len() || !other.get(*at).is_some_and(|other| *other);
    let mut rest: Vec<usize> = (0..nodes.len()).filter(same).collect();
    let picked = |places: &[usize]| places.iter().map(|at| nodes[*at]).collect::<Vec<Observed>>();
    let mut apart: Vec<usize> = unlike(&picked(&rest)).into_iter().map(|at| rest[at]).collect();
    if apart.len() as f64 <= MOST_LEFT_OUT * nodes.len() as f64 {
        rest.retain(|at| apart.binary_search(at).is_err());
    }
    let pooled = pooled(&picked(&rest))?;
    let left_out = rest.len() < nodes.len();
    let far = |at: &usize| {
        let scatter = (pooled.between.powi(2) + nodes[*at].variance).sqrt();
        (nodes[*at].effect - pooled.effect).abs() > SURELY_ALIKE * scatter
    };
    apart.extend((0..nodes.len()).filter(|at| !same(at)).filter(far));
    apart.sort_unstable();
    Some(Change { pooled, unlike: apart, left_out })
}

/// Who lies further from the median than scatter and own error explain, in order. The scatter is found from the median
/// deviation, which those do not move.
fn unlike(nodes: &[Observed]) -> Vec<usize> {
    if nodes.len() < FEWEST {
        return Vec::new();
    }
    let of = |value: fn(&Observed) -> f64| nodes.iter().map(value).collect::<Vec<f64>>();
    let Some(((middle, width), own)) =
        middle_and_width(&of(|node| node.effect)).zip(median(&of(|node| node.variance)))
    else {
        return Vec::new();
    };
    let whole = width.powi(2);
    let between = (whole - own).max(0.0);
    let chance = FALSE_ALARM / nodes.len() as f64;
    let far = |node: &Observed| {
        // An error that seems small may be so by chance: none counts for less than that of most.
        let error = node.variance.max(own);
        let variance = between + error;
        let deviations = (node.effect - middle).abs() / variance.sqrt();
        // Satterthwaite: what the scatter between nodes adds is known well.
        let degrees = node.degrees * (variance / error).powi(2);
        deviations > SURELY_ALIKE && rarity(deviations, degrees) < chance
    };
    nodes.iter().enumerate().filter(|(_, node)| far(node)).map(|(at, _)| at).collect()
}

/// How often a node lies this many deviations away, on either side.
fn rarity(deviations: f64, degrees: f64) -> f64 {
    /// Beyond, Student's law is the normal one.
    const NORMAL: f64 = 1e6;
    let law = StudentsT::new(0.0, 1.0, if degrees.is_finite() { degrees.min(NORMAL) } else { NORMAL });
    law.map_or(1.0, |law| 2.0 * law.cdf(-deviations))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand::rngs::StdRng;
    use rand_distr::{Distribution, Normal};

    fn fleet(nodes: usize, mean: f64, seed: u64) -> Vec<Observed> {
        let mut random = StdRng::seed_from_u64(seed);
        let (between, error) = (Normal::new(mean, 0.01).unwrap(), Normal::new(0.0, 0.005).unwrap());
        let node = |_| Observed {
            effect: between.sample(&mut random) + error.sample(&mut random),
            variance: 2.5e-5,
            degrees: 8.0,
        };
        (0..nodes).map(node).collect()
    }

    #[test]
    fn nodes_that_changed_alone_do_not_move_the_fleet() {
        let mut nodes = fleet(1000, 0.08, 1);
        let plain = of(&nodes, &[]).unwrap();
        assert!(plain.unlike.is_empty() && !plain.left_out, "{plain:?}");
        for at in [3, 77, 500] {
            nodes[at].effect = 4.0;
        }
        let found = of(&nodes, &[]).unwrap();
        assert_eq!((found.unlike.as_slice(), found.left_out), (&[3, 77, 500][..], true));
        assert!((found.pooled.effect - plain.pooled.effect).abs() < 1e-3, "{found:?}");
        assert!((found.pooled.between - 0.01).abs() < 2e-3, "{found:?}");
    }

    #[test]
    fn a_fifth_of_the_fleet_is_part_of_it() {
        let mut nodes = fleet(1000, 0.0, 2);
        nodes[..200].iter_mut().for_each(|node| node.effect += 1.0);
        let found = of(&nodes, &[]).unwrap();
        assert_eq!((found.unlike.len(), found.left_out), (200, false));
        assert!((found.pooled.effect - 0.2).abs() < 0.01, "{found:?}");
    }

    #[test]
    fn few_nodes_have_no_rest() {
        let mut nodes = fleet(5, 0.0, 3);
        nodes[0].effect = 4.0;
        assert!(of(&nodes, &[]).unwrap().unlike.is_empty());
        assert_eq!(of(&nodes[..1], &[]), None);
    }

    #[test]
    fn another_machine_is_no_part_of_few_nodes_either() {
        let mut nodes = fleet(5, 0.08, 4);
        nodes[1].effect = 4.0;
        let other = [false, true, false, false, true];
        let found = of(&nodes, &other).unwrap();
        // The last one changed as the rest did, and is not called unlike it.
        assert_eq!((found.unlike.as_slice(), found.left_out, found.pooled.nodes), (&[1][..], true, 3));
        assert!((found.pooled.effect - 0.08).abs() < 0.05, "{found:?}");
        // Half of the fleet is the fleet.
        let found = of(&nodes, &[false, true, true, false, true]).unwrap();
        assert_eq!((found.left_out, found.pooled.nodes), (false, 5));
    }

    /// As of five processes each before and after: the weights are off by as much.
    #[test]
    fn errors_that_are_known_badly_do_not_make_it_too_short() {
        let mut random = StdRng::seed_from_u64(5);
        let normal = Normal::new(0.0, 1.0_f64).unwrap();
        let mut node = |_| {
            let chi: f64 = (0..8).map(|_| f64::powi(normal.sample(&mut random), 2)).sum();
            let effect = 0.01 * normal.sample(&mut random) + 0.02 * normal.sample(&mut random);
            Observed { effect, variance: 4e-4 * chi / 8.0, degrees: 8.0 }
        };
        let mut covers = || {
            let nodes: Vec<Observed> = (0..400).map(&mut node).collect();
            let found = of(&nodes, &[]).unwrap().pooled;
            (found.low..=found.high).contains(&0.0)
        };
        let covered = (0..2_000).filter(|_| covers()).count();
        assert!((1_868..=1_940).contains(&covered), "{covered} of 2000");
    }

    #[test]
    fn the_interval_holds_the_mean_of_the_fleet_95_times_in_100() {
        for nodes in [3, 30, 300] {
            let covers = |seed: &u64| {
                let found = of(&fleet(nodes, 0.05, 1_000 * nodes as u64 + seed), &[]).unwrap().pooled;
                (found.low..=found.high).contains(&0.05)
            };
            let covered = (0..1_000_u64).filter(covers).count();
            // 3.5 standard errors, and more where errors bound the interval.
            assert!((925..=990).contains(&covered), "{covered} of 1000 with {nodes} nodes");
        }
    }
}
