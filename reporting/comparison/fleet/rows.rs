//! What changed in a fleet, as tables and sentences: the terminal and the Markdown page differ in how they set them only.

use indexmap::IndexMap;

use super::super::rows::{class, verdict};
use super::super::{Fate, Verdict};
use super::{Concerned, Design, FactChange, FleetComparison, FleetFigure, PartChange, Unlike, UnlikeNode};
use crate::fields::Measure;
use crate::table::{Table, TableColumn, Value};
use crate::text::numbers::significant;
use crate::text::{and_more, clipped, counted, plain};

/// Lines about nodes, of each kind, unless all are asked for.
const MOST_LINES: usize = 10;
/// Figures of a node that are told one by one.
const MOST_FIGURES: usize = 3;
/// Ways in which a fact changed that are told one by one.
const MOST_WAYS: usize = 3;
const LONGEST: usize = 60;
/// Characters of a change that the narrowest terminal has room for, beside the name of a timer that is folded.
const ROOM: usize = 26;

/// The figures to be shown, the worst first: those that differ by more than noise, or all.
pub(super) fn shown(comparison: &FleetComparison, all: bool) -> Vec<&FleetFigure> {
    let differs = |figure: &&FleetFigure| matches!(figure.compared.verdict, Verdict::Worse | Verdict::Better);
    let mut shown: Vec<_> = comparison.figures.iter().filter(|figure| all || differs(figure)).collect();
    shown.sort_by_key(|figure| class(&figure.compared));
    shown
}

/// A row a figure; with the verdicts where not all of them differ.
pub(super) fn figures(shown: &[&FleetFigure], all: bool) -> Table<'static> {
    let right = |heading| TableColumn { right: true, ..TableColumn::left(heading) };
    let long = shown.iter().any(|figure| change(figure).chars().count() > ROOM);
    let mut columns = vec![
        TableColumn { longest: Some(LONGEST), folds: true, ..TableColumn::left("timer") },
        TableColumn::left("figure"),
        TableColumn { folds: all || long, longest: None, ..TableColumn::left("change [95 % interval]") },
        right("SD"),
        right("worse %"),
        right("better %"),
    ];
    columns.extend(all.then(|| TableColumn::left("verdict")));
    let mut table = Table::new(columns);
    for figure in shown {
        let judged = figure.worse + figure.better + figure.noise;
        let share = |part: usize| match judged {
            0 => Value::Nothing,
            judged => format!("{:.0}", 100.0 * part as f64 / judged as f64).into(),
        };
        let mut row = vec![
            figure.compared.timer.as_str().into(),
            figure.compared.quantity.name().into(),
            change(figure).into(),
            scatter(figure).into(),
            share(figure.worse),
            share(figure.better),
        ];
        row.extend(all.then(|| verdict(figure.compared.verdict).into()));
        table.push(row);
    }
    table
}

/// The mean change with its interval.
fn change(figure: &FleetFigure) -> String {
    let difference = &figure.compared.difference;
    let (value, interval, decimals, unit) = match (figure.compared.quantity.measure(), difference.percent) {
        (Measure::Points, _) => (difference.absolute, difference.interval, 2, " pp"),
        (_, Some(percent)) => (percent, difference.percent_interval, 2, " %"),
        (_, None) => (difference.absolute, difference.interval, 4, ""),
    };
    let interval = interval.map(|(low, high)| format!(" [{low:+.decimals$}, {high:+.decimals$}]"));
    format!("{value:+.decimals$}{unit}{}", interval.unwrap_or_default())
}

/// What nodes differ by.
fn scatter(figure: &FleetFigure) -> String {
    let unit = match figure.compared.quantity.measure() {
        Measure::Points => " pp",
        Measure::Share => "",
        Measure::Ppm => " ppm",
        Measure::Time => " %",
    };
    format!("{}{unit}", significant(figure.between, 2))
}

/// Who was compared.
pub(super) fn nodes(comparison: &FleetComparison) -> String {
    let nodes = comparison.nodes;
    let both = counted(nodes.both, "node");
    let (mut told, only) = match &comparison.since {
        None => (
            format!("{both} in both folders, compared each with itself"),
            ["in the old one only", "in the new one only"],
        ),
        Some(since) => (
            format!("{both} before {since} and since, compared each with itself"),
            ["before only", "since only"],
        ),
    };
    for (count, which) in [nodes.only_old, nodes.only_new].into_iter().zip(only) {
        if count > 0 {
            told += &format!("; {count} {which}");
        }
    }
    if comparison.figures.iter().any(|figure| figure.design == Design::TwoSamples) {
        told += "; as few are in both, those of one side are compared with others of the other one, whose machines may differ";
    }
    told
}

/// Where costs changed, a line a part.
pub(super) fn parts(comparison: &FleetComparison) -> Vec<String> {
    let told = |part: &PartChange| {
        let who = match part.of.as_slice() {
            [] if comparison.parts.len() > 1 => "all other nodes".to_owned(),
            [] => "all nodes".to_owned(),
            [first, also @ ..] => {
                let also = if also.is_empty() {
                    String::new()
                } else {
                    format!(", which are those of {}", also.join(", "))
                };
                format!("{first}{also}")
            }
        };
        let timers: Vec<&str> = part.timers.iter().take(MOST_FIGURES).map(String::as_str).collect();
        let rest = part.rest_percent.map_or_else(String::new, |rest| format!("; others {rest:+.1} %"));
        format!(
            "{who} ({}): cost {:+.1} % [{:+.1}, {:+.1}]{rest}: {}",
            counted(part.nodes, "node"),
            part.percent,
            part.low_percent,
            part.high_percent,
            and_more(&timers, part.timers.len())
        )
    };
    comparison.parts.iter().map(told).collect()
}

/// How it all comes out, in one sentence.
pub(super) fn summary(comparison: &FleetComparison) -> String {
    format!(
        "{} worse, {} better, {} no more than noise",
        counted(comparison.count(Verdict::Worse), "figure"),
        comparison.count(Verdict::Better),
        comparison.count(Verdict::Noise) + comparison.count(Verdict::Unjudged),
    )
}

/// What the columns say.
pub(super) fn legend() -> &'static str {
    "change: of the mean of the nodes; SD: what nodes differ by in it, beyond their own noise; pp: points of Quality; worse, better: \
     nodes that changed by more than their own noise, of which 2.5 % each would be chance where nothing changed"
}

/// What of the platforms changed, on how many nodes, and whether it stands out.
pub(super) fn platform(comparison: &FleetComparison) -> Vec<(String, bool)> {
    let mut told: Vec<(String, bool)> = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for fact in &comparison.platform {
        let what = fact.change.what;
        if seen.contains(&what) {
            continue;
        }
        seen.push(what);
        let ways: Vec<&FactChange> =
            comparison.platform.iter().filter(|other| other.change.what == what).collect();
        if ways.len() > MOST_WAYS && !fact.change.is_loud() {
            let nodes: usize = ways.iter().map(|way| way.concerned.nodes).sum();
            told.push((
                format!("{what}: changed on {}, in {} ways", counted(nodes, "node"), ways.len()),
                false,
            ));
            continue;
        }
        told.extend(ways.into_iter().map(|way| (one_fact(comparison, way), way.change.is_loud())));
    }
    told
}

fn one_fact(comparison: &FleetComparison, fact: &FactChange) -> String {
    let told =
        |value: &Option<String>| value.as_deref().map_or("not reported".into(), |v| clipped(v, LONGEST));
    let change = &fact.change;
    let few = if change.is_loud() { format!(": {}", named(&fact.concerned)) } else { String::new() };
    let fell = if change.is_fallen_clock_source() { " (it fell)" } else { "" };
    format!(
        "{}: {} → {}{fell} on {}{few}",
        change.what,
        told(&change.old),
        told(&change.new),
        of_all(comparison, fact.concerned.nodes)
    )
}

fn of_all(comparison: &FleetComparison, nodes: usize) -> String {
    let all = comparison.nodes.both;
    match nodes {
        1 if all == 1 => "the one node".to_owned(),
        _ if nodes == all => format!("all {all} nodes"),
        _ => format!("{nodes} of {all} nodes"),
    }
}

fn named(concerned: &Concerned) -> String {
    let names: Vec<String> = concerned.named.iter().map(|name| clipped(name, LONGEST)).collect();
    and_more(&names, concerned.nodes)
}

/// Answers about trust that changed, those of several timers of the same nodes at once.
pub(super) fn answers(comparison: &FleetComparison) -> Vec<(String, Verdict)> {
    let mut alike = IndexMap::<(String, String), (Verdict, Vec<String>)>::new();
    for answer in &comparison.answers {
        let (old, new) = (answer.old.in_words(), answer.new.in_words());
        let what = format!(
            "{}: {old} → {new} on {}",
            answer.question.name(),
            of_all(comparison, answer.concerned.nodes)
        );
        let entry = alike.entry((what, named(&answer.concerned)));
        let timers = &mut entry.or_insert_with(|| (answer.verdict, Vec::new())).1;
        timers.push(clipped(&answer.timer, LONGEST));
    }
    let told = alike.into_iter().map(|((what, nodes), (verdict, timers))| {
        (format!("{what} ({nodes}): {}", timers.join(", ")), verdict)
    });
    told.collect()
}

/// Timers that came and went.
pub(super) fn fates(comparison: &FleetComparison) -> Vec<String> {
    let told = comparison.one_sided.iter().map(|timer| {
        let fate = match timer.fate {
            Fate::Lost => "lost its figures",
            Fate::Gained => "gained figures",
            Fate::Gone => "is only in the old report",
            Fate::Added => "is only in the new report",
        };
        let nodes = of_all(comparison, timer.concerned.nodes);
        format!("{} {fate} on {nodes}: {}", clipped(&timer.timer, LONGEST), named(&timer.concerned))
    });
    told.collect()
}

/// Nodes that changed unlike the rest, and how many are left out.
pub(super) fn unlike(comparison: &FleetComparison, all: bool) -> (Vec<String>, usize) {
    let most = if all { usize::MAX } else { MOST_LINES };
    let clear = comparison.unlike.iter().filter(|node| all || !node.stray);
    let told: Vec<String> = clear.take(most).map(one_unlike).collect();
    let left = comparison.unlike.len() - told.len();
    (told, left)
}

fn one_unlike(node: &UnlikeNode) -> String {
    let figures: Vec<String> = node.figures.iter().take(MOST_FIGURES).map(one_figure).collect();
    let more = node.figures.len() - figures.len();
    let more = if more > 0 { format!(" and {} more", counted(more, "figure")) } else { String::new() };
    let platform: String = node.platform.iter().map(|told| format!("{}; ", plain(told))).collect();
    format!("{}: {platform}{}{more}", clipped(&node.node, LONGEST), figures.join(", "))
}

fn one_figure(unlike: &Unlike) -> String {
    let figure = |value: f64| unlike.quantity.written(value);
    let timer = clipped(&unlike.timer, LONGEST);
    format!("{timer} {} {} → {}", unlike.quantity.name(), figure(unlike.old), figure(unlike.new))
}
