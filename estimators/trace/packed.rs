//! Packs lists of integers and of intervals where they are read: a campaign keeps millions of numbers to
//! its end, and sends them from process to process.

#[cfg(feature = "serde")]
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Differences;

/// A list of integers. Of each, its difference to the one before is stored, because most differences are
/// small and take one byte of seven bits; a set eighth bit says that another byte follows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Integers(Box<[u8]>);

impl Integers {
    /// Returns all integers.
    pub fn iter(&self) -> impl Iterator<Item = i64> + Clone {
        let (mut last, mut bits, mut shift) = (0_i64, 0_u64, 0);
        self.0.iter().filter_map(move |byte| {
            bits |= u64::from(byte & 127) << shift;
            // Bytes of another program may continue forever.
            shift = (shift + 7).min(63);
            (*byte < 128).then(|| {
                let difference = (bits >> 1) as i64 ^ -((bits & 1) as i64);
                last = last.wrapping_add(difference);
                (bits, shift) = (0, 0);
                last
            })
        })
    }

    /// Returns all integers, unpacked.
    pub fn to_vec(&self) -> Vec<i64> {
        self.iter().collect()
    }

    /// Returns the number of integers.
    pub fn len(&self) -> usize {
        self.0.iter().filter(|byte| **byte < 128).count()
    }

    /// Returns whether there are no integers.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
}

impl FromIterator<i64> for Integers {
    fn from_iter<I: IntoIterator<Item = i64>>(integers: I) -> Self {
        let (mut bytes, mut last) = (Vec::new(), 0);
        for integer in integers {
            let difference = integer.wrapping_sub(last);
            last = integer;
            // The sign becomes the lowest bit.
            let mut bits = ((difference << 1) ^ (difference >> 63)) as u64;
            while bits > 127 {
                bytes.push(bits as u8 | 128);
                bits >>= 7;
            }
            bytes.push(bits as u8);
        }
        Self(bytes.into())
    }
}

impl From<Vec<i64>> for Integers {
    fn from(integers: Vec<i64>) -> Self {
        integers.into_iter().collect()
    }
}

/// Groups of intervals: of each, the units of work, the number of intervals, and the intervals.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IntervalGroups(Integers);

impl IntervalGroups {
    /// Returns all groups.
    pub fn iter(&self) -> impl Iterator<Item = Differences> {
        let mut packed = self.0.iter();
        std::iter::from_fn(move || {
            let (work, count) = (packed.next()? as u64, packed.next()? as usize);
            let deltas = packed.by_ref().take(count).collect();
            Some(Differences { work, deltas })
        })
    }
}

impl FromIterator<Differences> for IntervalGroups {
    fn from_iter<I: IntoIterator<Item = Differences>>(groups: I) -> Self {
        let integers = |Differences { work, deltas }: Differences| {
            [work as i64, deltas.len() as i64].into_iter().chain(deltas)
        };
        Self(groups.into_iter().flat_map(integers).collect())
    }
}

/// In documents, a packed list is the list; between processes of this program it stays packed.
#[cfg(feature = "serde")]
macro_rules! in_documents {
    ($($list:ty: $item:ty;)*) => { $(
        impl Serialize for $list {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match serializer.is_human_readable() {
                    true => serializer.collect_seq(self.iter()),
                    false => self.0.serialize(serializer),
                }
            }
        }

        impl<'de> Deserialize<'de> for $list {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                match deserializer.is_human_readable() {
                    true => Ok(Vec::<$item>::deserialize(deserializer)?.into_iter().collect()),
                    false => Deserialize::deserialize(deserializer).map(Self),
                }
            }
        }
    )* };
}

#[cfg(feature = "serde")]
in_documents! {
    Integers: i64;
    IntervalGroups: Differences;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::trace::{Batches, Observations};

    proptest! {
        #[test]
        fn lists_are_unpacked_as_they_were(
            numbers in prop::collection::vec(prop_oneof![any::<i64>(), -9..9_i64], 0..40),
            work in prop::collection::vec(any::<u64>(), 0..9),
        ) {
            let packed = Integers::from(numbers.clone());
            prop_assert_eq!((packed.to_vec(), packed.len()), (numbers.clone(), numbers.len()));
            let group = |(at, &work): (usize, &u64)| Differences {
                work,
                deltas: numbers.iter().skip(at).step_by(work.max(1) as usize).copied().collect(),
            };
            let groups: Vec<Differences> = work.iter().enumerate().map(group).collect();
            let run = Observations {
                intervals: groups.iter().cloned().collect(),
                singles: Batches { deltas: packed, ..Batches::default() },
                ..Observations::default()
            };
            prop_assert_eq!(&run.intervals.iter().collect::<Vec<_>>(), &groups);
            let text = serde_json::to_string(&run).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Observations>(&text).unwrap(), &run);
            let bytes = postcard::to_stdvec(&run).unwrap();
            prop_assert_eq!(&postcard::from_bytes::<Observations>(&bytes).unwrap(), &run);
        }

        #[test]
        fn any_bytes_are_integers(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let packed = Integers(bytes.into());
            prop_assert_eq!(packed.iter().count(), packed.len());
        }
    }
}
