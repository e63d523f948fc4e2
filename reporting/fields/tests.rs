use std::collections::HashSet;

use super::{Kind, Type, fields, of_kind};

const KINDS: [Kind; 3] = [Kind::Clocks, Kind::Waits, Kind::Periods];

/// What each consumer of the list takes has names of its own.
#[test]
fn names_are_unique_and_carry_their_unit() {
    let plain = |name: &str| {
        name.bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    };
    for kind in KINDS {
        let unique = |names: Vec<&str>| {
            let all: HashSet<_> = names.iter().collect();
            assert_eq!(all.len(), names.len(), "{names:?}");
        };
        unique(
            of_kind(kind)
                .filter(|field| field.in_all)
                .map(|field| field.key)
                .collect(),
        );
        unique(
            of_kind(kind)
                .filter_map(|field| Some(field.column?.0))
                .collect(),
        );
        unique(
            of_kind(kind)
                .filter_map(|field| Some(field.column?.1))
                .collect(),
        );
        unique(
            of_kind(kind)
                .filter(|field| field.column.is_some())
                .map(|field| field.key)
                .collect(),
        );
        for field in of_kind(kind).filter(|field| field.in_all || field.column.is_some()) {
            assert!(plain(field.key) && !field.about.is_empty(), "{}", field.key);
        }
    }
}

#[test]
fn gauges_have_base_units() {
    for field in fields() {
        let Some(metric) = field.metric else { continue };
        let suffix = match metric.unit {
            "seconds" => "_ns",
            "ratio" if field.key.ends_with("_ppm") => "_ppm",
            _ => "",
        };
        assert!(
            field.key.ends_with(suffix),
            "{}: {}",
            field.key,
            metric.unit
        );
        assert!(
            matches!(field.kind, Type::Figure | Type::Count) && !metric.help.ends_with('.'),
            "{}",
            field.key
        );
    }
}
