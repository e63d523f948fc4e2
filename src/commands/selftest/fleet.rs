//! `selftest --fleet`: fleets of known truth, and what `compare` finds of them.

mod harder;
mod judge;
mod kept;

use std::io::Write;

use serde::Serialize;

use super::super::progress::Progress;
use super::super::{CommandError, pretty, terminal_style};
use super::CHANCE;
use super::shown::table;
use crate::cli::{SelftestArgs, ShortFormat};
use crate::selftest::fleet::Fleet;
use crate::selftest::fleet::outliers::OutlierScore;
use crate::selftest::fleet::share::Share;
use crate::table::Format;
use crate::text::hang;
use judge::FleetScore;

/// Nodes that are simulated in all, a moment.
const NODES: u32 = 40_000;
/// Fleets, at least and at most.
const FLEETS: (u32, u32) = (2, 40);

/// What is required of the comparison.
#[derive(Clone, Copy, Debug, Serialize)]
struct Required {
    /// The least share of intervals that hold the mean change.
    covered: f64,
    /// The least share of the regressions, and of the nodes that fell or drift since, that are found; of fleets of 30 nodes or more.
    found: f64,
    /// The largest share of figures that did not change and are said to have.
    false_changes: f64,
    /// The largest share of sound nodes that are called unlike the rest.
    false_nodes: f64,
}

const REQUIRED: Required = Required { covered: 0.93, found: 0.97, false_changes: 0.05, false_nodes: 0.005 };
/// In smaller fleets what is there need not be found.
const ENOUGH: u32 = 30;

#[derive(Serialize)]
struct FleetOutcome {
    seeds: [u64; 2],
    nodes: u32,
    #[serde(flatten)]
    score: FleetScore,
    /// What `publish` finds of the fleets in the midst of the upgrade.
    outliers: OutlierScore,
    required: Required,
    passed: bool,
    failures: Vec<String>,
}

/// Runs the command.
///
/// # Errors
/// When the reports cannot be kept, or the comparison is not as good as it has to be.
pub fn run(args: &SelftestArgs, nodes: u32, output: &mut dyn Write) -> Result<(), CommandError> {
    let seed = args.seed.unwrap_or(1);
    if let Some(place) = &args.save {
        kept::keep(&Fleet::new(nodes, seed), place)?;
        writeln!(output, "{nodes} nodes are kept in {}: before, after, midway, truth.json", place.display())?;
        return Ok(output.flush()?);
    }
    if args.harder {
        return harder::run(args, nodes, output);
    }
    let fleets = (NODES / nodes).clamp(FLEETS.0, FLEETS.1);
    let progress = Progress::of(fleets as usize, false);
    progress.at("simulated fleets");
    let (mut score, mut outliers) = (FleetScore::default(), OutlierScore::default());
    for fleet in 0..u64::from(fleets) {
        let fleet = Fleet::new(nodes, seed.wrapping_add(fleet));
        score.add(&fleet);
        outliers.add(&fleet);
        progress.step();
    }
    drop(progress);
    let failures = failures(&score, nodes);
    let outcome = FleetOutcome {
        seeds: [seed, seed.wrapping_add(u64::from(fleets) - 1)],
        nodes,
        score,
        outliers,
        required: REQUIRED,
        passed: failures.is_empty(),
        failures,
    };
    match args.format {
        ShortFormat::Json => writeln!(output, "{}", pretty(&outcome)?)?,
        ShortFormat::Table => print(&outcome, output)?,
    }
    output.flush()?;
    let failure =
        || format!("the comparison is not as good as it has to be: {}", outcome.failures.join("; "));
    if outcome.passed { Ok(()) } else { Err(CommandError::Failed(failure())) }
}

/// Requirements that the comparison fails by more than chance explains for the number of fleets.
fn failures(score: &FleetScore, nodes: u32) -> Vec<String> {
    let chance = |share: f64, of: u64| CHANCE * (share * (1.0 - share) / of.max(1) as f64).sqrt();
    let mut failures = Vec::new();
    let mut check = |what: &str, counts: Share, wanted: f64, at_least: bool| {
        let Some(share) = counts.share() else { return };
        let chance = chance(wanted, counts.of);
        let met = if at_least { share >= wanted - chance } else { share <= wanted + chance };
        if !met {
            let bound = if at_least { "at least" } else { "at most" };
            failures.push(format!(
                "{what} {:.1} %, and {bound} {:.1} % are required",
                100.0 * share,
                100.0 * wanted
            ));
        }
    };
    check(
        "intervals of regressed costs hold the mean change on",
        score.regressed.covered,
        REQUIRED.covered,
        true,
    );
    check("intervals of other costs hold it on", score.unchanged.covered, REQUIRED.covered, true);
    check("false changes:", score.unchanged.told, REQUIRED.false_changes, false);
    check("false changes of steps:", score.steps, REQUIRED.false_changes, false);
    check("false changes of spreads:", score.spreads, REQUIRED.false_changes, false);
    check("sound nodes unlike the rest:", score.false_nodes, REQUIRED.false_nodes, false);
    if nodes >= ENOUGH {
        check("regressions found:", score.regressed.told, REQUIRED.found, true);
        check("fallen nodes found:", score.fell, REQUIRED.found, true);
        check("drifting nodes found:", score.drifting, REQUIRED.found, true);
    }
    failures
}

fn print(outcome: &FleetOutcome, output: &mut dyn Write) -> Result<(), CommandError> {
    let [first, last] = outcome.seeds;
    writeln!(output, "simulated fleets of {} nodes, seeds {first} to {last}\n", outcome.nodes)?;
    let score = &outcome.score;
    let mut costs = table(&["cost", "intervals", "covered %", "half-width %", "told as changed %"]);
    for (name, of) in [("8 % regression", &score.regressed), ("no change", &score.unchanged)] {
        costs.push(vec![
            name.into(),
            of.covered.of.to_string().into(),
            percent(of.covered).into(),
            of.half_width().map_or("–".into(), |half| format!("{:.3}", 100.0 * half)).into(),
            percent(of.told).into(),
        ]);
    }
    write!(output, "{}", costs.render(Format::Table))?;
    writeln!(output)?;
    let mut others = table(&["", "of", "told %"]);
    for (name, counts) in [
        ("Quality of regressed timers, as worse", score.qualities),
        ("steps, which did not change", score.steps),
        ("spreads, which did not change", score.spreads),
        ("nodes that fell to hpet since", score.fell),
        ("nodes whose TSC drifts since", score.drifting),
        ("sound nodes, as unlike the rest", score.false_nodes),
    ] {
        others.push(vec![name.into(), counts.of.to_string().into(), percent(counts).into()]);
    }
    write!(output, "{}", others.render(Format::Table))?;
    print_outliers(&outcome.outliers, output)?;
    let mut legend = String::new();
    hang(&mut legend, "", "  ", LEGEND, terminal_style().columns());
    write!(output, "\n{legend}")?;
    Ok(())
}

fn percent(share: Share) -> String {
    share.share().map_or("–".into(), |share| format!("{:.1}", 100.0 * share))
}

/// What `publish` finds.
fn print_outliers(score: &OutlierScore, output: &mut dyn Write) -> Result<(), CommandError> {
    writeln!(output, "\nin the midst of the upgrade, as `publish` sees them:\n")?;
    let mut outliers = table(&["", "of", "stand out %"]);
    for (name, share) in [
        ("nodes that fell to hpet (recall)", score.fallen),
        ("nodes whose TSC drifts (recall)", score.drifting),
        ("nodes that lack a timer (recall)", score.lacking),
        ("nodes that were never quiet", score.restless),
        ("sound nodes", score.false_nodes),
    ] {
        outliers.push(vec![name.into(), share.of.to_string().into(), percent(share).into()]);
    }
    write!(output, "{}", outliers.render(Format::Table))?;
    let [precise, unjudged] = [score.precise, score.unjudged].map(percent);
    let of = score.precise.of;
    let mut summary = String::new();
    let text = format!(
        "of {of} nodes that stand out, something is wrong with {precise} % (precision); figures of {unjudged} % of all nodes were not \
         judged, because their groups are too small"
    );
    hang(&mut summary, "", "  ", &text, terminal_style().columns());
    write!(output, "{summary}")?;
    Ok(())
}

const LEGEND: &str = "covered: 95 % intervals that hold the mean change of the nodes they rest on; told as changed: by more than noise, and \
                      enough to matter";
