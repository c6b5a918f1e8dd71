//! `live --tui`: it shows the journal, its keys give orders, and the terminal is restored.
#![cfg(target_os = "linux")]

use crate::candlewick::{BOT, Folder, SANDBOX_RUN, candlewick};
use crate::consecutive_runs::judged;
use crate::excerpt::{HOUR, MONDAY, shipped};
use crate::hostile_texts::open_terminal;
use crate::serving::{Process, send};
use rustix::termios::{LocalModes, tcgetattr};
use serde_json::Value;
use std::fs::File;
use std::io::{Read, Write};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const COLUMNS: usize = 100;
const ROWS: usize = 30;
/// Maximum number of polls, for a loaded machine.
const MAX_POLLS: u32 = 2_400;
const PAUSE: Duration = Duration::from_millis(50);

#[derive(Default)]
struct Grid {
    cells: Vec<Vec<char>>,
    row: usize,
    column: usize,
    is_alternate: bool,
    is_cursor_hidden: bool,
}

fn blank() -> Vec<Vec<char>> {
    vec![vec![' '; COLUMNS]; ROWS]
}

impl vte::Perform for Grid {
    fn print(&mut self, letter: char) {
        if let Some(cell) = self.cells.get_mut(self.row).and_then(|row| row.get_mut(self.column)) {
            *cell = letter;
        }
        self.column += 1;
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' => self.row += 1,
            b'\r' => self.column = 0,
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, parameters: &vte::Params, intermediates: &[u8], _: bool, action: char) {
        let numbers: Vec<usize> =
            parameters.iter().map(|one| usize::from(one.first().copied().unwrap_or(0))).collect();
        let number = |place: usize| numbers.get(place).copied().unwrap_or(0).max(1) - 1;
        match (intermediates, action) {
            ([], 'H') => (self.row, self.column) = (number(0), number(1)),
            ([], 'J') => self.cells = blank(),
            ([b'?'], 'h' | 'l') => {
                let is_on = action == 'h';
                if numbers.contains(&1049) {
                    self.is_alternate = is_on;
                    self.cells = blank();
                }
                if numbers.contains(&25) {
                    self.is_cursor_hidden = !is_on;
                }
            }
            _ => {}
        }
    }
}

impl Grid {
    fn rows(&self) -> Vec<String> {
        self.cells.iter().map(|row| row.iter().collect()).collect()
    }
}

struct OnTerminal {
    process: Process,
    keys: File,
    grid: Arc<Mutex<Grid>>,
}

impl OnTerminal {
    fn start(folder: &Folder) -> Self {
        let (master, end) = open_terminal(ROWS as u16, COLUMNS as u16);
        // Detached from the terminal of the tests.
        let of_folder = folder.command(&[&SANDBOX_RUN[..], &["10", "--tui"]].concat());
        let mut command = Command::new("setsid");
        command.arg(of_folder.get_program()).args(of_folder.get_args()).env_clear();
        command.envs(of_folder.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.current_dir(folder.path("")).env("TERM", "xterm-256color");
        let child = command.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        Self { process: Process(child), keys: File::from(master), grid: Arc::default() }
    }

    fn read(self) -> Self {
        let (mut output, shown) = (self.keys.try_clone().unwrap(), Arc::clone(&self.grid));
        std::thread::spawn(move || {
            let (mut parser, mut bytes) = (vte::Parser::new(), [0; 4_096]);
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                parser.advance(&mut *shown.lock().unwrap(), &bytes[..count]);
            }
        });
        self
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    #[track_caller]
    fn wait_for<T>(&self, what: &str, seen: impl Fn(&Grid) -> Option<T>) -> T {
        for _ in 0..MAX_POLLS {
            if let Some(found) = seen(&self.grid.lock().unwrap()) {
                return found;
            }
            std::thread::sleep(PAUSE);
        }
        panic!("no {what}:\n{}", self.grid.lock().unwrap().rows().join("\n"));
    }

    #[track_caller]
    fn wait_for_row(&self, parts: &[&str]) -> String {
        self.wait_for(&parts.join(" ... "), |grid| {
            grid.rows().into_iter().find(|row| parts.iter().all(|part| row.contains(part)))
        })
    }

    #[track_caller]
    fn ends(&mut self) {
        assert_eq!(self.process.0.wait().unwrap().code(), Some(0));
        let modes = tcgetattr(&self.keys).unwrap().local_modes;
        assert!(modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG), "{modes:?}");
        self.wait_for("restored screen", |grid| (!grid.is_alternate && !grid.is_cursor_hidden).then_some(()));
    }
}

fn between<'a>(row: &'a str, before: &str, after: &str) -> &'a str {
    let rest = row.split_once(before).map_or("", |(_, rest)| rest);
    rest.split(after).next().unwrap_or_default().trim()
}

fn folder() -> Folder {
    // On a loaded machine signals arrive late.
    Folder::new()
        .with("bot.toml", &format!("[risk]\nmax_signal_delay_ms = 0\n{BOT}"))
        .with("BTCUSDT_1m.csv", &shipped("BTCUSDT_1m.csv", MONDAY, MONDAY + 24 * HOUR))
}

#[test]
fn displayed_settlement_and_balance_match_the_journal() {
    let folder = folder();
    let mut run = OnTerminal::start(&folder).read();
    let settled = run.wait_for("settlement of #1", |grid| {
        let is_one = |row: &String| row.contains("│#1 ") && (row.contains("won ") || row.contains("lost "));
        grid.rows().into_iter().find(is_one)
    });
    // Halted and without open trades, the state is final.
    run.press("hy");
    run.wait_for_row(&["HALTED"]);
    run.wait_for_row(&["Open trades: 0"]);
    let last = run.wait_for_row(&["balance ", "open stakes 0.00"]);
    // An unconfirmed resume does nothing, and quitting needs no confirmation now.
    run.press("r");
    run.wait_for_row(&["Resume:"]);
    run.press("nq");
    run.ends();
    let first = &folder.trades("run.db")[0];
    let (result, word) = if settled.contains("won ") { ("WON", "won ") } else { ("LOST", "lost ") };
    let profit = between(&settled, word, "│").parse::<f64>().ok();
    assert_eq!((first["pnl"].as_f64(), &first["result"]), (profit, &result.into()), "{settled}");
    let status = folder.query("status", "run.db");
    let balance = between(&last, "balance ", " ").replace(',', "").parse::<f64>().ok();
    assert_eq!(status["balance"].as_f64(), balance, "{last}");
}

#[test]
fn quitting_with_open_trades_asks_for_confirmation_and_waits() {
    let folder = folder();
    let mut run = OnTerminal::start(&folder).read();
    run.wait_for_row(&["#1 ", "btc", " in "]);
    run.press("q");
    run.wait_for_row(&["quit?", "y / n"]);
    run.press("y");
    run.ends();
    let trades = folder.trades("run.db");
    let is_over = |trade: &Value| trade["state"] != "open" && trade["state"] != "in_doubt";
    assert!(trades.iter().all(is_over), "{trades:?}");
}

#[test]
fn trades_settle_on_a_blocked_terminal_and_sigterm_restores_it() {
    let folder = folder();
    let mut run = OnTerminal::start(&folder);
    let is_enough = (0..MAX_POLLS).any(|_| {
        assert_eq!(run.process.0.try_wait().unwrap(), None, "it ended");
        std::thread::sleep(PAUSE);
        judged(&folder, "run.db") >= 3
    });
    assert!(is_enough, "only {} trades settled", judged(&folder, "run.db"));
    let mut run = run.read();
    run.wait_for_row(&["TRADING"]);
    send("TERM", &run.process.0);
    run.ends();
}

#[test]
fn view_needs_a_terminal() {
    candlewick(&["live", "--sandbox", "--tui"]).fails(2, &["--tui"]);
    candlewick(&["live", "--sandbox", "--tui", "--json"]).fails(2, &["--json"]);
}
