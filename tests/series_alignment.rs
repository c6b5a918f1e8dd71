//! Two series of one symbol, usable together only in step.

use crate::candlewick::{BOT, Folder};
use crate::excerpt::{DAY, MONDAY, shipped};

const LAG: &str = "BTCUSDT 5s runs 15 s behind 1m";
const FILES: [&str; 2] = ["BTCUSDT_1m.csv", "BTCUSDT_5s.csv"];

fn folder(late_ms: i64) -> Folder {
    let [minutes, seconds] = FILES.map(|file| shipped(file, MONDAY + 11 * DAY, MONDAY + 12 * DAY));
    let delay = |line: &str| {
        let (time, rest) = line.split_once(',').unwrap();
        let time = time.parse::<i64>().map_or_else(|_| time.to_owned(), |time| (time + late_ms).to_string());
        format!("{time},{rest}\n")
    };
    let late: String = seconds.lines().map(delay).collect();
    Folder::new().with("bot.toml", BOT).with(FILES[0], &minutes).with(FILES[1], &late)
}

#[test]
fn every_command_refuses_series_that_are_out_of_step() {
    let (late, in_step) = (folder(15_000), folder(0));
    let data = ["--config", "bot.toml", "--data", FILES[0], "--data", FILES[1]];
    for command in [
        [&["backtest"], &data[..]].concat(),
        [&["sweep", "--param", "period=2,3"], &data[..]].concat(),
        vec!["data", "import", FILES[0], FILES[1]],
        vec!["data", "import", FILES[1], FILES[0]],
    ] {
        late.run(&command).fails(3, &[LAG]);
        let run = in_step.run(&command);
        assert_eq!(run.code, 0, "{command:?}: {}", run.stderr);
    }
    assert_eq!(late.run(&["data", "list", "--json"]).json(), serde_json::json!([]), "nothing is stored");
    assert_eq!(late.run(&["data", "import", FILES[0]]).code, 0);
    late.run(&["data", "import", FILES[1]]).fails(3, &[FILES[1], LAG]);
}

#[test]
fn check_of_two_files_finds_the_lag() {
    let check = ["data", "check", FILES[0], FILES[1], "--json"];
    let late = folder(15_000);
    let run = late.run(&check);
    let found: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((run.code, &found[1]["counts"]["out-of-step"]), (5, &1.into()), "{found}");
    assert_eq!(late.run(&[&check[..], &["--ignore", "out-of-step"]].concat()).code, 0);
    assert_eq!(folder(0).run(&check).code, 0);
}
