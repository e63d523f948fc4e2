//! What `compare` says of harder fleets: which part changed, by how much, which nodes are throttled, and what of fleets that did not change.

use std::collections::BTreeSet;
use std::io::Write;

use serde::Serialize;

use super::super::super::progress::Progress;
use super::super::super::{CommandError, failed, pretty};
use super::super::CHANCE;
use super::super::shown::table;
use crate::cli::{SelftestArgs, ShortFormat};
use crate::comparison::Verdict;
use crate::comparison::fleet::FleetComparison;
use crate::selftest::fleet::harder::{Harder, PLANTED};
use crate::selftest::fleet::share::Share;
use crate::table::Format;

/// Fleets of which a part changed, and others that did not.
const FLEETS: [u64; 2] = [80, 200];
/// The least share of parts, of their intervals and of throttled nodes, and of what is said of these.
/// *Definition*: the aim.
const LEAST: f64 = 0.9;
/// The largest share of unchanged fleets that are said to have changed.
/// *Definition*: the aim.
const MOST: f64 = 0.02;

/// What was found.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct HarderScore {
    /// Parts that changed, that are named.
    named: Share,
    /// Of these, those whose interval holds the size.
    held: Share,
    /// Parts that are named, that changed.
    rightly: Share,
    /// Throttled nodes that are named.
    throttled: Share,
    /// Nodes that are named, that are throttled.
    precise: Share,
    /// Unchanged fleets of which anything is said to have changed: a part, or a figure of all nodes.
    false_fleets: Share,
}

/// Judges harder fleets of `nodes` nodes.
///
/// # Errors
/// When `compare` is not as good as it has to be, or the output cannot be written.
pub fn run(args: &SelftestArgs, nodes: u32, output: &mut dyn Write) -> Result<(), CommandError> {
    let seed = args.seed.unwrap_or(1).wrapping_mul(1_000);
    let [changed, unchanged] = FLEETS;
    let progress = Progress::of((changed + unchanged) as usize, false);
    progress.at("harder fleets");
    let mut score = HarderScore::default();
    for fleet in 0..changed + unchanged {
        let seed = seed.wrapping_add(fleet);
        if fleet < changed {
            score.add_changed(nodes, seed)
        } else {
            score.add_unchanged(nodes, seed)
        }
        progress.step();
    }
    drop(progress);
    match args.format {
        ShortFormat::Json => writeln!(output, "{}", pretty(&score)?)?,
        ShortFormat::Table => score.print(nodes, output)?,
    }
    output.flush()?;
    let failures = score.failures();
    let failure =
        || failed(format!("the comparison is not as good as it has to be: {}", failures.join("; ")));
    if failures.is_empty() { Ok(()) } else { Err(failure()) }
}

impl HarderScore {
    /// What it says in words, and whether that is to be large.
    fn told(&self) -> [(&'static str, Share, Option<bool>); 6] {
        [
            ("parts that changed by 5 %, named", self.named, Some(true)),
            ("of these, intervals that hold the size", self.held, Some(true)),
            ("named parts that changed", self.rightly, None),
            ("throttled nodes, named", self.throttled, Some(true)),
            ("named nodes that are throttled", self.precise, Some(true)),
            ("unchanged fleets, said to have changed", self.false_fleets, Some(false)),
        ]
    }

    fn print(&self, nodes: u32, output: &mut dyn Write) -> Result<(), CommandError> {
        writeln!(output, "harder fleets of {nodes} nodes, as `compare` sees them\n")?;
        let mut rows = table(&["", "of", "%"]);
        for (name, share, _) in self.told() {
            let percent = share.share().map_or("–".into(), |share| format!("{:.1}", 100.0 * share));
            rows.push(vec![name.into(), share.of.to_string().into(), percent.into()]);
        }
        write!(output, "{}", rows.render(Format::Table))?;
        Ok(())
    }

    /// Requirements that are failed by more than chance explains for the number of fleets.
    fn failures(&self) -> Vec<String> {
        let failure = |(name, counts, large): (&str, Share, Option<bool>)| {
            let (share, large) = (counts.share()?, large?);
            let wanted = if large { LEAST } else { MOST };
            let chance = CHANCE * (wanted * (1.0 - wanted) / counts.of as f64).sqrt();
            let met = if large { share >= wanted - chance } else { share <= wanted + chance };
            let bound = if large { "at least" } else { "at most" };
            let [share, wanted] = [share, wanted].map(|share| 100.0 * share);
            (!met).then(|| format!("{name}: {share:.1} %, and {bound} {wanted:.1} % are required"))
        };
        self.told().into_iter().filter_map(failure).collect()
    }

    /// A fleet of which a part changed.
    fn add_changed(&mut self, nodes: u32, seed: u64) {
        let fleet = Harder::new(nodes, seed, true);
        let Some(planted) = &fleet.planted else { return };
        let found = FleetComparison::of_folders(fleet.folders());
        let part = found.parts.iter().find(|part| part.of.contains(&planted.name));
        self.named.add(part.is_some());
        if let Some(part) = part {
            self.held.add((part.low_percent..=part.high_percent).contains(&(100.0 * PLANTED)));
        }
        found.parts.iter().for_each(|part| self.rightly.add(part.of.contains(&planted.name)));
        let named = found.unlike.iter().filter(|node| !node.stray).map(|node| node.node.clone());
        let (named, throttled): (BTreeSet<String>, _) = (named.collect(), fleet.throttled());
        throttled.iter().for_each(|node| self.throttled.add(named.contains(node)));
        named.iter().for_each(|node| self.precise.add(throttled.contains(node)));
    }

    /// A fleet that did not.
    fn add_unchanged(&mut self, nodes: u32, seed: u64) {
        let found = FleetComparison::of_folders(Harder::new(nodes, seed, false).folders());
        let told = found.count(Verdict::Worse) + found.count(Verdict::Better);
        self.false_fleets.add(told > 0 || !found.parts.is_empty());
    }
}
