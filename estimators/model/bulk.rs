//! What is bulky in a document: samples and bins, which a table passes over.

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
    #[must_use]
    pub fn of(part: &T) -> Self {
        // What is kept here has no keys but strings, which is all that can fail.
        let text = serde_json::value::to_raw_value(part).unwrap_or_default();
        Self { text, part: PhantomData }
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
    #[must_use]
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
        Self { text: self.text.clone(), part: PhantomData }
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
        Ok(Self { text: Box::deserialize(deserializer)?, part: PhantomData })
    }
}

/// As its part is written, so that the layout is that of the document around it; as it is where it is no such part.
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

#[cfg(test)]
mod tests {
    use super::Bulk;

    #[test]
    fn it_is_parsed_when_it_is_asked_for() {
        let broken: Vec<Bulk<Vec<u32>>> = serde_json::from_str(r#"[[1, 2], ["x"]]"#).unwrap();
        assert_eq!(broken[0].get(), Some(vec![1, 2]));
        assert_eq!(broken[0], Bulk::of(&vec![1, 2]), "however it is written");
        assert!(broken[1].parsed().is_err());
        assert_eq!(serde_json::to_string(&broken).unwrap(), r#"[[1,2],["x"]]"#, "it is passed on as it is");
    }
}
