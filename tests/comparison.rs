//! `report --compare`: two runs side by side, from journals and from pages.

use crate::candlewick::{BACKTEST, BOT, Folder, candles};
use crate::recording::{folder, record_in_lock_step};
use serde_json::{Value, json};

/// Two backtests of one bot with other parameters, their reports and their numbers of trades.
fn two_backtests() -> (Folder, [Value; 2], [usize; 2]) {
    let bot = BOT.replace("01:00", "05:00");
    let mut folder = Folder::new().with("BTCUSDT_1m.csv", &candles(900));
    let (mut reports, mut counts) = (Vec::new(), Vec::new());
    for (name, period) in [("a", 2), ("b", 3)] {
        folder = folder.with("bot.toml", &bot.replace("period = 2", &format!("period = {period}")));
        let (page, trades) = (format!("{name}.html"), format!("{name}.csv"));
        let run = folder.run(&[&BACKTEST[..], &["--json", "--html", &page, "--trades", &trades]].concat());
        reports.push(run.json());
        counts.push(folder.read(&trades).lines().count() - 1);
    }
    let [a, b] = <[Value; 2]>::try_from(reports).unwrap();
    (folder, [a, b], [counts[0], counts[1]])
}

fn length(value: &Value) -> usize {
    value.as_array().unwrap().len()
}

#[test]
fn two_backtests_are_distinguished() {
    let (folder, [a, b], [of_a, of_b]) = two_backtests();
    let found =
        folder.run(&["report", "--compare", "a.html", "b.html", "--json", "--html", "both.html"]).json();
    for figure in found["figures"].as_array().unwrap() {
        let key = figure["figure"].as_str().unwrap();
        let place = format!("/{}", key.replace('.', "/"));
        let reported = |report: &Value| {
            report.pointer(&place).unwrap_or_else(|| panic!("a report has no {key}")).as_f64()
        };
        let (first, second) = (reported(&a), reported(&b));
        assert_eq!((figure["a"].as_f64(), figure["b"].as_f64()), (first, second), "{key}");
        if let (Some(first), Some(second)) = (first, second) {
            assert_eq!(figure["difference"].as_f64(), Some(second - first), "{key}");
        }
    }
    let trades = &found["trades"];
    let both = usize::try_from(trades["same"].as_u64().unwrap()).unwrap() + length(&trades["other_outcome"]);
    assert_eq!((both + length(&trades["only_a"]), both + length(&trades["only_b"])), (of_a, of_b));
    assert!(length(&trades["only_a"]) > 0, "{trades}");
    assert_eq!(found["parameters"], json!([{ "key": "bot btc.params.period", "a": "2", "b": "3" }]));
    assert_eq!(found["a"]["verdict"], a["verdict"]);

    let printed = folder.run(&["report", "--compare", "a.html", "b.html"]);
    assert_eq!(printed.code, 0, "{}", printed.stderr);
    for part in ["A: a.html", "B: b.html", "bot btc.params.period", "trades of A alone", "equity curve of A"]
    {
        assert!(printed.stdout.contains(part), "no {part} in {}", printed.stdout);
    }
    let page = folder.read("both.html");
    for part in [
        "<title>a.html beside b.html</title>",
        "bot btc.params.period",
        "data-chart=\"equity\"",
        "default-src 'none'",
    ] {
        assert!(page.contains(part), "no {part}");
    }
}

#[test]
fn a_journal_and_its_own_page_are_the_same_run() {
    let folder = folder();
    record_in_lock_step(&folder);
    let page = folder.run(&["report", "--journal", "run.db", "--html", "run.html"]);
    assert_eq!(page.code, 0, "{}", page.stderr);
    let found = folder.run(&["report", "--compare", "run.db", "run.html", "--json"]).json();
    let trades = &found["trades"];
    let rows = folder.read("live.csv").lines().count() - 1;
    assert!(rows > 10);
    assert_eq!(trades["same"], json!(rows));
    for list in ["only_a", "only_b", "other_outcome"] {
        assert_eq!(length(&trades[list]), 0, "{list}");
    }
    assert_eq!(found["parameters"], json!([]));
    let differ = found["figures"]
        .as_array()
        .unwrap()
        .iter()
        .any(|line| line["difference"].as_f64().is_some_and(|by| by != 0.0));
    assert!(!differ, "{}", found["figures"]);
}

#[test]
fn what_is_no_run_is_refused() {
    let folder = Folder::new().with("other.html", "<html></html>");
    folder.run(&["report", "--compare", "other.html", "other.html"]).fails(3, &["other.html", "--html FILE"]);
    folder.run(&["report", "--compare", "none.html", "other.html"]).fails(2, &["none.html"]);
    folder.run(&["report", "--compare", "other.html"]).fails(2, &["--compare"]);
}
