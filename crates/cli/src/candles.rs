//! Arguments that select candles.
#![allow(
    clippy::doc_markdown,
    reason = "the documentation of arguments is the help that clap prints as it stands"
)]

use crate::arguments::{parse_moment, parse_payout_percent};
use candlewick_app::candles::{CandleChoice, PriceSource};
use candlewick_report::run::ReplayBasis;
use candlewick_sdk::Millis;
use clap::Args;
use std::path::PathBuf;

/// What to read.
#[derive(Debug, Args)]
pub(crate) struct CandleArguments {
    /// Candle file, SYMBOL_INTERVAL.csv (or .parquet) or SYMBOL@INTERVAL=PATH, here or on object storage (s3://BUCKET/...), or a series
    /// of the catalog, SYMBOL@INTERVAL; repeatable; finer candles of a symbol price its trades
    #[arg(long, value_name = "FILE")]
    data: Vec<String>,
    /// Folder of the catalog, from which the bots' series come when no --data is given
    #[arg(long, value_name = "DIR")]
    catalog: Option<PathBuf>,
    /// Leave out candles that open before: a date, a time, or seconds or milliseconds since 1970
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    from: Option<Millis>,
    /// Leave out candles that close after
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    to: Option<Millis>,
    /// Run expiries that are shorter than the candles; such a result proves nothing
    #[arg(long)]
    allow_coarse: bool,
    /// Trade by the rule in this file, in place of the configured bots: one bot for each symbol of --data, on its longest
    /// candles, whose trades last one of them unless the rule says otherwise
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// What a win pays, in percent of the stake, in place of payout_percent in [simulation]
    #[arg(long, value_name = "PERCENT", value_parser = parse_payout_percent)]
    payout: Option<f64>,
}

impl CandleArguments {
    pub(crate) fn choice(&self) -> CandleChoice {
        let Self { data, catalog, from, to, allow_coarse, rules, payout } = self;
        CandleChoice {
            data: data.clone(),
            catalog: catalog.clone(),
            from: *from,
            to: *to,
            allow_coarse: *allow_coarse,
            rules: rules.clone(),
            payout: *payout,
        }
    }
}

pub(crate) fn basis_of(choice: &CandleChoice, prices: PriceSource) -> ReplayBasis {
    ReplayBasis {
        may_be_coarse: choice.allow_coarse,
        has_venue_prices: prices == PriceSource::Venue,
        has_simulated_latency: false,
    }
}
