//! The bot whose parameters `sweep` and `walk-forward` search, and its candles.

use crate::candlewick::Folder;
use crate::excerpt::{DAY, MONDAY, shipped};

pub(crate) const BOT: &str = r#"
[[bots]]
name = "btc"
symbol = "BTCUSDT"
interval = "1m"
strategy = "rsi-reversal"
close_type = "01:00"
params = { period = 5 }
"#;

pub(crate) fn folder(days: i64) -> Folder {
    let candles = shipped("BTCUSDT_1m.csv", MONDAY, MONDAY + days * DAY);
    Folder::new().with("bot.toml", BOT).with("BTCUSDT_1m.csv", &candles)
}
