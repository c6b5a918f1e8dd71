//! JSON state of the bot and its journal, without curves, candles and past trades.

use crate::model::{BarLevel, BotFigures, CandleFeed, Model, Note};
use crate::watch::{KnownState, SharedState};
use candlewick_engine::{BotId, BotSettings, IntentState, Session, SettingsReload};
use candlewick_records::{LimitLine, TradeLine, TradingMode, VerdictLine, describe_halt};
use candlewick_runtime::control::{Blockage, NextEntry, Phase};
use candlewick_sdk::Millis;
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Current state of the bot and its journal.
#[derive(Debug, Serialize, ToSchema)]
#[allow(clippy::struct_excessive_bools, reason = "fields of the page")]
pub(crate) struct State {
    /// Random id of this dashboard process.
    generation: String,
    /// Whether the dashboard was started read-only, so that it sends no commands.
    read_only: bool,
    /// Path or URL of the journal.
    journal: String,
    /// Reason why the journal cannot be read, null if the journal is readable.
    problem: Option<String>,
    /// Number of lines read so far and in total, null once the journal is loaded.
    reading: Option<(u64, u64)>,
    /// Whether only the last snapshot and later lines have been read so far. Curves and older candles follow.
    recent: bool,
    /// Phase of the bot: `trading`, `halted`, `suspended` or `stopping`; `silent` if the process that holds the
    /// journal does not respond; `not_running` if no process holds the journal.
    phase: &'static str,
    /// Reason for the phase, null if there is none.
    reason: Option<String>,
    /// Whether an operator halted the bot and has not resumed it.
    halted: bool,
    /// Time and reason of the halt, null if the bot is not halted.
    halt: Option<String>,
    /// Risk rules that currently reject every signal of some bots.
    blocked: Vec<BlockedLine>,
    /// Whether risk rules block every bot, apart from `brief` blocks.
    all_blocked: bool,
    /// Process that has locked the journal.
    holder: Option<String>,
    /// Problems with the venue connection.
    troubles: Vec<String>,
    /// Next scheduled signal in the signal list, null if there is none.
    #[schema(value_type = Option<Object>)]
    next_entry: Option<NextEntry>,
    /// Summary of the external signals in the last run, one sentence per line.
    signals: Vec<String>,
    /// Lower and upper bound of venue time minus local time, in milliseconds. The upper bound is null if unknown.
    #[schema(value_type = Option<Vec<i64>>)]
    skew: Option<(Millis, Option<Millis>)>,
    /// Contents of the journal, null until the journal has been read.
    run: Option<Run>,
}

/// A risk rule that currently rejects every signal of some bots.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BlockedLine {
    /// Description of the rule, its figures and the end of the block. Names the affected bots, unless all are affected.
    text: String,
    /// Whether the block usually ends soon: at a settlement, a response or a candle close.
    brief: bool,
}

/// Figures from the journal, for the last run and in total.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Run {
    /// Number of the last run. `runs` is the total number of runs.
    number: u64,
    runs: u64,
    /// Venue time of the start of the run, in milliseconds since 1970.
    #[schema(value_type = i64)]
    began: Millis,
    /// Kind of money that the run trades with: `demo`, `real`, `paper` or `sandbox`.
    #[schema(value_type = Option<String>)]
    trading: Option<TradingMode>,
    /// Number of the last journal line. `last_event` is its arrival time.
    seq: u64,
    #[schema(value_type = i64)]
    last_event: Millis,
    money: Money,
    /// Unfinished trades and orders, with the same keys as in `candlewick trades --json`.
    #[schema(value_type = Vec<Object>)]
    open: Vec<TradeLine>,
    /// Trade numbers of the orders of unknown status.
    in_doubt: Vec<u64>,
    /// Duplicate trades: the venue opened more than one trade for an order.
    second_trades: Vec<String>,
    bots: Vec<Bot>,
    limits: Vec<Limit>,
    /// Number of rejected signals for each risk rule.
    refusals: BTreeMap<&'static str, u64>,
    feeds: Vec<FeedLine>,
    /// Number of findings for each audit.
    findings: BTreeMap<String, u64>,
    alarms: u64,
    /// Latest alarms, audit findings and foreign trades, oldest first.
    notes: Vec<Note>,
    /// Time and cause of the last settings reload, null if there was none.
    #[schema(value_type = Option<Object>)]
    reloaded: Option<SettingsReload>,
    /// Total number of settled trades.
    settled: u64,
    /// Total number of orders.
    intents: usize,
}

/// Account figures in the currency of the wallet.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Money {
    /// Number of decimal places in wallet amounts.
    decimals: u32,
    free: f64,
    open_stakes: f64,
    equity: f64,
    /// Highest equity since the start of the journal or the last resume.
    peak: f64,
    /// Current drawdown from the peak, in percent of the peak.
    drawdown_percent: f64,
    profit_today: f64,
    loss_streak: u32,
    /// Wallet balance in the latest response from the venue. `wallet_read` is the time of that response.
    wallet: Option<f64>,
    /// Wallet balance minus the balance expected from the trades. Omitted if the balances are equal.
    #[serde(skip_serializing_if = "Option::is_none")]
    wallet_difference: Option<f64>,
    #[schema(value_type = Option<i64>)]
    wallet_read: Option<Millis>,
}

/// Settings and trade statistics of one bot.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Bot {
    name: String,
    symbol: String,
    interval: String,
    strategy: String,
    close_type: String,
    won: u64,
    lost: u64,
    draw: u64,
    cancelled: u64,
    pnl: f64,
    /// Win rate in percent, null if no trade was won or lost.
    win_rate: Option<f64>,
    /// Break-even win rate in percent, averaged over all trades. Before the first trade, based on the latest payout.
    break_even: Option<f64>,
    open: usize,
    /// Number of orders in the last hour, except those that opened no trade.
    trades_last_hour: usize,
    /// Current drawdown of the bot's profit from its peak.
    drawdown: f64,
    /// Verdict on the bot, as in `candlewick status --json`. Null or outdated while a journal is loading.
    #[schema(value_type = Object)]
    verdict: Option<VerdictLine>,
    /// Verdict on the bot as a sentence.
    words: Option<String>,
    /// State of the trade gate, null if the bot has no gate or is not running.
    gate: Option<String>,
}

/// Statistics of the candle feed of one series.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FeedLine {
    /// Symbol and interval of the series.
    name: String,
    symbol: String,
    interval: String,
    #[schema(value_type = i64)]
    interval_ms: Millis,
    decimals: usize,
    /// Venue time when the last candle closed. `last_received` is the venue time of the arrival.
    #[schema(value_type = Option<i64>)]
    last_close: Option<Millis>,
    #[schema(value_type = Option<i64>)]
    last_received: Option<Millis>,
    live: u64,
    backfilled: u64,
    /// Median delay from close to arrival of the last 200 candles. `delay_p90` is the 90th percentile.
    #[schema(value_type = Option<i64>)]
    delay_p50: Option<Millis>,
    #[schema(value_type = Option<i64>)]
    delay_p90: Option<Millis>,
    /// Available levels of detail, finest first.
    levels: Vec<LevelLine>,
}

/// A level of detail: candles merged into bars of one length.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LevelLine {
    #[schema(value_type = i64)]
    length: Millis,
    count: usize,
    /// Start time of the oldest available bar, null if there is none.
    #[schema(value_type = Option<i64>)]
    from: Option<Millis>,
    /// Whether the level contains all bars since the first candle.
    whole: bool,
}

pub(crate) fn build_state(known: &mut KnownState, shared: &SharedState) -> State {
    let bot = known.bot.as_ref();
    let phase = match bot.map(|bot| bot.phase) {
        Some(Phase::Trading) => "trading",
        Some(Phase::Halted) => "halted",
        Some(Phase::Suspended) => "suspended",
        Some(Phase::Stopping) => "stopping",
        None if known.is_journal_held => "silent",
        None => "not_running",
    };
    let now = bot.map(|bot| bot.at);
    let mut run = known
        .model
        .as_mut()
        .map(|model| build_run(model, now, known.read_progress.is_some() && !model.is_partial));
    for of_bot in run.iter_mut().flat_map(|run| &mut run.bots) {
        of_bot.gate = bot.and_then(|bot| bot.gates.as_ref()?.get(&of_bot.name)).cloned();
    }
    let noted = || known.model.as_ref().filter(|model| model.is_halted).map(Model::last_halt);
    let halt = bot.map_or_else(noted, |bot| bot.halt.clone());
    let of_journal = || {
        let model = known.model.as_ref()?;
        let last = model.last_line.as_ref().map_or(Millis::ZERO, |last| last.line.received);
        Some(Blockage::list_from_journal(model.session(), last))
    };
    let blocked = bot.map_or_else(|| of_journal().unwrap_or_default(), |bot| bot.blocked.clone());
    State {
        generation: shared.generation.clone(),
        read_only: shared.read_only,
        journal: shared.watched.journal.to_string(),
        problem: known.problem.clone(),
        reading: known.read_progress,
        recent: known.model.as_ref().is_some_and(|model| model.is_partial),
        phase,
        reason: bot.and_then(|bot| bot.reason.clone()).filter(|reason| !reason.is_empty()),
        halted: known.model.as_ref().is_some_and(|model| model.is_halted),
        halt: halt.as_ref().map(describe_halt),
        blocked: blocked.iter().map(|one| BlockedLine { text: one.describe(), brief: one.brief }).collect(),
        all_blocked: bot.is_some_and(|bot| bot.all_blocked),
        holder: known.holder.clone().filter(|_| known.is_journal_held),
        troubles: bot.map(|bot| bot.troubles.clone()).unwrap_or_default(),
        next_entry: bot.and_then(|bot| bot.signals.as_ref()?.next.clone()),
        signals: describe_signals(known),
        skew: bot.and_then(|bot| bot.clock).map(|clock| (clock.low, clock.high)),
        run,
    }
}

fn describe_signals(known: &KnownState) -> Vec<String> {
    let noted = || {
        let model = known.model.as_ref()?;
        let (_, signals) = model.notes.signal_tally.as_ref().filter(|(run, _)| *run == model.run.number)?;
        Some(signals.describe())
    };
    match &known.bot {
        Some(bot) => bot.signals.as_ref().map(|signals| signals.describe()).unwrap_or_default(),
        None => noted().unwrap_or_default(),
    }
}

pub(crate) fn build_run(model: &mut Model, now: Option<Millis>, is_reading: bool) -> Run {
    let last_event = model.last_line.as_ref().map_or(Millis::ZERO, |last| last.line.received);
    let bots = build_bots(model, now.unwrap_or(last_event), is_reading);
    let model = &*model;
    let trading = model.run.trading;
    let seconds = model.session().second_trades().iter();
    let doubts = model.trades.unfinished_trades().filter(|row| row.state == IntentState::InDoubt);
    Run {
        number: model.run.number,
        runs: model.run_count,
        began: model.run.began,
        trading,
        seq: model.seq(),
        last_event,
        money: build_account(model),
        open: model.trades.unfinished_trades().filter_map(|row| model.trades.trade_line(row)).collect(),
        in_doubt: doubts.map(|row| row.approved.intent().number()).collect(),
        second_trades: seconds
            .map(|second| {
                format!("{}, a duplicate of trade #{}", second.venue_id.as_str(), second.intent.number())
            })
            .collect(),
        bots,
        limits: build_limits(model.session(), now.unwrap_or(last_event)),
        refusals: model.trades.book.refusal_counts(),
        feeds: model.feeds.iter().map(feed_line).collect(),
        findings: model.notes.finding_counts.clone(),
        alarms: model.notes.alarm_count,
        notes: model.notes.latest.iter().cloned().collect(),
        reloaded: model.notes.last_reload.clone(),
        settled: model.bots.iter().map(|bot| bot.settled).sum(),
        intents: model.trades.trade_count,
    }
}

fn build_account(model: &Model) -> Money {
    let (ledger, scale) = (model.session().ledger(), model.session().money_scale());
    let (peak, equity) = (scale.to_f64(ledger.peak_equity()), scale.to_f64(ledger.equity()));
    // A paper run has its own wallet. The run reads this wallet only once.
    let is_read = model.run.trading != Some(TradingMode::Paper);
    Money {
        decimals: scale.decimals(),
        free: scale.to_f64(ledger.free_balance()),
        open_stakes: scale.to_f64(ledger.open_stakes()),
        equity,
        peak,
        drawdown_percent: if peak > 0.0 { (100.0 * (peak - equity) / peak).max(0.0) } else { 0.0 },
        profit_today: scale.to_f64(ledger.day_profit()),
        loss_streak: ledger.loss_streak(),
        wallet: ledger.wallet_balance().map(|wallet| scale.to_f64(wallet)),
        wallet_difference: (ledger.wallet_difference().minor() != 0)
            .then(|| scale.to_f64(ledger.wallet_difference())),
        wallet_read: model.wallet_read_at.filter(|_| is_read),
    }
}

fn build_bots(model: &mut Model, now: Millis, is_reading: bool) -> Vec<Bot> {
    let verdicts = model.verdict_lines(is_reading);
    let scale = model.session().money_scale();
    let open = |place: usize| {
        model.trades.unfinished_trades().filter(|row| row.approved.bot().index() == place).count()
    };
    let settings = model.run.settings.bots.iter().zip(&model.bots).enumerate();
    let line = |(place, (settings, figures)): (usize, (&BotSettings, &BotFigures))| {
        let id = BotId::new(place);
        let payout = id.and_then(|bot| model.session().last_payout(bot));
        let verdict = verdicts.get(place).cloned().flatten();
        let judged = figures.won + figures.lost;
        Bot {
            name: settings.name.clone(),
            symbol: settings.symbol.to_string(),
            interval: settings.interval.to_string(),
            strategy: settings.strategy.clone(),
            close_type: settings.close_type.to_string(),
            won: figures.won,
            lost: figures.lost,
            draw: figures.drawn,
            cancelled: figures.cancelled,
            pnl: scale.to_f64(figures.profit),
            win_rate: (judged > 0).then(|| 100.0 * figures.won as f64 / judged as f64),
            break_even: figures
                .mean_break_even
                .mean()
                .or(payout.map(|payout| 1.0 / (1.0 + payout.to_fraction())))
                .map(|rate| 100.0 * rate),
            open: open(place),
            trades_last_hour: id.map_or(0, |bot| model.count_trades_after(bot, now - Millis::HOUR)),
            drawdown: scale.to_f64(figures.drawdown()),
            words: verdict.as_ref().map(VerdictLine::describe),
            verdict,
            gate: None,
        }
    };
    settings.map(line).collect()
}

fn feed_line(feed: &CandleFeed) -> FeedLine {
    let level = |level: &BarLevel| LevelLine {
        length: level.bar_length,
        count: level.bars.len(),
        from: level.bars.front().map(|bar| bar.time),
        whole: level.is_complete,
    };
    FeedLine {
        name: feed.series.to_string(),
        symbol: feed.series.symbol.to_string(),
        interval: feed.series.interval.to_string(),
        interval_ms: feed.series.interval.length(),
        decimals: feed.price_decimals(),
        last_close: feed.last_close,
        last_received: feed.last_received,
        live: feed.live_candles,
        backfilled: feed.backfilled_candles,
        delay_p50: feed.delay_percentile(50),
        delay_p90: feed.delay_percentile(90),
        levels: feed.levels.0.iter().map(level).collect(),
    }
}

/// A risk limit and its current usage.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct Limit {
    /// Name of the bot that the limit applies to, null for a global limit.
    pub(crate) bot: Option<String>,
    /// Key of the setting in `[risk]`, or in `[risk.bots.NAME]` for a limit of one bot.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// Current value of the limited quantity.
    pub(crate) value: f64,
    /// Maximum value that the limit allows.
    pub(crate) most: f64,
    /// Unit of both values: `count` or `money`.
    pub(crate) unit: &'static str,
}

pub(crate) fn build_limits(session: &Session, now: Millis) -> Vec<Limit> {
    let limit = |line| {
        let LimitLine { bot, name, title, value, most, unit } = line;
        Limit { bot, name, title, value, most, unit }
    };
    LimitLine::from_session(session, now).into_iter().map(limit).collect()
}
