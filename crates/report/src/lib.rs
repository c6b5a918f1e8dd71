//! What a run came to, for people: plain data, as text, as JSON and as a page of HTML.
//!
//! An [`analysis`] is what a run's trades say, the same of a backtest and of a live run. A [`run`] is reported with its
//! verdict, figures and findings; so are a [`sweep`], a [`walk_forward`], both as one guided search ([`tune`]), a [`monte_carlo`] and a [`sensitivity`], and a [`comparison`] puts two runs side by
//! side. A [`page`] is one self-contained HTML file. [`edge`] is what any trades say of an edge. Nothing here replays,
//! reads a configuration or prints.

pub mod analysis;
mod break_even_payout;
pub mod comparison;
pub mod conditions;
pub mod edge;
mod error;
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
