//! Detection of symbol and interval in the file names of known sources.

use super::ImportFormat;
use candlewick_sdk::{Interval, Symbol};
use std::path::Path;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct NameParts {
    pub(super) symbol: Option<Symbol>,
    pub(super) interval: Option<Interval>,
}

impl NameParts {
    pub(super) fn or(self, other: Option<Self>) -> Self {
        let other = other.unwrap_or_default();
        Self { symbol: self.symbol.or(other.symbol), interval: self.interval.or(other.interval) }
    }
}

const ENDINGS: [&str; 8] = [".gz", ".zip", ".csv", ".txt", ".json", ".feather", ".parquet", ".arrow"];

/// Parses symbol and interval from a file name. The parts of a pair are joined: `eth_btc` becomes `ETHBTC`.
pub(super) fn parse_name(path: &str, format: ImportFormat) -> NameParts {
    let mut stem = file_name(path);
    while let Some(shorter) = ENDINGS.iter().find_map(|ending| strip_ending(stem, ending)) {
        stem = shorter;
    }
    let patterns: [fn(&str) -> Option<NameParts>; 8] = [
        parse_candlewick_name,
        parse_hist_data_name,
        parse_dukascopy_name,
        parse_dukascopy_tool_name,
        parse_meta_trader_5_name,
        parse_freqtrade_name,
        parse_binance_name,
        parse_trading_view_name,
    ];
    let found = patterns.into_iter().find_map(|pattern| pattern(stem));
    found.or_else(|| parse_by_format(stem, format)).unwrap_or_default()
}

const QUOTE_CURRENCIES: [&str; 12] =
    ["USDT", "USDC", "USD", "EUR", "GBP", "JPY", "CHF", "AUD", "CAD", "NZD", "BTC", "ETH"];

pub(super) fn likely_symbol(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_ascii_uppercase);
    words.into_iter().find(|word| is_pair(word)).unwrap_or_else(|| "EURUSD".to_owned())
}

fn is_pair(word: &str) -> bool {
    let base = QUOTE_CURRENCIES.iter().find_map(|quote| word.strip_suffix(quote));
    base.is_some_and(|base| base.len() >= 3 && base.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// Removes an exchange prefix such as `Binance_`. The prefix `OTC_` is kept, as it marks another instrument.
fn strip_exchange(symbol: &str) -> &str {
    let Some((at, _)) = symbol.match_indices('_').find(|(at, _)| {
        let pair = symbol[at + 1..].split(['_', '.', '-']).next().unwrap_or_default();
        is_pair(pair)
    }) else {
        return symbol;
    };
    let is_other =
        symbol[..at].to_ascii_uppercase().contains("OTC") || is_pair(&symbol[..at].to_ascii_uppercase());
    if is_other { symbol } else { &symbol[at + 1..] }
}

/// Returns whether `path` is a `HistData` file in `MetaTrader` format. The times of such files are in EST.
pub(super) fn is_hist_data_meta_trader(path: &str) -> bool {
    file_name(path).starts_with("DAT_MT_")
}

fn file_name(path: &str) -> &str {
    Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

fn strip_ending<'a>(name: &'a str, ending: &str) -> Option<&'a str> {
    let at = name.len().checked_sub(ending.len())?;
    let is_ending = name.get(at..)?.eq_ignore_ascii_case(ending);
    (is_ending && at > 0).then(|| &name[..at])
}

fn name_parts(symbol: &str, interval: Option<Interval>) -> NameParts {
    NameParts { symbol: Symbol::new(symbol).ok(), interval }
}

/// Parses a file name such as `BTCUSDT_1m`.
fn parse_candlewick_name(stem: &str) -> Option<NameParts> {
    let (symbol, interval) = stem.rsplit_once('_')?;
    Some(name_parts(strip_exchange(symbol), Some(interval.parse().ok()?)))
}

/// Parses a file name such as `DAT_ASCII_EURUSD_M1_2024`.
fn parse_hist_data_name(stem: &str) -> Option<NameParts> {
    let parts: Vec<&str> = stem.split('_').collect();
    match parts[..] {
        ["DAT", _, symbol, "M1", _] => Some(name_parts(symbol, Some(Interval::MINUTE))),
        _ => None,
    }
}

/// Parses a file name such as `EURUSD_Candlestick_1_M_BID_01.01.2024-31.01.2024`.
fn parse_dukascopy_name(stem: &str) -> Option<NameParts> {
    let parts: Vec<&str> = stem.split('_').collect();
    let [symbol, "Candlestick", count, unit, _, ..] = parts[..] else { return None };
    let unit = match unit.to_ascii_lowercase().as_str() {
        "s" => "s",
        "m" => "m",
        "h" | "hour" => "h",
        "d" => "d",
        _ => return Some(name_parts(&symbol.to_ascii_uppercase(), None)),
    };
    Some(name_parts(&symbol.to_ascii_uppercase(), format!("{count}{unit}").parse().ok()))
}

/// Parses a file name of a Dukascopy download tool, such as `eurusd-m1-bid-2024-01-01-2024-01-31`.
fn parse_dukascopy_tool_name(stem: &str) -> Option<NameParts> {
    let mut parts = stem.split('-');
    let (symbol, period, side) = (parts.next()?, parts.next()?, parts.next()?);
    let interval = parse_period(period)?;
    ["bid", "ask"].contains(&side).then(|| name_parts(&symbol.to_ascii_uppercase(), Some(interval)))
}

/// Parses a file name such as `EURUSD_M1_202401020000_202401022359`. The text after the interval is ignored.
fn parse_meta_trader_5_name(stem: &str) -> Option<NameParts> {
    let mut parts = stem.split('_');
    let (symbol, period) = (parts.next()?, parts.next()?);
    Some(name_parts(&symbol.to_ascii_uppercase(), Some(parse_period(period)?)))
}

fn parse_period(period: &str) -> Option<Interval> {
    let interval = match (period.get(..1)?, period.get(1..)?) {
        ("M" | "m", count) => format!("{count}m"),
        ("H" | "h", count) => format!("{count}h"),
        ("D" | "d", count) => format!("{count}d"),
        _ => return None,
    };
    interval.parse().ok()
}

/// Parses a file name such as `ETH_BTC-5m`, or `ETH_USDT_USDT-1h-futures`, which has a settlement currency.
fn parse_freqtrade_name(stem: &str) -> Option<NameParts> {
    let parts: Vec<&str> = stem.split('-').collect();
    let (pair, interval) = match parts[..] {
        [pair, interval] | [pair, interval, "futures"] => (pair, interval.parse().ok()?),
        // Mark prices, indexes and funding rates are not market prices.
        [pair, interval, kind] if pair.contains('_') && kind.bytes().all(|byte| !byte.is_ascii_digit()) => {
            return Some(NameParts { symbol: None, interval: interval.parse().ok() });
        }
        _ => return None,
    };
    let coins: Vec<&str> = pair.split('_').collect();
    match coins[..] {
        [base, quote] => Some(name_parts(&format!("{base}{quote}").to_ascii_uppercase(), Some(interval))),
        [base, quote, settled] if settled == quote => {
            Some(name_parts(&format!("{base}{quote}").to_ascii_uppercase(), Some(interval)))
        }
        _ => None,
    }
}

/// Parses a file name such as `BTCUSDT-1m-2024-01`. The date is optional and may include a day.
fn parse_binance_name(stem: &str) -> Option<NameParts> {
    let mut parts = stem.split('-');
    let (symbol, interval) = (parts.next()?, parts.next()?);
    let is_date = parts.all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    let is_span = interval.starts_with(|first: char| first.is_ascii_digit());
    // `2026-01-05` is a date.
    let has_letter = symbol.contains(|c: char| c.is_ascii_alphabetic());
    if is_date && is_span && has_letter { Some(name_parts(symbol, interval.parse().ok())) } else { None }
}

/// Parses a file name such as `BINANCE_BTCUSDT, 60` or `BINANCE_BTCUSDT, 1D_2`.
fn parse_trading_view_name(stem: &str) -> Option<NameParts> {
    let (named, rest) = stem.split_once(", ")?;
    let (_, symbol) = named.split_once('_')?;
    let period = rest.split(['_', ' ']).next()?;
    let interval = match period.strip_suffix(['D', 'S']) {
        Some(count) => format!("{count}{}", if period.ends_with('D') { "d" } else { "s" }),
        None => format!("{}m", period.parse::<u32>().ok()?),
    };
    Some(name_parts(symbol, interval.parse().ok()))
}

fn parse_by_format(stem: &str, format: ImportFormat) -> Option<NameParts> {
    match format {
        ImportFormat::Yahoo | ImportFormat::Table => {
            if let Some(found) =
                parse_suffix(stem).filter(|_| is_pair(stem.trim_end_matches(|c: char| c.is_ascii_digit())))
            {
                return Some(found);
            }
            let is_ticker = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || "=^.-".contains(c);
            // A date is not a ticker.
            let has_letter = stem.bytes().any(|byte| byte.is_ascii_uppercase());
            if has_letter && stem.chars().all(is_ticker) { Some(name_parts(stem, None)) } else { None }
        }
        ImportFormat::MetaTrader4 => parse_suffix(stem),
        _ => None,
    }
}

fn parse_suffix(stem: &str) -> Option<NameParts> {
    let minutes = ["1440", "240", "60", "30", "15", "5", "1"];
    let mut found = minutes.iter().filter_map(|minutes| Some((stem.strip_suffix(minutes)?, *minutes)));
    let (symbol, minutes) = found.next()?;
    let is_word = symbol.bytes().all(|byte| byte.is_ascii_uppercase()) && !symbol.is_empty();
    if is_word { Some(name_parts(symbol, format!("{minutes}m").parse().ok())) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_the_pair_in_the_file_name() {
        for (name, symbol) in [
            ("my gold xauusd data.csv", "XAUUSD"),
            ("BINANCE_BTCUSDT.P.csv", "BTCUSDT"),
            ("USDT export.csv", "EURUSD"),
            ("prices.csv", "EURUSD"),
        ] {
            assert_eq!(likely_symbol(name), symbol, "{name}");
        }
    }

    #[test]
    fn parses_file_names_of_known_sources() {
        use ImportFormat::{Csv, MetaTrader4, Yahoo};
        for (name, format, expected) in [
            ("data/BTCUSDT_1m.csv", Csv, ("BTCUSDT", "1m")),
            ("BTC_USDT_5s.parquet", Csv, ("BTC_USDT", "5s")),
            ("Binance_ETHUSDT_1h.csv", Csv, ("ETHUSDT", "1h")),
            ("iq_EURUSD_60s.csv", Csv, ("EURUSD", "1m")),
            ("2026-01-05_BTCUSDT_1m.csv", Csv, ("BTCUSDT", "1m")),
            ("iq_EURUSD_OTC_60s.csv", Csv, ("EURUSD_OTC", "1m")),
            ("EURUSD_OTC_1m.csv", Csv, ("EURUSD_OTC", "1m")),
            ("OTC_EURUSD_1m.csv", Csv, ("OTC_EURUSD", "1m")),
            ("EURUSD5.csv", ImportFormat::Table, ("EURUSD", "5m")),
            ("2026-01-05.csv", ImportFormat::Table, ("-", "-")),
            ("gbpusd_m1_bid_2012-02.csv", Csv, ("GBPUSD", "1m")),
            ("eurusd_h1_2017-2018.csv", Csv, ("EURUSD", "1h")),
            ("BTCUSDT-1m-2024-01-02.zip", Csv, ("BTCUSDT", "1m")),
            ("BTCUSDT-1m-2024-01.csv.gz", Csv, ("BTCUSDT", "1m")),
            ("BTCUSDT-1mo-2024-01.csv", Csv, ("BTCUSDT", "-")),
            ("DAT_ASCII_EURUSD_M1_2024.csv", Csv, ("EURUSD", "1m")),
            ("EURUSD_Candlestick_1_M_BID_01.01.2024-31.01.2024.csv", Csv, ("EURUSD", "1m")),
            ("EURUSD_Candlestick_15_m_BID_01.01.2024-31.01.2024.csv", Csv, ("EURUSD", "15m")),
            ("EURUSD_Candlestick_1_Hour_BID_x.csv", Csv, ("EURUSD", "1h")),
            ("eurusd-m1-bid-2024-01-01-2024-01-31.csv", Csv, ("EURUSD", "1m")),
            ("eurusd-tick-bid-2024-01-01.csv", Csv, ("-", "-")),
            ("EURUSD_M1_202401020000_202401022359.csv", Csv, ("EURUSD", "1m")),
            ("EURUSD_H4.csv", Csv, ("EURUSD", "4h")),
            ("ETH_BTC-5m.json.gz", Csv, ("ETHBTC", "5m")),
            ("XRP_USDT_USDT-1h-futures.feather", Csv, ("XRPUSDT", "1h")),
            ("XRP_USDT_USDT-1h-mark.feather", Csv, ("-", "1h")),
            ("BINANCE_BTCUSDT, 60.csv", Csv, ("BTCUSDT", "1h")),
            ("FX_EURUSD, 5_1a2b3.csv", Csv, ("EURUSD", "5m")),
            ("OANDA_EURUSD, 1D (1).csv", Csv, ("EURUSD", "1d")),
            ("FX_EURUSD, 1W.csv", Csv, ("-", "-")),
            ("AAPL.csv", Yahoo, ("AAPL", "-")),
            ("EURUSD=X.csv", Yahoo, ("EURUSD=X", "-")),
            ("table.csv", Yahoo, ("-", "-")),
            ("EURUSD60.csv", MetaTrader4, ("EURUSD", "1h")),
            ("EURUSD1.csv", MetaTrader4, ("EURUSD", "1m")),
            ("EURUSD15.csv", MetaTrader4, ("EURUSD", "15m")),
            // Ambiguous: US500 1m or US50 01.
            ("US5001.csv", MetaTrader4, ("-", "-")),
            ("prices.csv", Csv, ("-", "-")),
            (".csv", Csv, ("-", "-")),
            ("é-é_é", Csv, ("-", "-")),
        ] {
            let named = parse_name(name, format);
            let symbol = named.symbol.map_or("-".to_owned(), |symbol| symbol.to_string());
            let interval = named.interval.map_or("-".to_owned(), |interval| interval.to_string());
            assert_eq!((symbol.as_str(), interval.as_str()), expected, "{name}");
        }
    }
}
