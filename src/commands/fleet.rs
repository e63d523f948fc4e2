//! `fleet`: what stands out of the reports of a fleet.

use std::io::Write;
use std::time::UNIX_EPOCH;

use serde_json::{Value, json};

use super::{CommandError, columns, pretty, tell, tell_refused, terminal_style, unnamed};
use crate::cli::{FleetArgs, FleetFormat};
use crate::fleet::findings::{Finding, MOST, findings, in_a_line, times};
use crate::fleet::groups::{Group, groups};
use crate::fleet::outliers::{Outliers, outliers};
use crate::report::Muster;
use crate::report::openmetrics::{Metrics, labels};
use crate::table::{Format, Table, TableColumn, escape_markdown as escape};
use crate::text::{and_more, clipped, counted, hang, plain};

/// Names of nodes that are told of each thing.
const NAMED: usize = 5;
const LONGEST: usize = 60;

/// A fleet, and what was found of it.
struct Judged {
    muster: Muster,
    groups: Vec<Group>,
    outliers: Outliers,
    findings: Vec<Finding>,
}

/// Runs the command. Returns whether nothing stands out and all reports could be read.
///
/// # Errors
/// When none could be read, or the output cannot be written.
pub fn run(args: &FleetArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let muster = match columns::muster(&args.folder) {
        Some(muster) => muster?,
        None => Muster::read(&args.folder, || ()),
    };
    let complete = tell_refused(&muster.refused, muster.reports)?;
    if muster.roll.unnamed > 0 {
        tell(&unnamed(muster.roll.unnamed, muster.reports));
    }
    let groups = groups(&muster.nodes);
    let outliers = outliers(&muster.nodes, &groups, &muster.timers);
    let findings = findings(&muster.nodes, &groups, &outliers, &muster.timers);
    let judged = Judged { muster, groups, outliers, findings };
    match args.format {
        FleetFormat::Json => writeln!(output, "{}", pretty(&judged.as_json())?)?,
        FleetFormat::Table => judged.on_terminal(args.all, output)?,
        FleetFormat::Markdown => judged.as_markdown(args.all, output)?,
        FleetFormat::Openmetrics => write!(output, "{}", judged.as_metrics())?,
    }
    output.flush()?;
    Ok(complete && judged.findings.is_empty())
}

impl Judged {
    fn on_terminal(&self, all: bool, output: &mut dyn Write) -> Result<(), CommandError> {
        let style = terminal_style();
        let mut line = |text: &str, code: &str| -> Result<(), CommandError> {
            let mut lines = String::new();
            hang(&mut lines, "", "  ", &plain(text), style.columns());
            lines.lines().try_for_each(|line| writeln!(output, "{}", style.paint(code, line)))?;
            Ok(())
        };
        line(&self.summary(), "")?;
        for finding in self.shown(all) {
            line(&self.in_a_line(finding), if finding.group.is_some() { "31;1" } else { "" })?;
        }
        if let Some(more) = self.more(all) {
            line(&more, "")?;
        }
        writeln!(output)?;
        write!(output, "{}", self.table().on_terminal(style, &|_| ""))?;
        Ok(())
    }

    fn as_markdown(&self, all: bool, output: &mut dyn Write) -> Result<(), CommandError> {
        writeln!(output, "{}.\n", escape(&self.summary()))?;
        for finding in self.shown(all) {
            writeln!(output, "- {}", escape(&self.in_a_line(finding)))?;
        }
        if let Some(more) = self.more(all) {
            writeln!(output, "- {}", escape(&more))?;
        }
        writeln!(output, "\n{}", self.table().render(Format::Markdown))?;
        Ok(())
    }

    fn shown(&self, all: bool) -> &[Finding] {
        &self.findings[..if all { self.findings.len() } else { self.findings.len().min(MOST) }]
    }

    fn more(&self, all: bool) -> Option<String> {
        let more = self.findings.len() - self.shown(all).len();
        (more > 0).then(|| format!("and {} more, which --all shows", counted(more, "thing")))
    }

    fn summary(&self) -> String {
        let Muster { nodes, reports, roll, .. } = &self.muster;
        let mut told = format!("{} in {}", counted(nodes.len(), "node"), counted(self.groups.len(), "group"));
        if roll.earlier > 0 {
            told += &format!(", by the last of {} each", counted(*reports, "report"));
        }
        if self.outliers.unjudged > 0 {
            told += &format!(
                "; steps and costs of {} were not judged, as their groups are too small",
                self.outliers.unjudged
            );
        }
        let odd = match self.findings.len() {
            0 => "nothing stands out".to_owned(),
            count => format!(
                "{} out",
                if count == 1 { "one thing stands".into() } else { format!("{count} things stand") }
            ),
        };
        format!("{told}; {odd}")
    }

    fn in_a_line(&self, finding: &Finding) -> String {
        let names: Vec<String> = finding.nodes.iter().take(NAMED).map(|node| self.name(*node)).collect();
        let far = finding.ratio.map_or_else(String::new, |ratio| format!(" ({})", times(ratio)));
        let group = finding.group.map_or_else(String::new, |group| format!(" (group {})", group + 1));
        format!(
            "{}{group}, {}: {}{far}: {}",
            finding.kind.in_words(),
            counted(finding.nodes.len(), "node"),
            finding.what,
            and_more(&names, finding.nodes.len())
        )
    }

    fn name(&self, node: usize) -> String {
        clipped(&self.muster.nodes[node].name, LONGEST)
    }

    /// A row a group, the largest first.
    fn table(&self) -> Table<'static> {
        let right = |heading| TableColumn { right: true, ..TableColumn::left(heading) };
        let folds = |heading| TableColumn { folds: true, ..TableColumn::left(heading) };
        let mut table = Table::new(vec![right("group"), right("nodes"), right("odd"), folds("machine")]);
        for (at, group) in self.groups.iter().enumerate().take(MOST) {
            table.push(vec![
                (at + 1).to_string().into(),
                group.members.len().to_string().into(),
                self.odd_of(at).to_string().into(),
                clipped(&in_a_line(&group.machine), 2 * LONGEST).into(),
            ]);
        }
        table
    }

    fn odd_of(&self, group: usize) -> usize {
        self.outliers.nodes.iter().filter(|outlier| outlier.group == group).count()
    }

    /// For alerts: what stands out and on how many nodes, each node that does, and when that was judged.
    fn as_metrics(&self) -> String {
        let mut metrics = Metrics::default();
        let known = |count: usize| Some(count as f64);
        let judged = timers::date().duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs() as f64);
        let about = "When the fleet was judged, in seconds since 1970.";
        metrics.gauge("timermeter_fleet_judged_timestamp_seconds", about, "", judged);
        let nodes = self.muster.nodes.len();
        metrics.gauge("timermeter_fleet_nodes", "Nodes that were judged.", "", known(nodes));
        metrics.gauge("timermeter_fleet_groups", "Groups that agree.", "", known(self.groups.len()));
        let about = "Nodes whose steps and costs were not judged, as their groups are too small.";
        metrics.gauge("timermeter_fleet_unjudged", about, "", known(self.outliers.unjudged));
        for finding in &self.findings {
            // Groups are numbered by their size, which changes; what they have in common stays.
            let machine = finding.group.map(|group| in_a_line(&self.groups[group].machine));
            let group = machine.unwrap_or_default();
            let of = [("kind", finding.kind.in_words()), ("what", &finding.what), ("group", &group)];
            let about = "Nodes of which something stands out; all of a group where that is named.";
            metrics.gauge("timermeter_fleet_finding_nodes", about, &labels(&of), known(finding.nodes.len()));
        }
        for outlier in &self.outliers.nodes {
            let Some(reason) = outlier.reasons.first() else { continue };
            let name = self.name(outlier.node);
            let of = [("node", name.as_str()), ("kind", reason.kind.in_words()), ("what", &reason.brief)];
            let about = "1 for each node that stands out, with its gravest reason.";
            metrics.gauge("timermeter_fleet_odd", about, &labels(&of), Some(1.0));
        }
        metrics.text()
    }

    fn as_json(&self) -> Value {
        let name = |node: &usize| self.muster.nodes[*node].name.clone();
        let finding = |finding: &Finding| {
            json!({
                "kind": finding.kind.in_words(),
                "what": finding.what,
                "group": finding.group.map(|group| group + 1),
                "ratio": finding.ratio,
                "nodes": finding.nodes.iter().map(name).collect::<Vec<_>>(),
            })
        };
        let group = |(at, group): (usize, &Group)| {
            let machine = &group.machine;
            json!({
                "group": at + 1,
                "nodes": group.members.len(),
                "odd": self.odd_of(at),
                "cpu": machine.cpu,
                "kernel": machine.kernel,
                "clock_source": machine.clocksource,
            })
        };
        let odd = self.outliers.nodes.iter().map(|outlier| {
            let reasons = outlier.reasons.iter().map(|reason| {
                json!({ "kind": reason.kind.in_words(), "says": reason.says, "ratio": reason.ratio })
            });
            json!({ "node": name(&outlier.node), "group": outlier.group + 1, "reasons": reasons.collect::<Vec<_>>() })
        });
        json!({
            "nodes": self.muster.nodes.len(),
            "reports": self.muster.reports,
            "earlier": self.muster.roll.earlier,
            "unnamed": self.muster.roll.unnamed,
            "shared_names": self.muster.roll.shared,
            "unjudged": self.outliers.unjudged,
            "findings": self.findings.iter().map(finding).collect::<Vec<_>>(),
            "groups": self.groups.iter().enumerate().map(group).collect::<Vec<_>>(),
            "odd": odd.collect::<Vec<_>>(),
        })
    }
}
