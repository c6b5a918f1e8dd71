//! A strategy that follows a script, and bots with such strategies.

use candlewick_engine::{
    BotSettings, Header, IfRefused, LadderEntry, RiskSettings, SessionSettings, StakeSettings,
};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::serde_json::{from_value, json};
use candlewick_sdk::{
    Candle, Direction, Expiry, Interval, Millis, MoneyScale, Price, Settlement, Signal, Strategy,
};
use std::sync::{Arc, Mutex};

use crate::event::{START, minute};

pub(crate) type SeenSettlements = Arc<Mutex<Vec<String>>>;

/// Returns a ladder of 10, 20 and 40.
pub(crate) fn ladder(entry: LadderEntry, if_refused: IfRefused) -> StakeSettings {
    ladder_of(Decimal::TEN, 3, (entry, if_refused))
}

pub(crate) fn ladder_of(
    amount: Decimal,
    levels: u32,
    (entry, if_refused): (LadderEntry, IfRefused),
) -> StakeSettings {
    StakeSettings::Martingale { amount, factor: 2.0, levels, entry, if_refused }
}

pub(crate) fn session_settings(balance: i64, risk: RiskSettings, bots: Vec<BotSettings>) -> SessionSettings {
    let (money_scale, balance) = (MoneyScale::default(), Decimal::from(balance));
    SessionSettings { money_scale, balance, risk, bots, longer_share_percent: None }
}

/// Creates the header of a run whose strategies all have this version.
pub(crate) fn header_of(settings: &SessionSettings, version: &str) -> Header {
    let strategies = settings.bots.iter().map(|bot| (bot.strategy.clone(), version.to_owned())).collect();
    Header { format: Header::FORMAT, settings: json!({ "session": settings }), strategies, data_hash: None }
}

/// A bot of a test, by default on `BTCUSDT` at `1m` with trades of 10.00 for a minute.
#[derive(Clone)]
pub(crate) struct Script {
    pub(crate) bot: BotSettings,
    warmup: usize,
    closed_until: Millis,
    signals: Vec<(Millis, Signal)>,
    seen: SeenSettlements,
}

impl Script {
    pub(crate) fn new(name: &str) -> Self {
        let bot = json!({
            "name": name, "symbol": "BTCUSDT", "interval": "1m", "strategy": "scripted", "close_type": "01:00",
            "expiration_type": "TIME_FIXED",
        });
        Self {
            bot: from_value(bot).unwrap(),
            warmup: 0,
            closed_until: Millis::new(i64::MIN),
            signals: Vec::new(),
            seen: SeenSettlements::default(),
        }
    }

    pub(crate) fn on(mut self, symbol: &str) -> Self {
        self.bot.symbol = symbol.parse().unwrap();
        self
    }

    pub(crate) fn every(mut self, interval: &str) -> Self {
        self.bot.interval = interval.parse().unwrap();
        self
    }

    pub(crate) fn entering_after(mut self, seconds: i64) -> Self {
        self.bot.entry_delay_s = seconds;
        self
    }

    pub(crate) fn staking(mut self, stake: StakeSettings) -> Self {
        self.bot.stake = stake;
        self
    }

    pub(crate) fn expiring(mut self, expiry: Expiry) -> Self {
        self.bot.close_type = expiry.close_type;
        self.bot.expiration_type = expiry.expiration_type;
        self
    }

    pub(crate) fn warm_after(mut self, candles: usize) -> Self {
        self.warmup = candles;
        self
    }

    /// Adds a gate that is closed before the candle of this minute.
    pub(crate) fn closed_until(mut self, at: i64) -> Self {
        self.closed_until = minute(at);
        self
    }

    /// Buys on candle closes and prices at these minutes.
    pub(crate) fn buys(self, minutes: &[i64]) -> Self {
        minutes.iter().fold(self, |script, at| script.says(*at, Signal::buy("scripted")))
    }

    pub(crate) fn sells(self, minutes: &[i64]) -> Self {
        minutes.iter().fold(self, |script, at| script.says(*at, Signal::sell("scripted")))
    }

    pub(crate) fn says(mut self, at: i64, signal: Signal) -> Self {
        self.signals.push((minute(at), signal));
        self
    }

    pub(crate) fn seen(&self) -> SeenSettlements {
        Arc::clone(&self.seen)
    }

    pub(crate) fn strategy(&self) -> Box<dyn Strategy> {
        Box::new(Scripted {
            interval: self.bot.interval,
            script: self.clone(),
            last_close: Millis::new(i64::MIN),
        })
    }
}

struct Scripted {
    interval: Interval,
    script: Script,
    last_close: Millis,
}

impl Scripted {
    fn signal_at(&self, at: Millis) -> Option<Signal> {
        self.script.signals.iter().find(|(moment, _)| *moment == at).map(|(_, signal)| signal.clone())
    }
}

impl Strategy for Scripted {
    fn warmup(&self) -> usize {
        self.script.warmup
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        self.last_close = candle.close_time(self.interval);
        self.signal_at(self.last_close)
    }

    fn is_gate_closed(&self) -> bool {
        self.last_close < self.script.closed_until
    }

    fn on_price(&mut self, price: &Price) -> Option<Signal> {
        self.signal_at(price.time)
    }

    fn on_settled(&mut self, settlement: &Settlement) {
        let Settlement { direction, decision_time, outcome, profit } = settlement;
        let minute = (decision_time.get() - START) / 60_000;
        let line = format!("{direction} of minute {minute} {outcome} {}", profit.minor());
        self.script.seen.lock().unwrap().push(line);
    }
}

/// Alternates BUY and SELL on every candle and price.
pub(crate) struct Restless(pub(crate) u64);

impl Restless {
    fn next(&mut self) -> Signal {
        self.0 += 1;
        let direction = if self.0.is_multiple_of(2) { Direction::Buy } else { Direction::Sell };
        Signal::new(direction, "restless")
    }
}

impl Strategy for Restless {
    fn warmup(&self) -> usize {
        0
    }

    fn on_candle(&mut self, _: &Candle) -> Option<Signal> {
        Some(self.next())
    }

    fn on_price(&mut self, _: &Price) -> Option<Signal> {
        Some(self.next())
    }
}
