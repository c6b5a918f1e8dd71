//! `simulation.payout_percent_by_symbol` counts in every figure as if all symbols paid it.

use crate::candlewick::Folder;
use crate::excerpt::{DAY, MONDAY, shipped};
use serde_json::Value;

const BOTS: &str = "[risk]\nmax_trades_per_day = 0\ndaily_loss_limit = 0\nmax_drawdown_percent = 0\nmax_ruin_probability = 0.01\n\
    [[bots]]\nname = \"gated\"\nsymbol = \"BTCUSDT\"\ninterval = \"1m\"\nstrategy = \"combine\"\nclose_type = \"01:00\"\n\
    params = { first_of = [{ strategy = \"rsi-reversal\", params = { period = 5 } }], gate = { after_virtual_losses = 1, \
    close_after_trades = 3 } }\n\
    stake = { kind = \"martingale\", amount = 5, factor = 2.2, levels = 5 }\n";

const OF_THE_RUN: [&str; 3] = ["elapsed_ms", "candles_per_second", "journal_hash"];

fn figures(command: &[&str], default: f64, more: &str) -> Value {
    let folder = Folder::new()
        .with("bots.toml", &format!("[simulation]\npayout_percent = {default:?}\n{more}\n{BOTS}"))
        .with("BTCUSDT_1m.csv", &shipped("BTCUSDT_1m.csv", MONDAY, MONDAY + 3 * DAY));
    let common = ["--config", "bots.toml", "--data", "BTCUSDT_1m.csv", "--json", "--quiet"];
    let mut document = folder.run(&[command, &common[..]].concat()).json();
    for key in OF_THE_RUN {
        document.as_object_mut().unwrap().remove(key);
    }
    document
}

#[test]
fn payout_of_the_only_symbol_gives_the_figures_of_a_default_payout() {
    let sweep = ["sweep", "--param", "rsi-reversal.period=2..9", "--min-trades", "10"];
    for command in [&["backtest"][..], &sweep] {
        let low = figures(command, 60.0, "");
        let by_symbol = figures(command, 90.0, "payout_percent_by_symbol = { BTCUSDT = 60.0 }");
        assert_eq!(by_symbol, low, "{command:?}");
        let other_symbol = figures(command, 90.0, "payout_percent_by_symbol = { EURUSD = 60.0 }");
        assert_ne!(other_symbol, low, "{command:?}");
        if command == ["backtest"] {
            assert_eq!(low["gates"][0]["payout_percent"], 60.0, "{low:#}");
            assert!((low["break_even"].as_f64().unwrap() - 1.0 / 1.6).abs() < 1e-12, "{low:#}");
        }
    }
    let poor = figures(&["backtest"], 60.0, "[account]\ninitial_balance = 300");
    assert!(poor["notices"].to_string().contains("62.50 %"), "ruin at the break-even win rate: {poor:#}");
}
