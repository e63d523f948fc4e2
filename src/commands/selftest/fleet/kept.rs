//! A simulated fleet as files: a folder of reports a moment, and what is true.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde::Serialize;

use super::super::super::progress::Progress;
use super::super::super::{CommandError, failed};
use crate::parallel;
use crate::report::json;
use crate::scratch::{Remains, ScratchFolder};
use crate::selftest::fleet::{Fleet, Moment, Node, REGRESSION};
use crate::text::json::{Layout, write as write_json};

/// What is true of the fleet.
#[derive(Serialize)]
struct Truth {
    seed: u64,
    /// What the newer kernel makes calls cost, over what they cost with the older one.
    regression: f64,
    /// The timers whose costs hang on the kernel.
    regressed: Vec<&'static str>,
    /// The others.
    unchanged: Vec<&'static str>,
    nodes: Vec<ToldNode>,
}

/// What is true of a node.
#[derive(Serialize)]
struct ToldNode {
    #[serde(flatten)]
    node: Node,
    /// The folder that its report of the fleet in the midst of the upgrade is from.
    midway: &'static str,
}

/// Writes `place/before`, `place/after` and `place/midway`, a report a node, and `place/truth.json`: all or nothing.
///
/// # Errors
/// When something is at `place`, or what the system said.
pub fn keep(fleet: &Fleet, place: &Path) -> Result<(), CommandError> {
    let told = |error: io::Error| failed(format!("cannot keep the fleet in '{}': {error}", place.display()));
    if fs::symlink_metadata(place).is_ok() {
        return Err(failed(format!("'{}' is there already; name a folder that is not", place.display())));
    }
    let parent = place.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = ScratchFolder::within(parent, 0o777).map_err(told)?;
    write(fleet, folder.path()).map_err(told)?;
    folder
        .become_what_it_shall(|folder| {
            // Over an empty folder that came meanwhile a rename would go.
            fs::create_dir(place)?;
            fs::rename(folder, place).map(|()| ((), Remains::Nothing))
        })
        .map_err(told)
}

fn write(fleet: &Fleet, folder: &Path) -> io::Result<()> {
    for name in ["before", "after", "midway"] {
        fs::create_dir(folder.join(name))?;
    }
    let progress = Progress::of(fleet.len(), false);
    progress.at("nodes");
    let nodes = parallel::numbered(fleet.len(), |index| {
        let node = fleet.node(index);
        for moment in [Moment::Before, Moment::After] {
            write_report(fleet, &node, moment, folder)?;
        }
        let midway = fleet.midway(&node);
        link(&file(folder, moment_name(midway), &node), &file(folder, "midway", &node))?;
        progress.step();
        Ok(ToldNode { node, midway: moment_name(midway) })
    });
    let nodes: Vec<ToldNode> = nodes.into_iter().collect::<io::Result<_>>()?;
    let of_kernel = |wanted: bool| {
        let timers = fleet.timers().iter().filter(move |timer| timer.is_of_kernel() == wanted);
        timers.map(|timer| timer.id).collect()
    };
    let truth = Truth {
        seed: fleet.seed(),
        regression: REGRESSION,
        regressed: of_kernel(true),
        unchanged: of_kernel(false),
        nodes,
    };
    let mut file = BufWriter::new(File::create_new(folder.join("truth.json"))?);
    write_json(&truth, Layout::Indented, &mut file)?;
    file.flush()
}

fn write_report(fleet: &Fleet, node: &Node, moment: Moment, folder: &Path) -> io::Result<()> {
    let text = json::dense(&fleet.report(node, moment));
    File::create_new(file(folder, moment_name(moment), node))?.write_all(text.as_bytes())
}

fn file(folder: &Path, moment: &str, node: &Node) -> std::path::PathBuf {
    folder.join(moment).join(format!("{}.json", node.name))
}

/// The same file under another name; a copy where the file system has none.
fn link(file: &Path, other: &Path) -> io::Result<()> {
    fs::hard_link(file, other).or_else(|_| fs::copy(file, other).map(drop))
}

fn moment_name(moment: Moment) -> &'static str {
    match moment {
        Moment::Before => "before",
        Moment::After => "after",
    }
}
