//! Text and JSON rendering of a validation report.

use super::{CheckedMarket, ValidationReport};
use candlewick_records::{counted, table};
use candlewick_sdk::testkit::{Finding, Subject};
use serde_json::{Value, json};
use std::fmt::Write as _;

impl ValidationReport {
    pub fn text(&self, subject: &Subject) -> String {
        let entry = &subject.entry;
        let markets = self.markets.iter().map(|CheckedMarket { name, candles, given }| {
            if candles < given {
                format!("{name} (the newest {candles} of {given} candles)")
            } else {
                format!("{name} ({candles} candles)")
            }
        });
        let is_usual = subject.params.as_object().is_none_or(serde_json::Map::is_empty);
        let params = if is_usual { "its usual parameters".to_owned() } else { subject.params.to_string() };
        let mut text = format!(
            "{} {} with {params} on {} {}: {}",
            entry.name,
            entry.version,
            subject.bot.symbol,
            subject.bot.interval,
            markets.collect::<Vec<_>>().join(", ")
        );
        let mut lines = table(["check", "result", "found"]);
        for checked in &self.checked {
            lines.add_row([checked.check.name(), word(checked.finding), &checked.words]);
        }
        let _ = write!(text, "\n\n{}\n\n{}", lines.trim_fmt(), self.closing());
        text
    }

    pub fn document(&self, subject: &Subject) -> Value {
        let check = |checked: &candlewick_sdk::testkit::Checked| json!({ "check": checked.check.name(), "result": checked.finding.name(), "found": checked.words });
        let market = |market: &CheckedMarket| json!({ "name": market.name, "candles": market.candles, "given": market.given });
        let nanoseconds = |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        json!({
            "strategy": subject.entry.name,
            "version": subject.entry.version,
            "params": subject.params,
            "symbol": subject.bot.symbol.as_str(),
            "interval": subject.bot.interval.to_string(),
            "markets": self.markets.iter().map(market).collect::<Vec<_>>(),
            "signals": self.validation.as_ref().map(|validation| validation.signals),
            "warmup": self.validation.as_ref().map(|validation| json!({
                "declared": validation.declared_warmup, "needed": validation.needed_warmup,
            })),
            "candle_ns": self.speed.candle.map(nanoseconds),
            "floor_ns": nanoseconds(self.speed.floor),
            "checks": self.checked.iter().map(check).collect::<Vec<_>>(),
            "passed": self.is_passed(),
        })
    }

    fn is_passed(&self) -> bool {
        self.checked.iter().all(|checked| checked.finding != Finding::Failed)
    }

    fn closing(&self) -> String {
        let older: usize = self.markets.iter().map(|market| market.given - market.candles).sum();
        let signals = self.signals_words();
        match older {
            0 => signals,
            _ => format!(
                "{signals} {} before these {} not checked: give a file that ends there.",
                counted(older, "candle", "candles"),
                if older == 1 { "was" } else { "were" }
            ),
        }
    }

    fn signals_words(&self) -> String {
        let signals = self.validation.as_ref().map(|validation| validation.signals);
        match signals {
            Some(0) => "It gave no signal on these candles, so that little was seen: give --data or other parameters.".to_owned(),
            Some(1) => "It gave 1 signal on these candles.".to_owned(),
            Some(signals) => format!("It gave {signals} signals on these candles."),
            None => "It was not run on these candles.".to_owned(),
        }
    }
}

const fn word(finding: Finding) -> &'static str {
    match finding {
        Finding::Passed => "passed",
        Finding::Noted => "note",
        Finding::Failed => "FAILED",
        Finding::NotRun => "not run",
    }
}
