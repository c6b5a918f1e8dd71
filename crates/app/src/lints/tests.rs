//! Lint findings for configurations.

use super::{LINTS, Lint, LintInput, Stage, run, unusual_spelling};
use crate::configuration::{BaseLayer, Flag, LoadedConfig};
use crate::tests::flat_candles;
use candlewick_sdk::{Candle, CandleSeries, Ohlcv, Registry, Symbol};
use std::collections::BTreeSet;

const BOT: &str =
    "\n[[bots]]\nname = \"a\"\nsymbol = \"EURUSD\"\ninterval = \"1m\"\nclose_type = \"01:00\"\n";
const RULE: &str = "strategy = \"rules\"\nparams = { buy = \"close > open\" }\n";

fn registry() -> Registry {
    let registry = Registry::default().with_entry(candlewick_rules::entry()).unwrap();
    registry.clone().with_entry(candlewick_rules::combine::entry(registry)).unwrap()
}

fn load(config: &str) -> LoadedConfig {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bot.toml");
    std::fs::write(folder.path().join("empty.csv"), "from,to\n").unwrap();
    std::fs::write(folder.path().join("over.csv"), "from,to\n2025-01-05,2025-01-06\n").unwrap();
    std::fs::write(folder.path().join("yen.csv"), "from,to,symbols\n2025-01-05,2995-01-06,JPY\n").unwrap();
    std::fs::write(&file, config.replace("FOLDER", folder.path().to_str().unwrap())).unwrap();
    LoadedConfig::read(&[file], BaseLayer::Bare, Vec::<Flag>::new()).unwrap()
}

#[track_caller]
fn check(config: &str, expected: &[(&str, &str)]) {
    let found = run(&LintInput::new(&load(config), &registry()), Stage::Check);
    let names: Vec<&str> = found.iter().map(|finding| finding.lint).collect();
    assert_eq!(names, expected.iter().map(|row| row.0).collect::<Vec<_>>(), "{config}\n{found:?}");
    for (finding, (_, part)) in found.iter().zip(expected) {
        assert!(finding.text.contains(part), "{config}\nno {part:?} in {:?}", finding.text);
    }
}

#[track_caller]
fn check_sections(sections: &str, expected: &[(&str, &str)]) {
    check(&format!("{sections}{BOT}{RULE}"), expected);
}

#[track_caller]
fn check_combination(sections: &str, params: &str, expected: &[(&str, &str)]) {
    let first = "first_of = [{ strategy = \"rules\", params = { buy = \"close > open\" } }]";
    check(&format!("{sections}{BOT}strategy = \"combine\"\nparams = {{ {first}, {params} }}\n"), expected);
}

#[test]
fn lints_have_unique_names() {
    let names: BTreeSet<&str> = LINTS.iter().map(|Lint(name, ..)| *name).collect();
    assert_eq!(names.len(), LINTS.len());
}

#[test]
fn reports_doubtful_percentages_and_limits() {
    let default_limit = [("default_loss_limit", "10 % of the balance (1000.00)")];
    for (sections, expected) in [
        ("", &[][..]),
        (
            "[risk]\ndaily_profit_target_percent = 0.07\n[risk.bots.a]\nsession_profit_target_percent = 0.05\n\
             daily_profit_target_percent = 0.5",
            &[
                ("small_percentage", "0.07 %, which is unusually small; did you mean 7?"),
                ("small_percentage", "risk.bots.a.session_profit_target_percent = 0.05"),
            ],
        ),
        ("[risk]\ndaily_profit_target_percent = 1.0", &[]),
        // 10 % of 10,000 is 1,000, but the default limit is 100.
        ("[risk]\ndaily_loss_limit_percent = 10", &default_limit),
        ("[risk]\ndaily_loss_limit_percent = 10\n[account]\ninitial_balance = 1000", &[]),
        ("[risk]\ndaily_loss_limit_percent = 10\ndaily_loss_limit = 0", &[]),
        ("[risk]\ndaily_loss_limit_percent = 10\ndaily_loss_limit = 150", &[]),
        ("[risk]\nmax_open_trades = 0", &[("unlimited_trades", "risk.max_open_trades = 0 means no limit")]),
        ("[risk]\nmax_open_trades_per_symbol = 0", &[("unlimited_trades", "per_symbol = 0 means no limit")]),
    ] {
        check_sections(sections, expected);
    }
    let share = "stake = { kind = \"share\", percent = 0.02 }\n";
    let finding = ("small_percentage", "bots[0].stake.percent = 0.02 means 0.02 %");
    check(&format!("{BOT}{share}{RULE}"), &[finding]);
}

#[test]
fn reports_doubtful_payouts_with_their_break_even() {
    let pays = |share: u32, risk: &str| format!("[simulation]\npayout_percent = {share}\n[risk]\n{risk}\n");
    let probing = ("probing_stake", "one trade at the minimum stake of 1.00");
    // 100 / 2.85 = 35.09.
    let high = ("payout_above_stake", "win rate of 35.09 %, but few venues pay over 100 %; did you mean 85,");
    check_sections(&pays(100, ""), &[]);
    check_sections(&pays(185, ""), &[high]);
    check_sections(&pays(110, ""), &[("payout_above_stake", "payout of EURUSD: 110 %")]);
    let below = ("payout_below_minimum", "less than the minimum of 185 % (risk.min_payout_percent");
    check_sections(&pays(80, "min_payout_percent = 185"), &[probing, high, below]);
    check_sections(&pays(80, "min_payout_percent_by_symbol = { EURUSD = 185 }"), &[probing, high, below]);
    let below = ("payout_below_minimum", "EURUSD pays 80 % in [simulation], less than the minimum of 82 %");
    check_sections(&pays(80, "min_payout_percent = 82"), &[probing, below]);
    check_sections(&pays(82, "min_payout_percent = 82"), &[probing]);
    // Neither symbol trades with GBPUSD at 90 and EURUSD at 80.
    let choice = |least: &str| pays(80, &format!("best_payout_of = [\"EURUSD\", \"GBPUSD\"]\n{least}"));
    let unequal = |part| [probing, ("unequal_minimum_payouts", part)];
    let least = "min_payout_percent_by_symbol = { EURUSD = 75, GBPUSD = 91 }";
    check_sections(&choice(least), &unequal("91 %) pays best but less than its minimum payout, EURUSD"));
    let least = "min_payout_percent_by_symbol = { GBPUSD = 91 }";
    check_sections(&choice(least), &unequal("EURUSD (minimum 0 %) is rejected too"));
    let equal = "min_payout_percent_by_symbol = { EURUSD = 80, BTCUSDT = 90 }\nmin_payout_percent = 80";
    check_sections(&choice(equal), &[probing]);
    check_sections(&choice(""), &[probing]);
    // 100 / 2.8 = 35.71, and 100 / 1.82 = 54.95.
    let gate = |payout: u32| format!("gate = {{ verdict = \"shown\", payout = {payout} }}");
    let part = "a payout of 180 % (break-even win rate 35.71 %), but EURUSD pays 82 % in [simulation] (break-even 54.95 %)";
    check_combination(&pays(82, ""), &gate(180), &[("gate_payout", part)]);
    check_combination(&pays(82, ""), &gate(82), &[]);
    check_combination(&pays(82, ""), &gate(80), &[]);
}

#[test]
fn reports_stakes_that_lose_grow_too_large_or_never_fit() {
    let stake = |sections: &str, stake: &str, expected: &[(&str, &str)]| {
        check(&format!("{sections}{BOT}stake = {{ {stake} }}\n{RULE}"), expected);
    };
    // At 85 %, level 3 wins 2.25 * 0.85 = 1.91 after losses of 1 + 1.5 = 2.50.
    let gale = "kind = \"martingale\", amount = 1, factor = 1.5, levels = 3";
    stake("[simulation]\npayout_percent = 85\n", gale, &[("losing_level", "level 3 results in -0.59")]);
    // At 80 %, the stakes are 10.00, 18.00 and 32.40.
    let soros = "kind = \"soros\", amount = 10, wins = 3";
    let most = "[risk]\nmax_stake = 20\n[simulation]\npayout_percent = 80\n";
    stake(most, soros, &[("outgrown_stake", "2 wins in a row at a payout of 80 %, the stake of 32.40")]);
    stake(&most.replace("20\n", "20\ncap_stakes = true\n"), soros, &[]);
    let fixed = "kind = \"fixed\", amount = 10";
    let unaffordable = ("unaffordable_stake", "its stake is 10.00, but account.initial_balance is 5.00");
    stake("[account]\ninitial_balance = 5\n", fixed, &[unaffordable]);
    stake("[account]\ninitial_balance = 10\n[risk]\nmax_drawdown_percent = 0\n", fixed, &[]);
}

#[test]
fn reports_causes_of_interrupted_ladders() {
    let gale = "stake = { kind = \"gale\", amount = 1, factor = 2.0, levels = 3, entry = \"next_candle\" }\n";
    let cut = |stake: &str, sections: &str, part: &str| {
        let expected = [("interrupted_ladder", part)];
        let expected = if part.is_empty() { &[][..] } else { &expected };
        check(&format!("[simulation]\npayout_percent = 85\n{sections}{BOT}{stake}{RULE}"), expected);
    };
    let hours = "[risk]\nhours = [{ from = \"13:00\", to = \"17:00\" }]\n";
    for (sections, part) in [
        (
            "[risk]\npauses = [{ after = 2, of = \"losses\", for_s = 600 }]\n",
            "ladder of 3 levels may be interrupted by risk.pauses (after 2 losses); if so, the next level",
        ),
        ("[risk]\npauses = [{ after = 3, of = \"losses\", for_s = 600 }]\n", ""),
        ("[risk]\ncooldown_after_loss_s = 60\n", "risk.cooldown_after_loss_s (after 1 loss)"),
        ("[risk]\nmax_loss_streak = 2\n", "risk.max_loss_streak (after 2 losses)"),
        ("[risk]\nmax_loss_streak = 3\n", ""),
        (
            "[risk]\nmax_loss_streak = 1\n[risk.bots.a]\nmax_loss_streak = 2\n",
            "risk.bots.a.max_loss_streak (after 2 losses) or risk.max_loss_streak (after 1 loss)",
        ),
        ("[risk.bots.a]\nmax_loss_streak = 3\n", ""),
        ("[risk]\nmax_trades_per_day = 10\n", "risk.max_trades_per_day = 10"),
        // A ladder costs 1 + 2 + 4 = 7. Two ladders exceed 12, but not the default of 100.
        ("[risk]\ndaily_loss_limit = 12\n", "(12.00) (once the bots have lost more than 5.00 in a day"),
        ("[risk]\ndaily_loss_limit = 100\n", ""),
        (
            "[account]\ninitial_balance = 5000\n[risk.bots.a]\ndaily_loss_limit_percent = 0.3\n",
            "risk.bots.a.daily_loss_limit_percent = 0.3 of account.initial_balance (15.00) (once the bot has lost more than 8.00 in a day",
        ),
        (hours, "risk.hours; if so, the next level waits for the next signal instead of the next"),
    ] {
        cut(gale, sections, part);
    }
    // A limit of 0.3 % is also reported as small.
    let own = "[risk]\ndaily_loss_limit_percent = 0.3\n[account]\ninitial_balance = 5000\n[risk.bots.a]\ndaily_loss_limit = 14\n";
    let part = "risk.bots.a.daily_loss_limit (14.00) (once the bot has lost more than 7.00 in a day";
    check(
        &format!("{own}{BOT}{gale}{RULE}"),
        &[("interrupted_ladder", part), ("small_percentage", "did you mean 30?")],
    );
    let reset = gale.replace(" }", ", if_refused = \"reset\" }");
    cut(&reset, hours, "the next level is dropped and the ladder restarts");
    cut(&gale.replace("next_candle", "next_signal"), hours, "the next level waits for the next signal");
}

#[test]
fn reports_hours_split_by_a_day_with_limits() {
    let night = "hours = [{ from = \"22:00\", to = \"02:00\" }]\n";
    let split = "daily limits reset at 00:00 UTC, within the trading hours 22:00 to 02:00 UTC";
    for (risk, is_split) in [
        ("daily_loss_limit = 10", true),
        ("daily_loss_limit = 0\ndaily_profit_target_percent = 2.0", true),
        ("daily_loss_limit = 0", false),
        ("daily_loss_limit = 0\nmax_trades_per_day = 0", false),
        ("daily_loss_limit = 0\nmax_trades_per_day = 5", true),
        ("daily_loss_limit = 0\nmax_trades_per_day = 0\npauses = [{ after = 3, of = \"wins\" }]", true),
        (
            "daily_loss_limit = 0\nmax_trades_per_day = 0\npauses = [{ after = 3, of = \"wins\", for_s=6}]",
            false,
        ),
        ("daily_loss_limit = 0\nmax_trades_per_day = 0\nbots = { a = { max_trades_per_day = 2 } }", true),
        ("daily_loss_limit = 10\nday_start = \"02:00\"", false),
        // Midnight in Tokyo is 15:00 UTC.
        ("daily_loss_limit = 10\nday_timezone = \"Asia/Tokyo\"", false),
    ] {
        let expected = [("split_hours", split)];
        check_sections(&format!("[risk]\n{night}{risk}\n"), if is_split { &expected } else { &[] });
    }
    // 00:30 in London is 23:30 UTC in summer.
    for (hours, is_split) in [
        ("from = \"20:00\", to = \"00:00\"", false),
        ("from = \"00:00\", to = \"00:00\"", false),
        ("from = \"00:30\", to = \"02:00\", timezone = \"Europe/London\"", true),
        ("from = \"01:00\", to = \"02:00\", timezone = \"Europe/London\"", false),
    ] {
        let expected = [("split_hours", "daily limits reset at 00:00 UTC, within the trading hours")];
        check_sections(&format!("[risk]\nhours = [{{ {hours} }}]\n"), if is_split { &expected } else { &[] });
    }
    let own = "filters = [{ hours = [\"22:00\", \"02:00\"] }]";
    let found = [("split_hours", "the filter of bot \"a\": daily limits reset at 00:00 UTC, within the")];
    check_combination("[risk]\ndaily_loss_limit = 10\n", own, &found);
    // [risk] allows no hours after midnight.
    let evening = "[risk]\ndaily_loss_limit = 10\nhours = [{ from = \"20:00\", to = \"00:00\" }]\n";
    check_combination(evening, own, &[]);
}

#[test]
fn reports_hours_that_never_overlap() {
    let filter = |hours: &str| format!("filters = [{{ hours = [{hours}] }}]");
    let day = "[risk]\ndaily_loss_limit = 0\nhours = [{ from = \"08:00\", to = \"12:00\" }]\n";
    let night = "[risk]\ndaily_loss_limit = 0\nhours = [{ from = \"22:00\", to = \"06:00\" }]\n";
    let found = [("disjoint_hours", "(08:00 to 12:00 UTC) and the filter of bot \"a\" (12:00 to 14:00 UTC)")];
    check_combination(day, &filter("\"12:00\", \"14:00\""), &found);
    check_combination(day, &filter("\"11:59\", \"14:00\""), &[]);
    // 12:30 in London is 11:30 UTC in summer.
    let london = "filters = [{ hours = [\"12:30\", \"14:00\"], timezone = \"Europe/London\" }]";
    check_combination(day, london, &[]);
    check_combination("", &filter("\"12:00\", \"14:00\""), &[]);
    check_combination(night, &filter("\"05:00\", \"07:00\""), &[]);
    let two = "filters = [{ hours = [\"08:00\", \"09:00\"] }, { hours = [\"10:00\", \"11:00\"] }]";
    check_combination("", two, &[("disjoint_hours", "the bot can never trade its own signals")]);
}

#[test]
fn reports_rules_that_rarely_or_never_trade() {
    let rule = |buy: &str, expected: &[(&str, &str)]| {
        check(&format!("{BOT}strategy = \"rules\"\nparams = {{ buy = \"{buy}\" }}\n"), expected);
    };
    rule("rsi(14) > 130", &[("doubtful_condition", "bot \"a\": `rsi(14) > 130` never holds")]);
    // An hour has 60 candles of 1m. A value on longer candles needs one extra candle: (100 + 1) * 60.
    let long = "`ema(100)@1h` needs 68280 candles of 1m (47 days 10 h), `sma(100)@1h` needs only 6060";
    rule("close > ema(100)@1h", &[("long_warm_up", long)]);
    rule("between('08:00', '17:00', 'EST')", &[("doubtful_time_zone", "bot \"a\": EST has no daylight")]);
    let filter = |min: &str| format!("filters = [{{ volatility = {{ min = {min} }} }}]");
    let share = "filters[0].volatility.min = 0.5 means 50 % of the price within one 1m candle; did you mean 0.005 (0.5 %)?";
    check_combination("", &filter("0.5"), &[("volatility_share", share)]);
    check_combination("", &filter("0.001"), &[]);
    let zones = "[risk]\nday_timezone = \"EST\"\nhours = [{ from = \"08:00\", to = \"17:00\", timezone = \"EST\" }]\n";
    let places =
        "risk.day_timezone, risk.hours: EST has no daylight saving time; for New York, use America/New_York";
    check_sections(zones, &[("doubtful_time_zone", places)]);
    let gate = "gate = { after_virtual_losses = 2, resets = \"day\", day_timezone = \"Etc/GMT-3\" }";
    let sign = "bot \"a\": Etc/GMT-3 is UTC+3; UTC-3 is Etc/GMT+3";
    check_combination("", gate, &[("doubtful_time_zone", sign)]);
}

#[test]
fn reports_volume_that_is_the_same_on_all_candles() {
    let rule = |buy: &str| load(&format!("{BOT}strategy = \"rules\"\nparams = {{ buy = \"{buy}\" }}\n"));
    for (buy, last, is_found) in
        [("volume > 5", 0.0, true), ("volume > 5", 1.0, false), ("close > open", 0.0, false)]
    {
        let flat = flat_candles("EURUSD", "1m", 0..99);
        let numbers = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: last };
        let last = Candle::new(flat.end(), flat.interval(), numbers).unwrap();
        let candles = [flat.candles(), &[last]].concat();
        let candles = [CandleSeries::new(flat.series(), candles).unwrap()];
        let (loaded, registry) = (rule(buy), registry());
        let found = run(&LintInput::new(&loaded, &registry).with_candles(&candles), Stage::Search);
        let names: Vec<&str> = found.iter().map(|finding| finding.lint).collect();
        assert_eq!(names, if is_found { vec!["flat_volume"] } else { vec![] }, "{buy}: {found:?}");
    }
}

#[test]
fn reports_symbols_expiries_blackouts_and_signal_sources() {
    let bot = |from: &str, to: &str, expected: &[(&str, &str)]| {
        let config = format!("{BOT}{RULE}");
        assert!(config.contains(from), "{from}");
        check(&config.replace(from, to), expected);
    };
    bot("01:00", "00:02", &[("doubtful_expiry", "00:02 (2 s) is shorter than a 1m candle")]);
    bot("01:00", "00:02", &[("doubtful_expiry", "did you mean 02:00?")]);
    bot("01:00", "02:00:00", &[("doubtful_expiry", "(120 min) spans 120 candles of 1m")]);
    bot("01:00", "1:00:00", &[]);
    let forex = ("doubtful_symbol", "venues list currency pairs as \"forex\"");
    bot("EURUSD", "GBP/USD", &[("doubtful_symbol", "most venues write GBPUSD"), forex]);
    let crypto = |symbol: &str| format!("{symbol}\"\nasset_type = \"crypto");
    bot("EURUSD", &crypto("EURUSD"), &[forex]);
    bot("EURUSD", &crypto("USDMXN"), &[forex]);
    bot("EURUSD", &crypto("BTCUSD"), &[]);
    let none = format!("{BOT}strategy = \"none\"\n");
    check(&none, &[("silent_bot", "no signal source is enabled")]);
    check(&format!("[signals]\nstdin = true\n{none}"), &[]);
    let inverted = ("unbound_signal", "external signals are not inverted (invert)");
    check_combination("[signals]\nstdin = true\n", "invert = true", &[inverted]);
    for (sections, expected) in [
        ("[simulation.payout_percent_by_symbol]\nUSDJPY = 87\n", ("untraded_symbol", "no bot trades USDJPY")),
        ("[sandbox]\ndata = [\"EURUSDT_1m.csv\", \"EURUSD@5m=gold.csv\"]\n", ("missing_candles", "\"5m\"?")),
        ("[risk]\nblackouts = \"FOLDER/empty.csv\"\n", ("idle_blackout", "empty.csv contains no time span")),
        ("[risk]\nblackouts = \"FOLDER/over.csv\"\n", ("idle_blackout", "in the past (until 2025-01-06T00")),
        ("[risk]\nblackouts = \"FOLDER/yen.csv\"\n", ("idle_blackout", "a pair with JPY (1 span)")),
    ] {
        check_sections(sections, &[expected]);
    }
    check_sections("[simulation.payout_percent_by_symbol]\n\"eur/usd\" = 87\n", &[]);
    check_sections("[sandbox]\ndata = [\"EURUSD_1m.csv\"]\n", &[]);
}

#[test]
fn suggests_the_spelling_of_most_venues() {
    for (name, usual) in [
        ("gbpusd", "GBPUSD"),
        ("FX:GBPUSD", "GBPUSD"),
        ("OANDA:eur/usd", "EURUSD"),
        ("GBP/USD", "GBPUSD"),
        ("GBPUSD=X", "GBPUSD"),
    ] {
        let text = unusual_spelling(Symbol::new(name).unwrap()).unwrap();
        assert!(text.contains(&format!("symbol {name}, ")) && text.ends_with(usual), "{text}");
    }
    for name in ["GBPUSD", "BTCUSDT", "EURUSD-OTC", "US500", "BRK.B"] {
        assert_eq!(unusual_spelling(Symbol::new(name).unwrap()), None, "{name}");
    }
}
