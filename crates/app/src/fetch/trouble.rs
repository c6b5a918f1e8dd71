//! Handling and explanation of venue errors during a download.

use super::{Fetched, Fetching, Target};
use crate::doctor::{Api, alternatives, remedy};
use crate::error::{AppError, ErrorKind};
use candlewick_broker::{AsOf, BrokerError, PriceAnswer, USUAL_INTERVALS};
use candlewick_sdk::{Interval, Symbol};

/// Ends a task after a venue error.
///
/// An error that affects every series also stops the other tasks, and is reported only once.
pub(super) async fn give_up(
    error: BrokerError,
    fetched: &Fetched,
    fetching: &Fetching,
) -> Result<(), AppError> {
    if concerns_all(&error) {
        if fetching.stop.is_cancelled() {
            return Ok(());
        }
        fetching.stop.cancel();
    }
    Err(describe(error, fetched, fetching).await)
}

async fn describe(error: BrokerError, fetched: &Fetched, fetching: &Fetching) -> AppError {
    let target = &fetched.target;
    let Target { series, asset_type } = target;
    let help = match &error {
        BrokerError::NotFound { .. } => not_found(target, fetching).await,
        BrokerError::Rejected { .. } => {
            let intervals = USUAL_INTERVALS.join(" ");
            format!("check the interval (seen at such venues: {intervals}) and --asset-type (now {asset_type})")
        }
        BrokerError::RateLimited { .. } => {
            "wait, then run the same command, which goes on; --rate and broker.requests_per_second slow it down"
                .to_owned()
        }
        other => remedy(other, Api::Price),
    };
    let kept = match fetched.new_candles() {
        0 => String::new(),
        new => format!(", after {new} new candles, which are kept"),
    };
    let kind = match error {
        BrokerError::Settings { .. } => ErrorKind::InvalidArgument,
        _ => ErrorKind::VenueFailed,
    };
    let problem = format!("{series} of {}{kept}", fetching.price_url);
    AppError::new(kind, problem).because(error).help(help)
}

async fn not_found(target: &Target, fetching: &Fetching) -> String {
    let Target { series, asset_type } = target;
    let symbol = series.symbol;
    if is_known(symbol, fetching).await && series.interval != Interval::SECOND {
        return format!(
            "the venue has prices of {symbol}: check --asset-type (now {asset_type}; crypto, forex and otc are known)"
        );
    }
    let mut known = Vec::new();
    for other in alternatives(symbol) {
        if is_known(other, fetching).await {
            known.push(format!("\"{other}\""));
        }
    }
    let list = "the venue's own list has the pairs of this slot (broker.slot)";
    if known.is_empty() {
        format!("there is no pair {symbol}, not as {asset_type}: check its name; {list}")
    } else {
        format!("did you mean {}? {list}", known.join(" or "))
    }
}

async fn is_known(symbol: Symbol, fetching: &Fetching) -> bool {
    let answer = fetching.market.price(&symbol, AsOf::Latest).await;
    answer.is_ok_and(|reply| matches!(reply.value, PriceAnswer::Record(_)))
}

fn concerns_all(error: &BrokerError) -> bool {
    !matches!(
        error,
        BrokerError::NotFound { .. } | BrokerError::Rejected { .. } | BrokerError::Malformed { .. }
    )
}
