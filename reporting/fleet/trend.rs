//! What a node and a group cost over time: each run of a node against what is usual for it before an instant, in buckets of equal length.

use std::collections::BTreeMap;

use crate::analysis::statistics::median;

/// Points of a trend at most: what a line of a terminal shows.
const MOST: i64 = 60;
const HOUR: i64 = 3_600_000_000;
/// How long a bucket can be, in microseconds.
const LENGTHS: [i64; 6] = [HOUR, 24 * HOUR, 7 * 24 * HOUR, 28 * 24 * HOUR, 91 * 24 * HOUR, 364 * 24 * HOUR];
/// Levels of a line.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A report, as far as a trend goes by it.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    /// Of which node.
    pub node: &'a str,
    /// Of which kind of machine.
    pub group: &'a str,
    /// When it was made, in microseconds since 1970.
    pub at: i64,
    /// What its timers cost, by their number.
    pub costs: &'a [(usize, f64)],
}

/// All trends of a fleet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trends {
    /// How long a bucket is, in hours.
    pub bucket_hours: i64,
    /// By kind of machine, the kind of most nodes first.
    pub groups: Vec<Trend>,
    /// By node.
    pub nodes: Vec<Trend>,
}

/// What a node costs, or the nodes of a group, over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Trend {
    /// Whose.
    pub of: String,
    /// How many nodes these are.
    pub nodes: usize,
    /// In the order of time.
    pub points: Vec<Point>,
}

/// A bucket in which there were runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// When it begins, in microseconds since 1970.
    pub at: i64,
    /// Whether it is of the new side.
    pub since: bool,
    /// How many runs it holds.
    pub runs: usize,
    /// The median over timers and runs of what they cost more than is usual for their node, in percent.
    pub percent: f64,
}

/// When runs were made, and by how much each costs more than is usual, as a logarithm.
type Changes = Vec<(i64, f64)>;

/// By timer the logarithms of what it costs, before the instant and of all.
type Usual = BTreeMap<usize, [Vec<f64>; 2]>;

/// The trends of these runs. What is usual for a node is the median of its runs before `since`, or of all where there is none before.
#[must_use]
pub fn trends(runs: &[Run], since: i64) -> Trends {
    let mut of_node: BTreeMap<&str, Vec<&Run>> = BTreeMap::new();
    for run in runs {
        of_node.entry(run.node).or_default().push(run);
    }
    let length = length(runs);
    let mut groups: BTreeMap<&str, (usize, Changes)> = BTreeMap::new();
    let mut nodes = Vec::with_capacity(of_node.len());
    for (node, runs) in of_node {
        let changes = changes(&runs, since);
        let group = groups.entry(runs[0].group).or_default();
        group.0 += 1;
        group.1.extend(&changes);
        nodes.push(Trend { of: node.to_owned(), nodes: 1, points: points(changes, length, since) });
    }
    let trend = |(of, (nodes, changes)): (&str, (usize, Changes))| Trend {
        of: of.to_owned(),
        nodes,
        points: points(changes, length, since),
    };
    let mut groups: Vec<Trend> = groups.into_iter().map(trend).collect();
    groups.sort_by(|a, b| b.nodes.cmp(&a.nodes).then(a.of.cmp(&b.of)));
    Trends { bucket_hours: length / HOUR, groups, nodes }
}

/// The shortest bucket of which not too many are needed.
fn length(runs: &[Run]) -> i64 {
    let times = || runs.iter().map(|run| run.at);
    let span = times().max().unwrap_or(0).saturating_sub(times().min().unwrap_or(0));
    LENGTHS.into_iter().find(|length| span / length < MOST).unwrap_or(LENGTHS[LENGTHS.len() - 1])
}

/// By how much each run of a node costs more than is usual for it, as a logarithm: the median over its timers.
fn changes(runs: &[&Run], since: i64) -> Changes {
    let mut usual = Usual::new();
    for run in runs {
        for (timer, cost) in run.costs.iter().filter(|(_, cost)| *cost > 0.0) {
            let [before, all] = usual.entry(*timer).or_default();
            all.push(cost.ln());
            before.extend((run.at < since).then(|| cost.ln()));
        }
    }
    let usual: BTreeMap<usize, f64> = usual
        .into_iter()
        .filter_map(|(timer, [before, all])| Some((timer, median(&before).or_else(|| median(&all))?)))
        .collect();
    let change = |run: &&Run| {
        let costs = run.costs.iter().filter(|(_, cost)| *cost > 0.0);
        let changes: Vec<f64> =
            costs.filter_map(|(timer, cost)| Some(cost.ln() - usual.get(timer)?)).collect();
        Some((run.at, median(&changes)?))
    };
    runs.iter().filter_map(change).collect()
}

/// Buckets begin at the instant, so that none holds runs of both sides.
fn points(changes: Changes, length: i64, since: i64) -> Vec<Point> {
    let mut buckets: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
    for (at, change) in changes {
        buckets.entry(at.saturating_sub(since).div_euclid(length)).or_default().push(change);
    }
    let point = |(bucket, changes): (i64, Vec<f64>)| {
        Some(Point {
            at: bucket.saturating_mul(length).saturating_add(since),
            since: bucket >= 0,
            runs: changes.len(),
            percent: 100.0 * median(&changes)?.exp_m1(),
        })
    };
    buckets.into_iter().filter_map(point).collect()
}

impl Trend {
    /// A line of it: a level a bucket, a blank where there was no run, a bar at the instant.
    #[must_use]
    pub fn drawn(&self, bucket_hours: i64) -> String {
        let length = bucket_hours.max(1) * HOUR;
        let (low, high) = self.range();
        let mut line = String::new();
        let mut before: Option<&Point> = None;
        for point in &self.points {
            if let Some(before) = before {
                let between = (point.at - before.at) / length - 1;
                let gap = usize::try_from(between.clamp(0, MOST)).unwrap_or(0);
                line.push_str(&" ".repeat(gap));
                if point.since && !before.since {
                    line.push('|');
                }
            }
            // What differs by less than a percent is flat.
            let part = (point.percent - low) / (high - low).max(1.0);
            line.push(LEVELS[((part * LEVELS.len() as f64) as usize).min(LEVELS.len() - 1)]);
            before = Some(point);
        }
        line
    }

    /// The lowest and the highest point, in percent.
    #[must_use]
    pub fn range(&self) -> (f64, f64) {
        let percents = || self.points.iter().map(|point| point.percent);
        (percents().fold(f64::INFINITY, f64::min), percents().fold(f64::NEG_INFINITY, f64::max))
    }
}

#[cfg(test)]
mod tests {
    use super::{HOUR, Run, trends};

    const DAY: i64 = 24 * HOUR;

    #[test]
    fn a_step_is_drawn_where_it_was() {
        let costs = |times: f64| [(0, 20.0 * times), (1, 500.0 * times), (2, 0.0)];
        let (usual, more) = (costs(1.0), costs(1.1));
        let runs: Vec<Run> = (0..20)
            .flat_map(|day| {
                let run = |node, costs| Run { node, group: "zen", at: day * DAY, costs };
                [run("still", &usual[..]), run("grown", if day < 10 { &usual[..] } else { &more[..] })]
            })
            .collect();
        let all = trends(&runs, 10 * DAY);
        assert_eq!((all.bucket_hours, all.groups.len(), all.nodes.len()), (24, 1, 2));
        let [grown, still] = &all.nodes[..] else { panic!("{all:?}") };
        assert_eq!(grown.drawn(24), "▁▁▁▁▁▁▁▁▁▁|██████████");
        assert!(still.points.iter().all(|point| point.percent.abs() < 1e-9 && point.runs == 1), "{still:?}");
        assert!((grown.points[10].percent - 10.0).abs() < 1e-9 && grown.points[10].since);
        assert_eq!((all.groups[0].nodes, all.groups[0].points[3].runs), (2, 2));
    }

    #[test]
    fn what_is_new_is_held_against_itself_and_gaps_are_blank() {
        let costs = [(0, 20.0)];
        let at = |hours: i64| Run { node: "new", group: "zen", at: hours * HOUR, costs: &costs };
        let all = trends(&[at(30), at(33), at(34)], 10 * HOUR);
        assert_eq!((all.bucket_hours, all.nodes[0].drawn(1)), (1, "▁  ▁▁".to_owned()));
        assert_eq!(trends(&[], 0).nodes, []);
    }
}
