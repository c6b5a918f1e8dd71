//! Starts with real money, against a sandbox whose real wallet accepts trades.
#![cfg(unix)]

use crate::candlewick::{Folder, Run};
use crate::consecutive_runs::{BOT, judged, read_trades, run_until, venue_and_bot};
use crate::recording::{lines, write};
use crate::serving::Served;
use candlewick_journal::{Line, LineKind};
use serde_json::{Value, json};

const LIVE_REAL: [&str; 6] = ["live", "--real", "--config", "bot.toml", "--json", "--quiet"];

struct Fixture {
    folder: Folder,
    _served: Served,
}

impl Fixture {
    fn new() -> Self {
        // The sandbox refuses a real-money configuration, so the bot's is written after it has started.
        let (served, folder) = venue_and_bot("[sandbox]\nwallet = \"real\"\n");
        // At one trade a day, a journal cut after its first intent knows every trade of the venue.
        let real = "[account]\nmode = \"real\"\n[risk]\nmax_trades_per_day = 1";
        let folder = folder.with("bot.toml", &BOT.replace("[risk]", real));
        Self { folder: folder.with_variable("CANDLEWICK_ALLOW_REAL", "yes"), _served: served }
    }

    fn live(&self, journal: &str) -> Run {
        self.folder.run(&[&LIVE_REAL[..], &["--journal", journal, "--for", "1s"]].concat())
    }

    fn losses(&self, from: &str, count: u64) -> Vec<Line> {
        let recorded = lines(&self.folder.path(from));
        let open = recorded.iter().find(|stored| stored.line.body.contains("\"action\":\"open\"")).unwrap();
        let (at, received) = (open.line.at, open.line.received);
        let trade = |number: u64| {
            let intent = Some(number);
            let mut body: Value = serde_json::from_str(&open.line.body).unwrap();
            body["intent"] = number.into();
            let opened = Line { intent, body: body.to_string(), ..open.line.clone() };
            let body = json!({
                "at": at, "received": received, "event": "settled", "intent": number, "outcome": "LOST",
                "profit": -1_000, "open_time": null, "open_price": null, "close_time": null, "close_price": null,
                "payout": 80.0,
            });
            [opened, Line { run: 1, kind: LineKind::Event, intent, at, received, body: body.to_string() }]
        };
        (1..=count).flat_map(trade).collect()
    }

    fn cut(&self, from: &str, part: &str, to: &str, more: Vec<Line>) {
        let recorded = lines(&self.folder.path(from));
        let end = recorded.iter().position(|stored| stored.line.body.contains(part)).unwrap();
        let kept = recorded[..=end].iter().map(|stored| stored.line.clone());
        write(&self.folder.path(to), kept.chain(more));
    }
}

#[test]
fn trades_real_money_after_a_summary_but_not_with_doubts_or_a_rejected_edge() {
    let fixture = Fixture::new();
    let traded = [&LIVE_REAL[..], &["--journal", "run.db"]].concat();
    let run = run_until(&fixture.folder, &traded, || judged(&fixture.folder, "run.db") > 0);
    assert!(run.json()["trades"].as_u64() > Some(0), "{}", run.stdout);
    assert!(run.stderr.contains("trades REAL MONEY: the real wallets hold 10000."), "{}", run.stderr);
    let header = &lines(&fixture.folder.path("run.db"))[0].line.body;
    assert!(header.contains("\"trading\":\"real\""), "{header}");
    // A crash right after the first intent became durable: the venue has its trade.
    fixture.cut("run.db", "\"action\":\"open\",\"intent\":1,", "crashed.db", Vec::new());
    let run = fixture.live("crashed.db");
    run.fails(6, &["trade #1", "candlewick resolve 1 --adopt VENUE_ID"]);
    assert!(!run.stderr.contains("trades REAL MONEY"), "{}", run.stderr);
    let traded = read_trades(&fixture.folder, "run.db");
    let venue_id = traded[0]["venue_id"].as_str().unwrap();
    let resolve = ["resolve", "1", "--adopt", venue_id, "--journal", "crashed.db", "--config", "bot.toml"];
    let resolved = fixture.folder.run(&resolve);
    assert_eq!(resolved.code, 0, "the refused start no longer holds the journal: {}", resolved.stderr);
    let again = fixture.live("crashed.db");
    assert_eq!(again.code, 0, "{}{}", again.stdout, again.stderr);
    // A losing streak that no edge survives.
    fixture.cut("run.db", "\"event\":\"balance\"", "rejected.db", fixture.losses("run.db", 100));
    fixture.live("rejected.db").fails(6, &["real money", "btc"]);
}

#[test]
fn never_stakes_the_wallet_of_the_other_mode() {
    let fixture = Fixture::new();
    let demo = "[account]\nmode = \"demo\"\n[risk]\nmax_drawdown_percent = 0\n";
    std::fs::write(fixture.folder.path("demo.toml"), demo).unwrap();
    let demo = ["live", "--config", "bot.toml", "--config", "demo.toml", "--json", "--quiet"];
    let empty = fixture.folder.run(&[&demo[..], &["--journal", "demo.db"]].concat());
    empty.fails(2, &["the demo wallet holds 0.00"]);
    let real = fixture.live("real.db");
    assert!(real.stderr.contains("the real wallets hold 10000."), "{}", real.stderr);
}
