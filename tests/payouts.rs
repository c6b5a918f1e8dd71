//! What a symbol pays by `simulation.payout_percent_by_symbol` counts in every figure as if all symbols paid it.

use crate::candlewick::Folder;
use crate::excerpt::{DAY, MONDAY, shipped};
use serde_json::Value;

const BOTS: &str = "[risk]\nmax_trades_per_day = 0\ndaily_loss_limit = 0\nmax_drawdown_percent = 0\nmax_ruin_probability = 0.01\n\
    [[bots]]\nname = \"gated\"\nsymbol = \"BTCUSDT\"\ninterval = \"1m\"\nstrategy = \"combine\"\nclose_type = \"01:00\"\n\
    params = { first_of = [{ strategy = \"rsi-reversal\", params = { period = 5 } }], gate = { after_virtual_losses = 1, \
    close_after_trades = 3 } }\n\
    stake = { kind = \"martingale\", amount = 5, factor = 2.2, levels = 5 }\n";

/// What differs between two runs of the same settings, or says which settings those were.
const OF_THE_RUN: [&str; 3] = ["elapsed_ms", "candles_per_second", "journal_hash"];

/// A folder with a venue that pays this by default, and maybe another payout on the bot's symbol.
fn folder(default: f64, by_symbol: &str) -> Folder {
    let simulation = format!("[simulation]\npayout_percent = {default:?}\n{by_symbol}\n");
    Folder::new()
        .with("bots.toml", &(simulation + BOTS))
        .with("BTCUSDT_1m.csv", &shipped("BTCUSDT_1m.csv", MONDAY, MONDAY + 3 * DAY))
}

fn figures(folder: &Folder, command: &[&str]) -> Value {
    let common = ["--config", "bots.toml", "--data", "BTCUSDT_1m.csv", "--json", "--quiet"];
    let mut document = folder.run(&[command, &common[..]].concat()).json();
    for key in OF_THE_RUN {
        document.as_object_mut().unwrap().remove(key);
    }
    document
}

#[test]
fn a_payout_of_the_only_symbol_is_that_of_all_in_every_figure() {
    let sweep = ["sweep", "--param", "rsi-reversal.period=2..9", "--min-trades", "10"];
    for command in [&["backtest"][..], &sweep] {
        let low = figures(&folder(60.0, ""), command);
        let by_symbol = figures(&folder(90.0, "payout_percent_by_symbol = { BTCUSDT = 60.0 }"), command);
        assert_eq!(by_symbol, low, "{command:?}");
        let high = figures(&folder(90.0, "payout_percent_by_symbol = { EURUSD = 60.0 }"), command);
        assert_ne!(high, low, "{command:?}");
        if command == ["backtest"] {
            assert_eq!(low["gates"][0]["payout_percent"], 60.0, "{low:#}");
            assert!((low["break_even"].as_f64().unwrap() - 1.0 / 1.6).abs() < 1e-12, "{low:#}");
            let poor = figures(&folder(60.0, "[account]\ninitial_balance = 300"), command);
            let ruin = poor["notices"].to_string();
            assert!(ruin.contains("if it wins 62.50 % (break-even)"), "{ruin}");
        }
    }
}

/// One bot stakes ten times as much as the other, at nearly twice its payout: what the money needed is no measure of how often trades won.
#[test]
fn a_win_rate_is_held_against_what_its_trades_needed_and_not_their_money() {
    let bot = |name: &str, symbol: &str, stake: u32| {
        format!(
            "[[bots]]\nname = \"{name}\"\nsymbol = \"{symbol}\"\ninterval = \"1m\"\nstrategy = \"rsi-reversal\"\n\
             close_type = \"01:00\"\nstake = {{ kind = \"fixed\", amount = {stake} }}\n"
        )
    };
    let settings = "[risk]\nmax_trades_per_day = 0\ndaily_loss_limit = 0\nmax_drawdown_percent = 0\n[account]\n\
        initial_balance = 100000\n[simulation]\npayout_percent_by_symbol = { BTCUSDT = 90.0, ETHUSDT = 50.0 }\n";
    let bots = format!("{settings}{}{}", bot("large", "BTCUSDT", 10), bot("small", "ETHUSDT", 1));
    let candles = shipped("BTCUSDT_1m.csv", MONDAY, MONDAY + 3 * DAY);
    let folder = Folder::new()
        .with("bots.toml", &bots)
        .with("BTCUSDT_1m.csv", &candles)
        .with("ETHUSDT_1m.csv", &candles);
    let run = ["backtest", "--config", "bots.toml", "--data", "BTCUSDT_1m.csv", "--data", "ETHUSDT_1m.csv"];
    let report = folder.run(&[&run[..], &["--json", "--quiet"]].concat()).json();
    let decided = |bot: usize| {
        let count = |key: &str| report["bots"][bot][key].as_f64().unwrap();
        count("won") + count("lost")
    };
    let (large, small) = (decided(0), decided(1));
    assert!(large > 50.0 && small > 50.0, "{report:#}");
    let by_trades = (large / 1.9 + small / 1.5) / (large + small);
    let by_money = (10.0 * large + small) / (19.0 * large + 1.5 * small);
    let near = |found: &Value, expected: f64| {
        let found = found.as_f64().unwrap();
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    };
    near(&report["break_even"], by_trades);
    near(&report["break_even_by_money"], by_money);
    let rates = &report["metrics"]["win_rate"];
    near(&rates["above_break_even"], report["win_rate"].as_f64().unwrap() - by_trades);
    near(&rates["break_even_by_money"], by_money);
    let [by_trades, by_money] = [by_trades, by_money].map(|rate| format!("{:.2} %", rate * 100.0));
    let words = format!("(break-even {by_trades}) break-even by money {by_money} (the win rate counts");
    let shown = folder.run(&[&run[..], &["--html", "page.html"]].concat()).stdout;
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains(&words), "no {words} in {shown}");
    let page = folder.read("page.html");
    assert!(page.contains(&format!("it takes {by_trades} to lose nothing")), "{by_trades}");
    assert!(page.contains(&format!("it takes {by_money}.")), "{by_money}");
}
