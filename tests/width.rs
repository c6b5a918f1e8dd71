//! What people read fits a terminal of 80 columns, whichever command prints it; in a pipe, lines are as they are.
//!
//! Columns are counted by a parser of terminals. The commands are those that the program's help lists.
#![cfg(unix)]

use crate::candlewick::Folder;
use crate::hostile::on_terminal_of;
use crate::recording::{folder, record_in_lock_step};

/// Each command with arguments that let it print what it has, and its exit code. One without arguments here runs until it is
/// stopped, asks the network, or prints what other programs read.
const RUNS: &[(&str, &str, i32)] = &[
    ("backtest", "--config bots.toml --data BTCUSDT_1m.csv --data GBPUSD_1m.csv", 0),
    ("completions", "", 0),
    ("config check", "--config bots.toml", 0),
    ("config init", "--defaults first.toml", 0),
    ("config schema", "", 0),
    ("config show", "", 0),
    ("data check", "BTCUSDT_1m.csv", 0),
    ("data import", "BTCUSDT_1m.csv GBPUSD_1m.csv", 0),
    ("data export", "BTCUSDT@1m --out exported.csv", 0),
    ("data list", "--verbose", 0),
    ("data fetch", "", 0),
    ("data generate", "--symbol EURUSD --days 1 --out .", 0),
    ("dashboard", "", 0),
    ("doctor", "--config bots.toml", 5),
    ("edge break-even", "80 85", 0),
    ("edge gate", "--trades trades.csv --after-virtual-losses 1", 0),
    ("edge plan", "--payout 80", 0),
    ("edge ruin", "--martingale 10 --balance 2000 --payout 85", 0),
    ("edge verdict", "--journal run.db", 0),
    ("explain", "7 --journal run.db", 0),
    ("explain", "8 --journal run.db --raw", 0),
    ("journal backup", "copy.db --journal run.db", 0),
    ("journal compact", "small.db --journal run.db", 0),
    ("journal export", "exported --journal run.db", 0),
    ("journal project", "--journal run.db", 0),
    ("journal verify", "--journal run.db", 0),
    (
        "live",
        "--sandbox --speed max --until-end --config bots.toml --data BTCUSDT_1m.csv --data GBPUSD_1m.csv",
        0,
    ),
    ("man", "", 0),
    ("notify test", "--config bots.toml", 2),
    ("paper", "", 0),
    ("parity", "--journal run.db", 0),
    ("reload", "--config bots.toml --journal run.db", 2),
    ("report", "--journal run.db", 0),
    ("resolve", "7 --not-opened --journal run.db", 2),
    ("sandbox", "", 0),
    ("status", "--journal run.db", 0),
    ("strategy check", "rsi-reversal", 0),
    ("strategy list", "--verbose", 0),
    ("strategy new", "own-strategy", 0),
    ("strategy show", "rsi-reversal", 0),
    ("strategy show", "no-such-strategy", 2),
    ("sweep", "--config bots.toml --bot btc --param period=2..5 --data BTCUSDT_1m.csv", 0),
    ("sweep plan", "--config bots.toml --bot btc --param period=2..5 --data BTCUSDT_1m.csv", 0),
    ("sweep run", "", 0),
    ("sweep merge", "--config bots.toml", 2),
    ("trades", "--journal run.db", 0),
    ("tune", "--config bots.toml --bot btc --param period=2..5 --data BTCUSDT_1m.csv", 0),
    (
        "walk-forward",
        "--config bots.toml --bot btc --param period=2..5 --data BTCUSDT_1m.csv --train 2h --test 1h",
        0,
    ),
    (
        "walk-forward plan",
        "--config bots.toml --bot btc --param period=2..5 --data BTCUSDT_1m.csv --train 2h --test 1h --out parts",
        0,
    ),
    ("walk-forward run", "--plan parts/plan.json --shard 1", 0),
    ("walk-forward merge", "--config bots.toml", 2),
    (
        "monte-carlo plan",
        "--config bots.toml --data BTCUSDT_1m.csv --data GBPUSD_1m.csv --paths 4 --out mc",
        0,
    ),
    ("monte-carlo run", "--plan mc/plan.json --shard 1", 0),
    ("monte-carlo merge", "--plan mc/plan.json", 2),
    ("sensitivity", "--config bots.toml --data BTCUSDT_1m.csv --data GBPUSD_1m.csv", 0),
    ("sensitivity plan", "--config bots.toml --data BTCUSDT_1m.csv --data GBPUSD_1m.csv --out se", 0),
    ("sensitivity run", "--plan se/plan.json --shard 1", 0),
    ("sensitivity merge", "--plan se/plan.json", 2),
    ("signal", "", 0),
    ("watch", "", 0),
    ("why", "2026-01-06T01:00 --journal run.db", 0),
    ("halt", "--config bots.toml --journal run.db", 0),
    ("resume", "--config bots.toml --journal run.db", 0),
    ("no-such-command", "x", 2),
];

/// The longest line that a terminal is told to show.
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

fn longest_line(bytes: &[u8]) -> String {
    let (mut parser, mut longest) = (vte::Parser::new(), Longest::default());
    parser.advance(&mut longest, bytes);
    longest.longest
}

/// The commands of a help, each with those below it.
fn commands(folder: &Folder, above: &[&str]) -> Vec<String> {
    let help = folder.run(&[above, &["--help"]].concat()).stdout;
    let Some((_, list)) = help.split_once("Commands:\n") else { return vec![above.join(" ")] };
    let names = list.lines().take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("   "));
    let names: Vec<&str> = names.filter_map(|line| line.split_whitespace().next()).collect();
    let below = names.iter().filter(|name| **name != "help");
    below.flat_map(|name| commands(folder, &[above, &[*name]].concat())).collect()
}

#[test]
fn every_command_fits_eighty_columns() {
    let folder = folder().with("trades.csv", "result,payout\nLOST,85\nLOST,85\nWON,85\nLOST,85\n");
    record_in_lock_step(&folder);
    for command in commands(&folder, &[]) {
        assert!(RUNS.iter().any(|(name, ..)| *name == command), "`{command}` has no row in RUNS");
    }
    let mut wide = Vec::new();
    for (name, arguments, expected) in RUNS.iter().filter(|(_, arguments, _)| !arguments.is_empty()) {
        let command: Vec<&str> = name.split(' ').chain(arguments.split(' ')).collect();
        let (bytes, code) = on_terminal_of(80, &folder, &command);
        let longest = longest_line(&bytes);
        let text = String::from_utf8_lossy(&bytes);
        assert!(!longest.is_empty() && code == *expected, "{command:?} ends with {code}: {text}");
        if longest.chars().count() > 80 {
            wide.push(format!("{command:?}: {longest}"));
        }
    }
    assert!(wide.is_empty(), "{}", wide.join("\n"));
}

#[test]
fn a_pipe_gets_lines_as_they_are_unless_columns_are_named() {
    let longest = |run: &str| run.lines().map(|line| line.chars().count()).max().unwrap();
    let folder = Folder::new();
    assert!(longest(&folder.run(&["strategy", "list"]).stdout) > 80);
    assert!(longest(&folder.with_variable("COLUMNS", "72").run(&["strategy", "list"]).stdout) <= 72);
}
