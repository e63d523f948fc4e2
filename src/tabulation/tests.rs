use std::cmp::Ordering;

use proptest::prelude::*;

use super::{Cell, Column};
use clap::ValueEnum;

fn cell() -> impl Strategy<Value = Cell> {
    prop_oneof![
        Just(Cell::Nothing),
        any::<f64>().prop_map(|figure| Cell::number(Some(figure))),
        (0.0f64..1e9).prop_map(Cell::AtMost),
        any::<String>().prop_map(|text| Cell::text(&text)),
    ]
}

#[test]
fn every_column_has_a_heading_and_a_key_of_its_own() {
    for names in [Column::heading as fn(Column) -> &'static str, Column::key] {
        let mut all: Vec<&str> = Column::value_variants().iter().map(|column| names(*column)).collect();
        all.sort_unstable();
        let count = all.len();
        all.dedup();
        assert_eq!(all.len(), count, "{all:?}");
    }
    for column in Column::value_variants() {
        assert!(
            column.key().bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'),
            "{column:?}"
        );
    }
}

#[test]
fn figures_take_the_digits_of_their_column() {
    assert_eq!(Column::Cost.shown(&Cell::Number(10.0149)), "10.01");
    assert_eq!(Column::Accuracy.shown(&Cell::AtMost(4e6)), "≤ 4000000");
    assert_eq!(Column::Quality.shown(&Cell::Number(48.914)), "48.91");
    assert_eq!(Column::Spread.shown(&Cell::Number(1.0)), "1.000");
    assert_eq!(Column::Cost.shown(&Cell::number(Some(f64::NAN))), "–");
}

proptest! {
    #[test]
    fn the_order_is_one(a in cell(), b in cell(), c in cell(), largest in any::<bool>()) {
        prop_assert_eq!(a.order(&b, largest), b.order(&a, largest).reverse());
        if a.order(&b, largest) != Ordering::Greater && b.order(&c, largest) != Ordering::Greater {
            prop_assert_ne!(a.order(&c, largest), Ordering::Greater);
        }
        prop_assert_ne!(Cell::Nothing.order(&a, largest), Ordering::Less, "what is not determined comes last");
    }
}
