//! Strategies defined by rules, such as `buy = "rsi(14) < 30 and close > sma(200)"`.
//!
//! A rule has a condition to buy, a condition to sell, or both. The language has named parameters, the indicators of
//! [`candlewick_sdk::indicator`], longer candles (`sma(50)@1h`), earlier values (`rsi(14)[1]`), times of day and candle
//! patterns. `docs/rule-language.md` is the reference. The module [`combine`] combines several strategies.
//!
//! ```
//! use candlewick_rules::Rule;
//! use candlewick_sdk::{Interval, Strategy};
//! use std::collections::BTreeMap;
//!
//! let parameters = BTreeMap::from([("period".to_owned(), 14.0)]);
//! let rule = Rule::parse(Some("rsi(period) < 30"), Some("rsi(period) > 70")).unwrap();
//! let strategy = rule.build(&parameters, Interval::MINUTE, None).unwrap();
//! // After this many candles, the start of the series no longer affects the RSI.
//! assert_eq!(strategy.warmup(), 295);
//!
//! let (_, error) = Rule::parse(Some("rsi(14 < 30"), None).unwrap_err();
//! assert_eq!(error.to_string(), "the `(` is not closed: `)` is missing");
//! ```
//!
//! # From text to signals
//! The parser (winnow) builds a syntax tree. The tree is compiled into a graph without duplicate values. The graph
//! becomes one of three forms: an allocation-free program, a [`Declaration`](candlewick_sdk::Declaration) whose series
//! are such programs, or the [fastest](RuleStrategy::into_optimized) form. All forms give the same signals.
//!
//! # Missing values
//! Missing numbers propagate. A comparison with a missing number is unknown. `and`, `or` and `not` follow Kleene's
//! logic. A rule signals only if its condition is certain to be true. The rule's indicators determine its
//! [`warmup`](candlewick_sdk::Strategy::warmup).

mod catalog;
mod columns;
pub mod combine;
mod compile;
mod compile_calls;
mod compile_comparisons;
mod condition;
mod declare;
mod direct;
mod entry;
mod error;
mod explained;
mod file;
mod graph;
mod held;
mod indicator;
mod inside;
mod instruction;
mod lints;
mod parse;
mod program;
mod rule;
mod step;
mod strategy;
mod syntax;
mod token;

pub use catalog::indicator_names;
pub use entry::{NAME, VERSION, entry};
pub use error::RuleError;
pub use held::{ConditionCount, count_conditions};
pub use inside::{LongestWarmupPart, count_fitted_values, longest_warmup_part};
pub use lints::lint_conditions;
pub use rule::{Rule, Side};
pub use strategy::RuleStrategy;
