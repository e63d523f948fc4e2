//! Timers that wait: what is asked of each in one process (`explore`), and of all of them in turn
//! (`campaign`).

mod bench;
pub mod campaign;
pub mod explore;
mod front;
pub mod plan;
mod possible;
mod rounds;
mod side_by_side;
pub mod subject;
