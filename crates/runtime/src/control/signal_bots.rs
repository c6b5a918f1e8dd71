//! Finds the bot of a signal and checks its time, with the same errors for every source.

use super::SignalOrder;
use candlewick_sdk::Millis;
use chrono::{DateTime, SecondsFormat};
use std::collections::BTreeSet;

/// Maximum time by which a signal may be ahead of venue time.
const AHEAD: Millis = Millis::MINUTE;
const NAMED: usize = 12;

#[derive(Clone, Debug, Default)]
pub struct SignalBots {
    bots: Vec<(String, String)>,
}

impl SignalBots {
    pub const OLDEST: Millis = Millis::DAY;

    /// Takes name and symbol of each bot, in the order of the run.
    pub fn new(bots: impl IntoIterator<Item = (String, String)>) -> Self {
        Self { bots: bots.into_iter().collect() }
    }

    pub fn check(&self, order: &SignalOrder, now: Millis) -> Result<usize, String> {
        let place = self.find(order.bot.as_deref(), order.symbol.as_deref())?;
        check_time(order.time.unwrap_or(now), now)?;
        Ok(place)
    }

    /// Returns the index of the bot with this name, or of the only bot that trades the symbol.
    ///
    /// With both, they must match. Other spellings of a symbol, such as `eur/usd`, are accepted if
    /// unambiguous.
    pub fn find(&self, bot: Option<&str>, symbol: Option<&str>) -> Result<usize, String> {
        let known = symbol.map(|written| self.symbol_of(written).ok_or(written));
        match (bot, known) {
            (None, None) => Err(format!("it names neither a bot nor a symbol: {}", self.names())),
            (Some(name), known) => {
                let place = self.bots.iter().position(|(own, _)| own == name);
                let place = place.ok_or_else(|| format!("there is no bot {name:?}: {}", self.names()))?;
                let own = &self.bots[place].1;
                match known {
                    None => Ok(place),
                    Some(Ok(symbol)) if symbol == own => Ok(place),
                    Some(Ok(other) | Err(other)) => {
                        Err(format!("bot {name} does not trade {other:?} but {own}"))
                    }
                }
            }
            (None, Some(Err(written))) => {
                Err(format!("no bot trades {written:?}: the bots trade {}", list(self.symbols())))
            }
            (None, Some(Ok(symbol))) => {
                let of_symbol = || self.bots.iter().enumerate().filter(|(_, (_, own))| own == symbol);
                let names = of_symbol().map(|(_, (name, _))| name.as_str());
                match (of_symbol().next(), of_symbol().nth(1)) {
                    (Some((place, _)), None) => Ok(place),
                    _ => Err(format!("several bots trade {symbol:?}: name one of {}", list(names))),
                }
            }
        }
    }

    pub fn symbol_of(&self, written: &str) -> Option<&str> {
        let symbols: BTreeSet<&str> = self.symbols().collect();
        if let Some(symbol) = symbols.get(written) {
            return Some(symbol);
        }
        let wanted = plain(written);
        let mut alike = symbols.into_iter().filter(|symbol| plain(symbol) == wanted);
        alike.next().filter(|_| alike.next().is_none())
    }

    pub fn symbols(&self) -> impl Iterator<Item = &str> {
        self.bots.iter().map(|(_, symbol)| symbol.as_str())
    }

    fn names(&self) -> String {
        format!("the bots are {}", list(self.bots.iter().map(|(name, _)| name.as_str())))
    }
}

fn plain(symbol: &str) -> String {
    symbol.chars().filter(|sign| sign.is_alphanumeric()).collect::<String>().to_uppercase()
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut all: Vec<&str> = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    let more = all.len().saturating_sub(NAMED);
    all.truncate(NAMED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{more}", all.join(", "))
}

fn check_time(given: Millis, now: Millis) -> Result<(), String> {
    let wrong = if given > now + AHEAD {
        "lies ahead of the venue's"
    } else if given < now - SignalBots::OLDEST {
        "is more than a day before the venue's"
    } else {
        return Ok(());
    };
    Err(format!(
        "its time {} {wrong}, which is {}: leave the time out, or send the moment at which the signal was given",
        utc(given),
        utc(now)
    ))
}

fn utc(at: Millis) -> String {
    match DateTime::from_timestamp_millis(at.get()) {
        Some(time) => time.to_rfc3339_opts(SecondsFormat::Secs, true),
        None => format!("{at} ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bots(bots: &[(&str, &str)]) -> SignalBots {
        SignalBots::new(bots.iter().map(|(name, symbol)| ((*name).to_owned(), (*symbol).to_owned())))
    }

    fn check(bot: Option<&str>, symbol: Option<&str>, expected: Result<usize, &str>) {
        let bots = bots(&[("btc", "BTCUSDT"), ("eur", "EURUSD"), ("eur2", "EURUSD"), ("otc", "EURUSD-OTC")]);
        assert_eq!(bots.find(bot, symbol), expected.map_err(str::to_owned), "{bot:?} {symbol:?}");
    }

    #[test]
    fn a_signal_is_for_the_bot_that_it_names_or_for_the_only_one_of_its_symbol() {
        check(Some("eur2"), None, Ok(2));
        check(Some("eur2"), Some("EURUSD"), Ok(2));
        check(None, Some("BTCUSDT"), Ok(0));
        check(None, Some("btc/usdt"), Ok(0));
        check(None, Some("EUR/USD-OTC"), Ok(3));
        check(None, None, Err("it names neither a bot nor a symbol: the bots are btc, eur, eur2, otc"));
        check(Some("eth"), None, Err("there is no bot \"eth\": the bots are btc, eur, eur2, otc"));
        check(Some("btc"), Some("EUR/USD"), Err("bot btc does not trade \"EURUSD\" but BTCUSDT"));
        check(Some("btc"), Some("X"), Err("bot btc does not trade \"X\" but BTCUSDT"));
        check(
            None,
            Some("EURJPY"),
            Err("no bot trades \"EURJPY\": the bots trade BTCUSDT, EURUSD, EURUSD-OTC"),
        );
        check(None, Some("EUR/USD"), Err("several bots trade \"EURUSD\": name one of eur, eur2"));
    }

    #[test]
    fn what_may_be_two_symbols_is_neither_and_one_that_is_written_out_is_itself() {
        let two = bots(&[("a", "EUR/USD"), ("b", "EURUSD")]);
        assert_eq!(two.find(None, Some("EURUSD")), Ok(1));
        assert_eq!(two.symbol_of("eur-usd"), None);
        let many: Vec<(String, String)> =
            (0..20).map(|number| (format!("bot{number}"), format!("S{number}"))).collect();
        let problem = SignalBots::new(many).find(None, Some("none")).unwrap_err();
        assert!(problem.ends_with("S10, S11 and 8 more"), "{problem}");
    }

    #[test]
    fn a_time_of_another_day_is_a_mistake() {
        // 2026-01-05 10:30 UTC.
        let now = Millis::new(1_767_609_000_000);
        for (given, expected) in [
            (now, None),
            (now + Millis::MINUTE, None),
            (now - Millis::DAY, None),
            (
                now + Millis::MINUTE + Millis::new(1),
                Some(
                    "its time 2026-01-05T10:31:00Z lies ahead of the venue's, which is 2026-01-05T10:30:00Z",
                ),
            ),
            (
                now - Millis::DAY - Millis::new(1),
                Some("its time 2026-01-04T10:29:59Z is more than a day before the venue's"),
            ),
            (Millis::ZERO, Some("its time 1970-01-01T00:00:00Z is more than a day before")),
        ] {
            match (check_time(given, now), expected) {
                (Ok(()), None) => {}
                (Err(problem), Some(part)) => assert!(problem.starts_with(part), "{problem}"),
                (found, _) => panic!("{given}: {found:?}"),
            }
        }
    }
}
