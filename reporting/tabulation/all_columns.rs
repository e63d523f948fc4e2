//! Writes all columns of many reports as CSV, for SQL engines. Reports are read and written in parts,
//! so that memory is sufficient for any number of reports.

use std::cell::RefCell;
use std::io::{self, Write};
use std::path::PathBuf;

use crate::fields::{Kind, cells, columns};
use crate::format::{CsvWriter, Format, Render, Style};
use crate::report::{Collection, ReadError, all_files};
use estimators::model::Report;

/// The number of reports in a part.
const REPORTS_PER_PART: usize = 128;

/// All columns of the reports at these paths: of their clocks, or else of their sleep primitives or
/// periodic timers.
#[derive(Debug)]
pub struct AllColumns<'a> {
    paths: &'a [PathBuf],
    /// What was written last.
    pub written: RefCell<Written>,
}

/// The numbers of written reports and rows, and the errors of files that could not be read.
#[derive(Debug, Default)]
pub struct Written {
    /// The number of reports.
    pub reports: usize,
    /// The number of rows.
    pub rows: usize,
    /// The errors of files that could not be read.
    pub refused: Vec<ReadError>,
}

impl<'a> AllColumns<'a> {
    /// Reads nothing yet.
    pub fn new(paths: &'a [PathBuf]) -> Self {
        Self {
            paths,
            written: RefCell::default(),
        }
    }

    /// Writes CSV without a byte order mark: a header of keys, undetermined values empty, booleans as
    /// `true` and `false`; nothing without rows of this kind.
    fn write_csv(&self, kind: Kind, output: &mut dyn Write) -> io::Result<Written> {
        let columns = columns(kind);
        let mut csv = CsvWriter::new(output);
        let (readable, refused) = all_files(self.paths);
        let mut written = Written {
            refused,
            ..Written::default()
        };
        for part in readable.chunks(REPORTS_PER_PART) {
            let part = Collection::read(part, |path, report: Report| {
                cells(path, &report, kind, &columns)
            });
            written.refused.extend(part.refused);
            written.reports += part.reports.len();
            for row in part.reports.iter().flat_map(|kept| &kept.content) {
                if written.rows == 0 {
                    csv.header(columns.iter().flat_map(|field| &field.keys))?;
                }
                written.rows += 1;
                csv.row(row)?;
            }
        }
        csv.finish()?;
        Ok(written)
    }
}

impl Render for AllColumns<'_> {
    fn write(&self, format: Format, _: Style, output: &mut dyn Write) -> io::Result<()> {
        if format != Format::Csv {
            return Err(io::ErrorKind::Unsupported.into());
        }
        for kind in Kind::ALL {
            let written = self.write_csv(kind, output)?;
            let is_empty = written.rows == 0;
            self.written.replace(written);
            if !is_empty {
                break;
            }
        }
        let written = self.written.borrow();
        // A file that exists is not replaced by an empty one.
        match (written.reports, written.rows) {
            (0, _) => Err(io::ErrorKind::NotFound.into()),
            (_, 0) => {
                let mut csv = CsvWriter::new(output);
                csv.header(columns(Kind::Clocks).iter().flat_map(|field| &field.keys))?;
                csv.finish()
            }
            _ => Ok(()),
        }
    }
}
