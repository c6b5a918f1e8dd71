//! Strategies that are a rule in a file: `buy = "rsi(14) < 30 and close > sma(200)"`. [`combine`] makes one of several.
//!
//! A rule is one or two conditions in a small language of numbers and conditions, with named parameters, the indicators of
//! [`candlewick_sdk::indicator`], longer candles (`sma(50)@1h`), earlier values (`rsi(14)[1]`), times of the day and patterns of
//! candles. The page `docs/rules.md` is its grammar.
//!
//! ```
//! use candlewick_rules::Rule;
//! use candlewick_sdk::{Interval, Strategy};
//! use std::collections::BTreeMap;
//!
//! let parameters = BTreeMap::from([("period".to_owned(), 14.0)]);
//! let rule = Rule::parse(Some("rsi(period) < 30"), Some("rsi(period) > 70")).unwrap();
//! let strategy = rule.build(&parameters, Interval::MINUTE, None).unwrap();
//! // As long as the index remembers where it began.
//! assert_eq!(strategy.warmup(), 295);
//!
//! let (_, error) = Rule::parse(Some("rsi(14 < 30"), None).unwrap_err();
//! assert_eq!(error.to_string(), "the `(` is not closed: `)` is missing");
//! ```
//!
//! # From text to signals
//! Words (winnow) become a tree, the tree a graph in which each value stands once, and the graph a program that is run
//! once per candle without an allocation, a [`Declaration`](candlewick_sdk::Declaration) whose series are such
//! programs, or the [quickest](RuleStrategy::quickest) form. All mean the same.
//!
//! # What is missing
//! A number that does not exist is missing, and so is what is made of it. A comparison with it is not known, and `and`,
//! `or` and `not` follow Kleene's logic. A rule signals only where its condition is known to hold. How many candles it
//! takes until all of it is warm follows from what it names ([`Strategy::warmup`](candlewick_sdk::Strategy::warmup)).

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
pub use held::{HeldCondition, held_conditions};
pub use inside::{LongPart, count_numbers, longest_part, looks_at_volume, quoted_texts};
pub use lints::doubtful_conditions;
pub use rule::{Rule, Side};
pub use strategy::RuleStrategy;
