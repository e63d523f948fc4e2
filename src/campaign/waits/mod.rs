//! Measures sleep primitives and periodic timers: each in one process (`explore`, `ticking`), and
//! all of them in rounds (`campaign`).

pub mod campaign;
pub mod explore;
mod front;
pub mod plan;
mod possible;
mod side_by_side;
pub mod subject;
pub mod ticking;
