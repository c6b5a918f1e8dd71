//! The program under test: its configuration, its run, and what it shows outside.

use crate::clock::{instant, now_ms};
use crate::market::PAIRS;
use crate::venue::Venue;
use serde_json::Value;
use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

const BINARY: &str = env!("CARGO_BIN_EXE_candlewick");

/// Time beyond `--for` within which every run has to end.
const MAX_OVERTIME: Duration = Duration::from_secs(75);

const SETTINGS: &str = r#"
[account]
mode = "demo"

[risk]
max_open_trades = 0
max_trades_per_day = 0
daily_loss_limit = 0
max_drawdown_percent = 0
max_ruin_probability = 1.0
refused_by_venue_pause_s = 8

[runtime]
settle_after_ms = 500
wallet_every_s = 3
wallet_lag_ms = 2000
list_every_s = 5
list_lag_ms = 4000
missing_trade_s = 15
stop_patience_s = 45
"#;

pub(crate) struct Trader {
    folder: TempDir,
    environment: Vec<(&'static str, String)>,
}

pub(crate) struct Shown {
    pub(crate) code: Option<i32>,
    pub(crate) ended_at: i64,
    pub(crate) events: Vec<Value>,
    pub(crate) status: Value,
    pub(crate) trades: Vec<Value>,
    pub(crate) printed: String,
    pub(crate) journal: String,
}

impl Trader {
    pub(crate) fn new(venue: &Venue, replaced: &[(&str, &str)], stake: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = SETTINGS.to_owned();
        for (from, to) in replaced {
            assert!(settings.contains(from), "{from}");
            settings = settings.replace(from, to);
        }
        let (trading, prices) = (venue.trading_url(), venue.price_url());
        let mut text = format!(
            "[broker]\nbase_url = \"{trading}\"\nprice_url = \"{prices}\"\nrequests_per_second = 0\n{settings}"
        );
        for (number, pair) in PAIRS.iter().enumerate() {
            let stake =
                stake.map_or(format!("{{ kind = \"fixed\", amount = {}0 }}", number + 1), str::to_owned);
            let _ = write!(
                text,
                "\n[[bots]]\nname = \"bot-{number}\"\nsymbol = \"{}\"\ninterval = \"5s\"\nstrategy = \"coin\"\n\
                 close_type = \"00:05\"\nexpiration_type = \"TIME_FIXED\"\n\
                 params = {{ seed = {number}, share = 1.0 }}\nstake = {stake}\n",
                pair.name
            );
        }
        std::fs::write(folder.path().join("bots.toml"), text).unwrap();
        let credentials = venue.credentials();
        let environment = vec![
            ("CANDLEWICK_BROKER__API_TOKEN", credentials.token.clone()),
            ("CANDLEWICK_BROKER__API_KEY", credentials.key.clone()),
        ];
        Self { folder, environment }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(BINARY);
        command.args(arguments).current_dir(self.folder.path()).env_clear().stdin(Stdio::null());
        for name in ["PATH", "HOME"] {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        command.env("XDG_CACHE_HOME", self.path(".cache")).env("XDG_STATE_HOME", self.path(".state"));
        command.envs(self.environment.iter().map(|(name, value)| (*name, value)));
        command
    }

    pub(crate) fn start(&self, seconds: u64) -> Child {
        let span = format!("{seconds}s");
        let arguments = ["live", "--config", "bots.toml", "--journal", "run.db", "--json", "--for", &span];
        let mut command = self.command(&arguments);
        command.stdout(File::create(self.path("out")).unwrap());
        command.stderr(File::create(self.path("log")).unwrap());
        command.spawn().unwrap()
    }

    pub(crate) fn ask(&self, arguments: &[&str]) -> (i32, Value, String) {
        let output = self.command(arguments).args(["--journal", "run.db", "--json"]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let printed = text.clone() + &String::from_utf8_lossy(&output.stderr);
        (output.status.code().unwrap_or(-1), serde_json::from_str(&text).unwrap_or_default(), printed)
    }

    pub(crate) fn events(&self) -> Vec<Value> {
        let text = read(&self.path("out"));
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    pub(crate) fn finish(&self, mut child: Child, seconds: u64) -> Shown {
        let deadline = instant() + Duration::from_secs(seconds) + MAX_OVERTIME;
        let code = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status.code();
            }
            if instant() > deadline {
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
            std::thread::sleep(Duration::from_millis(50));
        };
        let ended_at = now_ms();
        let (_, status, said) = self.ask(&["status"]);
        let (_, trades, told) = self.ask(&["trades"]);
        let journal = ["run.db", "run.db-wal"].map(|name| read(&self.path(name))).concat();
        Shown {
            code,
            ended_at,
            events: self.events(),
            status,
            trades: trades.as_array().cloned().unwrap_or_default(),
            printed: [read(&self.path("out")), read(&self.path("log")), said, told].concat(),
            journal,
        }
    }

    pub(crate) fn log(&self) -> String {
        read(&self.path("log"))
    }
}

fn read(path: &Path) -> String {
    std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

impl Shown {
    pub(crate) fn halts(&self) -> Vec<(i64, String)> {
        let halted = self.events.iter().filter(|event| event["event"] == "halted");
        halted
            .map(|event| {
                let reason = event["reason"].as_str().unwrap_or_default().to_owned();
                (event["at"].as_i64().unwrap_or_default(), reason)
            })
            .collect()
    }
}
