//! Lint findings for configurations.

use super::{LINTS, Lint, LintInput, Stage, run};
use crate::configuration::{BaseLayer, Flag, LoadedConfig};
use candlewick_sdk::Registry;
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
fn reports_fractions_in_place_of_percentages_and_vice_versa() {
    let mistaken = |part| ("mistaken_percentage", part);
    check_sections("", &[]);
    let limits = "[risk]\ndaily_profit_target_percent = 0.07\n[risk.bots.a]\nsession_profit_target_percent = 0.05\n\
                  daily_profit_target_percent = 0.5";
    let of_all = mistaken("0.07 means 0.07 %, which is unusually small; did you mean 7?");
    check_sections(limits, &[mistaken("risk.bots.a.session_profit_target_percent = 0.05"), of_all]);
    check_sections("[risk]\ndaily_profit_target_percent = 1.0", &[]);
    let share = "stake = { kind = \"share\", percent = 0.02 }\n";
    check(&format!("{BOT}{share}{RULE}"), &[mistaken("bots[0].stake.percent = 0.02 means 0.02 %")]);
    let filter = |min: &str| format!("filters = [{{ volatility = {{ min = {min} }} }}]");
    let part = "volatility.min = 0.5 means 50 % of the price within one candle; did you mean 0.005";
    check_combination("", &filter("0.5"), &[mistaken(part)]);
    check_combination("", &filter("0.001"), &[]);
}

#[test]
fn reports_doubtful_payouts_with_their_break_even() {
    let pays = |share: u32, risk: &str| format!("[simulation]\npayout_percent = {share}\n[risk]\n{risk}\n");
    let doubtful = |part| ("doubtful_payout", part);
    // 100 / 2.85 = 35.09.
    let high = doubtful("185 % breaks even at a win rate of 35.09 %, but few venues pay over 100 %");
    check_sections(&pays(100, ""), &[]);
    check_sections(&pays(185, ""), &[high]);
    check_sections(&pays(110, ""), &[doubtful("payout of EURUSD: 110 %")]);
    let low = doubtful("EURUSD pays 80 % in [simulation], less than its minimum of 185 %");
    check_sections(&pays(80, "min_payout_percent = 185"), &[high, low]);
    check_sections(&pays(80, "min_payout_percent_by_symbol = { EURUSD = 185 }"), &[high, low]);
    check_sections(&pays(80, "min_payout_percent = 82"), &[doubtful("less than its minimum of 82 %")]);
    check_sections(&pays(82, "min_payout_percent = 82"), &[]);
    // 100 / 2.8 = 35.71, and 100 / 1.82 = 54.95.
    let gate = |payout: u32| format!("gate = {{ verdict = \"shown\", payout = {payout} }}");
    let part = "a payout of 180 % (break-even win rate 35.71 %), but EURUSD pays 82 % in [simulation] (break-even 54.95 %)";
    check_combination(&pays(82, ""), &gate(180), &[doubtful(part)]);
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
fn reports_hours_that_never_overlap_and_misleading_time_zones() {
    let filter = |hours: &str| format!("filters = [{{ hours = [{hours}] }}]");
    let day = "[risk]\nhours = [{ from = \"08:00\", to = \"12:00\" }]\n";
    let night = "[risk]\nhours = [{ from = \"22:00\", to = \"06:00\" }]\n";
    let found = [("disjoint_hours", "(from 08:00 to 12:00 UTC) and filters[0] (from 12:00 to 14:00 UTC)")];
    check_combination(day, &filter("\"12:00\", \"14:00\""), &found);
    check_combination(day, &filter("\"11:59\", \"14:00\""), &[]);
    // 12:30 in London is 11:30 UTC in summer.
    let london = "filters = [{ hours = [\"12:30\", \"14:00\"], timezone = \"Europe/London\" }]";
    check_combination(day, london, &[]);
    check_combination("", &filter("\"12:00\", \"14:00\""), &[]);
    check_combination(night, &filter("\"05:00\", \"07:00\""), &[]);
    let two = "filters = [{ hours = [\"08:00\", \"09:00\"] }, { hours = [\"10:00\", \"11:00\"] }]";
    check_combination("", two, &[("disjoint_hours", "the bot can never trade its own signals")]);
    let zones = "[risk]\nday_timezone = \"EST\"\nhours = [{ from = \"08:00\", to = \"17:00\", timezone = \"EST\" }]\n";
    let [day, hours] = ["risk.day_timezone: EST has no daylight saving", "risk.hours[0].timezone: EST"];
    check_sections(zones, &[("doubtful_time_zone", day), ("doubtful_time_zone", hours)]);
    let gate = "gate = { after_virtual_losses = 2, resets = \"day\", day_timezone = \"Etc/GMT-3\" }";
    let sign = "bots[0].params.gate.day_timezone: Etc/GMT-3 is UTC+3; UTC-3 is Etc/GMT+3";
    check_combination("", gate, &[("doubtful_time_zone", sign)]);
}

#[test]
fn reports_rules_expiries_blackouts_and_signal_sources() {
    let rule = |buy: &str, expected: &[(&str, &str)]| {
        check(&format!("{BOT}strategy = \"rules\"\nparams = {{ buy = \"{buy}\" }}\n"), expected);
    };
    rule("rsi(14) > 130", &[("doubtful_condition", "bot \"a\": `rsi(14) > 130` never holds")]);
    // An hour has 60 candles of 1m. A value on longer candles needs one extra candle: (100 + 1) * 60.
    let long = "`ema(100)@1h` needs 68280 candles of 1m (47 days 10 h), `sma(100)@1h` needs only 6060";
    rule("close > ema(100)@1h", &[("long_warm_up", long)]);
    let expiry = |expiry: &str, expected: &[(&str, &str)]| {
        check(&format!("{BOT}{RULE}").replace("01:00", expiry), expected);
    };
    expiry("00:02", &[("doubtful_expiry", "00:02 (2 s) is shorter than a 1m candle; did you mean 02:00?")]);
    expiry("02:00:00", &[("doubtful_expiry", "(120 min) spans 120 candles")]);
    expiry("1:00:00", &[]);
    let idle = |file| [("idle_blackout", file)];
    for (file, expected) in [
        ("empty.csv", &idle("empty.csv has no current or future time span")[..]),
        ("over.csv", &idle("over.csv has no current or future time span")),
        ("yen.csv", &[]),
    ] {
        check_sections(&format!("[risk]\nblackouts = \"FOLDER/{file}\"\n"), expected);
    }
    let none = format!("{BOT}strategy = \"none\"\n");
    check(&none, &[("silent_bot", "no signal source is enabled")]);
    check(&format!("[signals]\nstdin = true\n{none}"), &[]);
    let inverted = ("unbound_signal", "external signals are not inverted (invert)");
    check_combination("[signals]\nstdin = true\n", "invert = true", &[inverted]);
}
