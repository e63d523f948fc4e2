//! Mutates valid files: changes bytes, and elements of the formats.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::Value;

/// A change. Places are fractions of the length, because files differ in length.
#[derive(Clone, Debug)]
pub enum Change {
    /// Flips a bit.
    Flip(f64, u8),
    /// Inserts bytes.
    Insert(f64, Vec<u8>),
    /// Removes bytes.
    Remove(f64, usize),
    /// Repeats bytes a number of times.
    Repeat(f64, usize, usize),
    /// Copies bytes to another place.
    Copy(f64, f64, usize),
    /// Replaces the next number.
    Number(f64, &'static str),
    /// Inserts a word of JSON or a control sequence.
    Word(f64, &'static str),
    /// Replaces the next string.
    Text(f64, &'static str),
    /// Replaces the value of a JSON key by a value of the same kind. The first two numbers select
    /// the key and its occurrence.
    Field(f64, f64, usize),
    /// Truncates the file.
    Cut(f64),
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
const WORDS: [&str; 14] = [
    "null",
    "{}",
    "[]",
    "[[",
    "]]",
    "}",
    ",",
    "\"\":",
    "\\u0000",
    "\\ud800",
    "\\u001b[2J",
    "\u{202e}",
    "\"",
    "[null,1.5]",
];
const TEXTS: [&str; 12] = [
    "",
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
    prop_oneof![
        2 => (place(), 0_u8..8).prop_map(|(at, bit)| Change::Flip(at, bit)),
        1 => (place(), prop::collection::vec(any::<u8>(), 1..9)).prop_map(|(at, bytes)| Change::Insert(at, bytes)),
        2 => (place(), 1_usize..400).prop_map(|(at, length)| Change::Remove(at, length)),
        2 => (place(), 1_usize..400, 1_usize..20).prop_map(|(at, length, times)| Change::Repeat(at, length, times)),
        2 => (place(), place(), 1_usize..400).prop_map(|(from, to, length)| Change::Copy(from, to, length)),
        16 => (place(), prop::sample::select(&NUMBERS[..])).prop_map(|(at, number)| Change::Number(at, number)),
        2 => (place(), prop::sample::select(&WORDS[..])).prop_map(|(at, word)| Change::Word(at, word)),
        8 => (place(), prop::sample::select(&TEXTS[..])).prop_map(|(at, text)| Change::Text(at, text)),
        24 => (place(), place(), any::<usize>()).prop_map(|(key, at, which)| Change::Field(key, at, which)),
        1 => place().prop_map(Change::Cut),
    ]
}

/// Applies changes to a file.
pub fn changed(file: &[u8], changes: &[Change]) -> Vec<u8> {
    changes.iter().fold(file.to_vec(), apply)
}

fn apply(mut bytes: Vec<u8>, change: &Change) -> Vec<u8> {
    let length = bytes.len();
    let place = |share: f64| ((share * length as f64) as usize).min(length);
    let some = |share: f64, wanted: usize| place(share)..(place(share) + wanted).min(length);
    match change {
        Change::Flip(at, bit) => {
            if let Some(byte) = bytes.get_mut(place(*at)) {
                *byte ^= 1 << bit;
            }
        }
        Change::Insert(at, new) => drop(bytes.splice(place(*at)..place(*at), new.iter().copied())),
        Change::Remove(at, wanted) => drop(bytes.drain(some(*at, *wanted))),
        Change::Repeat(at, wanted, times) => {
            let part = bytes[some(*at, *wanted)].repeat(*times);
            bytes.splice(place(*at)..place(*at), part);
        }
        Change::Copy(from, to, wanted) => {
            let part = bytes[some(*from, *wanted)].to_vec();
            bytes.splice(place(*to)..place(*to), part);
        }
        Change::Number(at, number) => {
            let is_in = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
            let begin = bytes[place(*at)..]
                .iter()
                .position(|byte| byte.is_ascii_digit());
            if let Some(begin) = begin.map(|begin| begin + place(*at)) {
                let end = bytes[begin..]
                    .iter()
                    .position(|byte| !is_in(byte))
                    .map_or(length, |end| begin + end);
                bytes.splice(begin..end, number.bytes());
            }
        }
        Change::Word(at, word) => drop(bytes.splice(place(*at)..place(*at), word.bytes())),
        Change::Text(at, text) => {
            let quote = |from: usize| {
                bytes[from..]
                    .iter()
                    .position(|&byte| byte == b'"')
                    .map(|at| at + from)
            };
            if let Some(begin) = quote(place(*at))
                && let Some(end) = quote(begin + 1)
            {
                bytes.splice(begin + 1..end, text.bytes());
            }
        }
        Change::Field(key, at, which) => {
            if let Ok(mut document) = serde_json::from_slice(&bytes) {
                change_field(&mut document, *key, *at, *which);
                bytes = document.to_string().into_bytes();
            }
        }
        Change::Cut(at) => bytes.truncate(place(*at)),
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
    let number = NUMBERS[which % NUMBERS.len()].to_owned();
    let text = format!("\"{}\"", TEXTS[which % TEXTS.len()]);
    let json = match value {
        Value::Number(_) => number,
        Value::String(_) => text,
        _ if which.is_multiple_of(2) => number,
        _ => text,
    };
    *value = serde_json::from_str(&json).unwrap_or_default();
}
