//! The program under test: its configuration, its run, and its visible output.

use crate::candlewick::Folder;
use crate::clock::{instant, now_ms};
use crate::market::PAIRS;
use crate::venue::Venue;
use serde_json::Value;
use std::fmt::Write as _;
use std::fs::File;
use std::process::Child;
use std::time::Duration;

/// Time beyond `--for` within which every run must end.
const MAX_OVERTIME: Duration = Duration::from_secs(75);

const SETTINGS: &str = r#"
max_open_trades = 0
max_trades_per_day = 0
max_drawdown_percent = 0
max_ruin_probability = 1.0
refused_by_venue_pause_s = 8
[account]
mode = "demo"
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
    folder: Folder,
}

pub(crate) struct Output {
    pub(crate) code: Option<i32>,
    pub(crate) ended_at: i64,
    pub(crate) events: Vec<Value>,
    pub(crate) status: Value,
    pub(crate) trades: Vec<Value>,
    pub(crate) printed: String,
    pub(crate) journal: String,
}

impl Trader {
    pub(crate) fn new(venue: &Venue, loss_limit: i64) -> Self {
        let Venue { trading, prices, .. } = venue;
        let mut text = format!(
            "[broker]\nbase_url = \"{trading}\"\nprice_url = \"{prices}\"\nrequests_per_second = 0\n\
             [risk]\ndaily_loss_limit = {loss_limit}{SETTINGS}"
        );
        for (number, pair) in PAIRS.iter().enumerate() {
            let (name, stake) = (pair.name, 10 * (number + 1));
            let _ = write!(
                text,
                "[[bots]]\nname = \"bot-{number}\"\nsymbol = \"{name}\"\ninterval = \"5s\"\nstrategy = \"coin\"\n\
                 close_type = \"00:05\"\nexpiration_type = \"TIME_FIXED\"\nparams = {{ seed = {number}, share = 1.0 }}\n\
                 stake = {{ kind = \"fixed\", amount = {stake} }}\n"
            );
        }
        let credentials = venue.credentials();
        let folder = Folder::new()
            .with("bots.toml", &text)
            .with_variable("CANDLEWICK_BROKER__API_TOKEN", &credentials.token)
            .with_variable("CANDLEWICK_BROKER__API_KEY", &credentials.key);
        Self { folder }
    }

    pub(crate) fn start(&self, seconds: u64) -> Child {
        let span = format!("{seconds}s");
        let arguments = ["live", "--config", "bots.toml", "--journal", "run.db", "--json", "--for", &span];
        let mut command = self.folder.command(&arguments);
        command.stdout(File::create(self.folder.path("out")).unwrap());
        command.stderr(File::create(self.folder.path("log")).unwrap());
        command.spawn().unwrap()
    }

    fn ask(&self, command: &str) -> (Value, String) {
        let run = self.folder.run(&[command, "--journal", "run.db", "--json"]);
        (serde_json::from_str(&run.stdout).unwrap_or_default(), run.stdout + &run.stderr)
    }

    pub(crate) fn finish(&self, mut child: Child, seconds: u64) -> Output {
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
        let ((status, status_text), (trades, trades_text)) = (self.ask("status"), self.ask("trades"));
        let out = self.read("out");
        Output {
            code,
            ended_at,
            events: out.lines().filter_map(|line| serde_json::from_str(line).ok()).collect(),
            status,
            trades: trades.as_array().cloned().unwrap_or_default(),
            printed: [out, self.read("log"), status_text, trades_text].concat(),
            journal: self.read("run.db") + &self.read("run.db-wal"),
        }
    }

    pub(crate) fn read(&self, name: &str) -> String {
        let bytes = std::fs::read(self.folder.path(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Output {
    pub(crate) fn halts(&self) -> Vec<(i64, String)> {
        let halted = self.events.iter().filter(|event| event["event"] == "halted");
        let reason = |event: &Value| event["reason"].as_str().unwrap_or_default().to_owned();
        halted.map(|event| (event["at"].as_i64().unwrap_or_default(), reason(event))).collect()
    }
}
