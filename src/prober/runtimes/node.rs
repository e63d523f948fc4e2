//! Node: the host is read as it is; flags of its engine let the host say when to compile and when to collect.

use std::ffi::OsString;
use std::path::Path;

use timers::agents::NODE;

use super::{NotThere, Ready, command, not_there, write};
use crate::prober::tool;

const REMEDY: &str = "install Node 16.9 or later, as in `apt install nodejs`";
/// What the host cannot do without.
const NEEDED: [&str; 1] = ["--allow-natives-syntax"];
/// What keeps compilers and collectors out of the way. Engines change their flags; one that refuses these does without.
const QUIETER: [&str; 5] = [
    "--expose-gc",
    "--no-concurrent-recompilation",
    "--single-threaded-gc",
    "--min-semi-space-size=64",
    "--max-semi-space-size=64",
];

pub(super) fn prepare(folder: &Path) -> Result<Ready, NotThere> {
    let node = tool::find(&["node", "nodejs"]).ok_or_else(|| not_there("there is no `node`", REMEDY))?;
    let folder = folder.join("node");
    write(NODE, &folder)?;
    let all: Vec<&str> = NEEDED.into_iter().chain(QUIETER).collect();
    let check = |flags: &[&str]| {
        let flags = flags.iter().copied();
        tool::run(&node, &flags.chain(["-e", "Object.hasOwn({}, 'a')"]).collect::<Vec<_>>())
    };
    let flags = match check(&all) {
        Ok(_) => all,
        Err(_) => {
            check(&NEEDED).map_err(|why| not_there(format!("`node` cannot be used: {why}"), REMEDY))?;
            NEEDED.into()
        }
    };
    let args: Vec<OsString> =
        flags.into_iter().map(Into::into).chain([folder.join("agent.js").into()]).collect();
    Ok(Ready { prefix: "node", command: command("Node host", &node, args), log: None })
}
