use std::collections::HashSet;

use super::{Kind, Type, columns, fields, fields_of};

/// The keys, columns and metrics of fields are unique.
#[test]
fn names_of_fields_are_unique() {
    let is_plain = |name: &str| {
        name.bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    };
    for kind in Kind::ALL {
        let unique = |names: Vec<&str>| {
            let all: HashSet<_> = names.iter().collect();
            assert_eq!(all.len(), names.len(), "{names:?}");
        };
        unique(
            columns(kind)
                .iter()
                .flat_map(|field| field.keys.clone())
                .collect(),
        );
        unique(fields_of(kind).map(|field| field.column).collect());
        unique(fields_of(kind).map(|field| field.heading).collect());
        for field in fields_of(kind) {
            assert!(
                is_plain(field.key) && !field.about.is_empty(),
                "{}",
                field.key
            );
        }
    }
}

#[test]
fn gauges_are_numbers() {
    for field in fields().iter().filter(|field| field.metric.is_some()) {
        let column_type = field.unit.rules().column_type;
        assert!(
            matches!(column_type, Type::Figure | Type::Count | Type::Truth),
            "{}",
            field.key
        );
        assert!(!field.about.ends_with('.'), "{}", field.key);
    }
}
