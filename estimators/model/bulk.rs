//! The bulk of a document, which a table passes over: samples and bins, kept as text until they are
//! asked for, and what figures are drawn from.

use std::fmt;
use std::marker::PhantomData;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// A part of a document that is kept as its text and parsed when it is asked for.
pub struct Bulk<T> {
    text: Box<RawValue>,
    part: PhantomData<fn() -> T>,
}

impl<T: Serialize> Bulk<T> {
    /// The text of `part`.
    pub fn of(part: &T) -> Self {
        // What is kept here has no keys but strings, which is all that can fail.
        let text = serde_json::value::to_raw_value(part).unwrap_or_default();
        Self {
            text,
            part: PhantomData,
        }
    }
}

impl<T: DeserializeOwned> Bulk<T> {
    /// The part.
    ///
    /// # Errors
    /// When the text is no such part.
    pub fn parsed(&self) -> serde_json::Result<T> {
        serde_json::from_str(self.text.get())
    }

    /// The part; nothing where the text is no such part, which [`parsed`](Self::parsed) tells.
    pub fn get(&self) -> Option<T> {
        self.parsed().ok()
    }
}

impl<T: Serialize + Default> Default for Bulk<T> {
    fn default() -> Self {
        Self::of(&T::default())
    }
}

impl<T> Clone for Bulk<T> {
    fn clone(&self) -> Self {
        Self {
            text: self.text.clone(),
            part: PhantomData,
        }
    }
}

impl<T: DeserializeOwned + PartialEq> PartialEq for Bulk<T> {
    fn eq(&self, other: &Self) -> bool {
        self.text.get() == other.text.get() || self.get() == other.get()
    }
}

impl<T> fmt::Debug for Bulk<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text.get())
    }
}

impl<'de, T> Deserialize<'de> for Bulk<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self {
            text: Box::deserialize(deserializer)?,
            part: PhantomData,
        })
    }
}

/// As its part is written, so that the layout is that of the document around it; as it is where it
/// is no such part.
impl<T: Serialize + DeserializeOwned> Serialize for Bulk<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.parsed() {
            Ok(part) => part.serialize(serializer),
            Err(_) => self.text.serialize(serializer),
        }
    }
}

#[cfg(feature = "schema")]
impl<T: schemars::JsonSchema> schemars::JsonSchema for Bulk<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        T::json_schema(generator)
    }
}

/// What the figures of a timer are drawn from.
#[apply(wire)]
#[derive(Default)]
pub struct Figures {
    /// Intervals over work.
    pub staircase: Option<Staircase>,
    /// How often intervals of each length were seen, with random work between the reads.
    pub intervals: Option<IntervalHistogram>,
    /// How often single invocations of each cost were seen.
    pub singles: Option<CostHistogram>,
}

impl Figures {
    /// Without those that cannot be drawn, and not be written down: JSON has no NaN and no
    /// infinity.
    pub fn sound(self) -> Self {
        let costs =
            |costs: &CostHistogram| costs.first_ns.is_finite() && costs.width_ns.is_finite();
        Self {
            staircase: self
                .staircase
                .filter(|stairs| stairs.ns_per_work.is_finite()),
            singles: self.singles.filter(costs),
            ..self
        }
    }
}

/// A sample of the intervals between two reads: from each of twenty stretches of work as many,
/// spread evenly from the shorter to the longer ones. Where most intervals stand still, those that
/// moved are kept more often than they occurred.
#[apply(wire)]
pub struct Staircase {
    /// Nanoseconds in a unit of work.
    pub ns_per_work: f64,
    /// Units of work between the reads, a number a point.
    #[serde(serialize_with = "in_one_line")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<u64>"))]
    pub work: Vec<u64>,
    /// Second reading minus first, in ticks of the timer, a number a point.
    #[serde(serialize_with = "in_one_line")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<i64>"))]
    pub ticks: Vec<i64>,
    /// How many intervals these points stand for.
    pub intervals: u64,
}

/// How often intervals of each length were seen.
#[apply(wire)]
pub struct IntervalHistogram {
    /// The shortest interval that the first count holds, in ticks of the timer.
    pub first_ticks: i64,
    /// Ticks that a count holds: `first_ticks` and the next ones, up to this many.
    pub width_ticks: u64,
    /// Intervals, a number a bin.
    #[serde(serialize_with = "in_one_line")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<u64>"))]
    pub counts: Vec<u64>,
    /// Intervals below the first bin.
    pub below: u64,
    /// Intervals above the last bin.
    pub above: u64,
}

/// How often single invocations of each cost were seen, in all processes, the bracket taken off.
#[apply(wire)]
pub struct CostHistogram {
    /// Where the first bin begins, in nanoseconds. A bin lies around a whole number of steps of
    /// what saw it.
    pub first_ns: f64,
    /// How wide a bin is, in nanoseconds.
    pub width_ns: f64,
    /// Invocations, a number a bin.
    #[serde(serialize_with = "in_one_line")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<u64>"))]
    pub counts: Vec<u64>,
    /// Invocations below the first bin.
    pub below: u64,
    /// Invocations above the last bin.
    pub above: u64,
    /// Whether successive readings of the timer itself are counted; otherwise the reference saw the
    /// invocations.
    pub own_readings: bool,
}

/// Longer than a screen is high, an array of numbers hides the document around it.
fn in_one_line<T: Serialize, S: Serializer>(
    numbers: &[T],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let text = serde_json::to_string(numbers).map_err(serde::ser::Error::custom)?;
    RawValue::from_string(text)
        .map_err(serde::ser::Error::custom)?
        .serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::Bulk;

    #[test]
    fn it_is_parsed_when_it_is_asked_for() {
        let broken: Vec<Bulk<Vec<u32>>> = serde_json::from_str(r#"[[1, 2], ["x"]]"#).unwrap();
        assert_eq!(broken[0].get(), Some(vec![1, 2]));
        assert_eq!(broken[0], Bulk::of(&vec![1, 2]), "however it is written");
        assert!(broken[1].parsed().is_err());
        assert_eq!(
            serde_json::to_string(&broken).unwrap(),
            r#"[[1,2],["x"]]"#,
            "it is passed on as it is"
        );
    }
}
