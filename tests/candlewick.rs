//! The binary as a user runs it: in its own folder, with a clean environment.

use serde_json::Value;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_candlewick");

pub(crate) const BOT: &str = r#"
[[bots]]
name = "btc"
symbol = "BTCUSDT"
interval = "1m"
strategy = "rsi-reversal"
close_type = "01:00"
params = { period = 2 }
"#;

pub(crate) const NO_LIMITS: &str = "[risk]\nmax_open_trades = 0\nmax_open_trades_per_symbol = 0\n\
                                    max_trades_per_day = 0\ndaily_loss_limit = 0\nmax_drawdown_percent = 0\n\
                                    allow_opposite = true\nallow_duplicate = true\n";

pub(crate) fn candles(count: i64) -> String {
    let mut text = String::from("time,open,high,low,close,volume\n");
    for minute in 0..count {
        let price = 100 + minute % 7;
        let time = 1_767_571_200_000 + minute * 60_000;
        let _ = writeln!(text, "{time},{price},{},{price},{},1", price + 1, price + minute % 2);
    }
    text
}

pub(crate) fn bot_with(strategy: &str, params: &str) -> String {
    let bot = BOT.replace("rsi-reversal", strategy);
    bot.replace("{ period = 2 }", &format!("{{ {params} }}"))
}

pub(crate) fn folder_with_bot(from: &str, to: &str) -> Folder {
    assert!(BOT.contains(from), "{from}");
    Folder::new().with("bot.toml", &BOT.replace(from, to)).with("BTCUSDT_1m.csv", &candles(50))
}

pub(crate) const BACKTEST: [&str; 5] = ["backtest", "--config", "bot.toml", "--data", "BTCUSDT_1m.csv"];

pub(crate) const SANDBOX_RUN: [&str; 8] =
    ["live", "--sandbox", "--config", "bot.toml", "--data=BTCUSDT_1m.csv", "--journal", "run.db", "--speed"];

pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) struct Folder {
    dir: TempDir,
    variables: Vec<(String, String)>,
}

pub(crate) fn last_document(printed: &str) -> &str {
    let is_stream = printed.starts_with("{\"seq\":");
    if is_stream { printed.lines().last().unwrap_or_default() } else { printed }
}

pub(crate) fn candlewick(arguments: &[&str]) -> Run {
    Folder::new().run(arguments)
}

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), variables: Vec::new() }
    }

    pub(crate) fn with(self, name: &str, content: &str) -> Self {
        std::fs::write(self.path(name), content).unwrap();
        self
    }

    pub(crate) fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        self.program_command(BINARY, arguments)
    }

    pub(crate) fn program_command(&self, program: impl AsRef<OsStr>, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.dir.path()).env_clear().stdin(Stdio::null());
        command.envs(["PATH", "HOME"].into_iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        command.env("XDG_CACHE_HOME", self.dir.path().join(".cache"));
        command.env("XDG_STATE_HOME", self.dir.path().join(".state"));
        // Sealing would hide the last candles of a fixture.
        command.env("CANDLEWICK_EVIDENCE__SEAL", "false");
        command.envs(self.variables.iter().cloned());
        command
    }

    pub(crate) fn run_program(&self, program: &Path, arguments: &[&str]) -> Run {
        Run::from_output(&self.program_command(program, arguments).output().unwrap())
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        Run::from_output(&self.command(arguments).output().unwrap())
    }

    #[track_caller]
    pub(crate) fn query(&self, command: &str, journal: &str) -> Value {
        self.run_line(&format!("{command} --journal {journal} --json")).json()
    }

    #[track_caller]
    pub(crate) fn trades(&self, journal: &str) -> Vec<Value> {
        self.query("trades", journal).as_array().unwrap().clone()
    }

    pub(crate) fn run_line(&self, line: &str) -> Run {
        self.run(&line.split_whitespace().collect::<Vec<_>>())
    }
}

impl Run {
    pub(crate) fn from_output(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let code = output.status.code().unwrap_or(-1);
        Self { code, stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }

    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.code, 0, "{}", self.stderr);
        serde_json::from_str(last_document(&self.stdout))
            .unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }

    pub(crate) fn events(&self) -> Vec<Value> {
        assert_eq!(self.code, 0, "{}", self.stderr);
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[track_caller]
    pub(crate) fn fails(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, code, "{}{}", self.stdout, self.stderr);
        for part in parts {
            assert!(self.stderr.contains(part), "no {part:?} in:\n{}", self.stderr);
        }
        assert_eq!(self.stdout, "");
    }
}
