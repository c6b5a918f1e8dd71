//! Sweeps: each trial is the backtest of its parameters, and neither threads nor shards change what comes out.

use crate::candlewick::{BINARY, Folder};
use crate::excerpt::MONDAY;
use crate::searched::{BOT, folder};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const SEARCHED: [&str; 12] = [
    "--config",
    "bot.toml",
    "--data",
    "BTCUSDT_1m.csv",
    "--param",
    "period=2..9",
    "--param",
    "oversold=10..45:5",
    "--param",
    "close_type=01:00,03:00",
    "--where",
    "oversold > period + 5",
];

pub(crate) fn sweep<'a>(more: &[&'a str]) -> Vec<&'a str> {
    ["sweep", "--json", "--min-trades", "10"]
        .into_iter()
        .chain(SEARCHED)
        .chain(more.iter().copied())
        .collect()
}

/// The results of a folder, to the byte.
fn results(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let files = ["results.csv", "results.parquet", "report.html", "luck.json", "best.toml"];
    files.into_iter().map(|name| (name.to_owned(), std::fs::read(folder.join(name)).unwrap())).collect()
}

pub(crate) fn assert_same(one: &Path, two: &Path, case: &str) {
    for ((name, one), (_, two)) in results(one).into_iter().zip(results(two)) {
        assert!(one == two, "{case}: {name} differs");
    }
}

#[test]
fn any_number_of_threads_leaves_the_same_files() {
    let folder = folder(2);
    let ways: [&[&str]; 6] = [
        &[],
        &["--search", "random", "--trials", "40", "--seed", "7"],
        &["--search", "latin-hypercube", "--trials", "40"],
        &["--search", "sobol", "--trials", "40", "--objective", "sharpe"],
        &["--search", "tpe", "--trials", "60", "--objective", "drawdown-penalised"],
        &["--search", "random", "--trials", "40", "--halving", "2", "--objective", "expectancy"],
    ];
    for (place, way) in ways.into_iter().enumerate() {
        let tried: Vec<(Value, String)> = ["1", "3"]
            .into_iter()
            .map(|threads| {
                let out = format!("{place}-{threads}");
                let run = folder.run(&[sweep(way), vec!["--threads", threads, "--out", &out]].concat());
                (run.json(), out)
            })
            .collect();
        let [one, three] = tried.as_slice() else { panic!("two ran") };
        assert!(one.0["counting"].as_u64().unwrap() >= 5, "{way:?}: {}", one.0);
        assert_eq!(one.0["best"], three.0["best"], "{way:?}");
        assert!(
            one.0["luck"]["p_value"].is_number() && one.0["luck"]["overfitting"].is_number(),
            "{}",
            one.0
        );
        assert_eq!(one.0["luck"], three.0["luck"], "{way:?}");
        assert_same(&folder.path(&one.1), &folder.path(&three.1), &format!("{way:?}"));
    }
}

/// The lines of a sweep's journal that are whole.
pub(crate) fn journalled(folder: &Folder, journal: &str) -> Vec<String> {
    let text = std::fs::read(folder.path(journal)).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    text.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(str::to_owned).collect()
}

#[cfg(unix)]
#[test]
fn a_sweep_that_is_interrupted_says_how_it_goes_on_and_does() {
    // Two weeks take long enough that the signal comes in the midst of it, also where much else runs.
    let folder = folder(14);
    for (signal, code) in [("INT", 130), ("TERM", 0)] {
        let out = format!("stopped-{signal}");
        let journal = format!("{out}/trials.jsonl");
        let arguments = [sweep(&[]), vec!["--out", &out, "--threads", "1"]].concat();
        let mut command = folder.command(&arguments);
        let process =
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn();
        let mut process = process.unwrap();
        while journalled(&folder, &journal).len() < 4 {
            assert!(process.try_wait().unwrap().is_none(), "it ended before it was interrupted");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let sent = std::process::Command::new("kill")
            .args([format!("-{signal}"), process.id().to_string()])
            .status();
        assert!(sent.unwrap().success());
        let ended = process.wait_with_output().unwrap();
        let printed = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(code), "{printed}");
        assert!(printed.contains(&format!("the same command goes on where it was ({out})")), "{printed}");
        assert!(ended.stdout.is_empty() && !folder.path(&out).join("results.csv").exists());
        let ran = journalled(&folder, &journal).len() - 1;
        let whole = folder.run(&arguments).json();
        assert_eq!(whole["resumed"], json!(ran));
        assert_eq!(
            folder.read(&format!("{out}/results.csv")).lines().count(),
            whole["trials"].as_u64().unwrap() as usize + 1
        );
    }
}

/// The lines of a table, each by its header.
fn table(folder: &Folder, name: &str) -> Vec<std::collections::BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(folder.path(name)).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

#[test]
fn halving_runs_the_best_of_each_rung_on_more_candles_and_the_last_as_if_they_ran_alone() {
    let folder = folder(2);
    let way = ["--search", "random", "--trials", "40", "--objective", "expectancy"];
    folder.run(&[sweep(&way), vec!["--out", "plain"]].concat()).json();
    folder.run(&[sweep(&way), vec!["--out", "halved", "--halving", "2"]].concat()).json();
    let (plain, halved) = (table(&folder, "plain/results.csv"), table(&folder, "halved/results.csv"));
    let on = |rung: &str| halved.iter().filter(|row| row["rung"] == rung).count();
    // 40 run on a quarter, the best 20 of them on half, the best 10 of those on all.
    assert_eq!(["0", "1", "2"].map(on), [20, 10, 10]);
    for (alone, row) in plain.iter().zip(&halved).filter(|(_, row)| row["rung"] == "2") {
        let own = |row: &std::collections::BTreeMap<String, String>| {
            let mut row = row.clone();
            row.retain(|name, _| {
                !["rank", "rung", "p_value_corrected", "p_value_of_many"].contains(&name.as_str())
            });
            row
        };
        assert_eq!(own(alone), own(row));
    }
    let early = halved.iter().find(|row| row["rung"] == "0").unwrap();
    assert_eq!(early["share_of_candles"], "0.25");
}

#[test]
fn the_best_set_gives_its_figures_as_a_single_backtest() {
    let folder = folder(2);
    let found = folder.run(&sweep(&["--out", "found", "--top", "3"])).json();
    let best = &found["best"][0];
    let single = folder.run(&[
        "backtest",
        "--json",
        "--config",
        "bot.toml",
        "--config",
        "found/best.toml",
        "--data",
        "BTCUSDT_1m.csv",
    ]);
    let single = single.json();
    let keys = [
        "trades",
        "won",
        "lost",
        "draw",
        "cancelled",
        "unsettled",
        "win_rate",
        "break_even",
        "p_value",
        "pnl",
    ];
    for key in keys.into_iter().chain(["max_drawdown", "max_drawdown_percent", "longest_losing_streak"]) {
        assert_eq!(best["figures"][key], single[key], "{key}");
    }
    assert_eq!(found["best"].as_array().unwrap().len(), 3);
    assert_eq!(found["data_hash"], single["data_hash"]);
}

/// The plan of a sweep, with the arguments of one.
pub(crate) fn plan<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = sweep(more);
    arguments.insert(1, "plan");
    arguments
}

/// A step of the plan in the folder `sweep`.
pub(crate) fn step<'a>(name: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [&["sweep"], name, &["--json"], more].concat()
}

/// A folder of another machine, which has the plan and nothing else.
pub(crate) fn elsewhere(here: &Folder) -> Folder {
    let there = Folder::new();
    std::fs::copy(here.path("sweep/plan.json"), there.path("plan.json")).unwrap();
    there
}

#[test]
fn shards_on_several_machines_merge_to_the_files_of_one() {
    for more in [&["--search", "grid"][..], &["--search", "random", "--trials", "40", "--halving", "2"]] {
        let whole = folder(2);
        let alone = whole.run(&sweep(more)).json();
        let here = folder(2);
        let planned = here.run(&plan(&[more, &["--shards", "3"]].concat())).json();
        assert_eq!(planned["shards"], json!(3));
        let mut trials = 0;
        for shard in ["1", "2", "3"] {
            here.run(&step(&["merge"], &[])).fails(2, &[&format!("shard {shard} is missing")]);
            // Each machine has the plan, and candles in a place of its own; no argument, no configuration.
            let there = elsewhere(&here);
            std::fs::create_dir(there.path("candles")).unwrap();
            std::fs::copy(here.path("BTCUSDT_1m.csv"), there.path("candles/BTCUSDT_1m.csv")).unwrap();
            let data = ["--plan", "plan.json", "--data", "candles/BTCUSDT_1m.csv", "--threads", "1"];
            let ran = there.run(&step(&["run", "--shard", shard], &data)).json();
            trials += ran["trials"].as_u64().unwrap();
            let journal = format!("shard-{shard}.jsonl");
            std::fs::copy(there.path(&journal), here.path(&format!("sweep/{journal}"))).unwrap();
            // Twice is once.
            let again = there.run(&step(&["run", "--shard", shard], &data)).json();
            assert_eq!((&again["resumed"], &again["trials"]), (&ran["trials"], &ran["trials"]));
            assert_eq!(there.read(&journal), here.read(&format!("sweep/{journal}")));
        }
        assert_eq!(json!(trials), planned["sets"]);
        let merged = here.run(&step(&["merge"], &[])).json();
        assert_eq!((&merged["best"], &merged["luck"]), (&alone["best"], &alone["luck"]));
        assert_same(&whole.path("sweep"), &here.path("sweep"), &format!("{more:?}"));
    }
}

#[test]
fn a_plan_of_synthetic_candles_and_built_in_bots_needs_the_program_alone() {
    let search = ["--bot", "btc-rsi", "--param", "period=5..8", "--json"];
    let (whole, here) = (Folder::new(), Folder::new());
    whole.run(&[&["sweep"], &search[..]].concat()).json();
    here.run(&[&["sweep", "plan", "--shards", "1"], &search[..]].concat()).json();
    let there = elsewhere(&here);
    there.run(&step(&["run", "--shard", "1", "--plan", "plan.json", "--out", "mine"], &[])).json();
    there.run(&step(&["merge", "--plan", "plan.json", "--out", "mine"], &[])).json();
    assert_same(&whole.path("sweep"), &there.path("mine"), "synthetic");
}

#[test]
fn a_shard_that_does_not_fit_its_plan_is_refused_with_a_way_out() {
    let folder = folder(1);
    let few = ["--search", "random", "--trials", "12"];
    folder.run(&step(&["run", "--shard", "1"], &[])).fails(2, &["there is no plan", "sweep plan"]);
    folder.run(&plan(&[&few[..], &["--shards", "2"]].concat())).json();
    folder.run(&step(&["run", "--shard", "3"], &[])).fails(2, &["there is no shard 3 of 2"]);
    folder
        .run(&step(&["run", "--shard", "1", "--config", "bot.toml"], &[]))
        .fails(2, &["a plan holds the configuration", "leave it out"]);
    for shard in ["1", "2"] {
        assert_eq!(folder.run(&step(&["run", "--shard", shard], &[])).json()["trials"], json!(6));
    }
    let again = folder.run(&step(&["run", "--shard", "1"], &[])).json();
    assert_eq!(again["resumed"], json!(6), "what ran is not run again");
    let whole = folder.read("sweep/shard-1.jsonl");
    let cut: Vec<&str> = whole.lines().take(3).collect();
    std::fs::write(folder.path("sweep/shard-1.jsonl"), cut.join("\n") + "\n").unwrap();
    folder.run(&step(&["merge"], &[])).fails(2, &["4 trials of shard 1 have not run", "sweep run --shard 1"]);
    std::fs::write(folder.path("sweep/shard-1.jsonl"), folder.read("sweep/shard-2.jsonl")).unwrap();
    folder.run(&step(&["merge"], &[])).fails(2, &["another sweep, which differs in: shard"]);
}

#[test]
fn other_candles_than_the_plans_are_named_with_what_differs() {
    let folder = folder(2);
    folder.run(&plan(&["--shards", "1"])).json();
    let run = step(&["run", "--shard", "1"], &[]);
    let candles = folder.read("BTCUSDT_1m.csv");
    let without_last = candles.trim_end().rsplit_once('\n').unwrap().0;
    std::fs::write(folder.path("BTCUSDT_1m.csv"), format!("{without_last}\n")).unwrap();
    let count = candles.lines().count() - 1;
    folder.run(&run).fails(
        3,
        &[
            "the candles of BTCUSDT@1m are not those of the plan",
            &format!("{count} candles from"),
            &format!("here there are {} candles", count - 1),
            "--data or --catalog",
        ],
    );
    std::fs::write(folder.path("BTCUSDT_1m.csv"), &candles).unwrap();
    // What the environment says of a run here changes nothing of what was planned.
    let folder = folder.with_variable("CANDLEWICK_SIMULATION__PAYOUT_PERCENT", "99");
    folder.run(&run).json();
    std::fs::write(folder.path("sweep/plan.json"), "{\"sets\": 3}").unwrap();
    folder.run(&run).fails(2, &["it is not the plan of a sweep: it has no format", "make it anew"]);
}

#[test]
fn a_sweep_whose_signals_changed_in_their_file_is_another_one() {
    let bot =
        BOT.replace("rsi-reversal", "signal-list").replace("{ period = 5 }", "{ file = \"signals.csv\" }");
    let signals = |minute: i64| format!("time,symbol,direction\n{},BTCUSDT,BUY\n", MONDAY + minute * 60_000);
    let folder = folder(1).with("list.toml", &bot).with("signals.csv", &signals(60));
    let arguments =
        ["sweep", "--config", "list.toml", "--data", "BTCUSDT_1m.csv", "--param", "close_type=01:00,05:00"];
    assert_eq!(folder.run(&arguments).code, 0);
    assert_eq!(folder.run(&arguments).code, 0, "the same file is the same sweep");
    std::fs::write(folder.path("signals.csv"), signals(90)).unwrap();
    folder.run(&arguments).fails(2, &["another sweep, which differs in: files"]);
    let searched = [&arguments[..], &["--param", "file=signals.csv", "--out", "searched"]].concat();
    assert_eq!(folder.run(&searched).code, 0);
    std::fs::write(folder.path("signals.csv"), signals(120)).unwrap();
    folder.run(&searched).fails(2, &["another sweep, which differs in: files"]);
}

/// The same program, but for one letter of a help text: of the same version, and still another.
fn rebuilt(folder: &Folder) -> PathBuf {
    let mut bytes = std::fs::read(BINARY).unwrap();
    let text = b"Put the shards of a plan together";
    let place = bytes.windows(text.len()).position(|part| part == text).expect("the help of the binary");
    bytes[place] = b'p';
    let path = folder.path("rebuilt");
    std::fs::copy(BINARY, &path).unwrap(); // with the right to run it
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn what_another_program_tried_is_not_taken_for_its_own() {
    let here = folder(1);
    let other = rebuilt(&here);
    let few = ["--search", "random", "--trials", "12"];
    let of_another = ["another sweep, which differs in: program", "--out"];
    here.run(&sweep(&few)).json();
    here.run_of(&other, &sweep(&few)).fails(2, &of_another);
    let walk = [&["walk-forward", "--train", "8h", "--test", "8h"], &SEARCHED[..]].concat();
    assert_eq!(here.run(&walk).code, 0);
    here.run_of(&other, &walk).fails(2, &of_another);
    // A shard that another program ran fits neither the plan nor its merger, unless it is asked to.
    here.run(&plan(&[&few[..], &["--shards", "1"]].concat())).json();
    let (run, merge) = (step(&["run", "--shard", "1"], &[]), step(&["merge"], &[]));
    here.run_of(&other, &run)
        .fails(2, &["this is another program than made the plan", "--allow-other-program"]);
    let allowed = |step: &[&'static str]| [step, &["--allow-other-program"]].concat();
    let ran = here.run_of(&other, &allowed(&run)).json();
    assert!(ran["notices"][0].as_str().unwrap().contains("another program than made the plan"), "{ran}");
    let by_another = "shard 1 was run by another program than made the plan";
    here.run(&merge).fails(2, &[by_another, "--allow-other-program"]);
    let merged = here.run(&allowed(&merge)).json();
    let notices: Vec<&str> = merged["notices"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(notices.iter().any(|notice| notice.contains(by_another)), "{notices:?}");
    assert!(here.read("sweep/report.html").contains(by_another));
    here.run_of(&other, &[&sweep(&few)[..], &["--out", "own"]].concat()).json();
    for name in ["results.csv", "best.toml", "luck.json"] {
        assert_eq!(here.read(&format!("sweep/{name}")), here.read(&format!("own/{name}")), "{name}");
    }
}

#[test]
fn what_cannot_be_searched_is_refused_with_a_way_out() {
    let folder = folder(1);
    let base = ["sweep", "--config", "bot.toml", "--data", "BTCUSDT_1m.csv"];
    let check = |more: &[&str], code: i32, parts: &[&str]| {
        folder.run(&[&base, more].concat()).fails(code, parts);
    };
    check(&[], 2, &["nothing to search", "period (2 to 500)", "oversold (0 to 100)", "close_type"]);
    check(&["--param", "perid=2..9"], 2, &["has no parameter \"perid\"", "did you mean \"period\"?"]);
    check(&["--param", "period=1..9"], 2, &["1 is outside 2 to 500"]);
    check(
        &["--param", "period=2..9", "--where", "period > 9"],
        2,
        &["no set of parameters meets the conditions"],
    );
    check(&["--param", "period=2..9", "--where", "perod > 9"], 2, &["neither a number nor one of period"]);
    check(&["--param", "oversold", "--search", "grid"], 2, &["oversold has no end of values for a grid"]);
    check(&["--param", "period=2..9", "--trials", "0"], 2, &["0 trials"]);
    check(&["--param", "period=2..9", "--search", "grid", "--trials", "5"], 2, &["a grid tries every set"]);
    check(&["--param", "period=2..9", "--search", "tpe", "--halving", "3"], 2, &["leave out --halving"]);
    check(&["--param", "period=2..9", "--bot", "btd"], 2, &["there is no such bot", "did you mean \"btc\"?"]);
    check(&["--param", "close_type=00:30,01:00"], 2, &["--param close_type", "--allow-coarse"]);
    check(&["--param", "period=2..3", "--objective", "luck"], 2, &["use one of edge, expectancy"]);
    assert_eq!(folder.run(&[&base[..], &["--param", "period=2..3"]].concat()).code, 0);
    check(&["--param", "period=2..4"], 2, &["another sweep, which differs in: parameters"]);
    folder.run(&["sweep", "--param", "period=2..3"]).fails(2, &["several bots", "known are: "]);
}

/// A limit that a streak of losses reaches in every set: who tries the sets one by one sees the same.
#[test]
fn a_set_that_a_streak_stopped_says_so_and_its_figures_are_those_of_a_backtest_that_a_streak_stopped() {
    let bot = crate::candlewick::BOT.to_owned() + "[risk]\nmax_loss_streak = 2\nmax_open_trades = 0\n";
    let folder =
        Folder::new().with("bot.toml", &bot).with("BTCUSDT_1m.csv", &crate::candlewick::candles(400));
    let own = ["--config", "bot.toml", "--data", "BTCUSDT_1m.csv"];
    let sweep = ["sweep", "--param", "period=2..4", "--min-trades", "1", "--top", "2"];
    let document = folder.run(&[&sweep[..], &own, &["--json"]].concat()).json();
    let mut stopped = 0;
    for row in folder.read("sweep/results.csv").lines().skip(1) {
        let period = row.split(',').nth(3).unwrap();
        std::fs::write(folder.path("one.toml"), bot.replace("period = 2", &format!("period = {period}")))
            .unwrap();
        let one = ["backtest", "--config", "one.toml", "--data", "BTCUSDT_1m.csv", "--json"];
        let one = folder.run(&one).json();
        let is_refused = one["refused"]["LossStreak"].as_u64() > Some(0);
        assert_eq!(row.ends_with(",LossStreak"), is_refused, "{row}: {}", one["refused"]);
        assert_eq!(row.split(',').nth(6), Some(&*one["trades"].to_string()), "{row}");
        stopped += u64::from(is_refused);
    }
    assert!(stopped > 0, "{document:#}");
    assert_eq!(document["stopped"]["LossStreak"], stopped);
    let text = folder.run(&[&sweep[..], &own, &["--out", "again"]].concat()).stdout;
    assert!(text.contains(&format!("{stopped} of 3 sets stopped trading before the end")), "{text}");
    assert!(text.contains("3 sets by grid, of which 3 count, the best 2 shown (--top N shows N"), "{text}");
}
