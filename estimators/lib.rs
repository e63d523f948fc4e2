//! Computes the figures of a timer from what was observed of it.
//!
//! Pure functions of raw integers ([`trace`]): slices in, figures out. Nothing here reads a clock, a
//! file or the command line. [`profile`] puts the figures of one clock together: its
//! [`resolution`], its [`cost`], the [`distribution`] of single calls and its [`rate`]; [`waits`]
//! and [`periods`] are what sleep primitives and periodic timers have. [`model`] holds the types of
//! the report. This is a crate of its own because it is compiled for speed in tests as well.

#![forbid(unsafe_code)]

#[macro_use]
extern crate macro_rules_attribute;

attribute_alias! {
    // Part of the report.
    #[apply(wire)] =
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    ;
    // Part of a trace.
    #[apply(recorded)] =
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    ;
}

/// An enum whose variants have names in documents: `Variant = "name"`.
macro_rules! names {
    ($(#[$meta:meta])* pub enum $name:ident {
        $($(#[$about:meta])* $variant:ident = $word:literal,)*
    }) => {
        #[apply(wire)]
        #[derive(Copy, Eq)]
        $(#[$meta])*
        pub enum $name {
            $($(#[$about])* #[serde(rename = $word)] $variant,)*
        }

        impl $name {
            /// All of them.
            pub const ALL: [Self; [$(Self::$variant),*].len()] = [$(Self::$variant),*];

            /// Its name in documents.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }
    };
}

pub mod cost;
pub mod distribution;
pub mod findings;
pub mod model;
pub mod numbers;
pub mod periods;
pub mod profile;
pub mod quality;
pub mod rate;
pub mod resolution;
pub mod scoring;
pub mod statistics;
pub mod trace;
pub mod waits;
