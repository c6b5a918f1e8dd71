//! Edits to a watched list during a run, on a virtual clock.

use super::*;
use crate::configuration::{BaseLayer, Flag};
use candlewick_broker::clock::{Speed, VirtualClock};
use candlewick_runtime::control::{ControlAnswer, ControlOrder, ControlRequest, SignalOutcome};
use candlewick_sandbox::parse_time;
use std::collections::BTreeMap;
use std::sync::Arc;
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

const BOTS: &str = "[[bots]]\nname = \"btc\"\nsymbol = \"BTCUSDT\"\ninterval = \"1m\"\nstrategy = \"coin\"\nclose_type = \"01:00\"\n\
                    [[bots]]\nname = \"eur\"\nsymbol = \"EURUSD\"\ninterval = \"1m\"\nstrategy = \"coin\"\nclose_type = \"01:00\"\n";

fn at(text: &str) -> Millis {
    parse_time(text).unwrap()
}

fn loaded(folder: &TempDir, list: &str) -> LoadedConfig {
    let (file, path) = (folder.path().join("bot.toml"), folder.path().join("list.csv"));
    std::fs::write(&path, list).unwrap();
    let section =
        format!("[signals]\nlist = {:?}\ntimezone = \"Europe/Berlin\"\n{BOTS}", path.display().to_string());
    std::fs::write(&file, section).unwrap();
    LoadedConfig::read(&[file], BaseLayer::Bare, Vec::<Flag>::new()).unwrap()
}

fn watch_list(loaded: &LoadedConfig, now: Millis) -> WatchedList {
    WatchedList::new(SignalList::load(loaded).unwrap().unwrap(), loaded, now)
}

const HOURS: u64 = 6;

fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

type Rows = BTreeMap<(u64, usize), usize>;

fn write_csv(rows: &Rows, state: &mut u64) -> String {
    let mut lines: Vec<String> = Vec::new();
    for ((minute, bot), zone) in rows {
        let (bot, zone) = (["btc", "eur"][*bot], ["Europe/Berlin", "America/New_York", ""][*zone]);
        lines.push(format!("{:02}:{:02},{bot},BUY,{zone}", minute / 60, minute % 60));
    }
    for index in (1..lines.len()).rev() {
        lines.swap(index, next(state) as usize % (index + 1));
    }
    format!("time,bot,direction,zone\n{}\n", lines.join("\n"))
}

#[test]
fn sends_each_entry_of_an_edited_list_once() {
    for (from, to) in [
        ("2026-03-29T00:00", "2026-03-29T02:30"),
        ("2026-10-24T23:30", "2026-10-25T02:00"),
        ("2026-11-01T05:00", "2026-11-01T07:30"),
        ("2026-07-01T22:00", "2026-07-02T00:30"),
    ] {
        check_edited(at(from), at(to));
    }
}

/// Entries that are listed when due must be sent. Entries added up to 5 s later may be sent.
fn check_edited(from: Millis, to: Millis) {
    let (folder, mut state) = (tempfile::tempdir().unwrap(), 2_026);
    let row = |number: u64| ((number * HOURS * 60 / 300, number as usize % 2), number as usize % 3);
    let mut rows: Rows = (0..300).map(row).collect();
    let loaded = loaded(&folder, &write_csv(&rows, &mut state));
    let mut watched = watch_list(&loaded, from);
    let (mut now, mut edits) = (from, 0);
    let [mut given, mut must, mut may] = [const { BTreeSet::new() }; 3];
    let moments = |list: &SignalList| -> BTreeSet<(Millis, BotId)> {
        let due = list.due_entries(from - Millis::MINUTE, to + Millis::DAY);
        due.into_iter().map(|due| (due.at, due.entry.bot)).collect()
    };
    let mut standing = moments(&watched.list);
    let within = |from: Millis, to: Millis| {
        let after = |moment: Millis| (moment + Millis::new(1), BotId::FIRST);
        after(from)..after(to)
    };
    while now < to {
        let step = now + Millis::new(1 + (next(&mut state) % 4_500) as i64);
        for due in watched.take_due_entries(step) {
            assert!(given.insert((due.at, due.entry.bot)), "{due:?} twice");
        }
        must.extend(standing.range(within(now, step)).copied());
        may.extend(standing.range(within(step - Millis::new(5_000), step)).copied());
        now = step;
        if next(&mut state).is_multiple_of(60) {
            edits += 1;
            for _ in 0..20 {
                let key = (next(&mut state) % (HOURS * 60), next(&mut state) as usize % 2);
                if rows.remove(&key).is_none() {
                    rows.insert(key, next(&mut state) as usize % 3);
                }
            }
            watched.list =
                SignalList::parse(&write_csv(&rows, &mut state), &watched.bots, watched.terms).unwrap();
            standing = moments(&watched.list);
        }
    }
    // A third of the entries are in the New York time zone.
    assert!(edits > 50 && must.len() > 20, "{edits} edits, {} entries", must.len());
    assert!(given.is_superset(&must), "from {from}: {:?}", must.difference(&given));
    assert!(given.is_subset(&may), "from {from}: {:?}", given.difference(&may));
}

async fn run(mut orders: mpsc::Receiver<ControlRequest>, told: mpsc::UnboundedSender<String>) {
    while let Some(ControlRequest { order, answer, .. }) = orders.recv().await {
        let text = match order {
            ControlOrder::Signal(order) => format!("{} {}", order.bot.unwrap_or_default(), order.id),
            ControlOrder::SignalProblem { first, malformed, .. } => format!("{malformed} wrong: {first}"),
            ControlOrder::SignalNote { text, fixed, .. } if fixed.is_empty() => text,
            ControlOrder::SignalNote { text, fixed, .. } => {
                format!("resolved {}: {text}", fixed.join(", "))
            }
            ControlOrder::SignalNext { next, .. } => next.map_or("next: nothing".to_owned(), |next| {
                format!("next {} of {} at {}", next.direction, next.bot, next.at)
            }),
            _ => "status".to_owned(),
        };
        let _ = answer.send(ControlAnswer::Signal { outcome: SignalOutcome::Duplicate });
        told.send(text).unwrap();
    }
}

async fn next_message(told: &mut mpsc::UnboundedReceiver<String>) -> String {
    loop {
        let text = told.recv().await.unwrap();
        if !text.starts_with("next") {
            return text;
        }
    }
}

async fn watched(
    loaded: &LoadedConfig,
    clock: &Arc<dyn Clock>,
) -> (mpsc::UnboundedReceiver<String>, (mpsc::Sender<ControlRequest>, JoinSet<()>)) {
    let (sender, orders) = mpsc::channel(16);
    let (telling, told) = mpsc::unbounded_channel();
    let mut tasks = JoinSet::new();
    tasks.spawn(run(orders, telling));
    let (ready, is_ready) = oneshot::channel();
    let source = SignalSink::new("list", Arc::clone(clock), Arc::default(), sender.downgrade());
    tasks.spawn(watch_list(loaded, clock.now()).watch(source, ready));
    is_ready.await.unwrap();
    (told, (sender, tasks))
}

#[tokio::test(start_paused = true)]
async fn reloads_a_changed_file_and_ignores_an_invalid_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("list.csv");
    let loaded = loaded(&folder, "time,bot,direction\n10:31,btc,BUY\n10:33,btc,BUY\n");
    let clock: Arc<dyn Clock> = Arc::new(VirtualClock::new(at("2026-07-01T08:30:00"), Speed::Times(1.0)));
    let (mut told, _watching) = watched(&loaded, &clock).await;
    assert_eq!(next_message(&mut told).await, "status");
    let first = next_message(&mut told).await;
    assert!(first.contains("list.csv was read: 2 entries ("), "{first}");
    assert_eq!(told.recv().await.unwrap(), format!("next BUY of btc at {}", at("2026-07-01T08:31:00")));
    assert_eq!(next_message(&mut told).await, "btc 2026-07-01T08:31:00Z");
    assert_eq!(clock.now(), at("2026-07-01T08:31:00"));
    std::fs::write(&path, "time,bot,direction\n10:32,unlisted,BUY\n").unwrap();
    let wrong = next_message(&mut told).await;
    assert!(wrong.starts_with("1 wrong: ") && wrong.contains("line 2: unknown bot \"unlisted\""), "{wrong}");
    assert_eq!(next_message(&mut told).await, "btc 2026-07-01T08:33:00Z", "the previous list stays active");
    std::fs::write(&path, "time,bot,direction\n10:32,none,BUY\n").unwrap();
    let second = next_message(&mut told).await;
    std::fs::write(&path, "time,bot,direction\n10:34,eur,BUY\n10:33,btc,SELL\n10:35,btc,BUY\n").unwrap();
    let changed = next_message(&mut told).await;
    assert!(changed.contains("was reloaded: 3 new and 2 removed entries, now 3 entries ("), "{changed}");
    let faults = [second, wrong].map(|wrong| wrong.trim_start_matches("1 wrong: ").to_owned());
    assert!(changed.starts_with(&format!("resolved {}: ", faults.join(", "))), "{changed}");
    let mark = |s: &str| s.rsplit_once('(').map(|(_, mark)| mark.trim_end_matches(')').to_owned()).unwrap();
    let (before, after) = (mark(&first), mark(&changed));
    assert!(before != after && [&before, &after].iter().all(|mark| mark.len() == 16), "{before} {after}");
    assert_eq!(told.recv().await.unwrap(), format!("next BUY of eur at {}", at("2026-07-01T08:34:00")));
    assert_eq!(next_message(&mut told).await, "eur 2026-07-01T08:34:00Z");
    std::fs::remove_file(&path).unwrap();
    let gone = next_message(&mut told).await;
    assert!(gone.contains("is missing: its 3 entries are inactive"), "{gone}");
    tokio::time::sleep(Duration::from_hours(1)).await;
    while let Ok(text) = told.try_recv() {
        assert_eq!(text, "next: nothing");
    }
    std::fs::write(&path, "time,bot,direction\n11:40,eur,SELL\n").unwrap();
    let back = next_message(&mut told).await;
    assert!(back.contains("was reloaded: 1 new and 0 removed entries, now 1 entry ("), "{back}");
    assert!(back.starts_with(&format!("resolved {}: ", gone.trim_start_matches("1 wrong: "))), "{back}");
    assert_eq!(next_message(&mut told).await, "eur 2026-07-01T09:40:00Z");
}

#[test]
fn restarted_run_resends_only_recent_entries() {
    let folder = tempfile::tempdir().unwrap();
    let loaded = loaded(&folder, "time,bot,direction\n10:31,btc,BUY\n10:30,btc,BUY\n");
    let mut watched = watch_list(&loaded, at("2026-07-01T08:31:04"));
    assert_eq!(watched.next_due_time(), Some(at("2026-07-01T08:31:00")));
    let due: Vec<String> =
        watched.take_due_entries(at("2026-07-01T08:31:04")).iter().map(|due| due.id.to_string()).collect();
    assert_eq!(due, ["2026-07-01T08:31:00Z"]);
    assert_eq!(watched.next_due_time(), Some(at("2026-07-02T08:30:00")));
    assert_eq!(watched.take_due_entries(at("2026-07-02T09:00:00")).len(), 2);
}

/// Sao Paulo had DST until 2019. Only during DST do both lines mean the same time.
#[tokio::test(start_paused = true)]
async fn contradicting_lines_raise_an_alarm_and_trade_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let rows = "10:00,btc,BUY,America/Sao_Paulo\n12:00,btc,SELL,UTC\n12:01,btc,SELL,UTC\n";
    let loaded = loaded(&folder, &format!("time,bot,direction,zone\n{rows}"));
    let clock: Arc<dyn Clock> = Arc::new(VirtualClock::new(at("2018-12-03T11:59:00"), Speed::Times(1.0)));
    let (mut told, _watching) = watched(&loaded, &clock).await;
    assert_eq!(next_message(&mut told).await, "status");
    assert!(next_message(&mut told).await.contains("was read: 3 entries ("));
    assert_eq!(told.recv().await.unwrap(), format!("next SELL of btc at {}", at("2018-12-03T12:01:00")));
    let alarm = next_message(&mut told).await;
    assert!(
        alarm.starts_with("1 wrong: lines 2 and 3 ask btc for different trades at 2018-12-03T12"),
        "{alarm}"
    );
    assert_eq!(next_message(&mut told).await, "btc 2018-12-03T12:01:00Z");
}
