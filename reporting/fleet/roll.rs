//! Which reports are of which node: each node once, by its last report.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// What tells reports apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Called {
    /// What the node is called, where that is known.
    pub name: Option<String>,
    /// The file of the report, below the folder that was named, without its ending.
    pub file: String,
    /// When the report was made, as its clock had it.
    pub created: String,
    /// The model of its CPU.
    pub cpu: String,
    /// The machine by its kind, which a report goes by whose node is not known.
    pub platform: String,
}

/// The nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roll {
    /// The place of the last report of each among all reports, in that order, and what the node is called.
    pub nodes: Vec<(usize, String)>,
    /// Reports of a node that has a later one: nodes are counted, not runs.
    pub earlier: usize,
    /// Reports that do not say of which node they are; each counts as a node.
    pub unnamed: usize,
    /// Names that several machines have. Their reports are called by their files, each a node.
    pub shared: Vec<String>,
}

impl Roll {
    /// Who these reports are of.
    #[must_use]
    pub fn of(reports: &[Called]) -> Self {
        let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut of_kind: HashMap<&str, usize> = HashMap::new();
        for (at, report) in reports.iter().enumerate() {
            match &report.name {
                Some(name) => by_name.entry(name).or_default().push(at),
                None => *of_kind.entry(&report.platform).or_default() += 1,
            }
        }
        let mut roll = Self::default();
        for (name, places) in &by_name {
            if is_shared(reports, places) {
                roll.shared.push((*name).to_owned());
                roll.nodes.extend(places.iter().map(|at| (*at, reports[*at].file.clone())));
                continue;
            }
            // Of two of one time the later file.
            let last = places.iter().copied().max_by_key(|at| (&reports[*at].created, *at));
            roll.nodes.extend(last.map(|last| (last, (*name).to_owned())));
            roll.earlier += places.len() - 1;
        }
        // A kind of machine that there is one of is as good as a name.
        let taken: BTreeSet<&str> = by_name.keys().copied().collect();
        for (at, report) in reports.iter().enumerate().filter(|(_, report)| report.name.is_none()) {
            let kind = report.platform.as_str();
            let alone = of_kind.get(kind) == Some(&1) && !kind.is_empty() && !taken.contains(kind);
            roll.nodes.push((at, if alone { kind.to_owned() } else { report.file.clone() }));
            roll.unnamed += 1;
        }
        roll.nodes.sort_unstable();
        roll
    }
}

/// Whether reports of one name are of several machines: of other CPUs, or made in the same second.
fn is_shared(reports: &[Called], places: &[usize]) -> bool {
    let mut times = HashSet::new();
    let cpu = |at: &usize| reports[*at].cpu.as_str();
    places.iter().any(|at| cpu(at) != cpu(&places[0]))
        || places.iter().any(|at| !times.insert(reports[*at].created.as_str()))
}

#[cfg(test)]
mod tests {
    use super::{Called, Roll};

    fn report(name: Option<&str>, file: &str, created: &str, cpu: &str) -> Called {
        let [file, created, cpu] = [file, created, cpu].map(str::to_owned);
        Called { name: name.map(str::to_owned), file, created, platform: format!("{cpu}-kvm"), cpu }
    }

    fn nodes(roll: &Roll) -> Vec<(usize, &str)> {
        roll.nodes.iter().map(|(at, name)| (*at, name.as_str())).collect()
    }

    #[test]
    fn runs_of_a_node_are_no_nodes() {
        let roll = Roll::of(&[
            report(Some("a"), "a/2", "2026-11-21T00:00:00Z", "zen"),
            report(Some("a"), "a/1", "2026-11-20T00:00:00Z", "zen"),
            report(Some("b"), "b/1", "2026-11-20T00:00:00Z", "zen"),
        ]);
        assert_eq!(nodes(&roll), [(0, "a"), (2, "b")]);
        assert_eq!((roll.earlier, roll.unnamed, roll.shared.len()), (1, 0, 0));
    }

    #[test]
    fn machines_of_one_name_are_told_apart() {
        for (created, cpu) in [("2026-11-20T00:00:00Z", "zen"), ("2026-11-21T00:00:00Z", "xeon")] {
            let roll = Roll::of(&[
                report(Some("localhost"), "1", "2026-11-20T00:00:00Z", "zen"),
                report(Some("localhost"), "2", created, cpu),
            ]);
            assert_eq!(nodes(&roll), [(0, "1"), (1, "2")], "{cpu}");
            assert_eq!((roll.earlier, roll.shared.as_slice()), (0, &["localhost".to_owned()][..]));
        }
    }

    #[test]
    fn who_says_no_name_is_counted_and_told() {
        let roll = Roll::of(&[
            report(None, "x/1", "2026-11-20T00:00:00Z", "zen"),
            report(None, "x/2", "2026-11-21T00:00:00Z", "zen"),
            report(None, "y/1", "2026-11-21T00:00:00Z", "xeon"),
        ]);
        assert_eq!(nodes(&roll), [(0, "x/1"), (1, "x/2"), (2, "xeon-kvm")]);
        assert_eq!((roll.earlier, roll.unnamed), (0, 3));
    }
}
