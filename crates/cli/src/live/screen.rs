//! Console lines of a run: candles, signals, opened trades and settlements.
//!
//! A separate thread writes the lines, so a stalled terminal (Ctrl-S, a pager) never blocks the run.

use super::header::Header;
use super::lines::{
    BAD, BOLD, DIM, GOOD, NOTE, describe_blockage_changes, describe_opened, describe_order,
    describe_rejection, describe_settled, describe_stop, describe_verdict, format_line, format_signed,
};
use crate::context::Context;
use crate::terminal::terminal_columns;
use anstyle::{AnsiColor, Style};
use candlewick_app::configuration::LoadedConfig;
use candlewick_engine::{
    Action, BotId, BotSettings, Control, Event, EventKind, IntentId, IntentRow, Origin, RefusedSignal,
    RiskSettings, TradeSettlement,
};
use candlewick_runtime::control::{Blockage, Phase};
use candlewick_runtime::{Funds, Notice, NoticeFilter, NoticeReceiver, NoticeSender, describe_skew};
use candlewick_sdk::{Millis, Money, MoneyScale, Outcome, Series, Symbol, escape_hidden};
use console::Term;
use std::io::Write as _;
use std::time::Duration;
use tokio::sync::oneshot;

pub(super) const MAX_QUEUED_NOTICES: usize = 16_384;
pub(super) const FLUSH_TIMEOUT: Duration = Duration::from_secs(3);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputDetail {
    Quiet,
    Trades,
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OutputStream {
    Out,
    /// Standard error, used if JSON is printed to stdout.
    Error,
}

pub(crate) struct Screen {
    detail: OutputDetail,
    stream: OutputStream,
    scale: MoneyScale,
    bots: Vec<(String, Millis)>,
    symbols: Vec<Symbol>,
    series: Vec<Series>,
    risk: Option<RiskSettings>,
    suspended: Option<String>,
    pub(super) header: Option<Header>,
    closes: Vec<String>,
    instant: Millis,
    latest: Millis,
    blocked: Vec<Blockage>,
}

pub(super) fn collect_distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for one in all {
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

impl Screen {
    pub(crate) fn new(detail: OutputDetail, loaded: &LoadedConfig, context: &Context<'_>) -> Self {
        let bots = &loaded.config.bots;
        let is_quiet = context.global.quiet || context.log.format.is_json();
        Self {
            detail: if is_quiet { OutputDetail::Quiet } else { detail },
            stream: if context.global.json { OutputStream::Error } else { OutputStream::Out },
            scale: loaded.config.account.money_scale,
            bots: bots
                .iter()
                .map(|bot| (escape_hidden(&bot.name).into_owned(), bot.interval.length()))
                .collect(),
            symbols: collect_distinct(bots.iter().map(|bot| bot.symbol)),
            series: collect_distinct(bots.iter().map(BotSettings::series)),
            risk: Some(loaded.config.risk.clone()),
            suspended: None,
            header: None,
            closes: Vec::new(),
            instant: Millis::ZERO,
            latest: Millis::ZERO,
            blocked: Vec::new(),
        }
    }

    pub(crate) fn with_header(mut self, header: Header) -> Self {
        self.header = (self.stream == OutputStream::Out).then_some(header);
        self
    }

    fn print_line(&self, at: Millis, style: Style, label: &str, text: &str) {
        let columns = terminal_columns(&match self.stream {
            OutputStream::Out => Term::stdout(),
            OutputStream::Error => Term::stderr(),
        });
        self.print(&format_line(at, (style, label), text, columns));
    }

    fn print(&self, text: &str) {
        // The run continues even if the output is closed.
        let _ = match self.stream {
            OutputStream::Out => writeln!(anstream::stdout(), "{text}"),
            OutputStream::Error => writeln!(anstream::stderr(), "{text}"),
        };
    }

    fn show_candle(&mut self, event: &Event, series: Series, close: f64) {
        if self.detail != OutputDetail::All {
            return;
        }
        if event.at != self.instant {
            self.print_close_prices();
            self.instant = event.at;
        }
        self.closes.push(format!("{series} {BOLD}{close}{BOLD:#}"));
    }

    fn print_close_prices(&mut self) {
        if !self.closes.is_empty() {
            let closes = std::mem::take(&mut self.closes).join("   ");
            self.print_line(self.instant, DIM, "candle", &closes);
        }
    }

    fn show_event(&mut self, event: &Event, funds: Funds, intent: Option<&IntentRow>) {
        let signed = |amount: &Money| self.format_signed_money(*amount);
        let released = |intent: IntentId| format!("#{intent}: stake released");
        let (style, label, text) = match &event.kind {
            EventKind::Candle { series, candle, origin } => {
                if let (Origin::Live, Some(series)) = (origin, self.series.get(series.index())) {
                    self.show_candle(event, *series, candle.close());
                }
                return;
            }
            EventKind::Opened(opened) | EventKind::Adopted(opened) => {
                (Style::new(), "opened", describe_opened(opened))
            }
            EventKind::Settled(settled) => return self.show_settlement(event.at, settled, (funds, intent)),
            EventKind::SettledByPerson { intent, outcome, profit } => {
                (NOTE, "resolved", format!("#{intent} {outcome} {} (set manually)", signed(profit)))
            }
            EventKind::Correction { intent, outcome, profit } => {
                (BAD, "corrected", format!("#{intent} {outcome} {}", signed(profit)))
            }
            EventKind::Rejected { intent, .. } => (NOTE, "declined", released(*intent)),
            EventKind::NotSent { intent } => (NOTE, "not sent", released(*intent)),
            EventKind::Reinstated(terms) => {
                let intent = terms.intent();
                (BAD, "unknown", format!("#{intent}: the venue lists a trade for this failed order"))
            }
            EventKind::InDoubt { intent } => {
                (BAD, "unknown", format!("#{intent}: unknown status, symbol blocked until resolved"))
            }
            EventKind::NotOpened { intent, .. } => {
                (NOTE, "not open", format!("#{intent}: the venue has no trade for this order"))
            }
            EventKind::OutsideSignal(signal) => {
                (NOTE, "signal", format!("{} {} from {}", signal.direction, signal.id, signal.source))
            }
            EventKind::Deposit { amount } => {
                (NOTE, "wallet", format!("balance changed by {} without a trade", signed(amount)))
            }
            EventKind::WalletDifference { amount: Money::ZERO } => {
                (BAD, "wallet", "the balance matches the trades again".to_owned())
            }
            EventKind::WalletDifference { amount } => {
                (BAD, "wallet", format!("the balance differs from the trades by {}", signed(amount)))
            }
            EventKind::Skew { offset } => {
                let limit = self.risk.as_ref().map(|risk| i64::from(risk.max_clock_skew_ms));
                (NOTE, "clock", describe_skew(*offset, limit.filter(|limit| *limit > 0).map(Millis::new)))
            }
            EventKind::SecondTrade(trade) => {
                let (id, stake) = (trade.venue_id.as_str(), self.scale.format(trade.stake));
                (
                    BAD,
                    "second trade",
                    format!("#{}: duplicate trade {id} at the venue, stake {stake}", trade.intent),
                )
            }
            EventKind::SecondTradeSettled { intent, venue_id, profit } => {
                (NOTE, "second trade", format!("#{intent} {}  {}", signed(profit), venue_id.as_str()))
            }
            EventKind::Control { control } => {
                if *control == Control::Reload {
                    // The limits after a reload are not known here.
                    self.risk = None;
                }
                return;
            }
            EventKind::Price { .. } | EventKind::Balance { .. } => return,
        };
        // The time in a signal may be long past, so its time of arrival is shown.
        let is_signal = matches!(event.kind, EventKind::OutsideSignal(_));
        self.print_line(if is_signal { event.received } else { event.at }, style, label, &text);
    }

    fn show_settlement(
        &self,
        at: Millis,
        settled: &TradeSettlement,
        (funds, intent): (Funds, Option<&IntentRow>),
    ) {
        let style = match settled.outcome {
            Outcome::Won => GOOD,
            Outcome::Lost => BAD,
            Outcome::Draw | Outcome::Cancelled => NOTE,
        };
        let text = describe_settled(settled, style, (funds, intent), self.scale);
        self.print_line(at, style, &settled.outcome.as_str().to_lowercase(), &text);
    }

    fn show_action(&self, action: &Action, received: Millis, is_outside: bool) {
        match action {
            Action::Open(approved) => {
                let symbol = self.symbols.get(approved.symbol().index()).map_or("", Symbol::as_str);
                let text = describe_order(approved, (self.bot_name(approved.bot()), symbol), self.scale);
                self.print_line(approved.decision_time(), AnsiColor::Cyan.on_default(), "open", &text);
            }
            Action::Refuse(refused) if self.detail == OutputDetail::All => {
                let at = if is_outside { received } else { refused.decision_time };
                self.show_rejection(refused, at, received);
            }
            Action::Verdict(judgement) => {
                let text = describe_verdict(judgement, self.bot_name(judgement.bot));
                self.print_line(judgement.at, BOLD, "verdict", &text);
            }
            Action::DayOpened { start, equity } if self.detail == OutputDetail::All => {
                self.print_line(*start, DIM, "day", &format!("starts with {}", self.scale.format(*equity)));
            }
            Action::Refuse(_) | Action::DayOpened { .. } => {}
        }
    }

    fn show_rejection(&self, refused: &RefusedSignal, at: Millis, received: Millis) {
        let bot = self.bots.get(refused.bot.index());
        let bot = bot.map_or(("", Millis::MAX), |(name, interval)| (name.as_str(), *interval));
        let limits = (self.risk.as_ref(), self.suspended.as_deref());
        self.print_line(at, DIM, "rejected", &describe_rejection(refused, bot, received, limits));
    }

    fn bot_name(&self, bot: BotId) -> &str {
        self.bots.get(bot.index()).map_or("", |(name, _)| name.as_str())
    }

    fn format_signed_money(&self, money: Money) -> String {
        format_signed(money, self.scale)
    }

    pub(crate) fn start(mut self) -> (Vec<NoticeSender>, DisplayHandle) {
        if self.detail == OutputDetail::Quiet {
            return (Vec::new(), DisplayHandle(None));
        }
        let (watcher, mut notices) = NoticeSender::channel(MAX_QUEUED_NOTICES, self.notice_filter());
        let (ended, has_ended) = oneshot::channel();
        std::thread::spawn(move || {
            self.show_all(&mut notices);
            let _ = ended.send(());
        });
        (vec![watcher], DisplayHandle(Some(has_ended)))
    }

    pub(super) const fn notice_filter(&self) -> NoticeFilter {
        match self.detail {
            OutputDetail::Quiet | OutputDetail::Trades => NoticeFilter::Trades,
            OutputDetail::All => NoticeFilter::Everything,
        }
    }

    pub(super) fn show_all(&mut self, notices: &mut NoticeReceiver) {
        while let Some(received) = notices.blocking_next() {
            if received.missed > 0 {
                let text = format!("{} messages skipped: the terminal did not keep up", received.missed);
                self.print_line(self.latest, NOTE, "missed", &text);
            }
            self.show_notice(received.notice);
        }
        self.print_close_prices();
    }

    fn show_notice(&mut self, notice: Notice) {
        match notice {
            Notice::Handled { event, actions, funds, intent, .. } => {
                self.latest = self.latest.max(event.received);
                // Candles with the same close time share a line. It is printed before the decisions on these candles.
                if !matches!(event.kind, EventKind::Candle { .. }) {
                    self.print_close_prices();
                }
                self.show_event(&event, funds, intent.as_ref());
                if !actions.is_empty() {
                    self.print_close_prices();
                }
                for action in &actions {
                    let is_outside = matches!(event.kind, EventKind::OutsideSignal(_));
                    self.show_action(action, event.received, is_outside);
                }
            }
            Notice::Begins(funds) => {
                if let Some(header) = self.header.take() {
                    self.print(&header.render((funds.free, funds.first_wallet), self.scale));
                }
            }
            Notice::Phase { phase, reason } => {
                self.suspended = reason.filter(|_| phase == Phase::Suspended);
            }
            Notice::Note { text, .. } => self.print_line(self.latest, NOTE, "note", &escape_hidden(&text)),
            Notice::Blocked(blocked) => {
                self.print_close_prices();
                let before = std::mem::replace(&mut self.blocked, blocked.clone());
                for line in describe_blockage_changes(&before, &blocked) {
                    self.print_line(self.latest, NOTE, "blocked", &line);
                }
            }
            Notice::Stopping { why, unfinished, last_close, waits_until } => {
                self.print_close_prices();
                let text = describe_stop(why, unfinished, (last_close, waits_until));
                self.print_line(self.latest, BOLD, "stopping", &text);
            }
            _ => {}
        }
    }
}

pub(crate) struct DisplayHandle(pub(super) Option<oneshot::Receiver<()>>);

impl DisplayHandle {
    pub(crate) async fn end(self) {
        if let Some(has_ended) = self.0 {
            drop(tokio::time::timeout(FLUSH_TIMEOUT, has_ended).await);
        }
    }
}
