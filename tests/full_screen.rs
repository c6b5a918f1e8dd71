//! `live --tui` on a terminal of its own: what stands there is what the journal says, its keys order the run, and the terminal
//! is given back as it was.
#![cfg(target_os = "linux")]

use crate::candlewick::{BOT, Folder, SANDBOX_RUN, candlewick};
use crate::excerpt::{HOUR, MONDAY, shipped};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const COLUMNS: usize = 100;
const ROWS: usize = 30;
/// How often the picture is looked at, at most: a loaded machine takes its time.
const LOOKS: u32 = 2_400;
const PAUSE: Duration = Duration::from_millis(50);

/// A terminal as far as the view uses one: letters at places.
struct Grid {
    cells: Vec<Vec<char>>,
    row: usize,
    column: usize,
    is_alternate: bool,
    is_cursor_hidden: bool,
}

impl Default for Grid {
    fn default() -> Self {
        let cells = vec![vec![' '; COLUMNS]; ROWS];
        Self { cells, row: 0, column: 0, is_alternate: false, is_cursor_hidden: false }
    }
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
            ([], 'J') => self.cells = Self::default().cells,
            ([b'?'], 'h' | 'l') => {
                let is_on = action == 'h';
                if numbers.contains(&1049) {
                    self.is_alternate = is_on;
                    self.cells = Self::default().cells;
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

/// The program on such a terminal.
struct OnTerminal {
    child: Child,
    master: OwnedFd,
    keys: File,
    grid: Arc<Mutex<Grid>>,
}

impl Drop for OnTerminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl OnTerminal {
    fn start(folder: &Folder, arguments: &[&str]) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let size = Winsize { ws_row: ROWS as u16, ws_col: COLUMNS as u16, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let end = || Stdio::from(OpenOptions::new().read(true).write(true).open(&name).unwrap());
        // Without the tests' own terminal, if they have one.
        let of_folder = folder.command(arguments);
        let mut command = Command::new("setsid");
        command.arg(of_folder.get_program()).args(of_folder.get_args()).env_clear();
        command.envs(of_folder.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.current_dir(folder.path("")).env("TERM", "xterm-256color");
        let child = command.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        let keys = File::from(master.try_clone().unwrap());
        Self { child, master, keys, grid: Arc::default() }
    }

    /// The same, and what stands there is read.
    fn read(folder: &Folder) -> Self {
        let run = Self::start(folder, &whole_terminal());
        run.go_on();
        run
    }

    /// The terminal takes what is written.
    fn go_on(&self) {
        let (mut output, shown) = (self.keys.try_clone().unwrap(), Arc::clone(&self.grid));
        std::thread::spawn(move || {
            let (mut parser, mut bytes) = (vte::Parser::new(), [0; 4_096]);
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                parser.advance(&mut *shown.lock().unwrap(), &bytes[..count]);
            }
        });
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until something is to be seen, and reads it.
    #[track_caller]
    fn wait_for<T>(&self, what: &str, seen: impl Fn(&Grid) -> Option<T>) -> T {
        for _ in 0..LOOKS {
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

    /// Waits for its end; how it ended.
    fn end(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    /// Whether the terminal is as it was: lines, echo, its own picture, a cursor.
    #[track_caller]
    fn is_given_back(&self) {
        let modes = tcgetattr(&self.master).unwrap().local_modes;
        assert!(modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG), "{modes:?}");
        self.wait_for("terminal of before", |grid| {
            (!grid.is_alternate && !grid.is_cursor_hidden).then_some(())
        });
    }
}

/// The text between two others.
fn between<'a>(row: &'a str, before: &str, after: &str) -> &'a str {
    let rest = row.split_once(before).map_or("", |(_, rest)| rest);
    rest.split(after).next().unwrap_or_default().trim()
}

fn folder() -> Folder {
    // On a loaded machine ten seconds of venue time pass in no time.
    Folder::new()
        .with("bot.toml", &format!("[risk]\nmax_signal_delay_ms = 0\n{BOT}"))
        .with("BTCUSDT_1m.csv", &shipped("BTCUSDT_1m.csv", MONDAY, MONDAY + 24 * HOUR))
}

/// Such a run on the whole terminal.
fn whole_terminal() -> Vec<&'static str> {
    [&SANDBOX_RUN[..], &["10", "--tui"]].concat()
}

#[test]
fn a_trade_opens_counts_down_and_settles_and_the_numbers_are_the_journals() {
    let folder = folder();
    let mut run = OnTerminal::read(&folder);
    let left = |row: &str| {
        let (minutes, seconds) = between(row, " in ", " ").split_once(':')?;
        Some(minutes.trim().parse::<u64>().ok()? * 60 + seconds.parse::<u64>().ok()?)
    };
    let open = run.wait_for_row(&["#1 ", "btc", "BTCUSDT", " in "]);
    let before = left(&open).unwrap();
    run.wait_for("countdown of #1", |grid| {
        let row = grid.rows().into_iter().find(|row| row.contains("#1 ") && row.contains(" in "))?;
        left(&row).filter(|now| *now < before)
    });
    let settled = run.wait_for("settlement of #1", |grid| {
        let is_one = |row: &String| row.contains("│#1 ") && (row.contains("won ") || row.contains("lost "));
        grid.rows().into_iter().find(is_one)
    });
    // Halted and with nothing open, nothing changes any more.
    run.press("hy");
    run.wait_for_row(&["HALTED"]);
    run.wait_for_row(&["halted: ordered in the full-screen view"]);
    run.wait_for_row(&["Open trades: 0"]);
    let last = run.wait_for_row(&["balance ", "open stakes 0.00"]);
    run.press("r");
    run.wait_for_row(&["Resume: open trades again"]);
    run.press("n");
    run.press("q");
    // Nothing is open: it is not asked.
    assert_eq!(run.end(), Some(0), "{last}");
    run.is_given_back();
    let trades = folder.run(&["trades", "--json", "--journal", "run.db"]).json();
    let first = &trades[0];
    let (result, word) = if settled.contains("won ") { ("WON", "won ") } else { ("LOST", "lost ") };
    let profit = between(&settled, word, "│").parse::<f64>().ok();
    assert_eq!((first["pnl"].as_f64(), &first["result"]), (profit, &result.into()), "{settled}");
    let status: Value = folder.run(&["status", "--json", "--journal", "run.db"]).json();
    let balance = between(&last, "balance ", " ").parse::<f64>().ok();
    assert_eq!(status["balance"].as_f64(), balance, "{last}");
}

#[test]
fn q_asks_where_trades_are_open_waits_for_them_and_ends_with_0() {
    let folder = folder();
    let mut run = OnTerminal::read(&folder);
    run.wait_for_row(&["#1 ", "btc", " in "]);
    run.press("q");
    run.wait_for_row(&["is open: open no more, wait for the close, then quit? y / n"]);
    run.press("y");
    assert_eq!(run.end(), Some(0));
    run.is_given_back();
    let trades = folder.run(&["trades", "--json", "--journal", "run.db"]).json();
    let is_over = |trade: &Value| trade["state"] != "open" && trade["state"] != "in_doubt";
    assert!(trades.as_array().unwrap().iter().all(is_over), "{trades}");
}

#[test]
fn sigterm_gives_the_terminal_back() {
    let folder = folder();
    let mut run = OnTerminal::read(&folder);
    run.wait_for_row(&["TRADING"]);
    let pid = run.child.id().to_string();
    assert!(Command::new("kill").args(["-s", "TERM", &pid]).status().unwrap().success());
    assert_eq!(run.end(), Some(0));
    run.is_given_back();
}

#[test]
fn a_terminal_that_stands_still_keeps_no_trade_from_settling() {
    let folder = folder();
    let mut run = OnTerminal::start(&folder, &whole_terminal());
    let settled = || {
        let trades = folder.run(&["trades", "--json", "--journal", "run.db"]).stdout;
        trades.matches("\"settled\"").count()
    };
    let mut looks = 0;
    // No picture fits into a terminal that nobody reads, so the view stands since its first.
    while settled() < 3 {
        assert_eq!(run.child.try_wait().unwrap(), None, "it ended");
        looks += 1;
        assert!(looks < LOOKS, "only {} trades settled", settled());
        std::thread::sleep(PAUSE);
    }
    run.go_on();
    run.wait_for_row(&["TRADING"]);
    run.press("qy");
    assert_eq!(run.end(), Some(0));
    run.is_given_back();
}

#[test]
fn without_a_terminal_it_is_refused() {
    candlewick(&["live", "--sandbox", "--tui"])
        .fails(2, &["--tui needs a whole terminal", "leave --tui out"]);
    candlewick(&["live", "--sandbox", "--tui", "--json"]).fails(2, &["neither --json nor --quiet"]);
}
