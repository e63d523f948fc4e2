//! Tests the scripts of `deploy/` with malicious names of nodes, malicious output, and signals.

mod action;
mod gate;
mod names;
mod replies;
mod sandbox;
mod stopping;
