//! .NET: Mono with its own compiler, and .NET where its SDK is installed.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use timers::agents::Source;

use super::{Ready, command, plain, write};
use crate::hosts::tool;

const PROJECT: &str = r#"<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <OutputType>Exe</OutputType>
    <TargetFramework>netVERSION</TargetFramework>
    <AssemblyName>agent</AssemblyName>
    <Optimize>true</Optimize>
    <TieredCompilation>false</TieredCompilation>
    <InvariantGlobalization>true</InvariantGlobalization>
  </PropertyGroup>
</Project>
"#;

/// Both, where both are there: Mono's ids then lead with `mono`.
pub(super) fn prepare(sources: &'static [Source], folder: &Path) -> Result<Vec<Ready>, String> {
    let mut ready = Vec::new();
    let mut why = String::from("there is neither `dotnet` nor `mono` with `mcs`");
    for found in [sdk(sources, folder), mono(sources, folder)]
        .into_iter()
        .flatten()
    {
        match found {
            Ok(found) => ready.push(found),
            Err(reason) => why = reason,
        }
    }
    if let [_, mono] = ready.as_mut_slice() {
        mono.prefix = "mono";
    }
    if ready.is_empty() {
        Err(why)
    } else {
        Ok(ready)
    }
}

/// `None` where it is not installed.
fn mono(sources: &'static [Source], folder: &Path) -> Option<Result<Ready, String>> {
    let (mono, mcs) = (tool::find(&["mono"])?, tool::find(&["mcs"])?);
    let folder = folder.join("mono");
    let program = folder.join("agent.exe");
    let made = write(plain(sources), &folder).and_then(|()| {
        let mut out = OsString::from("-out:");
        out.push(&program);
        let mut args = vec!["-optimize+".into(), out];
        args.extend(sources.iter().map(|source| folder.join(source.name).into()));
        tool::run(&mcs, &args).map_err(|why| format!("`mcs` cannot compile: {why}"))
    });
    Some(made.map(|_| Ready {
        prefix: "dotnet",
        command: command("Mono host", &mono, vec![program.into()]),
        log: None,
    }))
}

/// `None` where it is not installed, or is a runtime without a compiler.
fn sdk(sources: &'static [Source], folder: &Path) -> Option<Result<Ready, String>> {
    let dotnet = tool::find(&["dotnet"])?;
    let version = tool::run(&dotnet, &["--version"]).ok()?;
    let version: Vec<&str> = version.trim().splitn(3, '.').collect();
    let [major, minor, ..] = version.as_slice() else {
        return None;
    };
    let folder = folder.join("dotnet");
    let project = PROJECT.replace("VERSION", &format!("{major}.{minor}"));
    let made = write(plain(sources), &folder).and_then(|()| {
        fs::write(folder.join("agent.csproj"), project).map_err(|error| error.to_string())?;
        let out = folder.join("out");
        let args: [OsString; 7] = [
            "build".into(),
            folder.join("agent.csproj").into(),
            "--configuration".into(),
            "Release".into(),
            "--nologo".into(),
            "--output".into(),
            out.clone().into(),
        ];
        tool::run(&dotnet, &args).map_err(|why| format!("`dotnet build` fails: {why}"))?;
        Ok(out.join("agent.dll"))
    });
    Some(made.map(|program| Ready {
        prefix: "dotnet",
        command: command(".NET host", &dotnet, vec![program.into()]),
        log: None,
    }))
}
