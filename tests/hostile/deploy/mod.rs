//! Tests the scripts of `deploy/` with malicious conditions, names and output.

mod action;
mod gate;
mod sandbox;
