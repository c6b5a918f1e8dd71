//! Output width: text fits a terminal of 80 columns for every command of the help. In a pipe, lines are not wrapped.
#![cfg(unix)]

use crate::candlewick::Folder;
use crate::hostile_texts::run_on_terminal;
use crate::recording::{folder, record_in_lock_step};

/// Commands that run until stopped, use the network, or print machine-readable output.
const NOT_RUN: &str = "completions, config schema, config show, dashboard, data fetch, man, paper, sandbox, signal, sweep run, watch";

/// Exit codes, and commands with a full output. `DATA` is the candles of both bots, `SEARCH` a search of one bot.
const RUNS: &[(i32, &str)] = &[
    (0, "backtest --config bots.toml DATA"),
    (0, "config check --config bots.toml"),
    (0, "config init --defaults first.toml"),
    (2, "confirm bots.toml DATA --yes"),
    (0, "data check BTCUSDT_1m.csv"),
    (0, "data import BTCUSDT_1m.csv GBPUSD_1m.csv"),
    (0, "data export BTCUSDT@1m --out exported.csv"),
    (0, "data list --verbose"),
    (0, "data generate --symbol EURUSD --days 1 --out ."),
    (5, "doctor --config bots.toml"),
    (0, "edge break-even 80 85"),
    (0, "edge gate --trades trades.csv --after-virtual-losses 1"),
    (0, "edge plan --payout 80"),
    (0, "edge ruin --martingale 10 --balance 2000 --payout 85"),
    (0, "edge verdict --journal run.db"),
    (0, "explain 7 --journal run.db"),
    (0, "explain 8 --journal run.db --raw"),
    (0, "journal backup copy.db --journal run.db"),
    (0, "journal compact small.db --journal run.db"),
    (0, "journal export exported --journal run.db"),
    (0, "journal project --journal run.db"),
    (0, "journal verify --journal run.db"),
    (0, "live --sandbox --speed max --until-end --config bots.toml DATA"),
    (2, "notify test --config bots.toml"),
    (0, "parity --journal run.db"),
    (2, "reload --config bots.toml --journal run.db"),
    (0, "report --journal run.db"),
    (2, "resolve 7 --not-opened --journal run.db"),
    (0, "status --journal run.db"),
    (0, "strategy check rsi-reversal"),
    (0, "strategy list --verbose"),
    (0, "strategy new own-strategy"),
    (0, "strategy show rsi-reversal"),
    (2, "strategy show no-such-strategy"),
    (0, "sweep SEARCH"),
    (0, "sweep plan SEARCH"),
    (2, "sweep merge --config bots.toml"),
    (0, "trades --journal run.db"),
    (0, "tune SEARCH"),
    (0, "walk-forward SEARCH --train 2h --test 1h"),
    (0, "walk-forward plan SEARCH --train 2h --test 1h --out parts"),
    (0, "walk-forward run --plan parts/plan.json --shard 1"),
    (2, "walk-forward merge --config bots.toml"),
    (0, "monte-carlo plan --config bots.toml DATA --paths 4 --out mc"),
    (0, "monte-carlo run --plan mc/plan.json --shard 1"),
    (2, "monte-carlo merge --plan mc/plan.json"),
    (0, "sensitivity --config bots.toml DATA"),
    (0, "sensitivity plan --config bots.toml DATA --out se"),
    (0, "sensitivity run --plan se/plan.json --shard 1"),
    (2, "sensitivity merge --plan se/plan.json"),
    (0, "why 2026-01-06T01:00 --journal run.db"),
    (0, "halt --config bots.toml --journal run.db"),
    (0, "resume --config bots.toml --journal run.db"),
    (2, "no-such-command x"),
];

#[derive(Default)]
struct Longest {
    line: String,
    longest: String,
}

impl vte::Perform for Longest {
    fn print(&mut self, letter: char) {
        self.line.push(letter);
        if self.line.chars().count() > self.longest.chars().count() {
            self.longest.clone_from(&self.line);
        }
    }

    fn execute(&mut self, byte: u8) {
        if matches!(byte, b'\n' | b'\r') {
            self.line.clear();
        }
    }
}

const LISTS: &[&str] = &["Commands:", "Research:", "Trade:", "Inspect:", "Data:", "Author:", "Setup:"];

fn commands(folder: &Folder, above: &[&str]) -> Vec<String> {
    let help = folder.run(&[above, &["--help"]].concat()).stdout;
    let is_list = |part: &&str| LISTS.iter().any(|heading| part.starts_with(heading));
    let lists: Vec<&str> = help.split("\n\n").filter(is_list).collect();
    if lists.is_empty() {
        return vec![above.join(" ")];
    }
    let rows = lists.iter().flat_map(|list| list.lines().skip(1)).filter(|line| !line.starts_with("   "));
    // A row of two words repeats a subcommand.
    let names = rows.filter_map(|line| line.trim_start().split("  ").next());
    let names = names.filter(|name| *name != "help" && !name.contains(' '));
    names.flat_map(|name| commands(folder, &[above, &[name]].concat())).collect()
}

#[test]
fn every_command_fits_in_eighty_columns() {
    let folder = folder().with("trades.csv", "result,payout\nLOST,85\nLOST,85\nWON,85\nLOST,85\n");
    record_in_lock_step(&folder);
    for command in commands(&folder, &[]) {
        let is_run = RUNS.iter().any(|(_, line)| line.starts_with(&format!("{command} ")));
        assert!(is_run || NOT_RUN.split(", ").any(|name| name == command), "`{command}` has no row");
    }
    for (expected, line) in RUNS {
        let line = line
            .replace("DATA", "--data BTCUSDT_1m.csv --data GBPUSD_1m.csv")
            .replace("SEARCH", "--config bots.toml --bot btc --param period=2..5 --data BTCUSDT_1m.csv");
        let (bytes, code) = run_on_terminal(80, &folder, &line.split(' ').collect::<Vec<_>>());
        let mut longest = Longest::default();
        vte::Parser::new().advance(&mut longest, &bytes);
        let width = longest.longest.chars().count();
        let text = String::from_utf8_lossy(&bytes);
        assert!(code == *expected && (1..=80).contains(&width), "{line}: {code}, {width} columns: {text}");
    }
}

#[test]
fn piped_output_is_not_wrapped_unless_columns_are_set() {
    let longest = |folder: &Folder| {
        let printed = folder.run(&["strategy", "list"]).stdout;
        printed.lines().map(|line| line.chars().count()).max().unwrap()
    };
    assert!(longest(&Folder::new()) > 80);
    assert!(longest(&Folder::new().with_variable("COLUMNS", "72")) <= 72);
}
