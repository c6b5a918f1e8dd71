//! Edge verdicts on trades of any source, and the effect of stakes on the money.

mod break_even;
mod gate_report;
mod independent;
mod ruin_figures;
mod ruin_summary;
mod sample;
mod trade_cells;
mod trade_findings;
mod trades_file;
mod trades_needed;
mod verdict_report;

pub use break_even::{BreakEvenReport, PayoutLine};
pub use gate_report::{GateReport, GatedBot, TriedGate};
pub use independent::{Counts, IndependentFigures};
pub use ruin_figures::{RuinFigures, RuinRate, RuinTerms};
pub use ruin_summary::RuinSummary;
pub use sample::{NamedTrade, Sample, TradeMoney};
pub(crate) use trade_cells::is_date;
pub use trade_findings::findings_of;
pub use trades_file::{TradesFile, read_trades};
pub use trades_needed::{EdgeRequirement, TradesNeeded, TradesNeededTerms, VerdictTrades};
pub use verdict_report::VerdictReport;
