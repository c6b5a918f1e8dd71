//! Reports of runs: plain data that renders as text, JSON and HTML.
//!
//! An [`analysis`] describes the trades of a backtest or a live run. Reports exist for a [`run`], a
//! [`sweep`], a [`walk_forward`], a guided search ([`tune`]), a [`monte_carlo`], a [`sensitivity`]
//! and the [`comparison`] of two runs. A [`page`] is one self-contained HTML file. [`edge`] judges
//! trades of any source. This crate does not replay, read a configuration or print.

pub mod analysis;
mod break_even_payout;
pub mod comparison;
pub mod conditions;
pub mod edge;
mod error;
mod figure;
pub mod look;
mod markup;
pub mod monte_carlo;
pub mod page;
pub mod run;
pub mod sensitivity;
mod shown;
mod sparkline;
pub mod sweep;
pub mod tune;
mod value;
pub mod walk_forward;

pub use error::ReportError;
pub use shown::ShownLine;
