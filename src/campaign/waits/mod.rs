//! Measures sleep primitives and periodic timers: one in one process (`explore`, `ticking`), and
//! all of them in rounds of processes (`campaign`).

pub mod campaign;
pub mod explore;
mod pareto;
pub mod plan;
mod possible;
mod side_by_side;
pub mod subject;
pub mod ticking;
