//! Reports from files, folders and streams, batch by batch: one is read while the one before is worked on, so that any number of them
//! fits the memory.

use std::collections::HashMap;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use super::sheet::{Choice, Sheet};
use super::stream::{Documents, Text};
use crate::input::{self, LONGEST_REPORT};
use crate::model::Report;
use crate::parallel;
use crate::report::{Collection, ReadError, files, node, parse};

/// Reports of a batch at most ...
const REPORTS: usize = 256;
/// ... and their bytes, by which memory goes: twice that many are read and worked on at once, and a value takes up to four times the bytes
/// of its text.
const BYTES: u64 = 128 << 20;

/// What was read, and what was not.
#[derive(Default)]
pub struct Batch {
    /// The reports, in order.
    pub sheets: Vec<Sheet>,
    /// Why others could not be read.
    pub refused: Vec<ReadError>,
}

/// Something that should be a report.
enum Found {
    /// A file, and the folder that was named.
    File(PathBuf, Option<PathBuf>),
    /// A document of standard input.
    Document(u64, Text),
    Nothing(ReadError),
}

/// Reads the reports at `paths`, files and folders, and has `work` see them batch by batch. Where `-` is a stream it may hold any number of
/// reports, else one.
///
/// # Errors
/// Those of `work`.
pub fn each_batch<E: Send>(
    paths: &[PathBuf],
    streams: bool,
    choice: &Choice,
    mut work: impl FnMut(Batch) -> Result<(), E> + Send,
) -> Result<(), E> {
    let mut found = paths.iter().flat_map(|path| all_at(path, streams));
    let mut ready = next(&mut found).map(|found| read(found, choice));
    while let Some(batch) = ready {
        let coming = next(&mut found);
        let (done, batch) = parallel::both(|| work(batch), || coming.map(|found| read(found, choice)));
        done?;
        ready = batch;
    }
    Ok(())
}

/// What is named by a path.
fn all_at(path: &Path, streams: bool) -> Box<dyn Iterator<Item = Found>> {
    if streams && path == Path::new("-") {
        return Box::new(documents());
    }
    let below = path.is_dir().then(|| path.to_owned());
    Box::new(files(path).into_iter().map(move |file| match file {
        Ok(file) => Found::File(file, below.clone()),
        Err(error) => Found::Nothing(error),
    }))
}

fn documents() -> impl Iterator<Item = Found> {
    let unreadable = |source| Found::Nothing(ReadError::File { path: "-".into(), source });
    let mut stream = Some(
        input::open(Path::new("-"))
            .map(|input| Documents::of(BufReader::with_capacity(1 << 18, input), LONGEST_REPORT)),
    );
    let mut number = 0;
    std::iter::from_fn(move || match stream.as_mut()?.as_mut().map(Documents::next) {
        Ok(Ok(text)) => {
            number += 1;
            text.map(|text| Found::Document(number, text))
        }
        // What cannot be read will not end by being tried again.
        Ok(Err(error)) => stream.take().map(|_| unreadable(error)),
        Err(_) => stream.take().and_then(Result::err).map(unreadable),
    })
}

/// What fits a batch; `None` at the end.
fn next(found: &mut impl Iterator<Item = Found>) -> Option<Vec<Found>> {
    let (mut batch, mut bytes) = (Vec::new(), 0);
    while batch.len() < REPORTS && bytes < BYTES {
        let Some(one) = found.next() else { break };
        bytes += match &one {
            // One that cannot be asked cannot be read.
            Found::File(path, _) => path.metadata().map_or(0, |known| known.len().min(LONGEST_REPORT)),
            Found::Document(_, Text::Whole(text)) => text.len() as u64,
            Found::Document(_, Text::TooLong) | Found::Nothing(_) => 0,
        };
        batch.push(one);
    }
    (!batch.is_empty()).then_some(batch)
}

fn read(found: Vec<Found>, choice: &Choice) -> Batch {
    let mut batch = Batch::default();
    let (mut paths, mut below, mut texts) = (Vec::new(), HashMap::new(), Vec::new());
    for one in found {
        match one {
            Found::File(path, folder) => {
                below.insert(path.clone(), folder);
                paths.push(path);
            }
            Found::Document(number, text) => texts.push((number, text)),
            Found::Nothing(error) => batch.refused.push(error),
        }
    }
    let files = Collection::read(&paths, |path, report: Report| {
        let host = node(&report, path, below.get(path).and_then(Option::as_deref));
        Sheet::of(path.display().to_string(), host, &report, choice)
    });
    batch.sheets.extend(files.reports.into_iter().map(|kept| kept.content));
    batch.refused.extend(files.refused);
    for document in parallel::mapped(&texts, |(number, text)| of_document(*number, text, choice)) {
        match document {
            Ok(sheet) => batch.sheets.push(sheet),
            Err(error) => batch.refused.push(error),
        }
    }
    batch
}

fn of_document(number: u64, text: &Text, choice: &Choice) -> Result<Sheet, ReadError> {
    let name = format!("standard input, document {number}");
    let failed = |source| ReadError::File { path: PathBuf::from(&name), source };
    let Text::Whole(text) = text else {
        let most = LONGEST_REPORT >> 20;
        return Err(failed(io::Error::other(format!("it is longer than {most} MiB, and is not read"))));
    };
    let text =
        str::from_utf8(text).map_err(|error| failed(io::Error::new(io::ErrorKind::InvalidData, error)))?;
    let report: Report = parse(text, &name)?;
    let host = report.node.clone();
    Ok(Sheet::of(name, host, &report, choice))
}
