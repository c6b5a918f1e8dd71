//! Names that other programs have for settings, and what stands for each of them here.

/// What stands for a name of another program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnSetting {
    /// A setting: its section, `bots` for what each bot has, and how it is written there.
    Key {
        /// Such as `risk`.
        section: &'static str,
        /// Such as `max_trades_per_day = 10`.
        written: &'static str,
    },
    /// None, and why in a sentence.
    None(&'static str),
}

const fn key(section: &'static str, written: &'static str) -> OwnSetting {
    OwnSetting::Key { section, written }
}

const NAMES: [(&[&str], OwnSetting); 40] = [
    (
        &[
            "amount",
            "bet",
            "bet_amount",
            "bet_size",
            "contract_size",
            "entry_amount",
            "entry_value",
            "fixed_amount",
            "investment",
            "lot",
            "lot_size",
            "lots",
            "order_size",
            "position_size",
            "qty",
            "quantity",
            "size",
            "stake_amount",
            "trade_amount",
            "trade_size",
            "volume",
        ],
        key("bots", "stake = { kind = \"fixed\", amount = 10.0 }"),
    ),
    (
        &[
            "balance_percent",
            "percent_of_balance",
            "risk_pct",
            "risk_per_trade",
            "risk_percent",
            "stake_percent",
        ],
        key("bots", "stake = { kind = \"share\", percent = 0.5 }"),
    ),
    (
        &[
            "gale",
            "gales",
            "levels",
            "martingale",
            "martingale_factor",
            "martingale_levels",
            "martingale_multiplier",
            "max_gales",
            "max_martingale",
            "mm",
            "money_management",
            "multiplier",
            "recovery",
        ],
        key("bots", "stake = { kind = \"martingale\", amount = 5.0, factor = 2.2, levels = 2 }"),
    ),
    (&["soros", "soros_levels"], key("bots", "stake = { kind = \"soros\", amount = 5.0, wins = 2 }")),
    (&["kelly", "kelly_fraction"], key("bots", "stake = { kind = \"kelly\", fraction = 0.25 }")),
    (
        &["candle_size", "candle_time", "chart_interval", "granularity", "resolution", "tf", "timeframe"],
        key("bots", "interval = \"1m\""),
    ),
    (
        &["asset", "currency_pair", "instrument", "market", "pair", "ticker"],
        key("bots", "symbol = \"EURUSD\""),
    ),
    (
        &["assets", "instruments", "markets", "pairs", "symbols", "tickers", "watchlist", "whitelist"],
        OwnSetting::None("a bot trades one symbol: a section [[bots]] with symbol = \"EURUSD\" for each"),
    ),
    (&["algo", "algorithm", "strategy_name"], key("bots", "strategy = \"rsi-reversal\"")),
    (&["expiration_type"], key("bots", "expiration_type = \"TIME_FIXED\"")),
    (
        &["duration", "expiration", "expiration_time", "expiry", "expiry_time", "trade_duration"],
        key("bots", "close_type = \"05:00\""),
    ),
    (&["indicators", "inputs", "parameters", "settings"], key("bots", "params = { period = 14 }")),
    (&["delay", "entry_delay"], key("bots", "entry_delay_s = 1")),
    (
        &[
            "daily_stop",
            "daily_stop_loss",
            "max_daily_loss",
            "max_loss",
            "max_loss_per_day",
            "sl",
            "stop_loss",
            "stoploss",
        ],
        key("risk", "daily_loss_limit = 50.0"),
    ),
    (
        &[
            "daily_goal",
            "daily_profit",
            "daily_stop_win",
            "daily_take_profit",
            "daily_target",
            "profit_target",
            "stop_gain",
            "stop_win",
            "take_profit",
            "takeprofit",
            "tp",
        ],
        key("risk", "daily_profit_target = 50.0"),
    ),
    (&["stop_loss_percent"], key("risk", "daily_loss_limit_percent = 5.0")),
    (&["stop_win_percent"], key("risk", "daily_profit_target_percent = 5.0")),
    (
        &["pause_after_losses", "stop_after_losses"],
        key("risk", "pauses = [{ after = 3, of = \"losses\", for_s = 3600, scope = \"bot\" }]"),
    ),
    (&["max_consecutive_losses", "max_losses"], key("risk", "max_loss_streak = 3")),
    (&["max_drawdown"], key("risk", "max_drawdown_percent = 20.0")),
    (
        &["daily_limit", "daily_trades", "max_daily_trades", "max_trades", "trades_per_day"],
        key("risk", "max_trades_per_day = 10"),
    ),
    (
        &["concurrent_trades", "max_concurrent_trades", "max_open_positions", "max_positions", "pyramiding"],
        key("risk", "max_open_trades = 3"),
    ),
    (
        &["min_payout", "min_profit_percent", "minimum_payout", "payout_min"],
        key("risk", "min_payout_percent = 80.0"),
    ),
    (
        &["cooldown", "cooldown_minutes", "cooldown_s", "cooldown_seconds", "pause", "pause_after_loss"],
        key("risk", "pauses = [{ after = 1, of = \"trades\", for_s = 600, scope = \"bot\" }]"),
    ),
    (
        &[
            "end_hour",
            "end_time",
            "schedule",
            "sessions",
            "start_hour",
            "start_time",
            "trading_hours",
            "trading_session",
        ],
        key("risk", "hours = [{ from = \"08:00\", to = \"17:00\", timezone = \"Europe/London\" }]"),
    ),
    (&["news", "news_filter"], key("risk", "blackouts = \"news.csv\"")),
    (&["payout", "payout_rate"], key("simulation", "payout_percent = 80.0")),
    (&["latency"], key("simulation", "latency_ms = 2000")),
    (
        &[
            "balance",
            "bankroll",
            "banca",
            "capital",
            "deposit",
            "initial_capital",
            "start_balance",
            "starting_balance",
        ],
        key("account", "initial_balance = 1000.0"),
    ),
    (
        &["account_type", "demo", "dry_run", "is_demo", "live", "paper", "practice", "real"],
        key("account", "mode = \"demo\""),
    ),
    (&["exchange", "platform", "server"], key("broker", "base_url = \"https://...\"")),
    (&["webhook", "webhook_port"], key("signals", "listen = \"127.0.0.1:7790\"")),
    (
        &["alerts", "discord", "notifications", "slack", "telegram"],
        key("notify.channels", "phone = { kind = \"telegram\", ... }"),
    ),
    (
        &[
            "access_token",
            "api_secret",
            "credentials",
            "email",
            "login",
            "password",
            "token",
            "user",
            "username",
        ],
        OwnSetting::None(
            "the credentials of the venue come from the environment, CANDLEWICK_BROKER__API_TOKEN and CANDLEWICK_BROKER__API_KEY",
        ),
    ),
    (
        &["breakeven", "close_on_profit", "trailing", "trailing_stop"],
        OwnSetting::None(
            "leave it out: a fixed-time trade ends when its time is up, and no price or condition ends it sooner",
        ),
    ),
    (
        &["hedge", "hedging", "leverage", "margin", "pip_value", "pips", "swap"],
        OwnSetting::None("leave it out: fixed-time trades have none, the stake is all that a trade can lose"),
    ),
    (
        &["commission", "fee", "fees", "max_slippage", "max_spread", "slippage", "spread"],
        OwnSetting::None(
            "leave it out: fixed-time trades have none, what the venue keeps is in payout_percent below [simulation]",
        ),
    ),
    (
        &["active", "disabled", "enabled"],
        OwnSetting::None(
            "leave it out: what is written trades, and a bot is left out by a # before each of its lines",
        ),
    ),
    (
        &[
            "author",
            "comment",
            "description",
            "id",
            "label",
            "magic",
            "magic_number",
            "note",
            "notes",
            "title",
            "version",
        ],
        OwnSetting::None(
            "leave it out: the name of a bot tells its trades from others, and notes stand behind a #",
        ),
    ),
    (
        &["general", "global", "money", "trading"],
        OwnSetting::None(
            "a bot and its stake stand below [[bots]], limits below [risk], the balance of a backtest below [account]",
        ),
    ),
];

/// What stands for a name of another program, in any case, and with - or _.
pub fn setting_of_other_programs(name: &str) -> Option<OwnSetting> {
    let plain = name.to_lowercase().replace('-', "_");
    NAMES.iter().find(|(names, _)| names.contains(&plain.as_str())).map(|(_, own)| *own)
}

/// Where a setting of ours stands that has this name.
pub fn setting_of_own_name(name: &str) -> Option<OwnSetting> {
    let mut all = NAMES.iter().map(|(_, own)| *own);
    all.find(
        |own| matches!(own, OwnSetting::Key { written, .. } if written.split(" = ").next() == Some(name)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_name_stands_once_and_is_found_however_it_is_written() {
        let mut seen = BTreeSet::new();
        for name in NAMES.iter().flat_map(|(names, _)| *names) {
            assert!(seen.insert(*name), "{name} stands twice");
        }
        let interval = OwnSetting::Key { section: "bots", written: "interval = \"1m\"" };
        assert_eq!(setting_of_other_programs("TimeFrame"), Some(interval));
        assert!(matches!(
            setting_of_other_programs("Max-Trades"),
            Some(OwnSetting::Key { section: "risk", .. })
        ));
        assert_eq!(setting_of_other_programs("interval"), None);
        assert_eq!(setting_of_own_name("interval"), Some(interval));
        assert_eq!(setting_of_own_name("tf"), None);
    }
}
