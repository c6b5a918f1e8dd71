//! Check that candles are at least as fine as the expiries they price.

use crate::configuration::{Loaded, Problems};
use crate::error::AppError;
use candlewick_engine::{IntentRow, TradeBook};
use candlewick_records::utc;
use candlewick_sdk::{CloseType, Expiry, Millis};
use candlewick_simulator::{Market, check_expiry, coarse_stretches};
use std::collections::HashMap;
use std::ops::Range;

pub const COARSE: &str =
    "coarse: an expiry is shorter than the candles that price it, so this run proves nothing";

pub(super) const ALLOW_BY_FLAG: &str = "--allow-coarse runs it all the same, with prices from inside single candles; such a result proves nothing";
pub const ALLOW_IN_SANDBOX: &str = "sandbox.allow_coarse = true runs it all the same, with prices from inside single candles; such a result proves nothing";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fineness {
    /// Some candles must be fine enough.
    ///
    /// What actually priced each trade is checked after the run.
    Somewhere,
    Throughout,
}

pub fn too_coarse(expiry: Expiry, market: &Market, fineness: Fineness) -> Option<String> {
    if let Err(error) = check_expiry(expiry, market) {
        return Some(error.to_string());
    }
    let stretches = match fineness {
        Fineness::Somewhere => Vec::new(),
        Fineness::Throughout => coarse_stretches(expiry, market),
    };
    let first = stretches.first()?;
    let (interval, symbol, close_type) = (market.prices.interval(), market.symbol(), expiry.close_type);
    Some(format!(
        "an expiry of {close_type} is shorter than the {interval} candles of {symbol}, and finer ones do not cover {}{}",
        text_of(first),
        more(stretches.len() - 1, "stretch", "stretches"),
    ))
}

pub fn check_expiries(
    loaded: &Loaded,
    markets: &[Market],
    fineness: Fineness,
    hint: &str,
) -> Result<(), AppError> {
    let mut problems = Vec::new();
    for (index, bot) in loaded.config.bots.iter().enumerate() {
        let Some(market) = markets.iter().find(|market| market.symbol() == bot.symbol) else { continue };
        if let Some(why) = too_coarse(bot.expiry(), market, fineness) {
            let problem = loaded.problem(&format!("bots[{index}].close_type"), why);
            problems.push(problem.value(format!("\"{}\"", bot.close_type)));
        }
    }
    Problems::check(problems).map_err(|problems| refused(&problems, hint))
}

/// Checks that candles no longer than the expiry priced each trade.
///
/// The expiry is the bot's or the one its strategy requested. Reports the first bot with such
/// trades.
pub(super) fn check_trades(loaded: &Loaded, markets: &[Market], book: &TradeBook) -> Result<(), AppError> {
    for (index, bot) in loaded.config.bots.iter().enumerate() {
        let Some(market) = markets.iter().find(|market| market.symbol() == bot.symbol) else { continue };
        let mut stretches: HashMap<CloseType, Vec<Range<Millis>>> = HashMap::new();
        let of_bot = book.rows().iter().filter(|row| row.approved.bot().index() == index);
        let mut is_too_coarse = |row: &&IntentRow| {
            let expiry = row.approved.expiry();
            let own = stretches.entry(expiry.close_type).or_insert_with(|| coarse_stretches(expiry, market));
            is_coarse(row, own)
        };
        let coarse: Vec<&IntentRow> = of_bot.filter(|row| is_too_coarse(row)).collect();
        let Some((first, open)) = coarse.first().and_then(|row| Some((row, row.open_time?))) else {
            continue;
        };
        let (interval, symbol) = (market.prices.interval(), bot.symbol);
        let close_type = first.approved.expiry().close_type;
        let why = format!(
            "trades of {close_type} were priced inside {interval} candles of {symbol}, which finer ones do not cover: the \
             one of {}{}",
            utc(open),
            more(coarse.len() - 1, "trade", "trades"),
        );
        let problem = if close_type == bot.close_type {
            loaded.problem(&format!("bots[{index}].close_type"), why).value(format!("\"{close_type}\""))
        } else {
            let whose = format!("its strategy asks for an expiry of its own: {why}");
            loaded.problem(&format!("bots[{index}].strategy"), whose)
        };
        let help = format!("--from and --to keep to what the finer candles cover; {ALLOW_BY_FLAG}");
        return Err(refused(&Problems::from(problem), &help));
    }
    Ok(())
}

fn refused(problems: &Problems, help: &str) -> AppError {
    AppError::invalid(problems.to_string()).help(help)
}

/// Returns whether a price of the trade is in one of the stretches.
///
/// A price at the end of a candle belongs to that candle.
fn is_coarse(row: &IntentRow, stretches: &[Range<Millis>]) -> bool {
    let holds = |moment: Millis| {
        let after = stretches.partition_point(|stretch| stretch.start <= moment);
        after.checked_sub(1).is_some_and(|at| moment < stretches[at].end)
    };
    let exit = row.close_time.filter(|_| row.close_price.is_some()).map(|close| close - Millis::new(1));
    row.open_time.is_some_and(holds) || exit.is_some_and(holds)
}

fn text_of(stretch: &Range<Millis>) -> String {
    format!("{} to {}", utc(stretch.start), utc(stretch.end))
}

fn more(count: usize, one: &str, several: &str) -> String {
    match count {
        0 => String::new(),
        1 => format!(", and 1 {one} more"),
        _ => format!(", and {count} {several} more"),
    }
}
