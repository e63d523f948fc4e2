//! The name of a node: the one definition of it. The report holds it where the run was told (`--node`), else where it was put tells it.

use std::path::Path;

use super::slug::slug;
use crate::model::{Platform, Report};

/// The name of the node that the report in the file `path` is of: its own, else as its file or folder is called; `None` where neither tells.
#[must_use]
pub fn node(report: &Report, path: &Path, below: Option<&Path>) -> Option<String> {
    report.node.clone().or_else(|| by_place(path, below, &report.platform))
}

/// `NODE.json` is of NODE, and where reports lie in the folder `below`, `NODE/<platform>/<date>/report.json` and `NODE/report.json` in it are
/// too, as `deploy/node.sh` keeps them. `None` where nothing but platform and date tells where it lies.
fn by_place(path: &Path, below: Option<&Path>, platform: &Platform) -> Option<String> {
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned())?;
    if name != "report" && name != "-" && !is_date(&name) {
        return Some(name);
    }
    let relative = below.and_then(|below| path.strip_prefix(below).ok());
    let folders = relative.and_then(Path::parent).into_iter().flat_map(Path::components);
    let mut names: Vec<String> =
        folders.map(|folder| folder.as_os_str().to_string_lossy().into_owned()).collect();
    if names.last().is_some_and(|name| is_date(name)) {
        names.pop();
        if names.last().is_some_and(|name| *name == slug(platform)) {
            names.pop();
        }
    }
    names.pop()
}

/// `2026-11-20`, `2026-11-20-2`, `undated`: as `--save` names folders.
fn is_date(name: &str) -> bool {
    let day = name.get(..10).unwrap_or_default();
    let plain = |(at, b): (usize, u8)| if matches!(at, 4 | 7) { b == b'-' } else { b.is_ascii_digit() };
    name.starts_with("undated") || (day.len() == 10 && day.bytes().enumerate().all(plain))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::by_place;
    use crate::model::{Cpu, Platform};

    #[test]
    fn the_folder_of_a_node_tells_its_name() {
        let numbers = (Some(25), Some(17));
        let vendor = Some("AuthenticAMD".into());
        let cpu = Cpu {
            vendor,
            model: Some("AMD".into()),
            family: numbers.0,
            model_number: numbers.1,
            ..Cpu::default()
        };
        let platform = Platform { cpu, ..Platform::default() };
        for (path, below, name) in [
            ("run/node7/amd-zen-4/2026-11-20/report.json", Some("run"), Some("node7")),
            ("run/rack-2/node7/amd-zen-4/2026-11-20-3/report.json", Some("run"), Some("node7")),
            ("run/node7/report.json", Some("run"), Some("node7")),
            ("run/node7.json", Some("run"), Some("node7")),
            ("run/before/node7.json", Some("run"), Some("node7")),
            ("run/node7/2026-11-20.json", Some("run"), Some("node7")),
            ("run/node7.json", None, Some("node7")),
            ("reports/amd-zen-4/2026-11-20/report.json", Some("reports"), None),
            ("reports/amd-zen-4/undated/report.json", Some("reports"), None),
            ("report.json", None, None),
            ("-", None, None),
        ] {
            let found = by_place(Path::new(path), below.map(Path::new), &platform);
            assert_eq!(found.as_deref(), name, "{path}");
        }
    }
}
