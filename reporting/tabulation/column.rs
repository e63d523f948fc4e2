//! The columns that a table of reports can have, by the names that people choose them by; what has
//! a row; and names of platforms where there is little room.

use std::collections::HashSet;
use std::sync::{Arc, LazyLock};

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::fields::{Field, Kind, Room, default_columns, fields};

/// A column, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnName(&'static str);

impl ColumnName {
    /// The timer, by which rows are told apart.
    pub const TIMER: Self = Self("timer");
    /// The machine.
    pub const PLATFORM: Self = Self("platform");
    /// The file of the report.
    pub const FILE: Self = Self("file");
    /// Formula (1), by which clocks are sorted.
    pub const QUALITY: Self = Self("quality");
    /// Median lateness, by which timers that wait are.
    pub const LATENESS: Self = Self("late-p50");

    /// What is shown of rows of a kind by default: of one report or of many, on a narrow terminal
    /// or not.
    #[must_use]
    pub fn by_default(kind: Kind, many: bool, narrow: bool) -> Vec<Self> {
        let most = match (narrow, many) {
            (false, _) => Room::Wide,
            (true, false) => Room::OneReport,
            (true, true) => Room::Always,
        };
        default_columns(kind, most)
            .map(|field| Self(field.column))
            .collect()
    }

    /// What it shows of rows of a kind; of another kind, where this one lacks it.
    pub(super) fn field(self, kind: Kind) -> &'static Field {
        let all = || fields().iter().filter(|field| field.column == self.0);
        all()
            .find(|field| field.is_of(kind))
            .or(all().next())
            .expect("columns are made of fields")
    }

    /// Whether rows of that kind have it.
    #[must_use]
    pub fn is_of(self, kind: Kind) -> bool {
        self.field(kind).is_of(kind)
    }
}

impl ValueEnum for ColumnName {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<ColumnName>> = LazyLock::new(|| {
            let mut all: Vec<ColumnName> = Vec::new();
            for column in fields().iter().map(|field| ColumnName(field.column)) {
                if !all.contains(&column) {
                    all.push(column);
                }
            }
            all
        });
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let field = self.field(Kind::Clocks);
        Some(
            PossibleValue::new(self.0)
                .help(field.about)
                .hide(field.is_end()),
        )
    }
}

/// Without the words that all of them begin or end with, and without the seconds of a time; as they
/// are where two would then be the same.
pub(super) fn short_names(names: &[Arc<str>]) -> Vec<Arc<str>> {
    let parts: Vec<(Vec<&str>, &str)> = names.iter().map(|name| parts(name)).collect();
    let words = || parts.iter().map(|(words, _)| words.as_slice());
    let fewest = words().map(<[&str]>::len).min().unwrap_or(0);
    let shared = |of: &dyn Fn(&[&str], usize) -> String, most: usize| {
        let same = |at: &usize| {
            words()
                .map(|words| of(words, *at))
                .collect::<HashSet<_>>()
                .len()
                == 1
        };
        (0..most).take_while(same).count()
    };
    // A word has to be left of each.
    let most = fewest.saturating_sub(1);
    let first = shared(&|words, at| words[at].to_owned(), most);
    let last = shared(
        &|words, at| words[words.len() - 1 - at].to_owned(),
        most - first,
    );
    let told = |(words, rest): &(Vec<&str>, &str)| -> Arc<str> {
        let name = words[first..words.len() - last].join("-");
        format!("{name}{}", minute(rest)).into()
    };
    let short: Vec<Arc<str>> = parts.iter().map(told).collect();
    let differ =
        short.iter().collect::<HashSet<_>>().len() == names.iter().collect::<HashSet<_>>().len();
    if names.len() > 1 && differ {
        short
    } else {
        names.to_vec()
    }
}

/// The words of the platform, and what follows it: a time, or a file.
fn parts(name: &str) -> (Vec<&str>, &str) {
    let (platform, rest) = name.split_at(name.find(' ').unwrap_or(name.len()));
    (platform.split('-').collect(), rest)
}

/// ` 2026-11-22 09:33` of ` 2026-11-22T09:33:24Z`; anything else as it is.
fn minute(rest: &str) -> String {
    let is_time = rest.len() == 21 && rest.ends_with('Z') && rest.is_char_boundary(17);
    if is_time && rest.as_bytes()[11] == b'T' {
        rest[..17].replacen('T', " ", 1)
    } else {
        rest.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::short_names;

    #[test]
    fn what_all_share_is_left_out() {
        let told = |names: &[&str]| -> Vec<String> {
            let names: Vec<Arc<str>> = names.iter().map(|name| (*name).into()).collect();
            short_names(&names)
                .iter()
                .map(|name| name.to_string())
                .collect()
        };
        let emulated = [
            "amd-epyc-qemu-user-arm-debian-12",
            "amd-epyc-qemu-user-aarch64-debian-12",
        ];
        assert_eq!(told(&emulated), ["arm", "aarch64"]);
        let dated = ["a-kvm 2026-11-22T09:33:24Z", "a-kvm 2026-11-22T09:34:10Z"];
        assert_eq!(
            told(&dated),
            ["kvm 2026-11-22 09:33", "kvm 2026-11-22 09:34"]
        );
        let close = ["a-kvm 2026-11-22T09:33:24Z", "a-kvm 2026-11-22T09:33:25Z"];
        assert_eq!(told(&close), close, "seconds tell them apart");
        assert_eq!(told(&["a", "a-b"]), ["a", "a-b"]);
        assert_eq!(told(&["a-b"]), ["a-b"]);
        assert_eq!(told(&[]), Vec::<String>::new());
    }
}
