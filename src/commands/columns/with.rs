//! Reports in typed columns: as one file, or as a dataset.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::cli::{CollectArgs, ColumnFormat, TableArgs};
use crate::commands::{CommandError, failed, tell, tell_refused, unnamed};
use crate::dataset::{
    Added, Batch, Choice, Compacted, Dataset, FileFormat, Sheet, TableFile, columns, compact, each_batch,
};
use crate::fields::Kind;
use crate::page::site::WholeTable;
use crate::report::{ReadError, WholeFile, is_standard};
use crate::tabulation::Layout;
use crate::text::{and_more, counted};

/// Names that are told; of more only the number.
const NAMED: usize = 5;

/// What became of the reports.
#[derive(Default)]
struct Tally {
    refused: Vec<ReadError>,
    read: usize,
    unnamed: usize,
    rows: usize,
    others: Vec<(Kind, usize)>,
}

impl Tally {
    fn add(&mut self, refused: Vec<ReadError>, sheets: &[Sheet]) {
        self.refused.extend(refused);
        self.read += sheets.len();
        self.unnamed += sheets.iter().filter(|sheet| !sheet.is_named()).count();
        for sheet in sheets {
            self.rows += sheet.rows();
            for &(kind, rows) in &sheet.others {
                match self.others.iter_mut().find(|(other, _)| *other == kind) {
                    Some((_, count)) => *count += rows,
                    None => self.others.push((kind, rows)),
                }
            }
        }
    }

    fn tell_others(&self) {
        for (kind, rows) in self.others.iter().filter(|(_, rows)| *rows > 0) {
            let flag = kind.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
            tell(&format!("these reports have {rows} rows of {} too: --kind {flag}", kind.in_words()));
        }
    }
}

/// Writes all columns of all rows as one file.
pub fn table(args: &TableArgs, format: ColumnFormat) -> Result<bool, CommandError> {
    if !args.columns.is_empty() || args.sort.is_some() || args.reverse || args.layout != Layout::Stacked {
        return Err(CommandError::Usage(
            "Parquet and Arrow files have all columns, in the order of the reports: choose and sort where they are read".into(),
        ));
    }
    let path = args.output.as_deref().unwrap_or(Path::new("-"));
    if is_standard(path) && std::io::stdout().is_terminal() {
        return Err(CommandError::Usage(
            "Parquet and Arrow are no text, and are not written to a terminal: name a file (--output), or a pipe".into(),
        ));
    }
    let format = match format {
        ColumnFormat::Parquet => FileFormat::Parquet,
        ColumnFormat::Arrow => FileFormat::Arrow,
    };
    let kind = args.kind.unwrap_or_default();
    let choice = Choice { kind, columns: columns(kind), all: args.all };
    let mut file = WholeFile::prepare(path).map_err(failed)?;
    let mut pieces = Vec::new();
    let tally = each_piece(&args.reports, format, &choice, |piece| {
        pieces.push(piece);
        Ok(())
    })?;
    let complete = tell_refused(&tally.refused, tally.read)?;
    pieces.iter().try_for_each(|piece| file.append(piece)).map_err(failed)?;
    file.finish().map_err(failed)?;
    if tally.rows == 0 {
        tell(&format!("these reports have no {} with figures; --all writes those without", kind.in_words()));
    }
    tally.tell_others();
    Ok(complete)
}

/// Makes a file of the rows of all these reports, and hands it over piece by piece as they are read.
fn each_piece(
    reports: &[PathBuf],
    format: FileFormat,
    choice: &Choice,
    mut take: impl FnMut(Vec<u8>) -> Result<(), CommandError> + Send,
) -> Result<Tally, CommandError> {
    let mut table = TableFile::new(format, choice, false).map_err(failed)?;
    let mut tally = Tally::default();
    each_batch(reports, false, choice, |Batch { sheets, refused }| {
        table.push(&sheets.iter().collect::<Vec<_>>()).map_err(failed)?;
        tally.add(refused, &sheets);
        take(table.written())
    })?;
    take(table.finish().map_err(failed)?)?;
    Ok(tally)
}

/// All clocks of the reports in a folder, for `publish`.
pub const ALL_CLOCKS: Option<WholeTable> = Some(WholeTable {
    name: "clocks.parquet",
    about: "Parquet, a row a clock; DuckDB, in a browser too, asks it where it lies: SELECT … FROM read_parquet('…/clocks.parquet')",
    write: |reports, to| write_all_clocks(reports, to).map_err(|error| error.to_string()),
});

/// Reports that cannot be read are told of by the caller.
fn write_all_clocks(reports: &Path, to: &Path) -> Result<(), CommandError> {
    let choice = Choice { kind: Kind::Clocks, columns: columns(Kind::Clocks), all: false };
    let mut file = WholeFile::prepare(to).map_err(failed)?;
    each_piece(&[reports.to_owned()], FileFormat::Parquet, &choice, |piece| {
        file.append(&piece).map_err(failed)
    })?;
    file.finish().map_err(failed)
}

/// Adds all reports to a dataset, and makes one part of many where that is asked for.
pub fn collect(args: &CollectArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let complete = args.reports.is_empty() || add(args, output)?;
    // Without a row of its kind there is none yet.
    if args.compact && (args.reports.is_empty() || args.output.exists()) {
        one_part(&args.output, output)?;
    }
    Ok(complete)
}

/// Makes one part of the parts of each partition.
fn one_part(place: &Path, output: &mut dyn Write) -> Result<(), CommandError> {
    let Compacted { partitions, parts, rows, twice, at_once } = compact(place).map_err(failed)?;
    if twice > 0 {
        tell(&format!(
            "{} left out, which two parts held: compacting was interrupted before",
            counted(twice, "row")
        ));
    }
    if partitions > 0 && !at_once {
        tell(&"this file system cannot exchange folders: for a moment rows were there twice");
    }
    let of = counted(partitions, "partition");
    writeln!(
        output,
        "{}: {} of {of} made one each, {}",
        place.display(),
        counted(parts, "part"),
        counted(rows, "row")
    )?;
    Ok(())
}

fn add(args: &CollectArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let choice = Choice { kind: args.kind, columns: columns(args.kind), all: true };
    let mut dataset = Dataset::prepare(&args.output, &choice).map_err(failed)?;
    let mut tally = Tally::default();
    each_batch(&args.reports, true, &choice, |Batch { sheets, refused }| {
        tally.add(refused, &sheets);
        dataset.add(sheets).map_err(failed)
    })?;
    let complete = tell_refused(&tally.refused, tally.read)?;
    let added = dataset.put_in_place().map_err(failed)?;
    tell_added(&added, args.kind);
    if tally.unnamed > 0 {
        tell(&unnamed(tally.unnamed, tally.read));
    }
    tally.tell_others();
    let place = args.output.display();
    let Added { reports, rows, files, .. } = added;
    writeln!(
        output,
        "{place}: {} added, {} in {}",
        counted(reports, "report"),
        counted(rows, "row"),
        counted(files, "file")
    )?;
    Ok(complete)
}

/// What is worth knowing of what was added.
fn tell_added(added: &Added, kind: Kind) {
    let told = [
        (added.known, "not added: the dataset holds them, or they came twice".to_owned()),
        (added.empty, format!("not added: they have no {}", kind.in_words())),
        (added.unset, "of 1970, as clocks say that were never set; they stand below date=1970-…".to_owned()),
        (added.undated, "without a time; they stand below date=__HIVE_DEFAULT_PARTITION__".to_owned()),
    ];
    for (count, what) in told.into_iter().filter(|(count, _)| *count > 0) {
        tell(&format!("{}: {what}", counted(count, "report")));
    }
    let names: Vec<&str> = added.shared_names.iter().take(NAMED).map(AsRef::as_ref).collect();
    if !names.is_empty() {
        let names = and_more(&names, added.shared_names.len());
        tell(&format!(
            "several machines have one name, and all of them were added; the file tells them apart: {names}"
        ));
    }
}
