//! Groups and outliers of small fleets whose truth is known.

use std::collections::BTreeSet;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::groups::{Group, groups};
use super::node::{Machine, Node, Quantity, Reading, Trust};
use super::outliers::{Kind, Outliers, outliers};
use crate::model::{Figure, Question, Status};

const TIMERS: usize = 20;

/// What nodes of a kind differ by, and what their own intervals say.
const DIFFER: f64 = 0.01;
const NOISE: f64 = 0.003;

fn normal(random: &mut StdRng) -> f64 {
    (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
}

fn figure(value: f64, noise: f64) -> Figure {
    let half = 1.96 * noise * value;
    Figure::new(value, Some(value - half), Some(value + half)).unwrap()
}

/// A sound node; its steps are exact, as those of most clocks.
fn node(number: usize, random: &mut StdRng) -> Node {
    let machine = Machine {
        cpu: "CPU 1".into(),
        kernel: "6.1".into(),
        clocksource: "tsc".into(),
        hypervisor: "KVM".into(),
        architecture: "x86_64".into(),
    };
    let reading = |timer: usize| Reading {
        timer,
        status: Status::Ok,
        quality: Some(0.3),
        step: Some(figure(10.0, 0.0)),
        cost: Some(figure((10.0 + timer as f64) * (DIFFER * normal(random)).exp(), NOISE)),
        trust: Trust::Kept,
    };
    let readings = (0..TIMERS).map(reading).collect();
    Node {
        name: format!("node-{number}"),
        machine,
        created: "2026-11-20T12:00:00Z".into(),
        measured: true,
        readings,
        lateness: Vec::new(),
    }
}

fn fleet(count: usize, seed: u64) -> Vec<Node> {
    let random = &mut StdRng::seed_from_u64(seed);
    (0..count).map(|number| node(number, random)).collect()
}

fn costlier(node: &mut Node, timer: usize, times: f64) {
    let cost = node.readings[timer].cost.as_mut().unwrap();
    *cost = figure(cost.value * times, NOISE);
}

fn judged(nodes: &[Node]) -> (Vec<Group>, Outliers) {
    let names: Vec<Box<str>> = (0..TIMERS).map(|timer| format!("timer-{timer}").into()).collect();
    let groups = groups(nodes);
    let found = outliers(nodes, &groups, &names);
    (groups, found)
}

fn odd(found: &Outliers) -> Vec<(usize, Kind)> {
    found.nodes.iter().map(|outlier| (outlier.node, outlier.reasons[0].kind)).collect()
}

#[test]
fn nodes_that_agree_are_one_group_and_none_is_odd() {
    let (mut alarms, mut fleets) = (0, 0);
    for count in [10, 11, 20, 50, 200] {
        for seed in 0..40 {
            let (groups, found) = judged(&fleet(count, seed));
            assert_eq!(groups.len(), 1, "{count} {seed}");
            assert_eq!((groups[0].members.len(), found.unjudged), (count, 0));
            (alarms, fleets) = (alarms + usize::from(!found.nodes.is_empty()), fleets + 1);
        }
    }
    // One in twenty is meant.
    assert!(alarms * 10 <= fleets, "{alarms} of {fleets} fleets");
}

#[test]
fn two_kinds_are_two_groups_and_a_few_odd_ones_are_none() {
    for seed in 0..10 {
        let mut nodes = fleet(100, seed);
        for node in &mut nodes[..30] {
            costlier(node, 3, 1.3);
            costlier(node, 5, 1.5);
        }
        let (groups, found) = judged(&nodes);
        let sizes: Vec<usize> = groups.iter().map(|group| group.members.len()).collect();
        assert_eq!(sizes, [70, 30], "{seed}");
        assert!(groups[1].members.iter().all(|member| *member < 30), "{seed}");
        let apart = groups[1].apart[0];
        assert_eq!((apart.quantity, apart.here > apart.there), (Quantity::Cost, true));
        assert!(found.nodes.len() <= 1, "{:?}", odd(&found));
        let mut few = fleet(100, seed);
        for node in &mut few[..4] {
            costlier(node, 3, 1.3);
        }
        let (groups, found) = judged(&few);
        assert_eq!(groups.len(), 1);
        let found: BTreeSet<(usize, Kind)> = odd(&found).into_iter().collect();
        assert!((0..4).all(|node| found.contains(&(node, Kind::Cost))), "{found:?}");
    }
}

#[test]
fn groups_do_not_go_by_the_order_of_the_reports() {
    let mut nodes = fleet(90, 7);
    for node in &mut nodes[..40] {
        costlier(node, 3, 1.3);
    }
    nodes[80].machine.kernel = "6.2".into();
    let named = |nodes: &[Node]| -> BTreeSet<BTreeSet<String>> {
        let of = |group: &Group| group.members.iter().map(|node| nodes[*node].name.clone()).collect();
        groups(nodes).iter().map(of).collect()
    };
    let before = named(&nodes);
    nodes.reverse();
    nodes.swap(3, 50);
    assert_eq!(before.len(), 3);
    assert_eq!(named(&nodes), before);
}

#[test]
fn each_oddity_is_found_and_the_gravest_comes_first() {
    let mut nodes = fleet(60, 3);
    costlier(&mut nodes[1], 4, 1.4);
    costlier(&mut nodes[2], 4, 3.0);
    nodes[3].machine.clocksource = "hpet".into();
    costlier(&mut nodes[3], 9, 40.0);
    nodes[4].readings[0].trust = Trust::Lost(Box::new((Question::Stable, "it drifts".into())));
    nodes[5].created = "1970-01-02T00:00:00Z".into();
    nodes[6].readings[2].step = Some(figure(1_000.0, 0.0));
    nodes[7].readings[8].status = Status::Failed;
    let (groups, found) = judged(&nodes);
    let expected = [
        (4, Kind::Trust),
        (3, Kind::ClockSource),
        (5, Kind::Date),
        (6, Kind::Step),
        (2, Kind::Cost),
        (1, Kind::Cost),
        (7, Kind::Missing),
    ];
    assert_eq!(odd(&found), expected);
    let says = |at: usize| found.nodes[at].reasons[0].says.clone();
    assert_eq!(says(0), "`timer-0` is not stable: it drifts. 59 nodes trust it");
    assert!(
        says(1)
            .starts_with("it has `hpet`, 59 of 60 machines with CPU 1 and KVM have `tsc`; `timer-9` costs")
    );
    assert!(says(3).contains("`timer-2` moves in steps of 1.000 µs, 10.00 ns in its group"), "{}", says(3));
    assert!((found.nodes[3].reasons[0].ratio.unwrap() - 100.0).abs() < 1e-9);
    assert_eq!(groups.len(), 2, "the one on hpet is of another kind");
    assert_eq!(found.unjudged, 1);
}

#[test]
fn where_nodes_do_not_differ_the_interval_of_the_node_decides() {
    let with = |own: Option<Figure>| {
        let mut nodes = fleet(12, 1);
        for node in &mut nodes {
            node.readings[0].cost = Some(figure(10.0, 0.0));
        }
        nodes[5].readings[0].cost = own;
        odd(&judged(&nodes).1)
    };
    assert_eq!(with(Some(figure(11.0, 0.0))), [(5, Kind::Cost)]);
    assert_eq!(with(Some(figure(11.0, 0.05))), [], "its own interval is as wide");
    assert_eq!(with(Figure::new(11.0, None, None)), [], "it cannot be told");
    assert_eq!(with(Some(figure(10.1, 0.0))), [], "too small to matter");
}

#[test]
fn what_all_nodes_have_is_not_odd() {
    let mut nodes = fleet(40, 2);
    for node in &mut nodes {
        node.readings[0].trust = Trust::Lost(Box::new((Question::Stable, "it drifts".into())));
        node.readings[1].status = Status::Unavailable;
        node.machine.clocksource = "hpet".into();
    }
    assert_eq!(odd(&judged(&nodes).1), []);
    // Nor where half have it.
    for node in &mut nodes[..20] {
        node.machine.clocksource = "tsc".into();
    }
    assert_eq!(odd(&judged(&nodes).1), []);
}

#[test]
fn figures_that_say_nothing_are_passed_over() {
    let mut nodes = fleet(30, 4);
    nodes[0].readings.clear();
    nodes[1].readings[0].cost = Some(figure(0.0, 0.0));
    nodes[2].readings[0].cost = None;
    nodes[3].machine = Machine::default();
    nodes[4].created = "never".into();
    let (groups, found) = judged(&nodes);
    assert_eq!(odd(&found), []);
    assert_eq!(groups.iter().map(|group| group.members.len()).sum::<usize>(), 30);
    assert_ne!(groups[0].typical(&nodes), 0);
    assert_eq!(judged(&[]).0, []);
}
