//! Settings of a Session and its bots.

use crate::{BotSettings, IfRefused, LadderEntry, RiskSettings, SessionSettings, StakeSettings};
use candlewick_sdk::MoneyScale;
use candlewick_sdk::rust_decimal::Decimal;
use serde_json::{Value, from_value, json, to_value};

pub(crate) fn bot(name: &str, stake: StakeSettings) -> BotSettings {
    let bot = json!({
        "name": name, "symbol": "BTCUSDT", "interval": "1m", "strategy": "test", "close_type": "01:00",
        "expiration_type": "TIME_FIXED",
    });
    BotSettings { stake, ..from_value(bot).expect("a sound bot") }
}

/// A martingale that doubles from this amount and enters on the next signal.
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

pub(crate) fn with_keys(keys: &Value) -> impl Fn(&mut RiskSettings) {
    move |risk| {
        let mut all = to_value(&*risk).expect("settings can be written");
        let own = keys.as_object().expect("an object").clone();
        all.as_object_mut().expect("an object").extend(own);
        *risk = from_value(all).expect("sound settings");
    }
}
