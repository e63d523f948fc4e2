//! Documents made of reports: screens, tables, formats and pages. Parts of kept reports with hostile
//! texts are the input.

mod browser;
mod formats;
mod openmetrics;
mod pages;
mod sample;
#[path = "../../../tests/skipping/mod.rs"]
mod skipping;
#[path = "../../../tests/steering/mod.rs"]
mod steering;
mod stored;
mod tables;
