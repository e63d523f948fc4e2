//! Mutates valid files: changes bytes, and elements of the formats.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::Value;

/// A change. Places are fractions of the length, because files differ in length.
#[derive(Clone, Debug)]
pub enum Change {
    /// Flips a bit.
    Flip(f64, u8),
    /// Replaces this number of bytes by others.
    Splice(f64, usize, Vec<u8>),
    /// Inserts a number of copies of bytes of another place.
    Copy(f64, usize, usize, f64),
    /// Replaces the next number or string.
    Word(f64, usize),
    /// Replaces the value of a JSON key by a value of the same kind. The first two numbers select
    /// the key and its occurrence.
    Field(f64, f64, usize),
}

const NUMBERS: [&str; 24] = [
    "4294967295",
    "1e15",
    "1.0000001",
    "0.3",
    "0",
    "-0.0",
    "-1",
    "1e308",
    "-1e308",
    "5e-324",
    "1e999",
    "NaN",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "4294967296",
    "1e18",
    "0.1",
    "null",
    "[]",
    "true",
    "1e-300",
    "16777217",
];
const TEXTS: [&str; 18] = [
    "",
    "{}",
    "[[",
    "]]",
    "}",
    "\"\":",
    "\\ud800",
    "\\u001b[31mx\\u009b2J\\u2066\\u200b",
    "a`b|c\\n# d",
    "\\u001b]0;x\\u0007",
    "\\u202e",
    "\\u0000",
    "ok",
    "failed",
    "resolved",
    "at_most",
    "native",
    "\\ud83d\\ude00<script>",
];

/// Generates a change of any kind.
pub fn change() -> impl Strategy<Value = Change> {
    let place = || 0.0..1.0;
    let bytes = prop::collection::vec(any::<u8>(), 0..9);
    let text = prop::sample::select(&TEXTS[..]).prop_map(|text| text.as_bytes().to_vec());
    let removed = prop_oneof![6 => 0..400_usize, 1 => Just(usize::MAX)];
    prop_oneof![
        2 => (place(), 0_u8..8).prop_map(|(at, bit)| Change::Flip(at, bit)),
        3 => (place(), removed, bytes).prop_map(|(at, removed, new)| Change::Splice(at, removed, new)),
        2 => (place(), text).prop_map(|(at, text)| Change::Splice(at, 0, text)),
        4 => (place(), 1_usize..400, 1_usize..20, place()).prop_map(|(from, length, times, to)| Change::Copy(from, length, times, to)),
        24 => (place(), any::<usize>()).prop_map(|(at, which)| Change::Word(at, which)),
        24 => (place(), place(), any::<usize>()).prop_map(|(key, at, which)| Change::Field(key, at, which)),
    ]
}

/// Applies changes to a file.
pub fn changed(file: &[u8], changes: &[Change]) -> Vec<u8> {
    changes.iter().fold(file.to_vec(), apply)
}

fn apply(mut bytes: Vec<u8>, change: &Change) -> Vec<u8> {
    let place = |share: f64| (share * bytes.len() as f64) as usize;
    let part = |share, length| place(share)..place(share).saturating_add(length).min(bytes.len());
    // The next byte after a place for which this holds.
    let next = |from: usize, is_it: fn(&u8) -> bool| {
        let found = bytes.get(from..)?.iter().position(is_it)?;
        Some(from + found)
    };
    let replaced = match change {
        Change::Flip(at, bit) => {
            let changed = bytes.get(place(*at)).map(|byte| byte ^ 1 << bit);
            changed.map(|byte| (part(*at, 1), vec![byte]))
        }
        Change::Splice(at, removed, new) => Some((part(*at, *removed), new.clone())),
        Change::Copy(from, length, times, to) => {
            Some((part(*to, 0), bytes[part(*from, *length)].repeat(*times)))
        }
        Change::Word(at, which) => next(place(*at), |byte| *byte == b'"' || byte.is_ascii_digit())
            .map(|begin| {
                let is_text = bytes[begin] == b'"';
                let end = match is_text {
                    true => next(begin + 1, |&byte| byte == b'"').map(|end| end + 1),
                    false => next(begin, |byte| {
                        !byte.is_ascii_digit() && !b"+-.eE".contains(byte)
                    }),
                };
                let new = replacement(is_text, *which).into_bytes();
                (begin..end.unwrap_or(bytes.len()), new)
            }),
        Change::Field(key, at, which) => serde_json::from_slice(&bytes).ok().map(|mut document| {
            change_field(&mut document, *key, *at, *which);
            (0..bytes.len(), document.to_string().into_bytes())
        }),
    };
    if let Some((range, new)) = replaced {
        bytes.splice(range, new);
    }
    bytes
}

fn change_field(document: &mut Value, key: f64, at: f64, which: usize) {
    fn collect(value: &Value, key: &str, place: &str, all: &mut BTreeMap<String, Vec<String>>) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(name, value)| {
                let name = name.replace('~', "~0").replace('/', "~1");
                collect(
                    value,
                    &format!("{key}/{name}"),
                    &format!("{place}/{name}"),
                    all,
                );
            }),
            Value::Array(items) => items.iter().enumerate().for_each(|(at, item)| {
                collect(item, &format!("{key}/*"), &format!("{place}/{at}"), all);
            }),
            _ => all.entry(key.into()).or_default().push(place.into()),
        }
    }
    let mut places = BTreeMap::new();
    collect(document, "", "", &mut places);
    let nth = |count: usize, share: f64| (share * count as f64) as usize;
    let places = places.values().nth(nth(places.len(), key));
    let place = places.map(|places| &places[nth(places.len(), at)]);
    let Some(value) = place.and_then(|place| document.pointer_mut(place)) else {
        return;
    };
    let is_text = value.is_string() || !value.is_number() && which.is_multiple_of(2);
    *value = serde_json::from_str(&replacement(is_text, which)).unwrap_or_default();
}

/// A number or a string in JSON.
fn replacement(is_text: bool, which: usize) -> String {
    match is_text {
        true => format!("\"{}\"", TEXTS[which % TEXTS.len()]),
        false => NUMBERS[which % NUMBERS.len()].to_owned(),
    }
}
