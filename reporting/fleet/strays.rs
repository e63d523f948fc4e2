//! Single figures that lie far off because the tails of a fleet are fat, and nodes that lie off in more than chance explains.

use statrs::distribution::{Binomial, DiscreteCDF};

/// Of all fleets without an odd node so many have one that is called so.
/// *Chance*.
const FALSE_ALARM: f64 = 0.02;
/// Where less than this share of all figures lies off, each that does is worth a look.
/// *Judgement*: three of a hundred nodes with a hundred and thirty figures each.
const FEW: f64 = 2e-4;

/// How often figures of a fleet lie off.
pub struct Strays {
    rate: f64,
    nodes: usize,
    figures: usize,
}

impl Strays {
    /// Of `counts`, how many of their `figures` lie off on the nodes that have any, of so many `nodes`. Those that lie off in most are no part of
    /// the rate.
    #[must_use]
    pub fn of(counts: &[usize], nodes: usize, figures: usize) -> Self {
        let wholly = |count: &&usize| 2 * **count > figures;
        let odd = counts.iter().filter(wholly).count();
        let off: usize = counts.iter().filter(|count| !wholly(count)).sum();
        let all = nodes.saturating_sub(odd) * figures;
        Self { rate: if all == 0 { 0.0 } else { off as f64 / all as f64 }, nodes, figures }
    }

    /// Whether so many of a node are no more than chance puts there.
    #[must_use]
    pub fn explain(&self, count: usize) -> bool {
        if self.rate < FEW || count == 0 {
            return count == 0;
        }
        let law = Binomial::new(self.rate.min(1.0), self.figures.max(count) as u64);
        law.is_ok_and(|law| law.sf(count as u64 - 1) > FALSE_ALARM / self.nodes.max(1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::Strays;

    #[test]
    fn nodes_that_lie_off_throughout_are_no_strays() {
        let counts = [vec![33; 15], vec![1; 60]].concat();
        let strays = Strays::of(&counts, 200, 33);
        assert!(strays.explain(1) && strays.explain(2) && !strays.explain(10) && !strays.explain(33));
    }

    #[test]
    fn in_a_quiet_fleet_one_figure_is_worth_a_look() {
        let strays = Strays::of(&[1, 2], 200, 130);
        assert!(!strays.explain(1) && strays.explain(0));
        assert!(Strays::of(&[], 0, 0).explain(0));
    }
}
