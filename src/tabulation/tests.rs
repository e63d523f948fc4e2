use super::Column;
use clap::ValueEnum;

#[test]
fn every_column_has_a_heading_and_a_key_of_its_own() {
    let headings = || Column::value_variants().iter().map(|column| column.spec().heading);
    for mut all in [headings().map(|h| h.heading).collect::<Vec<_>>(), headings().map(|h| h.key).collect()] {
        all.sort_unstable();
        let count = all.len();
        all.dedup();
        assert_eq!(all.len(), count, "{all:?}");
    }
    for key in headings().map(|heading| heading.key) {
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        assert!(key.bytes().all(plain), "{key}");
    }
}
