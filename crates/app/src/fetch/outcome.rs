//! Results of `data fetch`, and handling of venue errors.

use super::{Fetcher, Target};
use crate::doctor::{ApiKind, alternative_symbols, suggest_fix};
use crate::error::{AppError, ErrorKind, Result};
use candlewick_broker::{AsOf, BrokerError, COMMON_INTERVALS, PriceAnswer};
use candlewick_history::{AppendCounts, Catalog, Manifest, Revision, Version};
use candlewick_records::{format_number, format_utc, table};
use candlewick_sdk::{Candle, Interval, Millis, Symbol};
use serde_json::{Value, json};
use std::fmt::Write as _;

const MAX_SHOWN_REVISIONS: usize = 10;
const MAX_JSON_REVISIONS: usize = 1_000;

#[derive(Debug)]
pub struct FetchStats {
    pub target: Target,
    pub requests: u64,
    rejected: usize,
    appended: AppendCounts,
    since: Option<Millis>,
    /// Revised candles, each as a pair of its first and its latest version.
    revised: Vec<(Candle, Candle)>,
    manifest: Option<Manifest>,
    missing: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchEnd {
    Complete,
    Interrupted,
}

impl FetchStats {
    pub(super) fn new(target: &Target) -> Self {
        Self {
            target: target.clone(),
            requests: 0,
            rejected: 0,
            appended: AppendCounts::default(),
            since: None,
            revised: Vec::new(),
            manifest: None,
            missing: 0,
        }
    }

    pub(super) fn record(&mut self, requests: u64, rejected: usize, seen_at: Millis) {
        self.requests += requests;
        self.rejected += rejected;
        self.since = self.since.or(Some(seen_at));
    }

    pub(super) fn add_counts(&mut self, appended: AppendCounts) {
        self.appended.new_candles += appended.new_candles;
        self.appended.skipped += appended.skipped;
        self.appended.revised += appended.revised;
        self.appended.forming += appended.forming;
    }

    pub const fn new_candles(&self) -> u64 {
        self.appended.new_candles
    }

    pub(super) async fn load_stored_state(&mut self, fetching: &Fetcher) -> Result<()> {
        let (series, revised, since) = (self.target.series, self.appended.revised, self.since);
        let look = move |catalog: &Catalog| {
            let (manifest, missing) = (catalog.manifest(series)?, catalog.count_missing_candles(series)?);
            if revised == 0 {
                return Ok((manifest, missing, Vec::new()));
            }
            let first = catalog.read(series)?;
            let first = first.candles().candles();
            let is_from_this_fetch =
                |revision: &Revision| since.is_some_and(|since| revision.seen_at >= since);
            let pair = |revision: Revision| {
                let at = first.binary_search_by_key(&revision.candle.time(), Candle::time).ok()?;
                Some((first[at], revision.candle))
            };
            let revisions = catalog.revisions(series)?.into_iter().filter(is_from_this_fetch);
            Ok((manifest, missing, revisions.filter_map(pair).collect()))
        };
        (self.manifest, self.missing, self.revised) = fetching.with_catalog(look).await?;
        Ok(())
    }

    fn to_json(&self) -> Value {
        let version = self.manifest.as_ref().and_then(Manifest::current_version);
        let revisions = self.revised.iter().take(MAX_JSON_REVISIONS).map(
            |(first, later)| json!({ "time": first.time(), "first": candle_to_json(first), "later": candle_to_json(later) }),
        );
        json!({
            "symbol": self.target.series.symbol,
            "interval": self.target.series.interval,
            "asset_type": self.target.asset_type,
            "requests": self.requests,
            "new": self.appended.new_candles,
            "same": self.appended.skipped,
            "revised": self.appended.revised,
            "rejected": self.rejected,
            "revisions": revisions.collect::<Vec<_>>(),
            "start": version.map(Version::start),
            "end": version.map(Version::end),
            "candles": version.map_or(0, Version::candle_count),
            "missing": self.missing,
            "data_hash": version.map(|version| version.data_hash.clone()),
        })
    }

    fn describe_no_candles(&self) -> Option<String> {
        if self.manifest.is_some() || self.requests == 0 {
            return None;
        }
        let since = self.since.map(format_utc).unwrap_or_default();
        Some(format!(
            "{}: the venue has no closed candles in this range (venue time {since})",
            self.target.series
        ))
    }
}

fn candle_to_json(candle: &Candle) -> Value {
    candle_fields(candle).into_iter().collect()
}

fn candle_fields(candle: &Candle) -> [(&'static str, f64); 5] {
    let (open, high, low, close) = (candle.open(), candle.high(), candle.low(), candle.close());
    [("open", open), ("high", high), ("low", low), ("close", close), ("volume", candle.volume())]
}

pub fn to_json_document(all: &[FetchStats], finished: FetchEnd, fetching: &Fetcher) -> Value {
    json!({
        "catalog": fetching.catalog.folder(),
        "source": fetching.source,
        "interrupted": finished == FetchEnd::Interrupted,
        "series": all.iter().map(FetchStats::to_json).collect::<Vec<_>>(),
    })
}

pub fn text(all: &[FetchStats], finished: FetchEnd) -> String {
    let mut table = table([
        "symbol", "interval", "new", "same", "revised", "rejected", "from", "to", "candles", "missing",
    ]);
    for one in all {
        let AppendCounts { new_candles: new, skipped: same, revised, .. } = one.appended;
        let version = one.manifest.as_ref().and_then(Manifest::current_version);
        let of_version = version.map_or_else(Default::default, |version| {
            let [candles, missing] = [version.candle_count(), one.missing].map(format_number);
            [format_utc(version.start()), format_utc(version.end()), candles, missing]
        });
        let counts = [new, same, revised, one.rejected as u64].map(format_number);
        let names = [one.target.series.symbol.to_string(), one.target.series.interval.to_string()];
        table.add_row(names.into_iter().chain(counts).chain(of_version));
    }
    let mut text = table.to_string();
    for one in all {
        // The first value remains in use. The later value is only reported.
        for (first, later) in one.revised.iter().take(MAX_SHOWN_REVISIONS) {
            let (series, time) = (one.target.series, format_utc(first.time()));
            let _ = write!(text, "\nrevised: {series} at {time}: {}", describe_changes(first, later));
        }
        if one.revised.len() > MAX_SHOWN_REVISIONS {
            let (hidden, series) = (one.revised.len() - MAX_SHOWN_REVISIONS, one.target.series);
            let _ = write!(text, "\nrevised: {series}: {hidden} more candles");
        }
        if let Some(why) = one.describe_no_candles() {
            let _ = write!(text, "\n{why}");
        }
    }
    if finished == FetchEnd::Interrupted {
        text.push_str("\nInterrupted: run the same command again to continue.");
    }
    text
}

fn describe_changes(first: &Candle, later: &Candle) -> String {
    let pairs = candle_fields(first).into_iter().zip(candle_fields(later));
    let changed = pairs.filter(|(first, later)| first != later);
    let changes: Vec<String> =
        changed.map(|((name, first), (_, later))| format!("{name} {first} became {later}")).collect();
    changes.join(", ")
}

/// Ends a task after a venue error. An error that affects every task stops all tasks and is reported once.
pub(super) async fn handle_fetch_error(
    error: BrokerError,
    fetched: &FetchStats,
    fetching: &Fetcher,
) -> Result<()> {
    let is_of_series = matches!(
        error,
        BrokerError::NotFound { .. } | BrokerError::Rejected { .. } | BrokerError::Malformed { .. }
    );
    if !is_of_series {
        if fetching.stop.is_cancelled() {
            return Ok(());
        }
        fetching.stop.cancel();
    }
    let target = &fetched.target;
    let Target { series, asset_type } = target;
    let help = match &error {
        BrokerError::NotFound { .. } => describe_not_found(target, fetching).await,
        BrokerError::Rejected { .. } => {
            let intervals = COMMON_INTERVALS.join(" ");
            format!("check the interval (common intervals: {intervals}) and --asset-type (now {asset_type})")
        }
        BrokerError::RateLimited { .. } => {
            "wait, then run the same command to continue. Reduce --rate or broker.requests_per_second"
                .to_owned()
        }
        other => suggest_fix(other, ApiKind::Price),
    };
    let stored = match fetched.new_candles() {
        0 => String::new(),
        new => format!(", after storing {new} new candles"),
    };
    let kind = match error {
        BrokerError::Settings { .. } => ErrorKind::InvalidArgument,
        _ => ErrorKind::VenueFailed,
    };
    let problem = format!("{series} of {}{stored}", fetching.price_url);
    Err(AppError::new(kind, problem).with_source(error).with_help(help))
}

async fn describe_not_found(target: &Target, fetching: &Fetcher) -> String {
    let Target { series, asset_type } = target;
    let symbol = series.symbol;
    if has_prices(symbol, fetching).await && series.interval != Interval::SECOND {
        return format!(
            "the venue has prices of {symbol}, but not as {asset_type}; try --asset-type crypto, forex or otc"
        );
    }
    let mut known = Vec::new();
    for other in alternative_symbols(symbol) {
        if has_prices(other, fetching).await {
            known.push(format!("\"{other}\""));
        }
    }
    let hint = "see which pairs the venue lists for the slot in broker.slot";
    if known.is_empty() {
        format!("the venue has no pair {symbol} of type {asset_type}: check the symbol; {hint}")
    } else {
        format!("did you mean {}? Otherwise {hint}", known.join(" or "))
    }
}

async fn has_prices(symbol: Symbol, fetching: &Fetcher) -> bool {
    let answer = fetching.market.price(&symbol, AsOf::Latest).await;
    answer.is_ok_and(|reply| matches!(reply.value, PriceAnswer::Record(_)))
}
