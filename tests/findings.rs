//! Every finding is brought about by a run that has what it names, and not by the same run without it.

use crate::candlewick::Folder;
use serde_json::Value;
use std::fmt::Write as _;
use std::ops::Range;

/// 2026-01-05 00:00 UTC.
const MONDAY: i64 = 1_767_571_200_000;
const MINUTE: i64 = 60_000;

/// What a trade of the candles below comes to.
#[derive(Clone, Copy, PartialEq)]
enum Ending {
    Won,
    Lost,
    /// No trade in this minute.
    Idle,
}

use Ending::{Idle, Lost, Won};

/// A venue without delays, and a bot that trades its list for one minute.
const BOT: &str = "[simulation]\nlatency_ms = 0\nopen_rounding = \"none\"\n[risk]\ndaily_loss_limit = 0\n\
                   max_drawdown_percent = 0\nmax_trades_per_day = 0\nmax_ruin_probability = 0\nmax_open_trades = 0\n\
                   max_open_trades_per_symbol = 5\nallow_opposite = true\nallow_duplicate = true\n[account]\n\
                   initial_balance = 100000\n[variants]\nledger = \"\"\n[[bots]]\nname = \"a\"\nsymbol = \"BTCUSDT\"\n\
                   interval = \"1m\"\nstrategy = \"signal-list\"\nparams = { file = \"list.csv\" }\nclose_type = \"01:00\"\n";

/// The price at the start of a minute: up, down, up, down.
const fn price(minute: i64) -> i64 {
    100 + minute % 2
}

fn row(time: i64, open: i64, close: i64) -> String {
    format!("{time},{open},{},{},{close},1\n", open.max(close), open.min(close))
}

fn minutes(minutes: impl Iterator<Item = i64>, close: impl Fn(i64) -> i64) -> String {
    let rows = minutes.map(|minute| row(MONDAY + minute * MINUTE, price(minute), close(minute)));
    "time,open,high,low,close,volume\n".to_owned() + &rows.collect::<String>()
}

/// Signals so that the trade of each minute, the second one first, ends as it is to.
fn list(endings: &[Ending]) -> String {
    let mut text = "time,symbol,direction\n".to_owned();
    for (minute, ending) in (1..).zip(endings) {
        let is_up = price(minute + 1) > price(minute);
        let direction = if is_up == (*ending == Won) { "BUY" } else { "SELL" };
        if *ending != Idle {
            let _ = writeln!(text, "{},BTCUSDT,{direction}", MONDAY + minute * MINUTE);
        }
    }
    text
}

fn folder(endings: &[Ending], settings: &str) -> Folder {
    let count = endings.len() as i64 + 2;
    Folder::new()
        .with("bot.toml", &format!("{BOT}{settings}"))
        .with("list.csv", &list(endings))
        .with("BTCUSDT_1m.csv", &minutes(0..count, |minute| price(minute + 1)))
}

fn backtest(folder: &Folder, more: &[&str]) -> Value {
    folder.run(&[&["backtest", "--config", "bot.toml", "--json"], more].concat()).json()
}

fn of_file(folder: &Folder) -> Value {
    backtest(folder, &["--data", "BTCUSDT_1m.csv"])
}

/// The text of a finding, if it was found.
fn found<'a>(report: &'a Value, kind: &str) -> Option<&'a str> {
    let findings = report["findings"].as_array().unwrap();
    let one = findings.iter().find(|finding| finding["kind"] == kind);
    one.map(|finding| finding["text"].as_str().unwrap())
}

/// The first report has the finding, and says so; the second has not.
#[track_caller]
fn check(kind: &str, with: &Value, says: &str, without: &Value) {
    let text = found(with, kind).unwrap_or_else(|| panic!("no {kind} in {}", with["findings"]));
    assert!(text.contains(says), "{text}");
    assert_eq!(found(without, kind), None, "{}", without["findings"]);
}

#[test]
fn too_few_trades() {
    let [few, many] = [30, 250].map(|pairs| of_file(&folder(&[Won, Lost].repeat(pairs), "")));
    check("too_few_trades", &few, "60 that were won or lost", &many);
}

#[test]
fn a_limit_that_only_a_person_lifts() {
    let run = |most: u32| {
        let settings = format!("[risk]\nmax_loss_streak = {most}\n");
        let folder = folder(&[Lost; 100], "").with("more.toml", &settings);
        backtest(&folder, &["--data", "BTCUSDT_1m.csv", "--config", "more.toml"])
    };
    // Decided at minutes 1, 2, 3 and 4, when the third loss is not known yet; the candles end with minute 102.
    check(
        "halted_early",
        &run(3),
        "No trade was opened after 2026-01-05 00:04 UTC: LossStreak refused what came then (96 signals), and 98 candles",
        &run(0),
    );
}

#[test]
fn an_edge_that_the_trades_since_do_not_support() {
    let wins = of_file(&folder(&[Won; 200], ""));
    let needed = wins["edge"]["shown"]["after_trades"].as_u64().unwrap() as usize;
    // A payout of 80 needs 55.56 %; of 400 trades 220 are won, or 300.
    let then = |won: usize| [vec![Won; won], vec![Lost; 20 - won]].concat().repeat(20);
    let [gone, held] = [11, 15].map(|won| of_file(&folder(&[vec![Won; needed], then(won)].concat(), "")));
    check("edge_did_not_last", &gone, "of the 400 trades since 55.00 % won where 55.56 % are needed", &held);
    let [gone, held] = [gone, held].map(|report| report["edge"]["shown"].clone());
    assert_eq!((&gone["won_since"], &gone["lost_since"]), (&220.into(), &180.into()));
    assert_eq!((&gone["is_supported_since"], &held["is_supported_since"]), (&false.into(), &true.into()));
}

#[test]
fn a_verdict_on_trades_in_a_file_says_when_it_was_reached_and_what_came_since() {
    let file = |endings: &[Ending]| {
        let row = |ending: &Ending| if *ending == Won { "won,80\n" } else { "lost,80\n" };
        Folder::new()
            .with("t.csv", &("result,payout\n".to_owned() + &endings.iter().map(row).collect::<String>()))
    };
    let of_trades = ["edge", "verdict", "--trades", "t.csv"];
    let verdict = |folder: &Folder| folder.run(&[&of_trades[..], &["--json"]].concat()).json();
    let five_of_eight = [Won, Won, Won, Won, Won, Lost, Lost, Lost].repeat(75);
    let needed = verdict(&file(&five_of_eight))["all"]["shown"]["after_trades"].as_u64().unwrap() as usize;
    let then = [vec![Won; 11], vec![Lost; 9]].concat().repeat(20);
    let gone = file(&[five_of_eight[..needed].to_vec(), then].concat());
    let report = verdict(&gone);
    assert_eq!(report["all"]["verdict"], "edge_shown");
    assert!(found(&report, "edge_did_not_last").is_some(), "{report}");
    let text = gone.run(&of_trades).stdout;
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        &format!("edge shown after trade {needed} of {}; of 400 since", needed + 400),
        "of 400 since then 55.00 % won where 55.56 % are needed",
        "the 95 % interval holds 0 all the same",
        "serious The edge did not last",
    ] {
        assert!(words.contains(part), "no {part} in {text}");
    }
}

#[test]
fn a_profit_of_one_hour() {
    // How its trades end, and how many minutes lie between them, hour by hour.
    let hours = |of: [(Ending, usize); 3]| {
        let hour =
            |(ending, every)| (0..60).map(move |minute| if minute % every == 0 { ending } else { Idle });
        of_file(&folder(&of.into_iter().flat_map(hour).collect::<Vec<_>>(), ""))
    };
    // 15 wins at payout 80 are 12 stakes; four losses and four take eight.
    let one = hours([(Won, 4), (Lost, 15), (Lost, 15)]);
    let several = hours([(Won, 4), (Won, 15), (Won, 15)]);
    check("one_hour_only", &one, "from 00:00 UTC", &several);
}

#[test]
fn a_profit_that_a_second_takes() {
    // Each minute is level but for its first second, in which the price jumps by 3 and comes back to 1 above or below.
    let seconds = |jump: i64| {
        let mut text = "time,open,high,low,close,volume\n".to_owned();
        for minute in 0..64 {
            let (from, to) = (price(minute), price(minute + 1));
            let peak = from + jump * (to - from);
            for second in 0..60 {
                let [open, close] = match second {
                    0 => [from, peak],
                    59 => [peak, to],
                    _ => [peak, peak],
                };
                text.push_str(&row(MONDAY + minute * MINUTE + second * 1_000, open, close));
            }
        }
        text
    };
    let run = |jump| {
        let folder = folder(&[Won; 62], "").with("BTCUSDT_1s.csv", &seconds(jump));
        backtest(&folder, &["--data", "BTCUSDT_1m.csv", "--data", "BTCUSDT_1s.csv", "--sensitivity"])
    };
    check("dies_of_latency", &run(3), "at 1000 ms", &run(0));
}

#[test]
fn a_payout_above_the_one_that_was_paid() {
    let folder = folder(&[Won; 60], "");
    let live = ["live", "--sandbox", "--data", "BTCUSDT_1m.csv", "--config", "bot.toml", "--speed", "max"];
    let live =
        folder.run(&[&live[..], &["--until-end", "--journal", "run.db", "--quiet", "--json"]].concat());
    assert!(live.json()["trades"].as_u64() > Some(30), "{}", live.stdout);
    let folder = folder.with("more.toml", "[simulation]\npayout_percent = 92\n");
    let recorded = ["--data", "BTCUSDT_1m.csv", "--latency-from", "run.db"];
    let with = backtest(&folder, &[&recorded[..], &["--config", "more.toml"]].concat());
    check(
        "assumed_payout",
        &with,
        "92.0 % is assumed, but the venue paid 80.0 %",
        &backtest(&folder, &recorded),
    );
}

#[cfg(unix)]
#[test]
fn a_payout_above_the_one_that_a_live_run_is_paid() {
    use crate::two_runs::{judged, run_until, venue_and_bot};

    let run = |payout: u32| {
        let (_served, folder) = venue_and_bot(&format!("[simulation]\npayout_percent = {payout}\n"));
        let live = ["live", "--config", "bot.toml", "--journal", "run.db", "--json", "--quiet"];
        let live = run_until(&folder, &live, || judged(&folder, "run.db") > 0).json();
        assert!(live["trades"].as_u64() > Some(0), "{live}");
        (live, folder.run(&["report", "--journal", "run.db", "--json"]).json())
    };
    let ((less, less_later), (same, same_later)) = (run(70), run(80));
    let says = "80.0 % is assumed, but the venue paid 70.0 %";
    check("assumed_payout", &less, says, &same);
    check("assumed_payout", &less_later, says, &same_later);
}

#[test]
fn candles_that_are_missing() {
    let whole = folder(&[Won; 60], "");
    let gappy = folder(&[Won; 60], "").with(
        "BTCUSDT_1m.csv",
        &minutes((0..62).filter(|minute| !(20..40).contains(minute)), |minute| price(minute + 1)),
    );
    check("gaps", &of_file(&gappy), "20 candles are missing", &of_file(&whole));
}

#[test]
fn trades_that_draw() {
    let moving = folder(&[Won; 60], "");
    // Every third minute stands still, and opens where it should.
    let still = folder(&[Won; 60], "").with(
        "BTCUSDT_1m.csv",
        &minutes(0..62, |minute| if minute % 3 == 0 { price(minute) } else { price(minute + 1) }),
    );
    check("draw_share", &of_file(&still), "of the trades drew", &of_file(&moving));
}

/// Each minute goes from 100 straight to 101 or to 103: 3 s after its start the price is 100.05 or 100.15, and in whole steps 100.
#[test]
fn trades_that_would_draw_in_the_price_steps_of_the_candles() {
    let rows =
        (0..62).map(|minute| row(MONDAY + minute * MINUTE, 100, if minute % 2 == 0 { 101 } else { 103 }));
    let candles = "time,open,high,low,close,volume\n".to_owned() + &rows.collect::<String>();
    let late = "[simulation]\nlatency_ms = 3000\n";
    let folder = folder(&[Won; 60], "")
        .with("BTCUSDT_1m.csv", &candles)
        .with("late.toml", late)
        .with("steps.toml", &format!("{late}[simulation.ticks]\nBTCUSDT = 1.0\n"));
    let run = |file: &str| backtest(&folder, &["--data", "BTCUSDT_1m.csv", "--config", file]);
    let (bare, stepped) = (run("late.toml"), run("steps.toml"));
    let says = "0.0 % of the trades drew, and 100.0 % would have in the price steps of the candles";
    check("no_price_step", &bare, says, &stepped);
    assert_eq!(stepped["draw"], stepped["trades"], "as the finding says: {stepped}");
}

#[test]
fn a_ladder_that_hides_losses() {
    // Each is over before the next one, so that the ladder knows.
    let endings = [Lost, Idle, Won, Idle].repeat(15);
    let run = |stake: &str| of_file(&folder(&endings, stake));
    let ladder = run("stake = { kind = \"martingale\", amount = 10, factor = 3, levels = 2 }\n");
    assert!(ladder["pnl"].as_f64() > Some(0.0), "{ladder}");
    check("ladder_hides_losses", &ladder, "The ladder of a hides losses", &run(""));
}

#[test]
fn candles_that_were_revised() {
    let import = |folder: Folder, raised: Range<i64>| {
        let close = |minute| price(minute + 1) + i64::from(raised.contains(&minute));
        let folder = folder.with("BTCUSDT_1m.csv", &minutes(0..62, close));
        let run = folder.run(&["data", "import", "BTCUSDT_1m.csv", "--catalog", "candles"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        folder
    };
    let run = |folder: &Folder, more: &[&str]| backtest(folder, &[&["--catalog", "candles"], more].concat());
    let folder = import(folder(&[Won; 60], ""), 0..0);
    let steady = run(&folder, &[]);
    let folder = import(folder, 50..53);
    let revised = run(&folder, &[]);
    check("data_revised", &revised, "3 values of these candles were revised", &steady);
    // The run is the one that a live bot would have had; of hours without a revision nothing is said.
    assert_eq!(revised["journal_hash"], steady["journal_hash"]);
    let before = run(&folder, &["--to", "2026-01-05T00:50:00Z"]);
    check("data_revised", &revised, "3 values", &before);
}

#[test]
fn many_variants_on_the_same_candles() {
    let folder = folder(&[Won; 60], "")
        .with("on.toml", "[variants]\nledger = \"tried.jsonl\"\n")
        .with("other.toml", "[risk]\nmax_trades_per_hour = 7\n");
    let run = |more: &[&str]| {
        let data = ["--data", "BTCUSDT_1m.csv", "--config", "on.toml"];
        backtest(&folder, &[&data[..], more].concat())
    };
    let first = run(&["--to", "2026-01-05T00:40:00Z"]);
    let second = run(&["--config", "other.toml", "--to", "2026-01-05T00:40:00Z"]);
    check("many_variants", &second, "2 variants of this idea were tried", &first);
    // On candles that the first has not seen, the choice is not in-sample only.
    let third = run(&["--config", "other.toml"]);
    check("in_sample_only", &second, "other variants ran on all of these candles", &third);
}

#[test]
fn a_result_that_is_too_good() {
    let [all, half] = [[Won; 4], [Won, Won, Lost, Lost]].map(|group| of_file(&folder(&group.repeat(50), "")));
    check("too_good", &all, "100.0 % of 200 trades won", &half);
    assert!(found(&all, "too_good").unwrap().contains("look-ahead"));
}

#[test]
fn a_payout_that_nobody_pays() {
    let folder = folder(&[Won, Lost].repeat(30), "")
        .with("low.toml", "[simulation]\npayout_percent = 2.5\n")
        .with("high.toml", "[simulation]\npayout_percent = 350\n");
    let data = ["--data", "BTCUSDT_1m.csv", "--config"];
    let [low, high] = ["low.toml", "high.toml"].map(|file| backtest(&folder, &[&data[..], &[file]].concat()));
    check("unusual_payout", &low, "2.5 % is assumed: venues are seen to pay 60 to 92 %", &of_file(&folder));
    check("unusual_payout", &high, "350.0 % is assumed: a coin toss earns money at it", &of_file(&folder));
}

#[test]
fn signals_that_one_rule_refused_are_the_headline() {
    let folder = folder(&[Won, Lost].repeat(30), "")
        .with("strict.toml", "[risk]\nhours = [{ from = \"12:00\", to = \"13:00\" }]\n");
    let strict = ["--data", "BTCUSDT_1m.csv", "--config", "strict.toml"];
    let says = "All 60 signals were refused by one rule, OutsideHours: nothing was traded";
    check("refused_by_one_rule", &backtest(&folder, &strict), says, &of_file(&folder));
    let printed = folder.run(&[&["backtest", "--config", "bot.toml"], &strict[..]].concat()).stdout;
    assert!(printed.starts_with(says), "{printed}");
}

#[test]
fn many_trades_that_are_one_group() {
    let apart = folder(&[Won, Idle].repeat(120), "");
    let together = folder(&[Won; 240], "")
        .with("bot.toml", &BOT.replace("01:00", "25:00").replace("per_symbol = 5", "per_symbol = 0"));
    check("few_clusters", &of_file(&together), "trades of which only", &of_file(&apart));
}

#[test]
fn outcomes_in_regimes() {
    let spells = [[Won; 10], [Lost; 10]].concat().repeat(20);
    // Steps of a generator that Knuth gives, by one of their high bits.
    let coin = |place: u32| {
        (0..=place).fold(1_u32, |seed, _| seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223))
    };
    let tossed: Vec<Ending> =
        (0..400).map(|place| if coin(place) >> 28 & 1 == 1 { Won } else { Lost }).collect();
    let [spells, tossed] = [spells, tossed].map(|endings| of_file(&folder(&endings, "")));
    check("regimes", &spells, "Wins and losses come in streaks", &tossed);
}
