//! `contribute`: a report and its trace as one archive, to be given to a collection. Nothing is sent anywhere.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use super::{CommandError, failed, probe, report_of};
use crate::cli::{ContributeArgs, ProbeArgs};
use crate::model::Report;
use crate::recording::Recording;
use crate::report::{WholeFile, json, markdown, slug};
use crate::text::plain;
use crate::validation::{against, flaws};

/// What the archive says of the rights in it.
const LICENCE: &str = "\
The report, its page and its trace in this folder are data that were measured. Who measured them gives up all rights in them, as far as the law
allows: CC0 1.0 Universal, https://creativecommons.org/publicdomain/zero/1.0/legalcode
SPDX-License-Identifier: CC0-1.0
";

/// Runs the command.
///
/// # Errors
/// When it cannot be measured, what was measured contradicts itself, or the archive cannot be written.
pub fn run(args: &ContributeArgs, output: &mut dyn Write) -> Result<(), CommandError> {
    let named = args.output.as_deref().map(WholeFile::prepare).transpose().map_err(failed)?;
    let recording = match &args.from {
        Some(trace) => Recording::read(trace).map_err(failed)?,
        None => probe::record(&ProbeArgs { quiet: args.quiet, ..ProbeArgs::default() })?.0,
    };
    let recording = if args.anonymise { recording.anonymous() } else { recording };
    let packed = recording.pack().map_err(failed)?;
    let report = sound(&packed)?;
    tell_what_is_left(&report, args.anonymise, output)?;
    let folder = Path::new(&slug(&report.platform)).join(report.created.get(..10).unwrap_or("undated"));
    let archive = archived(&folder, &report, &packed).map_err(failed)?;
    let path = args.output.clone().unwrap_or_else(|| named_after(&folder));
    let file = match named {
        Some(file) => file,
        None => WholeFile::prepare(&path).map_err(failed)?,
    };
    file.commit(&archive).map_err(failed)?;
    writeln!(
        output,
        "\n{}: written, and sent nowhere. CONTRIBUTING.md (A collection that others give to) says where to give it; `timermeter validate` is \
         what it is held against",
        plain(&path.display().to_string())
    )?;
    Ok(())
}

/// The report of the trace as it will be read again, which has to be sound.
fn sound(packed: &[u8]) -> Result<Report, CommandError> {
    let recording = Recording::unpack(packed, "the trace").map_err(failed)?;
    let report = report_of(&recording, "the trace")?;
    let text = json::dense(&report);
    let report = crate::report::parse(&text, "the report").map_err(failed)?;
    let mut found = flaws(&report, timers::date());
    found.extend(against(&report, &recording));
    match found.first() {
        None => Ok(report),
        Some(flaw) => Err(failed(format!("nothing was written: the report would be refused: {flaw}"))),
    }
}

fn named_after(folder: &Path) -> PathBuf {
    let parts: Vec<_> = folder.iter().map(|part| part.to_string_lossy()).collect();
    format!("timermeter-{}.tar.gz", parts.join("-")).into()
}

/// All that the report tells of the machine, before anything is written.
fn tell_what_is_left(report: &Report, anonymised: bool, output: &mut dyn Write) -> Result<(), CommandError> {
    let about = if anonymised {
        "what names the machine was taken out"
    } else {
        "nothing was taken out (--anonymise does)"
    };
    writeln!(output, "What the archive tells of this machine; {about}:\n")?;
    let value = serde_json::to_value(report).map_err(failed)?;
    for key in ["created", "node", "platform", "frequency", "settings"] {
        tell_leaves(key, &value[key], output)?;
    }
    let reasons = report.timers.iter().filter_map(|row| Some((&row.id, row.reason.as_ref()?)));
    for (id, reason) in reasons {
        writeln!(output, "  {}: {}", plain(id), plain(reason))?;
    }
    writeln!(
        output,
        "  and the figures of {} timers, with all that was observed of them",
        report.timers.len()
    )?;
    output.flush()?;
    Ok(())
}

fn tell_leaves(place: &str, value: &Value, output: &mut dyn Write) -> io::Result<()> {
    match value {
        Value::Null => Ok(()),
        Value::Object(members) => {
            members.iter().try_for_each(|(key, value)| tell_leaves(&format!("{place}.{key}"), value, output))
        }
        Value::Array(values) if values.iter().any(|value| value.is_object() || value.is_array()) => values
            .iter()
            .enumerate()
            .try_for_each(|(at, value)| tell_leaves(&format!("{place}[{at}]"), value, output)),
        value => writeln!(output, "  {place}: {}", plain(&value.to_string())),
    }
}

fn archived(folder: &Path, report: &Report, trace: &[u8]) -> io::Result<Vec<u8>> {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::best()));
    let page = markdown::render(report);
    let document = json::dense(report);
    let files: [(&str, &[u8]); 4] = [
        ("report.json", document.as_bytes()),
        ("run.trace", trace),
        ("README.md", page.as_bytes()),
        ("LICENSE-CC0", LICENCE.as_bytes()),
    ];
    for (name, content) in files {
        // Neither the user that packs it nor the time.
        let mut header = tar::Header::new_ustar();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        archive.append_data(&mut header, folder.join(name), content)?;
    }
    archive.into_inner()?.finish()
}
