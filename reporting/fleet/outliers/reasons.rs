//! The reasons, one question a function.

use std::collections::{HashMap, HashSet};

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::likeness::{FEWEST_LIKE, Likeness};
use super::{Kind, Reason};
use crate::fleet::groups::Group;
use crate::fleet::node::{Node, Quantity, Reading, TimerName, Trust};
use crate::fleet::robust::{Log, middle_and_width};
use crate::model::{Figure, Status};
use crate::text::numbers::{significant, time};

/// Nodes of a fleet without any odd one that are called odd all the same: one in twenty fleets has one.
/// *Definition*: convention.
const ALARMS: f64 = 0.05;
/// A figure has to be off by at least this share: nodes of one kind differ by a percent or two without a cause worth finding.
/// *Judgement*: as `LEAST_APART`.
const LEAST_OFF: f64 = 0.02;
/// What a median absolute deviation knows of the width of a normal law, of what the standard deviation of as many figures does
/// (Rousseeuw and Croux, JASA 88, 1993).
/// *Computed*: its asymptotic efficiency.
const EFFICIENCY: f64 = 0.3674;
/// A timer is one of a group where this share of its nodes can read it.
/// *Judgement*.
const COMMON: f64 = 0.9;
/// The first year of this program: a report that is older was made by a clock that was set wrong.
/// *Definition*.
const FIRST_YEAR: u32 = 2026;

/// How far off a figure has to be, by the nodes it is held against.
#[derive(Clone, Copy)]
pub(super) struct Limit {
    /// How many figures are judged in all.
    judged: usize,
}

/// All that a node is judged by.
pub(super) struct Judge<'a> {
    pub nodes: &'a [Node],
    pub names: &'a [Box<str>],
    pub groups: &'a [Group],
    pub likeness: &'a Likeness<'a>,
    pub limit: Limit,
}

/// A figure that is off.
struct Off {
    timer: TimerName,
    own: Figure,
    /// The median of the group.
    median: f64,
    /// In standard deviations of the group; infinite where the others do not differ.
    deviations: f64,
}

impl Limit {
    pub fn of(nodes: &[Node], groups: &[Group]) -> Self {
        let members = groups.iter().filter(|group| is_judged(group)).flat_map(|group| &group.members);
        let figures = |reading: &Reading| {
            Quantity::ALL.iter().filter(|quantity| reading.figure(**quantity).is_some()).count()
        };
        Self { judged: members.flat_map(|node| &nodes[*node].readings).map(figures).sum() }
    }

    /// In standard deviations, as `nodes` tell them: Student's *t* with as many degrees of freedom as their median absolute deviation is
    /// worth, at so small a probability that all figures together hardly ever exceed it by chance.
    fn deviations(self, nodes: usize) -> f64 {
        let probability = ALARMS / (2 * self.judged.max(1)) as f64;
        let degrees = EFFICIENCY * nodes.saturating_sub(1) as f64;
        StudentsT::new(0.0, 1.0, degrees).map_or(f64::INFINITY, |law| -law.inverse_cdf(probability))
    }
}

/// Whether a group has nodes enough to say what is usual.
fn is_judged(group: &Group) -> bool {
    group.members.len() >= FEWEST_LIKE
}

impl Judge<'_> {
    /// What is odd of the nodes of a group, whatever their figures are.
    pub fn by_node(&self, group: &Group) -> Vec<(usize, Reason)> {
        let each = |node: &usize| {
            let found =
                [self.trust(*node), self.clocksource(*node), self.date(*node), self.missing(group, *node)];
            found.into_iter().flatten().map(|reason| (*node, reason)).collect::<Vec<_>>()
        };
        group.members.iter().flat_map(each).collect()
    }

    /// What is odd of their figures; `None` where the group is too small to say.
    pub fn by_figures(&self, group: &Group) -> Option<Vec<(usize, Reason)>> {
        if !is_judged(group) {
            return None;
        }
        let of = |(quantity, kind)| {
            let off = self.off(group, quantity).into_iter();
            off.map(move |(node, off)| (node, self.figures(kind, &off)))
        };
        Some([(Quantity::Step, Kind::Step), (Quantity::Cost, Kind::Cost)].into_iter().flat_map(of).collect())
    }

    fn trust(&self, node: usize) -> Option<Reason> {
        let lost = self.nodes[node].readings.iter().filter_map(|reading| match &reading.trust {
            Trust::Lost(why) => self.likeness.keep(reading.timer).map(|kept| (reading.timer, why, kept)),
            _ => None,
        });
        let lost: Vec<_> = lost.collect();
        let (timer, why, kept) = lost.first()?;
        let (question, finding) = why.as_ref();
        let more = and_others(lost.len(), "failed too");
        let question = question.name();
        let says =
            format!("`{}` is not {question}: {finding}. {kept} nodes trust it{more}", self.names[*timer]);
        let brief = format!("`{}` is not {question}", self.names[*timer]);
        Some(Reason { kind: Kind::Trust, says, brief, ratio: None })
    }

    fn clocksource(&self, node: usize) -> Option<Reason> {
        let machine = &self.nodes[node].machine;
        let common = self.likeness.common(machine)?;
        if machine.clocksource.is_empty() || machine.clocksource == common.clocksource {
            return None;
        }
        let mut says = format!(
            "it has `{}`, {} of {} {} have `{}`",
            machine.clocksource, common.nodes, common.of, common.like, common.clocksource
        );
        let theirs = self.groups.iter().find(|group| {
            group.machine.cpu == machine.cpu && group.machine.clocksource == common.clocksource
        });
        let costs = theirs.into_iter().flat_map(|theirs| {
            self.nodes[node].readings.iter().filter_map(|reading| {
                let (own, median) = (reading.cost?.value, theirs.timer(reading.timer)?.cost?.median);
                Some((reading.timer, own, median)).filter(|_| own > 0.0 && median > 0.0)
            })
        });
        let most = costs.max_by(|a, b| (a.1 / a.2).total_cmp(&(b.1 / b.2))).filter(|most| most.1 > most.2);
        if let Some((timer, own, median)) = most {
            let name = &self.names[timer];
            says += &format!("; `{name}` costs {} instead of {}", time(Some(own)), time(Some(median)));
        }
        let brief =
            format!("`{}`, where most of their like have `{}`", machine.clocksource, common.clocksource);
        Some(Reason {
            kind: Kind::ClockSource,
            says,
            brief,
            ratio: most.map(|(_, own, median)| own / median),
        })
    }

    fn date(&self, node: usize) -> Option<Reason> {
        let node = &self.nodes[node];
        let year: u32 = node.created.split('-').next()?.parse().ok()?;
        (node.measured && year < FIRST_YEAR).then(|| Reason {
            kind: Kind::Date,
            says: format!("its report is dated {}: its clock is set wrong", node.created),
            brief: "the clock is set wrong".to_owned(),
            ratio: None,
        })
    }

    /// A timer that its group reads, or the fleet where the group is too small to say, and it cannot.
    fn missing(&self, group: &Group, node: usize) -> Option<Reason> {
        let others = |timer: TimerName| {
            let (read, of, which) = if is_judged(group) {
                (group.timer(timer).map_or(0, |of| of.read), group.members.len(), "nodes of its group")
            } else {
                (self.likeness.read(timer), self.nodes.len(), "nodes")
            };
            let is_usual = of >= FEWEST_LIKE && read as f64 >= COMMON * of as f64;
            is_usual.then(|| format!("{read} of {of} {which}"))
        };
        let cannot = |reading: &&Reading| matches!(reading.status, Status::Failed | Status::Unavailable);
        let missing = self.nodes[node].readings.iter().filter(cannot);
        let listed = missing
            .filter_map(|reading| Some((reading.timer, reading.status.name(), others(reading.timer)?)));
        let absent = self.absent(group, node).into_iter();
        let absent = absent.filter_map(|timer| Some((timer, "not asked for", others(timer)?)));
        let missing: Vec<(TimerName, &str, String)> = listed.chain(absent).collect();
        let (first, status, others) = missing.first()?;
        let says = format!(
            "`{}` is {status} here; {others} can read it{}",
            self.names[*first],
            and_others(missing.len(), "cannot be read either")
        );
        let brief = format!("`{}` is {status}", self.names[*first]);
        Some(Reason { kind: Kind::Missing, says, brief, ratio: None })
    }

    /// Timers of its group that a node does not even list. One that lists less than half of them was asked for some only.
    fn absent(&self, group: &Group, node: usize) -> Vec<TimerName> {
        let own: HashSet<TimerName> = self.nodes[node].readings.iter().map(|reading| reading.timer).collect();
        let absent = group.timers.iter().map(|of| of.timer).filter(|timer| !own.contains(timer));
        let absent: Vec<TimerName> = absent.collect();
        if 2 * absent.len() < group.timers.len() { absent } else { Vec::new() }
    }

    /// The figures of a group that are off, by node.
    fn off(&self, group: &Group, quantity: Quantity) -> Vec<(usize, Vec<Off>)> {
        let mut figures: HashMap<TimerName, Vec<(usize, Figure)>> = HashMap::new();
        for &node in &group.members {
            for reading in &self.nodes[node].readings {
                if let Some(figure) = reading.figure(quantity) {
                    figures.entry(reading.timer).or_default().push((node, figure));
                }
            }
        }
        let mut found: HashMap<usize, Vec<Off>> = HashMap::new();
        for (timer, figures) in figures.into_iter().filter(|(_, figures)| figures.len() >= FEWEST_LIKE) {
            let logs: Vec<f64> = figures.iter().map(|(_, figure)| figure.value.ln()).collect();
            let Some((middle, width)) = middle_and_width(&logs) else { continue };
            let limit = self.limit.deviations(figures.len());
            for (node, own) in figures {
                if let Some(deviations) = deviations(own, middle, width).filter(|far| *far >= limit) {
                    let off = Off { timer, own, median: middle.exp(), deviations };
                    found.entry(node).or_default().push(off);
                }
            }
        }
        found.into_iter().collect()
    }

    /// Figures of a node that are off, in one sentence about the farthest.
    fn figures(&self, kind: Kind, off: &[Off]) -> Reason {
        let far = |off: &&Off| (off.own.value / off.median).ln().abs();
        let order = |a: &&Off, b: &&Off| far(a).total_cmp(&far(b)).then(b.timer.cmp(&a.timer));
        let Some(most) = off.iter().max_by(order) else {
            return Reason { kind, says: String::new(), brief: String::new(), ratio: None };
        };
        let ratio = most.own.value / most.median;
        let verb = if kind == Kind::Step { "moves in steps of" } else { "costs" };
        let far = if most.deviations.is_finite() {
            format!("{} deviations off", significant(most.deviations, 2))
        } else {
            "where nodes do not differ".to_owned()
        };
        let says = format!(
            "`{}` {verb} {}, {} in its group: {far}{}",
            self.names[most.timer],
            time(Some(most.own.value)),
            time(Some(most.median)),
            and_others(off.len(), "too"),
        );
        let (name, more) = (&self.names[most.timer], if ratio > 1.0 { "more" } else { "less" });
        let brief = match kind {
            Kind::Step => format!("`{name}` moves in other steps"),
            _ => format!("`{name}` costs {more}"),
        };
        Reason { kind, says, brief, ratio: Some(ratio) }
    }
}

/// How many standard deviations a figure is off: those of its group, or of its own interval where that is wider. `None` where it is
/// not off, or that is unknown.
fn deviations(own: Figure, middle: f64, width: f64) -> Option<f64> {
    let log = Log::of(own);
    let off = (log.value - middle).abs();
    if off < LEAST_OFF.ln_1p() {
        return None;
    }
    // Where the others do not differ, its own interval has to tell; a single process tells nothing.
    let noise = if width > 0.0 { log.noise.unwrap_or(0.0) } else { log.noise? };
    Some(off / width.max(noise))
}

/// What is so of further timers.
fn and_others(count: usize, what: &str) -> String {
    match count {
        0 | 1 => String::new(),
        2 => format!("; another timer {what}"),
        more => format!("; {} other timers {what}", more - 1),
    }
}
