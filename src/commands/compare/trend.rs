//! What nodes and groups of a fleet cost over time, as lines, as a table and as JSON.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::super::terminal_style;
use crate::comparison::fleet::FleetComparison;
use crate::fields::instant;
use crate::fleet::trend::{Point, Trend, Trends};
use crate::table::{Format, Table, TableColumn};
use crate::text::clipped;

/// Groups that are shown, and nodes of those that changed unlike the rest.
const MOST: usize = 10;
const LONGEST: usize = 60;

/// The trends that are told: of groups, then of nodes that changed unlike the rest, or of all nodes.
fn told<'a>(trends: &'a Trends, comparison: &FleetComparison, all: bool) -> Vec<&'a Trend> {
    let most = if all { usize::MAX } else { MOST };
    let odd: Vec<&str> =
        comparison.unlike.iter().filter(|node| !node.stray).map(|node| node.node.as_str()).collect();
    let nodes = trends.nodes.iter().filter(|trend| all || odd.contains(&trend.of.as_str()));
    trends.groups.iter().take(most).chain(nodes.take(most)).collect()
}

fn table(trends: &Trends, comparison: &FleetComparison, all: bool) -> Table<'static> {
    let right = |heading| TableColumn { right: true, ..TableColumn::left(heading) };
    let folds = |heading| TableColumn { folds: true, longest: Some(LONGEST), ..TableColumn::left(heading) };
    let mut table = Table::new(vec![
        folds("group or node"),
        right("nodes"),
        TableColumn::left("over time"),
        right("from %"),
        right("to %"),
        right("last %"),
    ]);
    for trend in told(trends, comparison, all) {
        let (low, high) = trend.range();
        let last = trend.points.last().map(|point| point.percent);
        let mut row = vec![
            clipped(&trend.of, LONGEST).into(),
            trend.nodes.to_string().into(),
            trend.drawn(trends.bucket_hours).into(),
        ];
        row.extend([Some(low), Some(high), last].map(|percent| {
            percent.filter(|percent| percent.is_finite()).map(|percent| format!("{percent:+.1}")).into()
        }));
        table.push(row);
    }
    table
}

fn heading(trends: &Trends) -> String {
    let length = match trends.bucket_hours {
        1 => "hour".to_owned(),
        24 => "day".to_owned(),
        hours => format!("{} days", hours / 24),
    };
    format!(
        "cost over time, a level for each {length} with a report, against what was usual for each node before |"
    )
}

/// Lines below the comparison.
pub(super) fn on_terminal(
    trends: &Trends,
    comparison: &FleetComparison,
    all: bool,
    output: &mut dyn Write,
) -> io::Result<()> {
    let table = table(trends, comparison, all).on_terminal(terminal_style(), &|_| "");
    write!(output, "\n{}\n{table}", heading(trends))
}

/// The same as Markdown.
pub(super) fn as_markdown(
    trends: &Trends,
    comparison: &FleetComparison,
    all: bool,
    output: &mut dyn Write,
) -> io::Result<()> {
    let table = table(trends, comparison, all).render(Format::Markdown);
    write!(output, "\n{}:\n\n{table}", heading(trends).replace('|', "\\|"))
}

/// All groups, and the nodes that changed unlike the rest; with `all` every node.
pub(super) fn as_json(trends: &Trends, comparison: &FleetComparison, all: bool) -> Value {
    let point = |point: &Point| {
        json!({
            "begins": instant(point.at).map(|begins| humantime::format_rfc3339_seconds(begins).to_string()),
            "since": point.since,
            "runs": point.runs,
            "percent": point.percent,
        })
    };
    let trend = |trend: &Trend| {
        json!({
            "of": trend.of,
            "nodes": trend.nodes,
            "points": trend.points.iter().map(point).collect::<Vec<_>>(),
        })
    };
    let odd: Vec<&str> = comparison.unlike.iter().map(|node| node.node.as_str()).collect();
    let nodes = trends.nodes.iter().filter(|trend| all || odd.contains(&trend.of.as_str()));
    json!({
        "bucket_hours": trends.bucket_hours,
        "groups": trends.groups.iter().map(trend).collect::<Vec<_>>(),
        "nodes": nodes.map(trend).collect::<Vec<_>>(),
    })
}
