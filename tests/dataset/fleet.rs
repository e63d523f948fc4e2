//! The questions are answered right of a simulated fleet, of which it is known what is wrong with which node.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::duckdb::{self, Answer};
use super::{folder, timermeter};

const NODES: &str = "400";

/// What is true of a fleet after its upgrade.
struct Truth(Value);

impl Truth {
    /// The names of nodes of which something holds.
    fn nodes(&self, holds: impl Fn(&Value) -> bool) -> BTreeSet<String> {
        let nodes = self.0["nodes"].as_array().expect("nodes").iter();
        nodes
            .filter(|node| holds(node))
            .map(|node| node["name"].as_str().expect("a name").to_owned())
            .collect()
    }

    fn timers(&self, which: &str) -> BTreeSet<String> {
        let timers = self.0[which].as_array().expect("timers").iter();
        timers.map(|timer| timer.as_str().expect("an id").to_owned()).collect()
    }
}

fn set(names: Vec<String>) -> BTreeSet<String> {
    names.into_iter().collect()
}

fn collected(folder: &Path) -> Truth {
    let made = timermeter(folder, &["selftest", "--fleet", NODES, "--save", "simulated", "--seed", "3"]);
    assert!(made.status.success(), "{made:?}");
    let done = timermeter(folder, &["collect", "simulated/before", "simulated/after", "-o", "fleet"]);
    assert!(done.status.success(), "{done:?}");
    Truth(serde_json::from_str(&fs::read_to_string(folder.join("simulated/truth.json")).unwrap()).unwrap())
}

#[test]
fn questions_find_what_is_wrong_and_nothing_else() {
    if duckdb::is_missing() {
        return;
    }
    let folder = folder();
    let truth = collected(folder.path());
    let answers = duckdb::all_asked(folder.path());
    let [sources, outliers, ranking, kernel, offsets, drift, _which, lost, past_vdso, restless] =
        <[Answer; 10]>::try_from(answers).ok().expect("ten answers");
    let fell = truth.nodes(|node| !node["fell"].is_null());
    assert!(!fell.is_empty());
    assert_eq!(set(sources.texts("node")), fell);
    assert_eq!(set(past_vdso.texts("node")), fell);
    // A node that is not quiet may cost anything.
    let never_quiet = truth.nodes(|node| node["restless"] == true);
    judged_as_it_is(&outliers, &truth, &never_quiet);
    assert_eq!(set(restless.texts("node")), never_quiet);
    assert_eq!(set(drift.texts("node")), truth.nodes(|node| !node["drifts"].is_null()));
    for (node, ppm) in drift.texts("node").iter().zip(drift.figures("worst_ppm")) {
        let of_node = truth
            .nodes(|told| told["name"] == **node && (told["drift_ppm"].as_f64().unwrap() - ppm).abs() < 0.1);
        assert_eq!(of_node.len(), 1, "{node} drifts by {ppm} ppm");
    }
    assert_eq!(set(offsets.texts("node")), truth.nodes(|node| !node["offset_ns"].is_null()));
    let lacks = |node: &Value| {
        let lack = &node["lacks"];
        lack.is_object()
            .then(|| format!("{} {}", node["name"].as_str().unwrap(), lack["timer"].as_str().unwrap()))
    };
    let lacked: BTreeSet<String> = truth.0["nodes"].as_array().unwrap().iter().filter_map(lacks).collect();
    let found = lost.texts("node").into_iter().zip(lost.texts("timer"));
    assert_eq!(found.map(|(node, timer)| format!("{node} {timer}")).collect::<BTreeSet<_>>(), lacked);
    kinds_are_ranked(&ranking);
    kernels_differ_by_what_is_declared(&kernel, &truth);
}

/// Every fault is among the reasons, and no other node but those that are not quiet.
fn judged_as_it_is(odd: &Answer, truth: &Truth, never_quiet: &BTreeSet<String>) {
    let of = |kind: &str| -> BTreeSet<String> {
        let found = odd.texts("node").into_iter().zip(odd.texts("what"));
        found.filter(|(_, what)| what == kind).map(|(node, _)| node).collect()
    };
    let fell = truth.nodes(|node| !node["fell"].is_null());
    assert_eq!(of("clock source"), fell);
    assert_eq!(of("trust lost"), truth.nodes(|node| !node["drifts"].is_null()));
    assert!(of("timer missing").is_superset(&truth.nodes(|node| node["lacks"].is_object())));
    let costs = of("cost");
    let sound: Vec<_> =
        costs.iter().filter(|node| !fell.contains(*node) && !never_quiet.contains(*node)).collect();
    // One fleet in twenty has one by chance.
    assert!(sound.len() <= 1, "{sound:?}");
}

/// By what the kinds of machines are declared to cost.
fn kinds_are_ranked(ranking: &Answer) {
    let mut by_cost: Vec<(f64, String)> =
        ranking.figures("cost_ns").into_iter().zip(ranking.texts("platform")).collect();
    by_cost.sort_by(|a, b| a.0.total_cmp(&b.0));
    let order: Vec<_> = by_cost.iter().map(|(_, name)| name.as_str()).collect();
    let kinds =
        ["epyc-9r14-zen-4-kvm", "epyc-7543-zen-3-debian", "8488c-sapphire-rapids-kvm", "6130-skylake-debian"];
    assert_eq!(order.len(), kinds.len(), "{order:?}");
    assert!(order.iter().zip(kinds).all(|(name, kind)| name.contains(kind)), "{order:?}");
}

fn kernels_differ_by_what_is_declared(kernel: &Answer, truth: &Truth) {
    let declared = 100.0 * (truth.0["regression"].as_f64().unwrap() - 1.0);
    let regressed = truth.timers("regressed");
    let mut seen = BTreeSet::new();
    for (timer, percent) in kernel.texts("timer").into_iter().zip(kernel.figures("change_percent")) {
        let expected = if regressed.contains(&timer) { declared } else { 0.0 };
        // The median of hundreds of nodes, each within a few percent.
        assert!((percent - expected).abs() < 0.5, "{timer}: {percent} % instead of {expected} %");
        seen.insert(timer);
    }
    assert_eq!(seen, &regressed | &truth.timers("unchanged"));
}

/// A dataset is compared by date, and judged, as the reports are that it was made of.
#[test]
fn a_dataset_says_what_its_reports_do() {
    let folder = folder();
    collected(folder.path());
    let asked = |args: &[&str]| -> Value {
        let done = timermeter(folder.path(), &[args, &["--format", "json"]].concat());
        assert!(matches!(done.status.code(), Some(0 | 3)), "{done:?}");
        serde_json::from_slice(&done.stdout).expect("JSON")
    };
    fs::create_dir(folder.path().join("runs")).unwrap();
    for name in ["before", "after"] {
        fs::rename(folder.path().join("simulated").join(name), folder.path().join("runs").join(name))
            .unwrap();
    }
    let since = |place: &str| asked(&["compare", place, "--since", "2026-11-16"]);
    let (reports, dataset) = (since("runs"), since("fleet"));
    for part in ["nodes", "where", "figures", "unlike", "one_sided", "trends"] {
        assert_eq!(reports[part], dataset[part], "{part}");
    }
    let (reports, dataset) = (asked(&["fleet", "runs"]), asked(&["fleet", "fleet"]));
    for part in ["nodes", "reports", "earlier", "unjudged", "groups", "findings"] {
        assert_eq!(reports[part], dataset[part], "{part}");
    }
}
