//! Plans, shards, results and candles by address. `file://` takes the way of `s3://`, which `.ci/storage` runs on a server.

use crate::candlewick::Folder;
use crate::searched::folder;
use serde_json::json;
use std::path::Path;

const SEARCHES: [(&str, &str, &[&str]); 5] = [
    ("sweep", "--param period=3..8", &["results.csv", "results.parquet", "report.html", "best.toml"]),
    (
        "sweep",
        "--param period=2..40 --search tpe --trials 24 --batch 12",
        &["results.csv", "report.html", "luck.json", "best.toml"],
    ),
    (
        "walk-forward",
        "--param period=3..6 --train 8h --test 4h",
        &["windows.csv", "walk-forward.json", "trades.csv"],
    ),
    ("monte-carlo", "--paths 9", &["paths.csv", "monte-carlo.json"]),
    ("sensitivity", "", &["points.csv", "sensitivity.json"]),
];

fn address(there: &Folder, name: &str) -> String {
    format!("file://{}", there.path(name).display())
}

fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn shards_by_address_merge_to_the_files_of_one_machine() {
    for (command, terms, files) in SEARCHES {
        let (there, whole) = (Folder::new(), folder(1));
        std::fs::create_dir(there.path("candles")).unwrap();
        let [candles, out, plan] = ["candles/BTCUSDT_1m.csv", command, &format!("{command}/plan.json")]
            .map(|name| address(&there, name));
        let export = format!("data export BTCUSDT_1m.csv --json --out {candles}");
        whole.run_line(&export).json();
        whole.run_line(&export).fails(2, &["--force"]);
        assert_eq!(bytes(&there.path("candles/BTCUSDT_1m.csv")), bytes(&whole.path("BTCUSDT_1m.csv")));
        let terms = format!("--json --config bot.toml {terms}");
        whole.run_line(&format!("{command} --data BTCUSDT_1m.csv {terms}")).json();
        let planned = whole.run_line(&format!("{command} plan --data {candles} --out {out} {terms}")).json();
        assert_eq!(planned["file"], json!(plan));
        let merge = format!("{command} merge --json --plan {plan}");
        Folder::new().run_line(&merge).fails(2, &[&format!("{command} run --shard")]);
        for shard in 1..=planned["shards"].as_u64().unwrap() {
            let run = format!("{command} run --json --plan {plan} --shard {shard}");
            Folder::new().run_line(&run).json();
            let journal = there.path(&format!("{command}/shard-{shard}.jsonl"));
            let state = || (bytes(&journal), journal.metadata().unwrap().modified().unwrap());
            let first = state();
            Folder::new().run_line(&run).json();
            assert!(state() == first, "{command}: shard {shard} is written twice");
        }
        Folder::new().run_line(&merge).json();
        for file in files {
            let [one, other] =
                [&whole, &there].map(|folder| bytes(&folder.path(&format!("{command}/{file}"))));
            assert!(one == other, "{command}: {file} differs");
        }
    }
}

#[test]
fn missing_and_foreign_objects_are_refused_with_their_address() {
    let (there, here) = (Folder::new(), folder(1));
    let [plan, candles, out, shard] = ["sweep/plan.json", "BTCUSDT_1m.csv", "sweep", "sweep/shard-1.jsonl"]
        .map(|name| address(&there, name));
    let run = format!("sweep run --json --shard 1 --plan {plan}");
    let backtest = "backtest --config bot.toml";
    for (line, code, part) in [
        (run.clone(), 2, &*plan),
        (format!("{backtest} --data {candles}"), 3, &candles),
        (format!("{backtest} --data BTCUSDT@1m=gs://bucket/x.csv"), 2, "gs://bucket/x.csv"),
        (format!("{backtest} --catalog s3://bucket/data"), 2, "data export"),
    ] {
        here.run_line(&line).fails(code, &[part]);
    }
    // A shard of another plan is kept.
    let planned = format!("sweep plan --json --config bot.toml --data BTCUSDT_1m.csv --shards 1 --out {out}");
    here.run_line(&format!("{planned} --param period=3..5")).json();
    here.run_line(&run).json();
    here.run_line(&format!("{planned} --param period=3..6")).json();
    here.run_line(&run).fails(2, &[&shard, "--out"]);
}

#[test]
fn an_endpoint_that_would_send_secrets_in_the_clear_is_refused_without_showing_one() {
    for (endpoint, hint) in [
        ("http://192.0.2.1:9000", "AWS_ALLOW_HTTP=true"),
        ("https://user:password@192.0.2.1", "AWS_ACCESS_KEY_ID"),
    ] {
        let here = Folder::new()
            .with_variable("AWS_ACCESS_KEY_ID", "key-of-a-test")
            .with_variable("AWS_SECRET_ACCESS_KEY", "secret-of-a-test")
            .with_variable("AWS_ENDPOINT_URL", endpoint);
        let ended = here.run_line("sweep run --shard 1 --plan s3://bucket/plan.json");
        let shown = &ended.stderr;
        assert!(!shown.contains("secret-of-a-test") && !shown.contains("password@"), "{shown}");
        ended.fails(2, &["AWS_ENDPOINT_URL", hint]);
    }
}
