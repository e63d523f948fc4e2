//! How many timers and values a document has, told before it is kept: a row takes a hundred times the memory of the shortest
//! text of one, a word ten times.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, SeqAccess, Visitor};

/// Timers of the largest report: twice what one agent may have.
pub const MOST_TIMERS: usize = 2 * crate::limits::MOST_TIMERS;
/// Values of the largest report: nearly as many as the longest one has that is written here, with nine bytes each.
pub const MOST_VALUES: usize = 1 << 20;
/// A text as short as this cannot hold them.
const SHORT: usize = 1 << 20;

/// Whether it has more than any report. What is wrong with it otherwise is for others to tell.
pub(super) fn has_too_many_timers(text: &str) -> bool {
    text.len() > SHORT
        && matches!(serde_json::from_str::<Size>(text), Err(error) if error.to_string().starts_with(TOO_MANY))
}

/// Whether it has more than any report, as its commas tell.
pub(super) fn has_too_many_values(text: &str) -> bool {
    text.len() > SHORT && text.bytes().filter(|&byte| byte == b',').count() >= MOST_VALUES
}

const TOO_MANY: &str = "more timers than";

#[derive(Deserialize)]
struct Size {
    #[serde(default, rename = "timers")]
    _timers: Counted,
    #[serde(default, rename = "waits")]
    _waits: Counted,
    #[serde(default, rename = "periods")]
    _periods: Counted,
}

#[derive(Default)]
struct Counted;

impl<'de> Deserialize<'de> for Counted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Counted)
    }
}

impl<'de> Visitor<'de> for Counted {
    type Value = Self;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a list of timers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self, A::Error> {
        let mut count = 0;
        while sequence.next_element::<IgnoredAny>()?.is_some() {
            count += 1;
            if count > MOST_TIMERS {
                return Err(A::Error::custom(format!("{TOO_MANY} {MOST_TIMERS}")));
            }
        }
        Ok(self)
    }
}
