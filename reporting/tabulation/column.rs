//! Defines the columns that users can select for a table of reports, by name.

use std::sync::LazyLock;

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::fields::{Field, Kind, fields};

/// The name of a column on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnName(&'static str);

/// Other names of columns.
const ALIASES: [(&str, &str); 2] = [("timer", "clock"), ("resolution", "step")];

impl ColumnName {
    /// All columns.
    pub const ALL: Self = Self("all");

    /// The field that the column shows for rows of this kind; `None` if they have no such column.
    pub fn field(self, kind: Kind) -> Option<&'static Field> {
        let is_column = |field: &&Field| field.column == self.0 && field.applies_to(kind);
        fields().iter().find(is_column)
    }
}

impl ValueEnum for ColumnName {
    fn value_variants<'a>() -> &'a [Self] {
        static NAMES: LazyLock<Vec<ColumnName>> = LazyLock::new(|| {
            let mut names = vec![ColumnName::ALL];
            for name in fields().iter().map(|field| ColumnName(field.column)) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            names
        });
        &NAMES
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let value = PossibleValue::new(self.0);
        let Some(field) = fields().iter().find(|field| field.column == self.0) else {
            return Some(value.help("All columns and rows, as CSV for SQL"));
        };
        let aliases = ALIASES.iter().filter(|(name, _)| *name == self.0);
        let value = value.aliases(aliases.map(|(_, alias)| *alias));
        Some(value.help(field.about))
    }
}
