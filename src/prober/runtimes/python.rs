//! Python: the host is read as it is.

use std::path::{Path, PathBuf};

use timers::agents::PYTHON;

use super::{NotThere, Ready, command, not_there, write};
use crate::prober::tool;

const REMEDY: &str = "install Python 3.8 or later, as in `apt install python3`";
/// What is on the path may be a script that looks for the interpreter at each start; this asks for itself.
const WHO: &str =
    "import sys; assert sys.version_info >= (3, 8), 'it is ' + sys.version.split()[0]; print(sys.executable)";

pub(super) fn prepare(folder: &Path) -> Result<Ready, NotThere> {
    let found =
        tool::find(&["python3", "python"]).ok_or_else(|| not_there("there is no `python3`", REMEDY))?;
    let said = tool::run(&found, &["-I", "-S", "-c", WHO])
        .map_err(|why| not_there(format!("`{}` cannot be used: {why}", found.display()), REMEDY))?;
    let itself = PathBuf::from(said.trim());
    let python = if tool::is_program(&itself) { itself } else { found };
    let folder = folder.join("python");
    write(PYTHON, &folder)?;
    let args = ["-I", "-S", "-B"].map(Into::into).into_iter().chain([folder.join("agent.py").into()]);
    Ok(Ready { prefix: "python", command: command("Python host", &python, args.collect()), log: None })
}
