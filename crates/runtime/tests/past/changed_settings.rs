//! Starts with other bots than the previous run: resumed from its last snapshot, equal to reading the whole journal.

use crate::prelude::*;
use crate::snapshots::state_under;
use candlewick_journal::Journal as _;

/// Bots by name, symbol and first stake; names that begin with "l" have ladders.
fn with_bots(bots: &[(&str, &str, i64)]) -> SessionSettings {
    let base = settings();
    let bot = |(name, symbol, amount): &(&str, &str, i64)| {
        let mut bot =
            BotSettings { name: (*name).to_owned(), symbol: symbol.parse().unwrap(), ..base.bots[0].clone() };
        match &mut bot.stake {
            StakeSettings::Martingale { amount: first, .. } if name.starts_with('l') => {
                *first = Decimal::from(*amount);
            }
            stake => *stake = StakeSettings::Fixed { amount: Decimal::from(*amount) },
        }
        bot
    };
    SessionSettings { bots: bots.iter().map(bot).collect(), ..base.clone() }
}

async fn check(remember: Option<Millis>) {
    let all = [
        with_bots(&[("ladder", "BTCUSDT", 10)]),
        with_bots(&[("ladder", "BTCUSDT", 10), ("one", "ETHUSDT", 10)]),
        with_bots(&[("two", "XRPUSDT", 10), ("ladder", "BTCUSDT", 10), ("one", "ETHUSDT", 10)]),
        with_bots(&[("two", "XRPUSDT", 7), ("ladder", "BTCUSDT", 20), ("one", "ETHUSDT", 10)]),
        // The bot is gone while a trade of it is in doubt, and another bot trades its symbol.
        with_bots(&[("one", "BTCUSDT", 10), ("two", "XRPUSDT", 7)]),
        with_bots(&[("three", "BTCUSDT", 5), ("one", "SOLUSDT", 10)]),
        with_bots(&[("least", "BTCUSDT", 5), ("three", "ETHUSDT", 5)]),
    ];
    let mut folder = Folder::new();
    (folder.remember, folder.ends_in_doubt) = (remember, false);
    folder.run_under(false, &all[0]).await;
    for (number, own) in all.iter().enumerate().skip(1) {
        let (whole, found) = (folder.read_whole_under(own).await, folder.read_under(own).await.unwrap());
        assert_eq!((found.notice(), whole.notice()), (None, None), "start {number}");
        let (found_state, expected) = (state_under(&found, own), state_under(&whole, own));
        assert_eq!(found_state.0, expected.0, "start {number}");
        let left = found.recovered().evicted_count();
        if remember.is_none() {
            assert_eq!((found_state.1, left), (expected.1, 0), "start {number}");
        }
        let [few, rows] = [&found, &whole].map(|fold| fold.recovered().book().rows());
        assert_eq!(few.len() as u64 + left, rows.len() as u64, "start {number}");
        for row in few {
            let same = whole.recovered().book().row(row.approved.intent()).unwrap();
            assert_eq!((row.approved, row.state), (same.approved, same.state), "start {number}");
        }
        let (read, lines) = (found.lines_read(), whole.lines_read());
        let most = if matches!(number, 3 | 5) { 600 } else { 150 };
        assert!(read < most && lines > read + 100, "start {number} read {read} of {lines} entries");
        folder.ends_in_doubt = number == 3;
        folder.run_under(number % 2 == 0, own).await;
    }
    if remember.is_some() {
        let last = folder.read_under(&all[6]).await.unwrap();
        assert!(last.recovered().evicted_count() > 100, "{}", last.recovered().evicted_count());
    }
    let check = folder.check().await;
    let (pieces, whole) = folder.snapshots().await;
    assert!(pieces as u64 > whole + 7, "{pieces} pieces, {whole} whole");
    assert!(matches!(check.tables, TablesCheck::Sound { .. }), "{:?}", check.tables);
}

#[tokio::test]
async fn start_with_other_bots_resumes_from_the_last_snapshot_to_the_same_state() {
    for remember in [None, Some(Millis::HOUR)] {
        Box::pin(check(remember)).await;
    }
}

#[tokio::test]
async fn returning_bot_or_changed_ladder_reads_the_whole_journal_and_says_so() {
    let folder = Folder::new();
    let one = ("one", "ETHUSDT", 10);
    folder.run_under(false, &with_bots(&[("ladder", "BTCUSDT", 10), one])).await;
    folder.run_under(false, &with_bots(&[one])).await;
    let why = async |own: &SessionSettings| {
        let found = folder.read_under(own).await.unwrap();
        assert_eq!(state_under(&found, own), state_under(&folder.read_whole_under(own).await, own));
        found.notice().unwrap().clone()
    };
    let back = why(&with_bots(&[("ladder", "BTCUSDT", 10), one])).await;
    let expected = "other settings: bot \"ladder\" was missing in the last run";
    assert!(back.contains(expected), "{back}");
    let bot = with_bots(&[("lone", "ETHUSDT", 10)]).bots.pop().unwrap();
    let bot = BotSettings { name: "one".to_owned(), ..bot };
    let own = SessionSettings { bots: vec![bot], ..with_bots(&[one]) };
    let ladder = why(&own).await;
    assert!(ladder.contains("bot \"one\" has a changed stake, which must be recomputed"), "{ladder}");
}

/// Each part says whether its numbers refer to other bots, which is invalid for later parts.
#[tokio::test]
async fn journal_stays_valid_when_settings_change_back_and_forth() {
    let (one, two) =
        (with_bots(&[("a", "BTCUSDT", 10)]), with_bots(&[("b", "ETHUSDT", 10), ("a", "BTCUSDT", 10)]));
    let mut folder = Folder::new();
    folder.ends_in_doubt = false;
    let format = async |folder: &Folder| {
        let lines = folder.lines().await;
        let whole = lines.iter().rfind(|stored| stored.line.body.starts_with("{\"snapshot\":")).unwrap();
        let whole: serde_json::Value = serde_json::from_str(&whole.line.body).unwrap();
        let names = whole.pointer("/snapshot/gain/names_before").is_some();
        (whole.pointer("/snapshot/format").unwrap().as_u64().unwrap(), names)
    };
    let parts = async |folder: &Folder| {
        let (pieces, whole) = folder.snapshots().await;
        pieces as u64 - whole
    };
    folder.run_under(false, &one).await;
    let written = parts(&folder).await;
    assert!(written > 1, "{written} parts");
    assert_eq!(format(&folder).await, (4, false));
    folder.part = 1_000;
    folder.run_under(false, &two).await;
    assert_eq!((format(&folder).await, parts(&folder).await), ((5, true), written));
    folder.run_under(false, &one).await;
    assert_eq!((format(&folder).await, parts(&folder).await), ((4, false), written));
    folder.check().await;
}

#[tokio::test]
async fn abandoned_start_writes_no_snapshot() {
    let all = [10, 11, 12].map(|amount| with_bots(&[("one", "ETHUSDT", amount)]));
    let folder = Folder::new();
    folder.run_under(true, &all[0]).await;
    let kept = folder.snapshots().await;
    let (_session, _past, _now, mut journal) = folder.start_under(&all[1]).await;
    let behind = folder.read_under(&all[1]).await.unwrap().lines_read();
    assert!(behind >= u64::from(EVERY) / 10, "{behind} entries are worth a snapshot at the end of a run");
    assert!(!journal.is_snapshot_due());
    journal.close().await.unwrap();
    assert_eq!(folder.snapshots().await, kept);
    let (whole, found) = (folder.read_whole_under(&all[2]).await, folder.read_under(&all[2]).await.unwrap());
    assert_eq!(found.notice(), None);
    assert_eq!(state_under(&found, &all[2]), state_under(&whole, &all[2]));
    assert!(found.lines_read() < whole.lines_read(), "the fold must start at a snapshot");
    folder.run_under(false, &all[2]).await;
    assert!(folder.snapshots().await.1 > kept.1);
    assert_eq!(folder.read_under(&all[0]).await.unwrap().notice(), None);
    folder.check().await;
}

#[tokio::test]
async fn reports_why_the_settings_of_a_snapshot_are_unknown() {
    let [before, own] = [10, 11].map(|amount| with_bots(&[("one", "ETHUSDT", amount)]));
    let folder = Folder::new();
    folder.run_under(false, &before).await;
    let read = folder.read_under(&own).await.unwrap();
    assert_eq!(read.notice(), None, "the settings are known");
    let expect = async |folder: &Folder, expected: &str| {
        let (mut reader, mut reasons) = (folder.reader().await, Vec::new());
        let mut watch = |reading: FullReadProgress<'_>| reasons.extend(reading.reason.map(str::to_owned));
        drop(JournalFold::read_with_progress(&mut reader, &own, 0, None, &mut watch).await);
        let why = reasons.swap_remove(0);
        let end = format!("the whole journal is read: it was written with other settings, and {expected}");
        assert!(why.ends_with(&end), "{why}");
    };
    for (from, to, expected) in [
        ("\"interval\":", "\"interval_of\":", "the settings of the previous run cannot be read"),
        ("\"one\"", "\"two\"", "these are not the settings of the previous run"),
    ] {
        let other = folder.rewritten(true, |stored| match stored.seq {
            1 => stored.line.body.replace(from, to),
            _ => stored.line.body.clone(),
        });
        expect(&other.await, expected).await;
    }
    folder.change("UPDATE entries SET body = body || ' ' WHERE seq = 1").await;
    expect(&folder, "the header in entry 1 is damaged").await;
}
