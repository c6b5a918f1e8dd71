//! Trades of a journal, selected by filters and by venue id.

use crate::recording::{folder, record_in_lock_step};
use serde_json::Value;

#[test]
fn filters_trades_and_names_values_missing_in_the_journal() {
    let folder = folder();
    record_in_lock_step(&folder);
    let all = folder.trades("run.db");
    let middle = all[all.len() / 2]["decision_time"].as_i64().unwrap();
    let moment = middle.to_string();
    let count = |is_it: &dyn Fn(&Value) -> bool| all.iter().filter(|trade| is_it(trade)).count();
    for (filter, expected) in [
        ("--bot btc", count(&|trade| trade["bot"] == "btc")),
        ("--symbol GBPUSD", count(&|trade| trade["symbol"] == "GBPUSD")),
        ("--state settled", count(&|trade| trade["state"] == "settled")),
        ("--state in_doubt", 0),
        ("--since MIDDLE", count(&|trade| trade["decision_time"].as_i64() >= Some(middle))),
        ("--until MIDDLE", count(&|trade| trade["decision_time"].as_i64() < Some(middle))),
        ("--since MIDDLE --until MIDDLE", 0),
    ] {
        let filtered = folder.query(&format!("trades {}", filter.replace("MIDDLE", &moment)), "run.db");
        assert_eq!(filtered.as_array().unwrap().len(), expected, "{filter}");
    }
    let id = all[4]["venue_id"].as_str().unwrap();
    assert_eq!(folder.query(&format!("explain {id}"), "run.db"), folder.query("explain 5", "run.db"));
    for (command, unknown, known) in [
        (["trades", "--state", "lost"], "lost", "not_opened"),
        (["trades", "--bot", "bct"], "bct", "\"btc\""),
        (["trades", "--symbol", "GBPUS"], "GBPUS", "\"GBPUSD\""),
        (["why", &moment, "EURUSD"], "EURUSD", "BTCUSDT, GBPUSD"),
        (["report", "--run", "2"], "journal", "runs 1 to 1"),
    ] {
        folder.run(&[&command[..], &["--journal", "run.db"]].concat()).fails(2, &[unknown, known]);
    }
}
