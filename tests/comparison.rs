//! `report --compare` of two runs.

use crate::candlewick::{BACKTEST, BOT, Folder, candles};
use serde_json::json;

#[test]
fn compares_figures_trades_and_parameters_of_two_backtests() {
    let mut folder = Folder::new().with("BTCUSDT_1m.csv", &candles(900));
    let (mut reports, mut trades) = (Vec::new(), Vec::new());
    for (name, period) in [("a", 2), ("b", 3)] {
        let bot = BOT.replace("01:00", "05:00").replace("period = 2", &format!("period = {period}"));
        folder = folder.with("bot.toml", &bot);
        let files = ["--html", &format!("{name}.html"), "--trades", &format!("{name}.csv")];
        reports.push(folder.run(&[&BACKTEST[..], &["--json"], &files].concat()).json());
        trades.push(folder.read(&format!("{name}.csv")).lines().count() - 1);
    }
    let found = folder.run(&["report", "--compare", "a.html", "b.html", "--json"]).json();
    for figure in found["figures"].as_array().unwrap() {
        let key = figure["figure"].as_str().unwrap();
        let place = format!("/{}", key.replace('.', "/"));
        let [a, b] = [0, 1].map(|run: usize| reports[run].pointer(&place).unwrap().as_f64());
        assert_eq!((figure["a"].as_f64(), figure["b"].as_f64()), (a, b), "{key}");
        assert_eq!(figure["difference"].as_f64(), a.zip(b).map(|(a, b)| b - a), "{key}");
    }
    let count = |list: &str| found["trades"][list].as_array().unwrap().len();
    let same = found["trades"]["same"].as_u64().unwrap() as usize + count("other_outcome");
    assert_eq!(trades, [same + count("only_a"), same + count("only_b")]);
    assert!(count("only_a") > 0, "{}", found["trades"]);
    assert_eq!(found["parameters"], json!([{ "key": "bot btc.params.period", "a": "2", "b": "3" }]));
    assert_eq!(found["a"]["verdict"], reports[0]["verdict"]);
}

#[test]
fn refuses_files_that_are_not_runs() {
    let folder = Folder::new().with("other.html", "<html></html>");
    folder.run(&["report", "--compare", "other.html", "other.html"]).fails(3, &["other.html", "--html FILE"]);
    folder.run(&["report", "--compare", "none.html", "other.html"]).fails(2, &["none.html"]);
    folder.run(&["report", "--compare", "other.html"]).fails(2, &["--compare"]);
}
