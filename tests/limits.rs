//! Which limit of open trades refused: told wherever a refusal is shown, and beside the other limits.

use crate::candlewick::Folder;
use crate::excerpt::{DAY, MONDAY, shipped};
use serde_json::Value;

/// A bot that signals at each candle, for trades of five minutes on candles of one.
fn folder(risk: &str) -> Folder {
    let bot = "[[bots]]\nname = \"all-up\"\nsymbol = \"BTCUSDT\"\ninterval = \"1m\"\nstrategy = \"rules\"\nclose_type = \"01:00\"\n\
               params = { buy = \"close > 0\", expiry = \"05:00\" }\n";
    Folder::new()
        .with("BTCUSDT_1m.csv", &shipped("BTCUSDT_1m.csv", MONDAY, MONDAY + DAY / 8))
        .with("bot.toml", &format!("[risk]\ndaily_loss_limit = 0\nmax_drawdown_percent = 0\n{risk}\n{bot}"))
}

/// Lives through the candles; what it printed.
fn live(folder: &Folder, speed: &str) -> String {
    let common = ["--until-end", "--config", "bot.toml", "--data", "BTCUSDT_1m.csv", "--journal", "run.db"];
    let run = folder.run(&[&["live", "--sandbox", "--speed", speed], &common[..]].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    run.stdout
}

/// Its limits of open trades, as the status has them: name, value of the most.
fn limits(folder: &Folder) -> Vec<(String, u64)> {
    let status = folder.run(&["status", "--journal", "run.db", "--json"]).json();
    let limits = status["limits"].as_array().expect("limits").clone();
    let open = limits.iter().filter(|limit| limit["name"].as_str().unwrap().starts_with("max_open_trades"));
    open.map(|limit| (limit["name"].as_str().unwrap().to_owned(), limit["most"].as_f64().unwrap() as u64))
        .collect()
}

#[test]
fn a_refusal_says_whether_the_limit_of_all_or_of_the_symbol_was_reached_and_its_figure() {
    for (risk, rule, words) in [
        (
            "max_open_trades = 4\nmax_open_trades_per_symbol = 2",
            "MaxOpenTradesPerSymbol",
            "open-trade limit of the symbol (MaxOpenTradesPerSymbol: max_open_trades_per_symbol = 2; 2 of 2)",
        ),
        (
            "max_open_trades = 2\nmax_open_trades_per_symbol = 4",
            "MaxOpenTrades",
            "open-trade limit of all (MaxOpenTrades: max_open_trades = 2; 2 of 2)",
        ),
    ] {
        let folder = folder(risk);
        let said = live(&folder, "max");
        assert!(said.contains("rules on BTCUSDT 1m, 05:00 (the strategy's own), stake"), "{said}");
        // Two signals are open, so the third is refused.
        let why = folder.run(&["why", "2026-01-05T00:10:00Z", "--journal", "run.db"]);
        assert!(why.stdout.contains(words), "{}", why.stdout);
        // As live prints it.
        let of_day = folder.run(&["why", "00:10", "--journal", "run.db"]);
        assert_eq!(of_day.stdout, why.stdout);
        let note = "note: 00:10 is taken for 2026-01-05T00:10:00.000Z";
        assert!(of_day.stderr.starts_with(note) && !of_day.stderr.contains("WARN"), "{}", of_day.stderr);
        // Said once, although trades are looked for among the last ones first.
        let trades = folder.run(&["trades", "--journal", "run.db", "--since", "00:10"]);
        assert_eq!(trades.stderr.matches("00:10 is taken for").count(), 1, "{}", trades.stderr);
        let backtest = ["backtest", "--config", "bot.toml", "--data", "BTCUSDT_1m.csv", "--json", "--quiet"];
        let refused = folder.run(&backtest).json()["refused"].clone();
        assert!(refused[rule].as_u64().unwrap() > 50, "{refused}");
        let other = ["MaxOpenTrades", "MaxOpenTradesPerSymbol"].into_iter().find(|name| *name != rule);
        assert_eq!(refused[other.unwrap()], Value::Null, "{refused}");
        let shown = limits(&folder);
        let [all, symbol] = if rule == "MaxOpenTrades" { [2, 4] } else { [4, 2] };
        let expected = [("max_open_trades", all), ("max_open_trades_per_symbol", symbol)];
        assert_eq!(shown, expected.map(|(name, most)| (name.to_owned(), most)));
        let parity = folder.run(&["parity", "--journal", "run.db", "--json"]).json();
        assert_eq!(parity["unexplained"], Value::from(0), "{parity}");
    }
}
