//! `data generate`: a strategy earns a planted edge, and unrealistic assumptions withhold it.

use crate::candlewick::Folder;
use serde_json::{Value, json};
use std::fmt::Write as _;

const PERIOD_MS: i64 = 300_000;

/// Returns generated candles that a run in another folder does not recognize as synthetic.
pub(crate) fn generate_market(file: &str, options: &str) -> String {
    let folder = Folder::new();
    let (symbol, interval) = file.strip_suffix(".csv").and_then(|name| name.split_once('_')).unwrap();
    let generate = format!("data generate --symbol {symbol} --interval {interval} {options}");
    assert_eq!(folder.run_line(&generate).code, 0);
    folder.read(file)
}

fn generated(regime: &str) -> (Folder, Vec<(i64, f64, f64)>) {
    let text = generate_market("BTCUSDT_5m.csv", &format!("--days 60 --regime {regime}"));
    let folder = Folder::new().with("BTCUSDT_5m.csv", &text);
    let rows = text.lines().skip(1).map(|line| {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        (cells[0] as i64, cells[1], cells[4])
    });
    (folder, rows.collect())
}

pub(crate) const FOLLOW: [&str; 6] =
    ["backtest", "--config", "bot.toml", "--data", "BTCUSDT_5m.csv", "--json"];

pub(crate) fn follower(regime: &str, settings: &str) -> Folder {
    let (folder, rows) = generated(regime);
    let mut list = String::from("time,symbol,direction\n");
    // Every second span: a trade opens two seconds after its signal, so it ends within the next span.
    for (time, open, close) in rows[..rows.len() - 3].iter().step_by(2) {
        let direction = if close > open { "BUY" } else { "SELL" };
        writeln!(list, "{},BTCUSDT,{direction}", time + PERIOD_MS).unwrap();
    }
    let bot = "[[bots]]\nname = \"follow\"\nsymbol = \"BTCUSDT\"\ninterval = \"5m\"\nstrategy = \"signal-list\"\n\
               close_type = \"05:00\"\nparams = { file = \"list.csv\" }\n[risk]\ndaily_loss_limit = 0\n\
               max_drawdown_percent = 0\nmax_trades_per_day = 0\n[account]\ninitial_balance = 10000000\n";
    folder.with("list.csv", &list).with("bot.toml", &format!("{bot}{settings}"))
}

fn follow(regime: &str, settings: &str) -> Value {
    follower(regime, settings).run(&FOLLOW).json()
}

#[test]
fn strategy_earns_the_planted_edge_and_nothing_on_a_random_walk() {
    for (regime, chance, verdict) in
        [("edge:0.58:5m", 0.58, "exploratory"), ("random-walk", 0.5, "edge_rejected")]
    {
        let report = follow(regime, "");
        assert_eq!((&report["verdict"], &report["bots"][0]["verdict"]), (&verdict.into(), &verdict.into()));
        assert_eq!(report["evidence"], json!({ "kind": "exploratory", "until": null, "run": null }));
        assert_eq!(report["edge"]["shown"].is_object(), verdict == "exploratory", "{}", report["edge"]);
        let (won, lost) = (report["won"].as_f64().unwrap(), report["lost"].as_f64().unwrap());
        let decided = won + lost;
        assert!(decided > 8_500.0, "{regime}: {won} won, {lost} lost");
        let error = (chance * (1.0 - chance) / decided).sqrt();
        let rate = won / decided;
        assert!((rate - chance).abs() < 3.0 * error, "{regime}: {rate} of {decided}, standard error {error}");
    }
}

#[test]
fn withholds_edge_at_unrealistic_latency_or_payout() {
    for (regime, settings, reason) in [
        ("edge:0.65:5m", "latency_ms = 0", "latency of 0 ms"),
        ("edge:0.58:5m", "payout_percent = 185", "185 %"),
        ("edge:0.58:5m", "payout_percent_by_symbol = { BTCUSDT = 185.0 }", "185 %"),
    ] {
        let report = follow(regime, &format!("[simulation]\n{settings}\n"));
        assert_eq!(report["verdict"], "exploratory", "{settings}");
        let withheld = report["edge"]["withheld"].as_array().unwrap();
        assert!(withheld.len() == 1 && withheld[0].as_str().unwrap().contains(reason), "{withheld:?}");
        assert!(report["edge"]["account_for"].as_f64().unwrap() >= 20.0, "{report}");
    }
    let sound = follow("edge:0.58:5m", "[simulation]\npayout_percent = 100\n");
    assert!(sound["edge"]["shown"].is_object() && sound["edge"]["withheld"] == json!([]), "{sound}");
}

#[test]
fn refuses_bad_rows_for_the_catalog_and_unknown_regimes() {
    for (arguments, named) in [
        (&["--bad-rows", "9", "--catalog"][..], ["--bad-rows", "--catalog"]),
        (&["--regime", "edge:0.6:7m"], ["regime", "7m"]),
        (&["--regime", "bull"], ["\"bull\"", "edge:0.58:5m"]),
    ] {
        let generate = ["data", "generate", "--symbol", "BTCUSDT", "--days", "2"];
        Folder::new().run(&[&generate[..], arguments].concat()).fails(2, &named);
    }
}
