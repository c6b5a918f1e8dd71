//! In-memory venue for fixed-time trades: order acceptance, price path, settlement and a wallet.
//!
//! The [`Simulator`] answers orders by the rules of the real venue, with prices from stored candles. It uses no I/O, no
//! clock and no unseeded randomness. The same orders, candles and settings therefore always give the same events.
//! Backtests, paper trading with live prices and the HTTP sandbox use this simulator.
//!
//! [`Simulator::submit`] computes the open and close time of an order ([`TradeTimes`]) and gets both prices from the
//! [`PricePath`]. It queues the [`Answer`] and the [`SettledTrade`] for the times at which they become known.
//! [`Simulator::pop_due`] returns these events in order.
//!
//! ```
//! use candlewick_sdk::{Candle, CandleSeries, Direction, Interval, Millis, Money, Ohlcv, Series};
//! use candlewick_sdk::{Expiry, ExpirationType, Outcome};
//! use candlewick_simulator::{Market, OpenRounding, Order, SimulationSettings, Simulator, VenueEvent};
//!
//! let series = Series { symbol: "EURUSD".parse()?, interval: Interval::MINUTE };
//! let rising = |minute: i64| {
//!     let open = 1.0 + minute as f64;
//!     let numbers = Ohlcv { open, high: open + 1.0, low: open, close: open + 1.0, volume: 0.0 };
//!     Candle::new(Millis::MINUTE * minute, Interval::MINUTE, numbers)
//! };
//! let candles = (0..5).map(rising).collect::<Result<Vec<_>, _>>()?;
//! let market = Market { prices: CandleSeries::new(series, candles)?, detail: Vec::new() };
//!
//! let settings = SimulationSettings {
//!     latency_ms: Millis::new(1_500),
//!     open_rounding: OpenRounding::None,
//!     ..SimulationSettings::default()
//! };
//! let mut venue = Simulator::new(settings, Money::from_minor(100_000), vec![market])?;
//! venue.submit(&Order {
//!     number: 1,
//!     symbol: series.symbol,
//!     direction: Direction::Buy,
//!     stake: Money::from_minor(1_000),
//!     expiry: Expiry { close_type: "01:00".parse()?, expiration_type: ExpirationType::TimeFixed },
//!     time: Millis::new(60_000),
//! });
//!
//! // Opened at 61,500, closed at 121,500, known 4 s later.
//! assert_eq!(venue.next_due(), Some(Millis::new(61_500)));
//! let events: Vec<_> = std::iter::from_fn(|| venue.pop_due(Millis::new(125_500))).collect();
//! let [VenueEvent::Answered(_), VenueEvent::Settled(trade)] = events[..] else { panic!("{events:?}") };
//! assert_eq!((trade.outcome, trade.open_price, trade.close_price), (Outcome::Won, Some(2.025), Some(3.025)));
//! assert_eq!(venue.balance(), Money::from_minor(100_800));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod latency;
mod market;
mod moments;
mod order;
mod order_outcome;
mod outcome_table;
mod path;
mod queue;
mod settings;
mod simulator;
mod track;

pub use latency::RecordedLatency;
pub use market::{Market, check_expiry, coarse_periods};
pub use moments::TradeTimes;
pub use order::{Answer, AnswerKind, Opening, Order, Refusal, SettledTrade, UnsettledTrade, VenueEvent};
pub use order_outcome::{trade_outcome, trade_profit};
pub use outcome_table::OutcomeTable;
pub use path::{PathPrice, PriceMoment, PricePath};
pub use settings::{DrawRule, OpenRounding, PathKind, SimulationSettings, SimulatorError};
pub use simulator::{ImmediateSettlement, OrderAtClose, Simulator};
