//! Pure functions from raw observations to figures, one question a file. Nothing here sees a
//! subject, a clock, a file or the terminal.

pub mod adds;
pub mod bounds;
pub mod cells;
pub mod cost;
pub mod counter;
pub mod edges;
mod jump;
mod lattice;
pub mod moments;
pub mod order;
pub mod periods;
pub mod plot_data;
pub mod profile;
pub(crate) mod programme;
pub mod quantiles;
pub mod rate;
pub mod resolution;
pub mod shape;
pub mod singles;
mod spectrum;
pub mod statistics;
pub mod testing;
pub mod waits;
