//! A long journal read from its last snapshot on, a compacted one, and a backup of a bot that runs, restored elsewhere.
#![cfg(unix)]

use crate::candlewick::Folder;
use crate::recording::{block_on, edit, folder, lines, record_in_lock_step};
use crate::two_runs::{judged, run_until, trades_of, venue_and_bot};
use candlewick_journal::{JournalUrl, Reader};
use candlewick_records::{JournalContents, TradeFilter};
use serde_json::Value;
use sqlx::Connection as _;

/// The recorded session with a snapshot after every few entries.
fn folder_with_snapshots() -> Folder {
    let folder = folder();
    let bots = folder.read("bots.toml").replace("[runtime]\n", "[runtime]\nsnapshot_every = 50\n");
    folder.with("bots.toml", &bots)
}

fn json_of(folder: &Folder, command: &[&str], journal: &str) -> Value {
    folder.run(&[command, &["--journal", journal, "--json"]].concat()).json()
}

/// The trades of a journal as a fold of every line of it has them.
fn trades_of_all_lines(folder: &Folder, journal: &str) -> Value {
    let url = JournalUrl::from_path(&folder.path(journal));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let contents = runtime
        .block_on(async { JournalContents::read(&mut Reader::open(&url).await.unwrap()).await.unwrap() });
    serde_json::to_value(TradeFilter::default().apply(&contents).unwrap()).unwrap()
}

#[test]
fn status_and_trades_from_the_last_snapshot_are_those_of_the_whole_journal() {
    let folder = folder_with_snapshots();
    record_in_lock_step(&folder);
    let verified = json_of(&folder, &["journal", "verify"], "run.db");
    assert!(verified["snapshots"].as_u64() > Some(10), "{verified}");
    assert_eq!(verified["snapshots_not_checked"], Value::Object(serde_json::Map::new()));
    let (status, trades) = (json_of(&folder, &["status"], "run.db"), json_of(&folder, &["trades"], "run.db"));
    assert!(trades.as_array().unwrap().len() > 20, "{trades}");
    assert_eq!(trades, trades_of_all_lines(&folder, "run.db"));
    let last = json_of(&folder, &["trades", "--last", "3"], "run.db");
    assert_eq!(
        last.as_array().unwrap()[..],
        trades.as_array().unwrap()[trades.as_array().unwrap().len() - 3..]
    );
    // Without what was verified before, no snapshot is believed, and all is read.
    std::fs::rename(folder.path("run.db.verified"), folder.path("aside")).unwrap();
    assert_eq!(
        (json_of(&folder, &["status"], "run.db"), json_of(&folder, &["trades"], "run.db")),
        (status.clone(), trades)
    );
    std::fs::rename(folder.path("aside"), folder.path("run.db.verified")).unwrap();
    // `status` skips a candle long before the snapshot. `journal verify` reads it.
    let recorded = lines(&folder.path("run.db"));
    let candle =
        recorded.iter().find(|stored| stored.line.body.contains("\"event\":\"candle\"")).unwrap().seq;
    edit(
        &folder.path("run.db"),
        "UPDATE entries SET received = received + 1 \
         WHERE seq = (SELECT MIN(seq) FROM entries WHERE body LIKE '%\"event\":\"candle\"%')",
    );
    assert_eq!(json_of(&folder, &["status"], "run.db"), status);
    let found = format!("entry {candle}:");
    folder.run(&["journal", "verify", "--journal", "run.db"]).fails(5, &[&found]);
}

/// Each trade of a journal, explained as JSON and with what was said byte for byte.
fn explained(folder: &Folder) -> Vec<(Value, String)> {
    let explain = |trade: &Value| {
        let intent = trade["intent_id"].to_string();
        let raw = folder.run(&["explain", &intent, "--raw", "--journal", "run.db"]);
        assert_eq!(raw.code, 0, "{}", raw.stderr);
        (json_of(folder, &["explain", &intent], "run.db"), raw.stdout)
    };
    trades_of(folder, "run.db").iter().map(explain).collect()
}

#[test]
fn a_trade_of_any_run_is_explained_from_the_last_snapshot_as_from_the_whole_journal() {
    let (_served, folder) = venue_and_bot("");
    let bot = folder.read("bot.toml").replace("[runtime]\n", "[runtime]\nsnapshot_every = 20\n");
    let folder = folder.with("bot.toml", &bot);
    for _ in 0..2 {
        let before = judged(&folder, "run.db");
        let live = ["live", "--config", "bot.toml", "--journal", "run.db", "--json", "--quiet"];
        run_until(&folder, &live, || judged(&folder, "run.db") > before + 1);
    }
    let verified = json_of(&folder, &["journal", "verify"], "run.db");
    assert!(verified["snapshots"].as_u64() > Some(2), "{verified}");
    let recent = explained(&folder);
    for run in [1, 2] {
        let is_settled = |one: &Value| one["trade"]["run"] == run && one["trade"]["state"] == "settled";
        let one = recent.iter().map(|(one, _)| one).find(|one| is_settled(one)).unwrap();
        assert!(one["timeline"].as_array().unwrap().len() > 4, "{one}");
        assert_eq!((&one["exchanges_outside"], &one["indicators_missing"]), (&Value::from(0), &Value::Null));
        assert!(!one["indicators"].as_object().unwrap().is_empty(), "{one}");
    }
    // Without what was verified before, no snapshot is believed, and all is read.
    std::fs::rename(folder.path("run.db.verified"), folder.path("aside")).unwrap();
    assert_eq!(explained(&folder), recent);
    std::fs::rename(folder.path("aside"), folder.path("run.db.verified")).unwrap();
    // What is shown of a trade is held to the hash before it, although the snapshot stands behind it.
    edit(
        &folder.path("run.db"),
        "UPDATE entries SET received = received + 1 WHERE seq = (SELECT MAX(seq) FROM entries WHERE intent = 1)",
    );
    folder.run(&["status", "--journal", "run.db", "--json"]).json();
    folder.run(&["explain", "1", "--journal", "run.db"]).fails(5, &["was changed"]);
}

/// Rows of a journal's table `intents` and its view `trades`, as a person's query finds them, with the keys of `trades --json`.
fn rows_of(folder: &Folder, journal: &str) -> (Vec<Value>, i64) {
    let text = "SELECT json_object('intent_id', intent, 'venue_id', venue_id, 'bot', bot, 'symbol', symbol, 'direction', direction, \
                'amount', stake_minor * 1.0 / unit, 'state', state, 'result', result, 'pnl', profit_minor * 1.0 / unit, \
                'decision_time', decision_time, 'request_time', request_time, 'open_time', open_time, 'open_price', open_price, \
                'close_time', close_time, 'close_price', close_price, 'payout', payout, 'close_type', close_type, \
                'expiration_type', expiration_type, 'reason', reason, 'run', run, 'ordered_symbol', ordered_symbol, \
                'ordered_direction', ordered_direction, 'ordered_amount', ordered_stake_minor * 1.0 / unit, \
                'settled_by_person', json(CASE settled_by_person WHEN 1 THEN 'true' ELSE 'false' END)) FROM intents ORDER BY intent";
    block_on(async {
        let address = format!("sqlite:{}", folder.path(journal).display());
        let mut connection = sqlx::SqliteConnection::connect(&address).await.unwrap();
        let rows: Vec<String> = sqlx::query_scalar(text).fetch_all(&mut connection).await.unwrap();
        let trades =
            sqlx::query_scalar("SELECT COUNT(*) FROM trades").fetch_one(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        (rows.iter().map(|row| serde_json::from_str(row).unwrap()).collect(), trades)
    })
}

/// The tables of a journal that a bot wrote are what `trades --json` says, also those that are made again and those of a compacted copy.
#[test]
fn the_tables_of_a_journal_are_what_a_fold_of_all_its_lines_comes_to() {
    let folder = folder();
    record_in_lock_step(&folder);
    let expected = trades_of_all_lines(&folder, "run.db");
    let is_trade = |trade: &&Value| trade["state"] == "settled" || trade["state"] == "open";
    let trades = expected.as_array().unwrap().iter().filter(is_trade).count();
    let check = |journal: &str| {
        let (rows, count) = rows_of(&folder, journal);
        assert_eq!(rows.len(), expected.as_array().unwrap().len(), "{journal}");
        for (row, expected) in rows.into_iter().zip(expected.as_array().unwrap()) {
            assert_eq!(with_equal_numbers(row), with_equal_numbers(expected.clone()), "{journal}");
        }
        assert_eq!(usize::try_from(count).unwrap(), trades, "{journal}");
        let verified = json_of(&folder, &["journal", "verify"], journal);
        assert_eq!(verified["tables_up_to"], verified["entries"], "{journal}: {verified}");
    };
    check("run.db");
    edit(&folder.path("run.db"), "UPDATE intents SET state = 'open' WHERE intent = 2");
    folder
        .run(&["journal", "verify", "--journal", "run.db"])
        .fails(3, &["row 2 of the table intents", "--rebuild"]);
    let made = json_of(&folder, &["journal", "project", "--rebuild"], "run.db");
    assert_eq!(made["intents"].as_u64(), Some(expected.as_array().unwrap().len() as u64));
    check("run.db");
    json_of(&folder, &["journal", "compact", "small.db", "--keep", "1h"], "run.db");
    check("small.db");
    // A journal of an earlier program gets them by the command.
    block_on(async {
        let address = format!("sqlite:{}", folder.path("run.db").display());
        let mut connection = sqlx::SqliteConnection::connect(&address).await.unwrap();
        let statements = "DROP VIEW trades; DROP TABLE intents; DROP TABLE figures; DROP TABLE projection; \
                          DELETE FROM _sqlx_migrations WHERE version = 4";
        sqlx::raw_sql(statements).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    });
    assert_eq!(json_of(&folder, &["journal", "verify"], "run.db")["tables_up_to"], Value::Null);
    json_of(&folder, &["journal", "project"], "run.db");
    check("run.db");
}

/// Numbers to ten digits: SQLite writes whole ones with a point, and fewer digits of others.
fn with_equal_numbers(value: Value) -> Value {
    match value {
        Value::Number(number) => format!("{:.9e}", number.as_f64().unwrap()).into(),
        Value::Array(all) => all.into_iter().map(with_equal_numbers).collect(),
        Value::Object(all) => all
            .into_iter()
            .map(|(key, value)| (key, with_equal_numbers(value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        other => other,
    }
}

#[test]
fn a_compacted_journal_says_what_was_left_out_and_keeps_every_trade() {
    let folder = folder_with_snapshots();
    record_in_lock_step(&folder);
    let whole = json_of(&folder, &["journal", "verify"], "run.db");
    let made = json_of(&folder, &["journal", "compact", "small.db", "--keep", "1h"], "run.db");
    let small = json_of(&folder, &["journal", "verify"], "small.db");
    let left_out = &small["compacted"];
    assert_eq!(made["compacted"], *left_out);
    assert_eq!((&left_out["of"]["seq"], &left_out["of"]["hash"]), (&whole["entries"], &whole["head_hash"]));
    // Five of six hours of two series.
    let (candles, exchanges) =
        (left_out["candles"].as_u64().unwrap(), left_out["exchanges"].as_u64().unwrap());
    assert!((590..=610).contains(&candles) && exchanges > 0, "{left_out}");
    assert_eq!(
        small["raw_exchanges"].as_u64().unwrap(),
        whole["raw_exchanges"].as_u64().unwrap() - exchanges
    );
    let count = |journal: &str, part: &str| {
        let url = JournalUrl::from_path(&folder.path(journal));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let lines =
            runtime.block_on(async { Reader::open(&url).await.unwrap().lines(1, 1_000_000).await.unwrap() });
        lines.iter().filter(|stored| stored.line.body.contains(part)).count() as u64
    };
    for part in
        ["\"action\":\"open\"", "\"action\":\"refuse\"", "\"event\":\"settled\"", "\"event\":\"balance\""]
    {
        assert_eq!(count("small.db", part), count("run.db", part), "{part}");
    }
    let candle = "\"event\":\"candle\"";
    assert_eq!(count("small.db", candle) + candles, count("run.db", candle));
    assert_eq!(count("small.db", "{\"snapshot"), 0);
    assert_eq!(json_of(&folder, &["trades"], "small.db"), json_of(&folder, &["trades"], "run.db"));
    for key in ["balance", "equity", "settled", "profit_today", "loss_streak", "verdicts", "wallet"] {
        let of = |journal: &str| json_of(&folder, &["status"], journal)[key].clone();
        assert_eq!(of("small.db"), of("run.db"), "{key}");
    }
    // What old candles are needed for is refused, and not made of what is left.
    folder
        .run(&["parity", "--journal", "small.db"])
        .fails(2, &["were left out when this journal was compacted"]);
    folder.run(&["why", "2026-01-06T01:00:00Z", "--journal", "small.db"]).fails(2, &["compacted"]);
    let explained = json_of(&folder, &["explain", "1"], "small.db");
    assert!(explained["indicators_missing"].as_str().unwrap().contains("compacted"), "{explained}");
    // A file that is there stays, and one that was changed is found.
    folder
        .run(&["journal", "compact", "small.db", "--journal", "run.db"])
        .fails(2, &["small.db exists already"]);
    edit(
        &folder.path("small.db"),
        "UPDATE entries SET body = replace(body, '\"candles\":', '\"candles\":1') WHERE seq = 1",
    );
    folder.run(&["journal", "verify", "--journal", "small.db"]).fails(5, &["entry 1:"]);
    edit(&folder.path("run.db"), "UPDATE entries SET received = received + 1 WHERE seq = 4");
    folder.run(&["journal", "compact", "other.db", "--journal", "run.db"]).fails(5, &["entry 4:"]);
    assert!(!folder.path("other.db").exists());
    let left = std::fs::read_dir(folder.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = left.filter(|name| name.to_string_lossy().contains("partial")).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// What `trades` and `report` print, in files that are there together or not at all.
#[test]
fn an_export_is_what_the_commands_print() {
    let folder = folder();
    record_in_lock_step(&folder);
    let trades = json_of(&folder, &["trades"], "run.db");
    let became_trades: Vec<&Value> = trades
        .as_array()
        .unwrap()
        .iter()
        .filter(|trade| trade["state"] == "settled" || trade["state"] == "open")
        .collect();
    let made = json_of(&folder, &["journal", "export", "lines", "--format", "ndjson"], "run.db");
    assert_eq!(made["trades"].as_u64(), Some(became_trades.len() as u64));
    let lines = |name: &str| -> Vec<Value> {
        folder.read(name).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    assert_eq!(lines("lines/intents.ndjson"), *trades.as_array().unwrap());
    assert_eq!(lines("lines/trades.ndjson").iter().collect::<Vec<_>>(), became_trades);
    let figures: Value = serde_json::from_str(&folder.read("lines/figures.json")).unwrap();
    assert_eq!(figures, json_of(&folder, &["report"], "run.db"));
    assert_eq!(folder.run(&["journal", "export", "table", "--journal", "run.db"]).code, 0);
    let printed = folder.run(&["trades", "--csv", "--journal", "run.db"]).stdout;
    assert_eq!(folder.read("table/intents.csv").trim_end(), printed.trim_end());
    folder.run(&["journal", "export", "table", "--journal", "run.db"]).fails(2, &["table exists already"]);
    // Where a file cannot be written, no folder is left.
    folder
        .run(&["journal", "export", "missing/folder", "--journal", "run.db"])
        .fails(2, &["cannot write missing/folder"]);
    assert!(!folder.path("missing").exists());
}

/// A backup that was taken while a bot ran is the journal of another folder, and a bot goes on with it there.
#[test]
fn a_backup_of_a_running_bot_is_restored_elsewhere_and_traded_on() {
    let (_served, folder) = venue_and_bot("");
    let live =
        |journal: &'static str| ["live", "--config", "bot.toml", "--journal", journal, "--json", "--quiet"];
    // Where answers take seconds, a trade that the first bot opened after the backup lies so near to one before it that it
    // may be a second trade of that: no reason to halt here.
    // An order that was about to leave when the backup was made is in doubt until the list must have had its trade.
    let restored = "[runtime]\nsecond_trade = \"alarm\"\nlist_lag_ms = 2000\n";
    let restored = folder.read("bot.toml").replace("[runtime]\n", restored);
    let folder = folder.with("restored.toml", &restored);
    std::fs::create_dir(folder.path("elsewhere")).unwrap();
    let first = run_until(&folder, &live("run.db"), || {
        let has_traded = judged(&folder, "run.db") > 1;
        if has_traded {
            // A journal that is written is not compacted.
            folder.run(&["journal", "compact", "small.db", "--journal", "run.db"]).fails(7, &["stop it"]);
            folder
                .run(&["journal", "backup", "elsewhere/restored.db", "--journal", "run.db", "--json"])
                .json();
        }
        has_traded
    });
    assert!(first.json()["trades"].as_u64() > Some(1), "{}", first.stdout);
    let restored = "elsewhere/restored.db";
    let (kept, all) = (trades_of(&folder, restored), trades_of(&folder, "run.db"));
    let ended = |trades: &[Value]| -> Vec<Value> {
        trades.iter().filter(|trade| trade["state"] == "settled").cloned().collect()
    };
    // Trades may end in another order than they began.
    let has_all = |trades: &[Value], of: &[Value]| of.iter().all(|trade| trades.contains(trade));
    let settled = ended(&kept);
    assert!(settled.len() > 1 && has_all(&all, &settled), "{kept:?} {all:?}");
    let status = json_of(&folder, &["status"], restored);
    assert_eq!((&status["holder"], status["settled"].as_u64()), (&Value::Null, Some(settled.len() as u64)));
    let profit: f64 = settled.iter().map(|trade| trade["pnl"].as_f64().unwrap()).sum();
    let report = json_of(&folder, &["report"], restored);
    assert!((report["pnl"].as_f64().unwrap() - profit).abs() < 1e-6, "{report}");
    // The run that goes on from it numbers its intents after those, and books them to the same money.
    let has_traded_on = || {
        let is_its_own = |trade: &Value| trade["run"] == 2 && trade["state"] == "settled";
        trades_of(&folder, restored).iter().any(is_its_own)
    };
    let mut goes_on = live(restored);
    goes_on[2] = "restored.toml";
    let second = run_until(&folder, &goes_on, has_traded_on);
    assert!(second.json()["trades"].as_u64() > Some(0), "{}", second.stdout);
    let after = trades_of(&folder, restored);
    assert!(has_all(&after, &settled), "{settled:?} {after:?}");
    assert_eq!(folder.run(&["journal", "verify", "--journal", restored]).code, 0);
}
