//! Plans, shards, results and candles by address: what is merged is to the byte what one machine finds, and a shard is put once. `file://`
//! goes the way of `s3://`, which `.ci/storage` takes to a server.

use crate::candlewick::Folder;
use crate::searched::folder;
use serde_json::json;
use std::path::Path;

/// The steps of a command, and the files that it leaves.
const COMMANDS: [(&str, &[&str], &[&str]); 4] = [
    ("sweep", &["--param", "period=3..8"], &["results.csv", "results.parquet", "report.html", "best.toml"]),
    (
        "walk-forward",
        &["--param", "period=3..6", "--train", "8h", "--test", "4h"],
        &["windows.csv", "walk-forward.json", "trades.csv"],
    ),
    ("monte-carlo", &["--paths", "9"], &["paths.csv", "monte-carlo.json"]),
    ("sensitivity", &[], &["points.csv", "sensitivity.json"]),
];

fn address(there: &Folder, name: &str) -> String {
    format!("file://{}", there.path(name).display())
}

fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn shards_by_address_merge_to_the_files_of_one_machine() {
    let there = Folder::new();
    let whole = folder(1);
    let candles = address(&there, "candles/BTCUSDT_1m.csv");
    std::fs::create_dir(there.path("candles")).unwrap();
    whole.run(&["data", "export", "BTCUSDT_1m.csv", "--json", "--out", &candles]).json();
    whole
        .run(&["data", "export", "BTCUSDT_1m.csv", "--out", &candles])
        .fails(2, &["there already", "--force"]);
    assert_eq!(bytes(&there.path("candles/BTCUSDT_1m.csv")), bytes(&whole.path("BTCUSDT_1m.csv")));
    for (command, terms, files) in COMMANDS {
        let own = ["--json", "--config", "bot.toml"];
        whole.run(&[&[command], &own[..], &["--data", "BTCUSDT_1m.csv"], terms].concat()).json();
        let (out, plan) = (address(&there, command), address(&there, &format!("{command}/plan.json")));
        let planned = [&[command, "plan"], &own[..], &["--data", &candles, "--out", &out], terms].concat();
        let planned = whole.run(&planned).json();
        assert_eq!(planned["file"], json!(plan));
        let merge = [command, "merge", "--json", "--plan", &plan];
        Folder::new().run(&merge).fails(2, &["is missing", &format!("{command} run --shard")]);
        for shard in (1..=planned["shards"].as_u64().unwrap()).rev() {
            let number = shard.to_string();
            let run = [command, "run", "--json", "--plan", &plan, "--shard", &number];
            Folder::new().run(&run).json();
            let journal = there.path(&format!("{command}/shard-{shard}.jsonl"));
            let (first, written) = (bytes(&journal), journal.metadata().unwrap().modified().unwrap());
            Folder::new().run(&run).json();
            assert!(bytes(&journal) == first && journal.metadata().unwrap().modified().unwrap() == written);
        }
        Folder::new().run(&merge).json();
        for file in files {
            let (one, other) =
                (whole.path(&format!("{command}/{file}")), there.path(&format!("{command}/{file}")));
            assert!(bytes(&one) == bytes(&other), "{command}: {file} differs");
        }
    }
}

#[test]
fn rounds_by_address_merge_to_the_files_of_one_machine() {
    let (there, whole) = (Folder::new(), folder(1));
    let (out, plan) = (address(&there, "sweep"), address(&there, "sweep/plan.json"));
    let terms = ["--json", "--config", "bot.toml", "--data", "BTCUSDT_1m.csv", "--param", "period=2..40"];
    let search = ["--search", "tpe", "--trials", "24", "--batch", "12"];
    whole.run(&[&["sweep"], &terms[..], &search].concat()).json();
    whole.run(&[&["sweep", "plan", "--shards", "2", "--out", &out], &terms[..], &search].concat()).json();
    let candles = whole.path("BTCUSDT_1m.csv").display().to_string();
    let run = |shard: &str| {
        Folder::new().run(&["sweep", "run", "--json", "--plan", &plan, "--shard", shard, "--data", &candles])
    };
    run("2").json();
    run("3").fails(2, &["shard 3 needs what came of shards 1 to 2", "shard 1 is missing"]);
    for shard in ["1", "4", "3"] {
        run(shard).json();
    }
    Folder::new().run(&["sweep", "merge", "--json", "--plan", &plan, "--data", &candles]).json();
    for file in ["results.csv", "report.html", "luck.json", "best.toml"] {
        let (one, other) = (whole.path(&format!("sweep/{file}")), there.path(&format!("sweep/{file}")));
        assert!(bytes(&one) == bytes(&other), "{file} differs");
    }
}

#[test]
fn what_is_not_there_or_another_is_refused_with_its_address() {
    let (there, here) = (Folder::new(), folder(1));
    let plan = address(&there, "sweep/plan.json");
    here.run(&["sweep", "run", "--shard", "1", "--plan", &plan]).fails(2, &[&plan, "there is no plan"]);
    let candles = address(&there, "BTCUSDT_1m.csv");
    let backtest = ["backtest", "--config", "bot.toml", "--data", &candles];
    here.run(&backtest).fails(3, &[&candles, "there is no such object"]);
    let other = ["backtest", "--config", "bot.toml", "--data", "BTCUSDT@1m=gs://bucket/x.csv"];
    here.run(&other).fails(2, &["gs://bucket/x.csv", "only s3:// and file://"]);
    let catalog = ["backtest", "--config", "bot.toml", "--catalog", "s3://bucket/data"];
    here.run(&catalog).fails(2, &["a catalog lies in a folder", "data export"]);
    // A shard of another plan is not mixed with this one, and is named by its address.
    let out = address(&there, "sweep");
    let sweep = [
        "sweep",
        "plan",
        "--json",
        "--config",
        "bot.toml",
        "--data",
        "BTCUSDT_1m.csv",
        "--out",
        &out,
        "--shards",
        "1",
    ];
    here.run(&[&sweep[..], &["--param", "period=3..5"]].concat()).json();
    here.run(&["sweep", "run", "--json", "--shard", "1", "--plan", &plan]).json();
    here.run(&[&sweep[..], &["--param", "period=3..6"]].concat()).json();
    let shard = address(&there, "sweep/shard-1.jsonl");
    here.run(&["sweep", "run", "--shard", "1", "--plan", &plan]).fails(2, &[&shard, "--out another folder"]);
}

#[test]
fn an_endpoint_that_would_send_secrets_in_the_clear_is_refused_without_showing_one() {
    let plan = ["sweep", "run", "--shard", "1", "--plan", "s3://bucket/plan.json"];
    for (endpoint, said) in [
        ("http://192.0.2.1:9000", "AWS_ALLOW_HTTP=true"),
        ("https://user:password@192.0.2.1", "AWS_ACCESS_KEY_ID"),
    ] {
        let here = Folder::new()
            .with_variable("AWS_ACCESS_KEY_ID", "key-of-a-test")
            .with_variable("AWS_SECRET_ACCESS_KEY", "secret-of-a-test")
            .with_variable("AWS_ENDPOINT_URL", endpoint);
        let ended = here.run(&plan);
        let shown = &ended.stderr;
        assert!(!shown.contains("secret-of-a-test") && !shown.contains("password@"), "{shown}");
        ended.fails(2, &["AWS_ENDPOINT_URL", said]);
    }
}
