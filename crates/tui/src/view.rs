//! State of the full-screen view, derived only from received notices, and the texts of its log lines.

use crate::look::format_signed;
use candlewick_engine::{Action, EdgeVerdict, Event, EventKind, IntentRow, Lateness};
use candlewick_runtime::control::Phase;
use candlewick_runtime::{Notice, Overview, ReceivedNotice, StopReason};
use candlewick_sdk::{Millis, Money, MoneyScale, Series, Symbol, escape_hidden, format_price};
use std::collections::VecDeque;

const MAX_LOG_LINES: usize = 500;
/// Maximum number of points of the equity curve. When the curve is full, every second point is dropped.
const MAX_EQUITY_POINTS: usize = 2_048;

#[derive(Clone, Debug, Default)]
pub struct RunFacts {
    pub venue: String,
    pub wallet: String,
    pub journal: String,
    pub request_summary: String,
    pub scale: MoneyScale,
    pub bots: Vec<BotFacts>,
    pub symbols: Vec<Symbol>,
    pub series: Vec<Series>,
}

impl RunFacts {
    pub(crate) fn bot_name(&self, index: usize) -> &str {
        self.bots.get(index).map_or("", |bot| bot.name.as_str())
    }
}

#[derive(Clone, Debug, Default)]
pub struct BotFacts {
    pub name: String,
    pub about: String,
}

#[derive(Debug, Default)]
pub struct View {
    pub(crate) facts: RunFacts,
    pub(crate) overview: Option<Overview>,
    pub(crate) equity: Vec<Money>,
    pub(crate) prices: Vec<(Symbol, f64)>,
    pub(crate) log: VecDeque<LogLine>,
    pub(crate) alarm: Option<(Millis, String)>,
    pub(crate) stop_notice: Option<String>,
    pub(crate) missed_notices: u64,
    pub(crate) latest_time: Millis,
}

impl View {
    pub fn new(facts: RunFacts) -> Self {
        let clean = |text: String| escape_hidden(&text).into_owned();
        let facts = RunFacts {
            venue: clean(facts.venue),
            wallet: clean(facts.wallet),
            journal: clean(facts.journal),
            request_summary: clean(facts.request_summary),
            bots: (facts.bots.into_iter())
                .map(|bot| BotFacts { name: clean(bot.name), about: clean(bot.about) })
                .collect(),
            ..facts
        };
        Self { facts, ..Self::default() }
    }

    pub fn on_notice(&mut self, received: ReceivedNotice) {
        self.missed_notices += received.missed;
        match received.notice {
            Notice::Begins(funds) => self.record_equity(funds.free + funds.open_stakes),
            Notice::Overview(overview) => {
                self.latest_time = self.latest_time.max(overview.state.at);
                self.record_equity(overview.funds.free + overview.funds.open_stakes);
                self.overview = Some(*overview);
            }
            Notice::Handled { event, actions, funds, intent, .. } => {
                self.latest_time = self.latest_time.max(event.at);
                self.record_price(&event);
                self.record_equity(funds.free + funds.open_stakes);
                let facts = &self.facts;
                let actions = actions.iter().filter_map(|action| action_line(action, event.received, facts));
                let line = event_line(&event, intent.as_ref(), facts);
                let lines: Vec<LogLine> = line.into_iter().chain(actions).collect();
                for line in lines {
                    self.add_line(line);
                }
            }
            Notice::Price(symbol, price) => self.set_price(symbol, price.value),
            Notice::Note { fixed, .. } => {
                let is_of =
                    |alarm: &str| fixed.iter().any(|problem| alarm.contains(&*escape_hidden(problem)));
                self.alarm.take_if(|(_, alarm)| is_of(alarm));
            }
            Notice::Alarm(text) | Notice::Logged { text, is_alarm: true } => {
                self.alarm = Some((self.latest_time, escape_hidden(&text).into_owned()));
            }
            Notice::Stopping { why, unfinished, .. } => {
                let why = match why {
                    StopReason::TimeUp => "time limit reached: ",
                    StopReason::DataEnds(_) => "end of candles: ",
                    StopReason::Limit(rule) => &format!("{} reached: ", rule.describe()),
                    StopReason::Interrupted | StopReason::Terminated => "",
                };
                let waits = match unfinished {
                    0 => "none open".to_owned(),
                    1 => "waiting for 1 open trade".to_owned(),
                    more => format!("waiting for {more} open trades"),
                };
                let text = format!("{why}no new trades; {waits}");
                self.add_line(LogLine::new(self.latest_time, Tone::Note, &text));
                self.stop_notice = Some(text);
            }
            // Warnings are shown in the log, and all other notices in the overview.
            _ => {}
        }
    }

    /// Adds a log line without its wall-clock time, because all other lines show the venue's time.
    pub fn on_log(&mut self, line: &str) {
        let line = line
            .split_once("Z ")
            .filter(|(time, _)| is_timestamp(time))
            .map_or(line, |(_, rest)| rest.trim_start());
        let tone = if line.contains("ERROR") { Tone::Bad } else { Tone::Note };
        self.add_line(LogLine { at: None, tone, text: escape_hidden(line.trim_end()).into_owned() });
    }

    pub fn unsettled_count(&self) -> usize {
        self.overview.as_ref().map_or(0, |overview| overview.unsettled.len())
    }

    pub fn phase(&self) -> Option<Phase> {
        self.overview.as_ref().map(|overview| overview.state.phase)
    }

    pub(crate) fn price(&self, symbol: Symbol) -> Option<f64> {
        self.prices.iter().find(|(known, _)| *known == symbol).map(|(_, price)| *price)
    }

    fn add_line(&mut self, line: LogLine) {
        if self.log.len() == MAX_LOG_LINES {
            self.log.pop_front();
        }
        self.log.push_back(line);
    }

    fn record_equity(&mut self, equity: Money) {
        if self.equity.last() == Some(&equity) {
            return;
        }
        if self.equity.len() == MAX_EQUITY_POINTS {
            let mut place = 0;
            self.equity.retain(|_| {
                place += 1;
                place % 2 == 1
            });
        }
        self.equity.push(equity);
    }

    fn record_price(&mut self, event: &Event) {
        match &event.kind {
            EventKind::Candle { series, candle, .. } => {
                if let Some(series) = self.facts.series.get(series.index()) {
                    self.set_price(series.symbol, candle.close());
                }
            }
            EventKind::Price { symbol, price } => {
                if let Some(symbol) = self.facts.symbols.get(symbol.index()).copied() {
                    self.set_price(symbol, price.value);
                }
            }
            _ => {}
        }
    }

    fn set_price(&mut self, symbol: Symbol, price: f64) {
        match self.prices.iter_mut().find(|(known, _)| *known == symbol) {
            Some((_, known)) => *known = price,
            None => self.prices.push((symbol, price)),
        }
    }
}

fn is_timestamp(text: &str) -> bool {
    text.contains('T') && text.chars().all(|letter| letter.is_ascii_digit() || "-:.T".contains(letter))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Dim,
    Good,
    Bad,
    Note,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogLine {
    /// Venue time of the line. `None` for lines of the program log.
    pub(crate) at: Option<Millis>,
    pub(crate) tone: Tone,
    pub(crate) text: String,
}

impl LogLine {
    pub(crate) fn new(at: Millis, tone: Tone, text: &str) -> Self {
        Self { at: Some(at), tone, text: escape_hidden(text).into_owned() }
    }
}

fn event_line(event: &Event, intent: Option<&IntentRow>, facts: &RunFacts) -> Option<LogLine> {
    let scale = facts.scale;
    let (note, bad) = (|text: String| (Tone::Note, text), |text: String| (Tone::Bad, text));
    let (tone, text) = match &event.kind {
        EventKind::Opened(opened) | EventKind::Adopted(opened) => {
            let price =
                opened.open_price.map(|price| format!(" at {}", format_price(price))).unwrap_or_default();
            (Tone::Plain, format!("#{} opened{price}", opened.intent))
        }
        EventKind::Settled(settled) => {
            let tone = match settled.profit.minor() {
                1.. => Tone::Good,
                0 => Tone::Note,
                _ => Tone::Bad,
            };
            let entry = settled.open_price.or(intent.and_then(|row| row.open_price));
            let prices = entry.zip(settled.close_price);
            let prices =
                prices.map(|(entry, exit)| format!(", {} → {}", format_price(entry), format_price(exit)));
            let profit = format_signed(scale, settled.profit);
            let text =
                format!("#{} {} {profit}{}", settled.intent, settled.outcome, prices.unwrap_or_default());
            (tone, text)
        }
        EventKind::SettledByPerson { intent, outcome, profit } => {
            note(format!("#{intent} {outcome} {} (set by the operator)", format_signed(scale, *profit)))
        }
        EventKind::Correction { intent, outcome, profit } => {
            bad(format!("#{intent} corrected to {outcome} {}", format_signed(scale, *profit)))
        }
        EventKind::Rejected { intent, .. } => note(format!("#{intent} declined: stake released")),
        EventKind::NotSent { intent } => note(format!("#{intent} not sent: stake released")),
        EventKind::Reinstated(terms) => {
            let intent = terms.intent();
            bad(format!("#{intent} unknown status: the venue lists a trade for this order after all"))
        }
        EventKind::InDoubt { intent } => {
            bad(format!("#{intent} unknown status: the symbol is blocked until the order is resolved"))
        }
        EventKind::NotOpened { intent, .. } => {
            note(format!("#{intent} not opened: the venue has no such trade"))
        }
        EventKind::OutsideSignal(signal) => {
            note(format!("{} signal {} from {}", signal.direction, signal.id, signal.source))
        }
        EventKind::Deposit { amount } => {
            note(format!("{} in the wallet is not explained by any trade", format_signed(scale, *amount)))
        }
        EventKind::WalletDifference { amount: Money::ZERO } => {
            note("the wallet matches the trades again".to_owned())
        }
        EventKind::WalletDifference { amount } => {
            bad(format!("the wallet differs from the trades by {}", format_signed(scale, *amount)))
        }
        EventKind::Skew { offset } => note(candlewick_runtime::describe_skew(*offset, None)),
        EventKind::SecondTrade(trade) => {
            bad(format!("#{}: duplicate trade {} at the venue", trade.intent, trade.venue_id.as_str()))
        }
        EventKind::SecondTradeSettled { intent, venue_id, profit } => note(format!(
            "#{intent}: duplicate {} settled, {}",
            venue_id.as_str(),
            format_signed(scale, *profit)
        )),
        _ => return None,
    };
    Some(LogLine::new(event.at, tone, &text))
}

fn action_line(action: &Action, received: Millis, facts: &RunFacts) -> Option<LogLine> {
    let bot = |index| facts.bot_name(index);
    match action {
        Action::Open(approved) => {
            let text = format!(
                "#{} {} {} {}: {}",
                approved.intent(),
                bot(approved.bot().index()),
                approved.direction(),
                facts.scale.format(approved.stake()),
                approved.reason()
            );
            Some(LogLine::new(approved.decision_time(), Tone::Plain, &text))
        }
        Action::Refuse(refused) => {
            let lateness = Lateness::new((refused.decision_time, received), Millis::MAX, None);
            let rule = refused.rule.add_lateness(refused.rule.describe(), lateness);
            let text = format!("{} {} rejected: {rule}", bot(refused.bot.index()), refused.direction);
            Some(LogLine::new(refused.decision_time, Tone::Dim, &text))
        }
        Action::Verdict(judgement) => {
            let (tone, edge) = match judgement.edge {
                EdgeVerdict::Open => (Tone::Note, "undecided"),
                EdgeVerdict::Shown => (Tone::Good, "shown"),
                EdgeVerdict::Rejected => (Tone::Bad, "ruled out"),
                EdgeVerdict::NoLongerHeld => (Tone::Bad, "no longer held"),
            };
            let text =
                format!("{}: edge {edge} after {} trades", bot(judgement.bot.index()), judgement.trades);
            Some(LogLine::new(judgement.at, tone, &text))
        }
        Action::DayOpened { .. } => None,
    }
}
