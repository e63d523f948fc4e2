//! The only code that spends time: it questions timers and keeps what they answer.

pub mod bench;
pub mod campaign;

pub mod explore;
pub mod introduce;
pub mod plan;
pub mod wait;
