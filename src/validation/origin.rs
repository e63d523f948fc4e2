//! When a report was made, by what, on which machine, of which timers.
//!
//! Reports of publications. Nothing of them was observed, so that nothing holds them against anything: those are sound that this project
//! made of the printed tables.

use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};
use timers::agents::{Hosts, RUNTIMES};

use super::Flaw;
use crate::model::Report;
use crate::report::json;
use crate::text::clipped;

/// Before the first version of this program nothing was measured with it.
/// *Definition*.
const FIRST_DAY: &str = "2026-11-01T00:00:00Z";
/// How far ahead of this one the clock of another machine may be.
/// *Judgement*: a day, so that a wrong time zone is no forgery.
const AHEAD: Duration = Duration::from_secs(86_400);
/// Longest text of a report that is told.
const LONGEST: usize = 80;
/// What compilers of this program call instruction sets (`std::env::consts::ARCH`).
const ARCHITECTURES: [&str; 20] = [
    "x86",
    "x86_64",
    "arm",
    "aarch64",
    "arm64ec",
    "loongarch32",
    "loongarch64",
    "m68k",
    "mips",
    "mips32r6",
    "mips64",
    "mips64r6",
    "csky",
    "powerpc",
    "powerpc64",
    "riscv32",
    "riscv64",
    "s390x",
    "sparc",
    "sparc64",
];

pub(super) fn flaws(report: &Report, now: SystemTime) -> Vec<Flaw> {
    let mut flaws: Vec<Flaw> = date(&report.created, now).into_iter().collect();
    if report.tool.name != "timermeter" {
        flaws.push(Flaw::of(
            "tool.name",
            format!("'{}' is not timermeter", clipped(&report.tool.name, LONGEST)),
        ));
    }
    let architecture = report.platform.cpu.architecture.as_str();
    if !ARCHITECTURES.contains(&architecture) {
        let name = clipped(architecture, LONGEST);
        flaws.push(Flaw::of("platform.cpu.architecture", format!("this program runs on no '{name}'")));
    }
    let clocks = report.timers.iter().map(|row| (&row.id, &row.runtime, timers::find(&row.id).is_some()));
    let waits = report.waits.iter().map(|row| (&row.id, &row.runtime));
    let periods = report.periods.iter().map(|row| (&row.id, &row.runtime));
    let waiting = waits.chain(periods).map(|(id, runtime)| (id, runtime, timers::waits::find(id).is_some()));
    let known = |(id, runtime, native): (&String, &String, bool)| unknown(id, runtime, native);
    flaws.extend(clocks.chain(waiting).filter_map(known));
    flaws
}

fn date(created: &str, now: SystemTime) -> Option<Flaw> {
    let told = |what: &str| Some(Flaw::of("created", format!("'{}' {what}", clipped(created, LONGEST))));
    let Ok(when) = humantime::parse_rfc3339(created) else {
        return told("is no time of UTC as in 2026-11-20T12:00:00Z");
    };
    let first = humantime::parse_rfc3339(FIRST_DAY).unwrap_or(SystemTime::UNIX_EPOCH);
    match when {
        _ if when < first => {
            told("lies before the first version of this program: the clock of the machine was not set")
        }
        _ if now.checked_add(AHEAD).is_some_and(|most| when > most) => told("lies in the future"),
        _ => None,
    }
}

/// A timer that no version of this program can have asked.
fn unknown(id: &str, runtime: &str, native: bool) -> Option<Flaw> {
    let name = clipped(id, LONGEST);
    let flaw = |what: String| Some(Flaw::of(format!("timer '{name}'"), what));
    match id.split_once(':') {
        None if runtime != "native" => {
            flaw(format!("it is of '{}', and does not say so as NAME:ID", clipped(runtime, LONGEST)))
        }
        None if !native => flaw("no timer of this program is called so".to_owned()),
        None => None,
        Some(_) if runtime == "native" => {
            flaw("it is called native, and its name says whose it is".to_owned())
        }
        Some((host, _)) if !is_host(host) => flaw(format!(
            "this program brings no host '{}', and what another agent told cannot be checked",
            clipped(host, LONGEST)
        )),
        Some(_) => None,
    }
}

/// Whether the timers of a host of this program are called so.
fn is_host(prefix: &str) -> bool {
    RUNTIMES.iter().any(|runtime| {
        let recipes = match &runtime.hosts {
            Hosts::Made(hosts) => *hosts,
            Hosts::Java(_) | Hosts::Dotnet(_) => &[],
        };
        runtime.name == prefix
            || recipes.iter().flat_map(|recipes| recipes.iter()).any(|recipe| recipe.prefix == prefix)
    })
}

/// SHA-256 of the kept documents of Kuperberg, Krogmann and Reussner (ICPE 2011), as `tests/published.rs` makes them.
const KNOWN: [&str; 4] = [
    "7fc7f259c147b6f1dd82ae21e8e63f985f88acf322b3921811270586860d5ecc",
    "4fb6668fcb809c4bdc85c2747463eff154d26d22733c09d94734f47f5f0cff9e",
    "05e8d9ae4e6d42f74870c0f4528756caaf7b52ac20638557faa354f22230bdc6",
    "3bc95631b38980bff1005649986e61c159c23dabcdbe426e63a257b1c930a890",
];

/// Why a published report is not one of these.
pub(super) fn flaw(report: &Report) -> Option<Flaw> {
    let digest = digest(report);
    (!KNOWN.contains(&digest.as_str())).then(|| {
        Flaw::of(
            "provenance.kind",
            format!(
                "it says `published`, and is none of the reports that this project made of printed tables: nothing of it can be checked. Figures of \
                 a publication are added with their table, the test that makes the report of it, and its digest ({digest})"
            ),
        )
    })
}

/// That of what the report says, however it is written.
pub(super) fn digest(report: &Report) -> String {
    Sha256::digest(json::dense(report)).iter().map(|byte| format!("{byte:02x}")).collect()
}
