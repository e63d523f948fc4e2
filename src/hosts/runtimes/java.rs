//! The Java platform: the host is compiled by the compiler that is a module of the JDK, so that
//! `java` is all it takes.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use timers::agents::Source;

use super::{Ready, command, plain, write};
use crate::hosts::events::{LogSpec, hotspot_event};
use crate::hosts::tool;

const EXPORT: &str = "java.base/jdk.internal.perf=ALL-UNNAMED";
/// Of a package that is not exported and may go: the host does without it.
const OPTIONAL: &str = "HighResCounter.java";

pub(super) fn prepare(sources: &'static [Source], folder: &Path) -> Result<Ready, String> {
    let java = find().ok_or("there is no `java`")?;
    let folder = folder.join("java");
    write(plain(sources), &folder)?;
    let compiled =
        compile(&java, sources, &folder, true).or_else(|_| compile(&java, sources, &folder, false));
    compiled.map_err(|why| format!("`java` cannot compile: {why}"))?;
    let mut log = OsString::from("-Xlog:gc,jit+compilation=debug:file=");
    log.push(folder.join("%p.log"));
    let mut args: Vec<OsString> = [
        // One thread collects, in a heap that was touched before and is large enough to collect
        // seldom.
        "-XX:+UseSerialGC",
        "-Xms64m",
        "-Xmn48m",
        "-XX:+AlwaysPreTouch",
        // Who runs into a loop that is to be compiled waits for it: warm is warm.
        "-Xbatch",
        "-XX:CompileCommand=quiet",
        "-XX:CompileCommand=option,Loops::*,double,CompileThresholdScaling,0.1",
        "--add-exports",
        EXPORT,
        "-cp",
    ]
    .map(OsString::from)
    .into();
    args.extend([folder.clone().into(), log, "Agent".into()]);
    let log = LogSpec {
        path: folder.join("%p.log"),
        event: hotspot_event,
    };
    Ok(Ready {
        prefix: "java",
        command: command("java host", &java, args),
        log: Some(log),
    })
}

fn find() -> Option<PathBuf> {
    let home = std::env::var_os("JAVA_HOME").map(|home| PathBuf::from(home).join("bin/java"));
    home.filter(|java| tool::is_program(java))
        .or_else(|| tool::find(&["java"]))
}

fn compile(java: &Path, sources: &[Source], folder: &Path, all: bool) -> Result<String, String> {
    let mut args: Vec<OsString> = [
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-m",
        "jdk.compiler/com.sun.tools.javac.Main",
        "-proc:none",
        // The other way takes a tenth of a second at each start.
        "-XDstringConcat=inline",
        "--add-exports",
        EXPORT,
        "-d",
    ]
    .map(OsString::from)
    .into();
    args.push(folder.into());
    let sources = sources
        .iter()
        .filter(|source| all || source.name != OPTIONAL);
    args.extend(sources.map(|source| folder.join(source.name).into()));
    tool::run(java, &args)
}
