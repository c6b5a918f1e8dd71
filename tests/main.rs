//! Whole-program tests: the binary, and the libraries as they work together.
#![allow(clippy::unwrap_used, reason = "what cannot be read or run fails its test")]

mod agreement;
mod answers;
mod audits;
mod candlewick;
mod catalog;
mod check;
mod cli;
mod contract;
mod control;
mod determinism;
mod doctor;
mod excerpt;
mod faults;
mod fetch_killed;
mod fetching;
mod first_run;
mod import;
mod latency;
mod oracle;
mod oracle_agreement;
mod parity;
mod prefix;
mod read_back;
mod real_money;
mod recording;
mod regimes;
mod replay;
mod resolve;
mod restart;
mod seconds;
mod serving;
mod survival;
mod sweep;
mod tidy;
mod wire;
