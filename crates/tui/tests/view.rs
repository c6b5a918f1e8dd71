//! Rendering of the view, driven by notices and compared as text.
#![allow(clippy::unwrap_used, reason = "a failed setup fails the test")]

use candlewick_engine::{EdgeVerdict, IntentId, IntentState, LimitUsage, Quantity, Rule};
use candlewick_runtime::control::{MarketState, Phase, RunState, SlowestCandle};
use candlewick_runtime::{BotOverview, Funds, Notice, Overview, ReceivedNotice, StopReason, TradeOverview};
use candlewick_sdk::{Direction, Millis, Money, MoneyScale, Outcome, Payout, Price, Symbol};
use candlewick_tui::ratatui::Terminal;
use candlewick_tui::ratatui::backend::TestBackend;
use candlewick_tui::ratatui::buffer::Cell;
use candlewick_tui::ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use candlewick_tui::ratatui::style::Color;
use candlewick_tui::{BotFacts, KeyCommand, Palette, RunFacts, Ui, View, draw};

/// 2026-01-05 12:00 UTC.
const NOON: Millis = Millis::new(1_767_614_400_000);

fn money(units: i64) -> Money {
    Money::from_minor(units)
}

fn symbol() -> Symbol {
    Symbol::new("BTCUSDT").unwrap()
}

fn facts() -> RunFacts {
    RunFacts {
        venue: "embedded sandbox at http://127.0.0.1:7701".to_owned(),
        wallet: "demo".to_owned(),
        journal: "sqlite://run.db".to_owned(),
        request_summary: "1.3 of 5 a second".to_owned(),
        scale: MoneyScale::default(),
        bots: vec![BotFacts { name: "btc-rsi".to_owned(), about: "rsi-reversal on BTCUSDT 1m".to_owned() }],
        symbols: vec![symbol()],
        series: Vec::new(),
    }
}

fn trade(number: u64) -> TradeOverview {
    TradeOverview {
        intent: IntentId::new(number),
        bot: 0,
        symbol: symbol(),
        direction: Direction::Buy,
        stake: money(1_000),
        state: IntentState::Open,
        decided: NOON,
        open_price: Some(97_000.5),
        close_time: Some(NOON + Millis::from_seconds(65)),
        close_price: None,
        payout: Some(Payout::from_parts(800_000).unwrap()),
        outcome: None,
        profit: Money::ZERO,
    }
}

fn settled(number: u64, outcome: Outcome, profit: i64) -> TradeOverview {
    TradeOverview {
        state: IntentState::Settled,
        outcome: Some(outcome),
        profit: money(profit),
        close_price: Some(97_010.25),
        ..trade(number)
    }
}

fn overview() -> Overview {
    let heard = Some(NOON - Millis::from_seconds(3));
    let (free, open_stakes, peak) = (money(998_000), money(1_000), money(1_000_800));
    Overview {
        state: RunState { phase: Phase::Trading, open: 1, at: NOON, heard, ..RunState::default() },
        funds: Funds { free, open_stakes, peak, first_wallet: None },
        wallet: Some(money(998_000)),
        day_profit: money(-1_000),
        unsettled: vec![trade(3)],
        settled: vec![settled(2, Outcome::Lost, -1_000), settled(1, Outcome::Won, 800)],
        bots: vec![BotOverview {
            won: 1,
            lost: 1,
            returned: 0,
            profit: money(-200),
            break_even: Some(1.0 / 1.8),
            edge: EdgeVerdict::Open,
            estimated_remaining_trades: Some(1_200),
            evidence: 0.98,
            needed_evidence: Some(20.0),
            evidence_against: 1.01,
            needed_evidence_against: 20.0,
        }],
        refused: [("MaxOpenTrades", 12), ("NoPrice", 1)].into(),
        limits: vec![
            LimitUsage { rule: Rule::MaxOpenTrades, used: Quantity::Count(1), limit: Quantity::Count(3) },
            LimitUsage {
                rule: Rule::DailyLossLimit,
                used: Quantity::Money(money(2_000)),
                limit: Quantity::Money(money(10_000)),
            },
        ],
    }
}

fn received(notice: Notice) -> ReceivedNotice {
    ReceivedNotice { notice, missed: 0 }
}

fn build_view(notices: impl IntoIterator<Item = Notice>) -> View {
    let mut view = View::new(facts());
    let start = Funds { free: money(1_000_000), peak: money(1_000_000), ..Funds::default() };
    view.on_notice(received(Notice::Begins(start)));
    for notice in notices {
        view.on_notice(received(notice));
    }
    view
}

fn view_of_overview(change: impl FnOnce(&mut Overview)) -> View {
    let mut overview = overview();
    change(&mut overview);
    build_view([Notice::Overview(Box::new(overview))])
}

fn terminal(view: &View, ui: &Ui, size: (u16, u16), palette: Palette) -> Terminal<TestBackend> {
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    terminal.draw(|frame| draw(frame, view, ui, NOON, palette)).unwrap();
    terminal
}

fn draw_rows(view: &View, ui: &Ui, size: (u16, u16)) -> Vec<String> {
    let terminal = terminal(view, ui, size, Palette::new(true));
    let buffer = terminal.backend().buffer();
    let row = |y| (0..size.0).map(|x| buffer[(x, y)].symbol().to_owned()).collect::<String>();
    (0..size.1).map(row).collect()
}

fn key(code: KeyCode) -> KeyEvent {
    KeyEvent::new(code, KeyModifiers::NONE)
}

#[track_caller]
fn shows(rows: &[String], parts: &[&str]) {
    let text = rows.join("\n");
    for part in parts {
        assert!(text.contains(part), "no {part:?} in:\n{text}");
    }
}

#[track_caller]
fn has_row(rows: &[String], parts: &[&str]) {
    let has_all = |row: &&String| parts.iter().all(|part| row.contains(part));
    assert!(rows.iter().any(|row| has_all(&row)), "no row with {parts:?}:\n{}", rows.join("\n"));
}

const SMALL: (u16, u16) = (80, 24);
const LARGE: (u16, u16) = (160, 50);

#[test]
fn small_window_shows_money_trades_and_settlements() {
    let price = Price { time: NOON, value: 97_020.0 };
    let view = build_view([Notice::Overview(Box::new(overview())), Notice::Price(symbol(), price)]);
    let rows = draw_rows(&view, &Ui::default(), SMALL);
    has_row(&rows, &["TRADING", "demo", "last contact 3 s ago", "12:00:00 UTC"]);
    // Peak 10,008.00 minus equity 9,990.00 is 18.00, which is 0.18 %.
    has_row(&rows, &["balance 9,980.00", "open stakes 10.00", "today -10.00", "drawdown 18.00 (0.2 %)"]);
    has_row(&rows, &["#3", "btc-rsi", "BTCUSDT", "BUY", "10.00", "97000.5 → 97020", "12:01:05 in 1:05"]);
    has_row(&rows, &["#2", "97000.5 → 97010.25", "lost -10.00"]);
    has_row(&rows, &["#1", "won +8.00"]);
    has_row(&rows, &["Equity 9,990.00 (-10.00 in this run)"]);
    has_row(&rows, &["q quit", "h halt", "? help"]);
}

#[test]
fn shows_the_slowest_candle() {
    for (has_come, text) in [(true, "slowest BTCUSDT 1m, 12.3 s "), (false, "awaiting BTCUSDT 1m, 12.3 s ")] {
        let slowest = SlowestCandle {
            symbol: symbol(),
            interval: "1m".parse().unwrap(),
            delay_ms: Millis::new(12_340),
            has_come,
        };
        let market = MarketState { slowest_candle: Some(slowest), ..MarketState::default() };
        let view = view_of_overview(|overview| overview.state.market = Some(Box::new(market)));
        has_row(&draw_rows(&view, &Ui::default(), SMALL), &["last contact 3 s ago", text, "12:00:00 UTC"]);
    }
}

#[test]
fn large_window_shows_bots_limits_and_rejections() {
    let view = view_of_overview(|_| {});
    let rows = draw_rows(&view, &Ui::default(), LARGE);
    // 1 of 2 is 50 %; at payout 80 break-even is 1 / 1.8.
    shows(&rows, &["2 trades: 1 won, 1 lost, -2.00", "win rate 50.0 %, break-even 55.6 %"]);
    shows(&rows, &["(about 1,200 more)", "evidence 0.98 of 20 for an edge, 1.01 of 20 against"]);
    has_row(&rows, &["open-trade limit", "1 of 3"]);
    has_row(&rows, &["daily loss limit", "20.00 of 100.00"]);
    shows(&rows, &["total open-trade limit 12, NoPrice 1", "1.3 of 5 a second"]);
    shows(&rows, &["sqlite://run.db", "12:01:05 in 1:05"]);
}

#[test]
fn trades_and_verdicts_fit_80_columns() {
    let price = Price { time: NOON, value: 97_020.25 };
    let view = build_view([Notice::Overview(Box::new(overview())), Notice::Price(symbol(), price)]);
    for width in 80..200 {
        let rows = draw_rows(&view, &Ui::default(), (width, 40));
        has_row(&rows, &["97000.5 → 97020.25", "12:01:05 in 1:05"]);
        has_row(&rows, &["97000.5 → 97010.25", "lost -10.00"]);
        let mut ui = Ui::default();
        ui.on_key(key(KeyCode::Char('3')), &view);
        let bots = if width < 144 { draw_rows(&view, &ui, (width, 40)) } else { rows };
        has_row(&bots, &["evidence 0.98 of 20 for an edge, 1.01 of 20 against"]);
    }
}

#[test]
fn bars_show_the_use_of_limits() {
    let full = |used| {
        let view = view_of_overview(|overview| {
            overview.limits[0].used = Quantity::Count(used);
            overview.limits.truncate(1);
        });
        let mut ui = Ui::default();
        ui.on_key(key(KeyCode::Char('4')), &view);
        let rows = draw_rows(&view, &ui, SMALL);
        let row = rows.iter().find(|row| row.contains("total open-trade limit  ")).unwrap().clone();
        (row.matches('█').count(), row.matches('░').count())
    };
    let (none, columns) = full(0);
    assert_eq!(none, 0);
    assert_eq!([full(3), full(9)], [(columns, 0); 2]);
    assert_eq!(full(1).0, (columns as f64 / 3.0).round() as usize);
}

#[test]
fn winning_trades_are_green_in_both_directions() {
    let colour_of = |direction, value| {
        let mut overview = overview();
        overview.unsettled[0].direction = direction;
        let price = Price { time: NOON, value };
        let view = build_view([Notice::Overview(Box::new(overview)), Notice::Price(symbol(), price)]);
        let terminal = terminal(&view, &Ui::default(), SMALL, Palette::new(true));
        let cells = terminal.backend().buffer().content().chunks(usize::from(SMALL.0));
        let text_of = |row: &[Cell]| row.iter().map(Cell::symbol).collect::<String>();
        let is_open = |row: &&[Cell]| text_of(row).contains("#3 ");
        let row = cells.into_iter().find(is_open).unwrap();
        row.iter().find(|cell| cell.symbol() == "→").unwrap().fg
    };
    for (value, buy, sell) in [
        (97_001.0, Color::Green, Color::Red),
        (97_000.5, Color::Reset, Color::Reset),
        (97_000.0, Color::Red, Color::Green),
    ] {
        let found = [Direction::Buy, Direction::Sell].map(|direction| colour_of(direction, value));
        assert_eq!(found, [buy, sell], "{value}");
    }
}

#[test]
fn digits_and_tab_switch_panes() {
    let (view, mut ui) = (view_of_overview(|_| {}), Ui::default());
    for (digit, part) in [('2', "01-05 12:01:05"), ('3', "for an edge"), ('4', "1.3 of 5"), ('5', " Log ")] {
        ui.on_key(key(KeyCode::Char(digit)), &view);
        shows(&draw_rows(&view, &ui, SMALL), &[part]);
    }
    ui.on_key(key(KeyCode::Tab), &view);
    shows(&draw_rows(&view, &ui, SMALL), &["Equity"]);
    ui.on_key(key(KeyCode::Left), &view);
    ui.on_key(key(KeyCode::Char('?')), &view);
    shows(&draw_rows(&view, &ui, SMALL), &[" Keys ", "halt: no new trades"]);
    ui.on_key(key(KeyCode::Esc), &view);
    assert!(!draw_rows(&view, &ui, SMALL).join("").contains(" Keys "));
}

#[test]
fn confirms_orders_and_rejects_those_without_effect() {
    let (open, closed) = (view_of_overview(|_| {}), view_of_overview(|overview| overview.unsettled.clear()));
    let halted = view_of_overview(|overview| overview.state.phase = Phase::Halted);
    let mut ui = Ui::default();
    for (letters, view, expected) in [
        ("q", &closed, Some(KeyCommand::Quit)),
        ("qxn", &open, None),
        ("y", &open, None),
        ("qxy", &open, Some(KeyCommand::Quit)),
        ("hy", &open, Some(KeyCommand::Halt)),
        ("hn", &open, None),
        ("hy", &halted, None),
        ("ry", &halted, Some(KeyCommand::Resume)),
        ("ry", &open, None),
    ] {
        let press = |_, letter| ui.on_key(key(KeyCode::Char(letter)), view);
        assert_eq!(letters.chars().fold(None, press), expected, "{letters}");
    }
    assert_eq!(ui.on_key(key(KeyCode::Char('q')), &open), None);
    shows(&draw_rows(&open, &ui, SMALL), &["1 trade is open", "y / n"]);
    let control_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert_eq!(ui.on_key(control_c, &open), Some(KeyCommand::Interrupt));
}

#[test]
fn shows_the_reason_of_a_halt_and_problems() {
    let view = view_of_overview(|overview| {
        overview.state.phase = Phase::Halted;
        overview.state.reason = Some("news at noon".to_owned());
        overview.state.in_doubt = vec![IntentId::new(7)];
        overview.state.troubles = vec!["the venue does not answer".to_owned()];
        overview.unsettled[0].state = IntentState::InDoubt;
    });
    let rows = draw_rows(&view, &Ui::default(), SMALL);
    has_row(&rows, &["HALTED"]);
    has_row(&rows, &["halted: news at noon; unknown status: #7; the venue does not answer"]);
    has_row(&rows, &["#3", "unknown status"]);
    let alarm = build_view([Notice::Overview(Box::new(overview())), Notice::Alarm("no wallet".to_owned())]);
    has_row(&draw_rows(&alarm, &Ui::default(), SMALL), &["no wallet"]);
    let note = |fixed: &str| Notice::Note { text: "read again".to_owned(), fixed: vec![fixed.to_owned()] };
    let mut resolved = alarm;
    resolved.on_notice(received(note("no list")));
    has_row(&draw_rows(&resolved, &Ui::default(), SMALL), &["no wallet"]);
    resolved.on_notice(received(note("no wallet")));
    assert!(!draw_rows(&resolved, &Ui::default(), SMALL).concat().contains("no wallet"));
    let why =
        Notice::Stopping { why: StopReason::TimeUp, unfinished: 1, last_close: None, waits_until: NOON };
    let rows = draw_rows(&build_view([why]), &Ui::default(), SMALL);
    has_row(&rows, &["time limit reached: no new trades; waiting for 1 open trade"]);
}

#[test]
fn counts_missed_messages_and_recovers_with_the_next_overview() {
    let mut view = build_view([Notice::Overview(Box::new(overview()))]);
    let mut later = overview();
    later.unsettled.clear();
    later.settled.insert(0, settled(3, Outcome::Won, 800));
    view.on_notice(ReceivedNotice { notice: Notice::Overview(Box::new(later)), missed: 41 });
    let rows = draw_rows(&view, &Ui::default(), SMALL);
    shows(&rows, &["41 messages skipped", "Open trades: 0"]);
    has_row(&rows, &["#3", "won +8.00"]);
}

#[test]
fn escapes_control_characters_from_outside() {
    let hostile = "\u{1b}]0;t\u{7}\u{1b}[2J\u{9b}1A\r\n\u{202e}\u{200b}";
    let mut view = view_of_overview(|overview| {
        overview.state.reason = Some(hostile.to_owned());
        overview.state.troubles = vec![hostile.to_owned()];
    });
    view.on_log(&format!("2026-01-05T12:00:00.000001Z  WARN {hostile}"));
    view.on_notice(received(Notice::Alarm(hostile.to_owned())));
    let mut ui = Ui::default();
    for pane in '1'..='5' {
        ui.on_key(key(KeyCode::Char(pane)), &view);
        ui.show_message(hostile);
        let text = draw_rows(&view, &ui, LARGE).concat();
        let is_raw = |letter: char| hostile.contains(letter) && candlewick_sdk::is_hidden(letter);
        assert!(!text.chars().any(is_raw), "{text}");
        shows(&[text], &["\\u{1b}]0;t\\u{7}"]);
    }
    let alarmed = build_view([Notice::Overview(Box::new(overview())), Notice::Alarm(hostile.to_owned())]);
    let text = draw_rows(&alarmed, &Ui::default(), LARGE).concat();
    assert!(!text.chars().any(candlewick_sdk::is_hidden), "{text}");
    shows(&[text], &["\\u{1b}]0;t\\u{7}"]);
    let rows = draw_rows(&view, &ui, LARGE);
    has_row(&rows, &["│ WARN \\u{1b}]0;t"]);
}

#[test]
fn draws_any_window_size_and_no_colours_if_disabled() {
    let view = view_of_overview(|overview| {
        overview.unsettled = (0..40).map(trade).collect();
        overview.settled = (0..50).map(|number| settled(number, Outcome::Won, 800)).collect();
    });
    for size in [(1, 1), (10, 3), (39, 7), (40, 8), (60, 12), (80, 15), (143, 24), (144, 9), (300, 100)] {
        for pane in '1'..='5' {
            let mut ui = Ui::default();
            ui.on_key(key(KeyCode::Char(pane)), &view);
            ui.on_key(key(KeyCode::Down), &view);
            draw_rows(&view, &ui, size);
            ui.on_key(key(KeyCode::Char('?')), &view);
            draw_rows(&view, &ui, size);
        }
    }
    shows(&draw_rows(&view, &Ui::default(), (39, 7)), &["TRADING 9,980.00 40 open", "too small"]);
    let colours = |palette| {
        let terminal = terminal(&view, &Ui::default(), LARGE, palette);
        let cells = terminal.backend().buffer().content().iter();
        cells.filter(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset).count()
    };
    assert!(colours(Palette::new(true)) > 0);
    assert_eq!(colours(Palette::new(false)), 0);
}
