//! Reports of runs: plain data that renders as text, JSON and HTML.

pub mod analysis;
pub mod comparison;
pub mod conditions;
pub mod confirmation;
pub mod edge;
mod figure;
mod markup;
pub mod monte_carlo;
pub mod page;
pub mod run;
pub mod sensitivity;
mod shown;
pub mod sweep;
pub mod tune;
pub mod walk_forward;

use candlewick_statistics::StatisticsError;
pub use shown::EdgeDetectionLine;
use std::path::PathBuf;

pub mod look {
    pub const STYLE: &str = include_str!("page/page.css");

    /// Script that draws the charts. The order of the files matters, because later files use names from earlier files.
    pub const CHARTS_SCRIPT: &str = concat!(
        include_str!("page/script/format.js"),
        include_str!("page/script/window.js"),
        include_str!("page/script/axis.js"),
        include_str!("page/script/layers.js"),
        include_str!("page/script/prices.js"),
        include_str!("page/script/chart.js"),
        include_str!("page/script/input.js"),
    );
}

#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    #[error(transparent)]
    Statistics(#[from] StatisticsError),
    #[error("cannot write the report as JSON")]
    Document(#[from] serde_json::Error),
    #[error("{}: {problem}", path.display())]
    UnreadableTrades { path: PathBuf, problem: String },
    #[error(
        "a gate that resets daily needs the times of the trades: add the columns decision_time and close_time, in \
         milliseconds"
    )]
    TradesWithoutTimes,
    #[error("{}{}: {problem}", path.display(), line.map_or_else(String::new, |line| format!(", line {line}")))]
    InvalidTrades {
        path: PathBuf,
        /// 1-based line number; `None` if the error concerns the whole file.
        line: Option<u64>,
        problem: String,
    },
}
