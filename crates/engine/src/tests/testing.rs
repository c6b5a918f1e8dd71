//! Test fixtures: a bot, and a Session whose strategy signals on chosen minutes.

use crate::{
    BotSettings, Event, EventKind, IfRefused, LadderEntry, Origin, RiskSettings, SeriesId, Session,
    SessionSettings, StakeSettings,
};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{Candle, ExpirationType, Interval, Millis, MoneyScale, Ohlcv, Signal, Strategy, Symbol};

struct OnMinutes(Vec<i64>);

impl Strategy for OnMinutes {
    fn warmup(&self) -> usize {
        0
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let minute = candle.time().get() / 60_000;
        self.0.contains(&minute).then(|| Signal::buy("test").with("minute", minute as f64))
    }
}

pub(crate) fn bot(name: &str, stake: StakeSettings) -> BotSettings {
    BotSettings {
        name: name.to_owned(),
        symbol: Symbol::new("BTCUSDT").expect("a symbol"),
        entry_delay_s: 0,
        venue: std::collections::BTreeMap::new(),
        interval: Interval::MINUTE,
        strategy: "test".to_owned(),
        close_type: "01:00".parse().expect("a code"),
        expiration_type: ExpirationType::TimeFixed,
        params: serde_json::json!({}),
        stake,
    }
}

/// Stakes that double from this amount, by the next signal.
pub(crate) fn martingale(amount: Decimal, levels: u32) -> StakeSettings {
    let (entry, if_refused) = (LadderEntry::NextSignal, IfRefused::Wait);
    StakeSettings::Martingale { amount, factor: 2.0, levels, entry, if_refused }
}

pub(crate) fn settings(
    balance: i64,
    change: impl Fn(&mut RiskSettings),
    bots: Vec<BotSettings>,
) -> SessionSettings {
    let (money_scale, balance, mut risk) = (MoneyScale::default(), balance.into(), RiskSettings::default());
    change(&mut risk);
    SessionSettings { money_scale, balance, risk, bots, longer_share_percent: None }
}

/// A bot that buys on these minutes, with balance 10,000.00 and stake 10.00.
pub(crate) fn one_bot(minutes: &[i64]) -> Session {
    let settings = settings(10_000, |_| {}, vec![bot("bot", StakeSettings::default())]);
    Session::new(&settings, vec![Box::new(OnMinutes(minutes.to_vec()))]).expect("sound settings")
}

pub(crate) fn candle_event(minute: i64, origin: Origin) -> Event {
    let numbers = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
    let candle = Candle::new(Millis::MINUTE * minute, Interval::MINUTE, numbers).expect("a sound candle");
    let at = Millis::MINUTE * (minute + 1);
    Event { at, received: at, kind: EventKind::Candle { series: SeriesId::FIRST, candle, origin } }
}
