//! What differs from one timer that waits to another, and from one periodic timer to another: what `table` shows of them, all of it.

use clap::ValueEnum;

use super::{Column, Source, column, shown};
use crate::dataset::value::{Type, Value};
use crate::model::{Granularity, Steps};
use crate::tabulation::{Column as Shown, Kind, Row};

pub(super) fn columns(kind: Kind) -> Vec<Column> {
    let of_rows = |of: &&Shown| of.is_of(kind) && of.of_report().is_none();
    let mut columns: Vec<Column> =
        Shown::value_variants().iter().filter(of_rows).map(|&column| shown(column)).collect();
    if kind == Kind::Waits {
        columns.push(bound(
            "rounding_at_most",
            "Whether `rounding_ns` is a bound: finer steps drown",
            |steps| steps.rounding,
        ));
        columns.push(bound("grid_at_most", "Whether `grid_ns` is a bound", |steps| steps.grid));
    }
    columns
}

fn bound(name: &'static str, about: &'static str, of: fn(&Steps) -> Option<Granularity>) -> Column {
    let of = move |row: &Row| {
        let Row::Wait(wait) = row else { return Value::Nothing };
        let found = wait.row.figures.as_ref().and_then(|figures| figures.steps.first()).and_then(of);
        found.map(|found| matches!(found, Granularity::AtMost(_))).into()
    };
    column(name, Type::Truth, about, Source::Row(Box::new(of)))
}
