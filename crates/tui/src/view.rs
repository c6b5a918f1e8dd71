//! State of the view, derived only from the received notices.

use crate::event_words::{LogLine, Tone, action_line, event_line};
use candlewick_engine::{Event, EventKind};
use candlewick_runtime::control::Phase;
use candlewick_runtime::{Notice, Overview, Received, Stop};
use candlewick_sdk::{Millis, Money, MoneyScale, Series, Symbol, visible};
use std::collections::VecDeque;

const LOG_LINES: usize = 500;
/// Maximum number of points of the equity curve, which is thinned beyond that.
const POINTS: usize = 2_048;

#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub venue: String,
    pub wallet: String,
    pub journal: String,
    pub requests: String,
    pub scale: MoneyScale,
    pub bots: Vec<BotFacts>,
    pub symbols: Vec<Symbol>,
    pub series: Vec<Series>,
}

#[derive(Clone, Debug, Default)]
pub struct BotFacts {
    pub name: String,
    /// Summary of series, strategy, expiry and stake.
    pub about: String,
}

#[derive(Debug)]
pub struct View {
    pub(crate) facts: Facts,
    pub(crate) overview: Option<Overview>,
    pub(crate) equity: Vec<Money>,
    pub(crate) prices: Vec<(Symbol, f64)>,
    pub(crate) log: VecDeque<LogLine>,
    pub(crate) alarm: Option<(Millis, String)>,
    pub(crate) stopping: Option<String>,
    pub(crate) missed: u64,
    pub(crate) latest: Millis,
}

impl View {
    pub fn new(facts: Facts) -> Self {
        let clean = |text: String| visible(&text).into_owned();
        let facts = Facts {
            venue: clean(facts.venue),
            wallet: clean(facts.wallet),
            journal: clean(facts.journal),
            requests: clean(facts.requests),
            bots: (facts.bots.into_iter())
                .map(|bot| BotFacts { name: clean(bot.name), about: clean(bot.about) })
                .collect(),
            ..facts
        };
        Self {
            facts,
            overview: None,
            equity: Vec::new(),
            prices: Vec::new(),
            log: VecDeque::new(),
            alarm: None,
            stopping: None,
            missed: 0,
            latest: Millis::ZERO,
        }
    }

    pub fn on_notice(&mut self, received: Received) {
        self.missed += received.missed;
        match received.notice {
            Notice::Begins(funds) => self.note_equity(funds.free + funds.open_stakes),
            Notice::Overview(overview) => {
                self.latest = self.latest.max(overview.state.at);
                self.note_equity(overview.funds.free + overview.funds.open_stakes);
                self.overview = Some(*overview);
            }
            Notice::Handled { event, actions, funds, intent, .. } => {
                self.latest = self.latest.max(event.at);
                self.note_price(&event);
                self.note_equity(funds.free + funds.open_stakes);
                let lines = event_line(&event, intent.as_ref(), &self.facts).into_iter();
                let facts = &self.facts;
                let lines: Vec<LogLine> = lines
                    .chain(actions.iter().filter_map(|action| action_line(action, event.received, facts)))
                    .collect();
                for line in lines {
                    self.add_line(line);
                }
            }
            Notice::Price(symbol, price) => self.set_price(symbol, price.value),
            // The log has warnings, and counts what comes again and again; the overview has the rest.
            Notice::Warning(_)
            | Notice::LeftInDoubt(_)
            | Notice::Logged { is_alarm: false, .. }
            | Notice::Evidence(_)
            | Notice::Blocked(_)
            | Notice::Phase { .. }
            | Notice::Venue { .. }
            | Notice::Candles { .. } => {}
            Notice::Note { mended, .. } => {
                let is_of = |alarm: &str| mended.iter().any(|problem| alarm.contains(&*visible(problem)));
                self.alarm.take_if(|(_, alarm)| is_of(alarm));
            }
            Notice::Alarm(text) | Notice::Logged { text, is_alarm: true } => {
                self.alarm = Some((self.latest, visible(&text).into_owned()));
            }
            Notice::Stopping { why, unfinished, .. } => {
                let why = match why {
                    Stop::TimeUp => "the time is up: ",
                    Stop::DataEnds(_) => "the candles end: ",
                    Stop::Limit(rule) => &format!("the {} was reached: ", rule.words()),
                    Stop::Interrupted | Stop::Terminated => "",
                };
                let waits = match unfinished {
                    0 => "none is open".to_owned(),
                    1 => "1 open trade is waited for".to_owned(),
                    more => format!("{more} open trades are waited for"),
                };
                let text = format!("{why}no new trades; {waits}");
                self.add_line(LogLine::new(self.latest, Tone::Note, &text));
                self.stopping = Some(text);
            }
        }
    }

    /// Adds a line of the program's log.
    ///
    /// Its wall-clock time is removed, because other lines show venue time.
    pub fn on_log(&mut self, line: &str) {
        let line = line
            .split_once("Z ")
            .filter(|(time, _)| is_time(time))
            .map_or(line, |(_, rest)| rest.trim_start());
        let tone = if line.contains("ERROR") { Tone::Bad } else { Tone::Note };
        self.add_line(LogLine { at: None, tone, text: visible(line.trim_end()).into_owned() });
    }

    pub fn unsettled(&self) -> usize {
        self.overview.as_ref().map_or(0, |overview| overview.unsettled.len())
    }

    pub fn phase(&self) -> Option<Phase> {
        self.overview.as_ref().map(|overview| overview.state.phase)
    }

    pub(crate) fn price(&self, symbol: Symbol) -> Option<f64> {
        self.prices.iter().find(|(known, _)| *known == symbol).map(|(_, price)| *price)
    }

    pub(crate) fn bot_name(&self, place: usize) -> &str {
        self.facts.bots.get(place).map_or("", |bot| bot.name.as_str())
    }

    fn add_line(&mut self, line: LogLine) {
        if self.log.len() == LOG_LINES {
            self.log.pop_front();
        }
        self.log.push_back(line);
    }

    fn note_equity(&mut self, equity: Money) {
        if self.equity.last() == Some(&equity) {
            return;
        }
        if self.equity.len() == POINTS {
            let mut place = 0;
            // The first stays, and every second one.
            self.equity.retain(|_| {
                place += 1;
                place % 2 == 1
            });
        }
        self.equity.push(equity);
    }

    fn note_price(&mut self, event: &Event) {
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

fn is_time(text: &str) -> bool {
    text.contains('T') && text.chars().all(|letter| letter.is_ascii_digit() || "-:.T".contains(letter))
}
