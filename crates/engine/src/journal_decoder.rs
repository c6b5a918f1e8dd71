//! Decoding of journal entries from earlier runs.
//!
//! A restart applies the entries to a new Session ([`Session::recall`](crate::Session::recall)). This restores the
//! ledger, limits, ladders and intents in doubt. Strategies start without state and see no entries. A replay feeds the
//! events of one run to a Session and compares the resulting actions with the recorded actions.

use crate::{ApprovedTrade, BotId, Event, EventKind, Header, IntentId, Renumbering, Session, SymbolId};
use candlewick_sdk::{Direction, Expiry, Millis, Money, Reason, ReasonTemplate, Symbol};
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// A decoded journal entry.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordedEntry {
    /// An event that the Session handled.
    Event(Event),
    /// A trade that the Session approved.
    Open(ApprovedTrade),
    /// A rejected signal. It carries no data, because rejections change no state.
    Refuse,
    /// Start of a new day.
    DayOpened {
        /// Start time of the day.
        start: Millis,
    },
    /// A verdict. It carries no data, because verdicts are recomputed from the trades.
    Verdict,
}

/// Errors when decoding a journal entry.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// The entry is not in this program's format.
    #[error("the text is not a journal entry")]
    InvalidEntry(#[from] serde_json::Error),
    /// The header of the run does not name the bots.
    #[error("the header of the run does not name its bots")]
    NoBots,
}

/// A decoder for the journal entries of one run. Maps the recorded bots and symbols to the ids of the Session.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct JournalDecoder {
    bots: Vec<BotId>,
    symbols: Vec<SymbolId>,
    #[serde(skip)]
    templates: BTreeMap<ReasonWording, ReasonTemplate>,
}

#[derive(Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
enum RecordedAction {
    Open {
        intent: IntentId,
        bot: BotId,
        symbol: SymbolId,
        direction: Direction,
        expiry: Expiry,
        stake: Money,
        decision_time: Millis,
        reason: RecordedReason,
    },
    Refuse {},
    DayOpened {
        start: Millis,
    },
    Verdict {},
}

/// The reason for a trade, as recorded in a journal. Its non-finite numbers are recorded as `null`.
struct RecordedReason {
    words: ReasonWording,
    numbers: Vec<f64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct ReasonWording {
    text: String,
    names: Vec<String>,
}

impl JournalDecoder {
    /// Creates a decoder for a replay of a run with the same bots as the Session.
    pub fn for_replay(session: &Session) -> Self {
        let bots = (0..session.bot_names().len()).filter_map(BotId::new).collect();
        let symbols = (0..session.symbols().len()).filter_map(SymbolId::new).collect();
        Self { bots, symbols, templates: BTreeMap::new() }
    }

    /// Creates a decoder for the run with this header and calls [`Session::begin_run`].
    /// Bots unknown to the Session get ids after those of its own bots, because their trades still count in the ledger
    /// and in verdicts. Fails with [`DecodeError::NoBots`] if the header does not name the bots.
    pub fn for_run(header: &Header, session: &mut Session) -> Result<Self, DecodeError> {
        #[derive(Deserialize)]
        struct NamedBot {
            name: String,
            symbol: Symbol,
        }
        let named = header.settings.pointer("/session/bots").cloned().unwrap_or(Value::Null);
        let named: Vec<NamedBot> = serde_json::from_value(named).map_err(|_| DecodeError::NoBots)?;
        let bots = named.iter().map(|bot| session.remember_bot(&bot.name)).collect();
        let mut own: Vec<Symbol> = Vec::new();
        for bot in named {
            if !own.contains(&bot.symbol) {
                own.push(bot.symbol);
            }
        }
        session.begin_run(header);
        let symbols = own.into_iter().map(|symbol| session.remember_symbol(symbol)).collect();
        Ok(Self { bots, symbols, templates: BTreeMap::new() })
    }

    /// Returns this decoder with the bot and symbol ids of another Session.
    #[must_use]
    pub fn renumbered(&self, numbers: &Renumbering) -> Self {
        Self {
            bots: self.bots.iter().map(|bot| numbers.map_bot(*bot)).collect(),
            symbols: self.symbols.iter().map(|symbol| numbers.map_symbol(*symbol)).collect(),
            templates: BTreeMap::new(),
        }
    }

    /// Parses an event. Fails with [`DecodeError::InvalidEntry`] if `body` is not an event.
    pub fn read_event(&self, body: &str) -> Result<RecordedEntry, DecodeError> {
        let mut event: Event = serde_json::from_str(body)?;
        match &mut event.kind {
            EventKind::OutsideSignal(signal) => signal.bot = self.map_bot(signal.bot),
            EventKind::Reinstated(terms) => {
                *terms =
                    terms.with_bot_and_symbol(self.map_bot(terms.bot()), self.map_symbol(terms.symbol()));
            }
            _ => {}
        }
        Ok(RecordedEntry::Event(event))
    }

    /// Parses an action. Fails with [`DecodeError::InvalidEntry`] if `body` is not an action.
    pub fn read_action(&mut self, body: &str) -> Result<RecordedEntry, DecodeError> {
        Ok(match serde_json::from_str(body)? {
            RecordedAction::Refuse {} => RecordedEntry::Refuse,
            RecordedAction::Verdict {} => RecordedEntry::Verdict,
            RecordedAction::DayOpened { start } => RecordedEntry::DayOpened { start },
            RecordedAction::Open { intent, bot, symbol, direction, expiry, stake, decision_time, reason } => {
                RecordedEntry::Open(ApprovedTrade::from_record(
                    intent,
                    (self.map_bot(bot), self.map_symbol(symbol)),
                    (direction, expiry, stake),
                    decision_time,
                    self.read_reason(reason),
                ))
            }
        })
    }

    fn map_bot(&self, recorded: BotId) -> BotId {
        self.bots.get(recorded.index()).copied().unwrap_or(BotId::RETIRED)
    }

    fn map_symbol(&self, recorded: SymbolId) -> SymbolId {
        self.symbols.get(recorded.index()).copied().unwrap_or(SymbolId::RETIRED)
    }

    fn read_reason(&mut self, recorded: RecordedReason) -> Reason {
        let RecordedReason { words, numbers } = recorded;
        self.build_reason(words, &numbers)
    }

    pub(crate) fn build_reason_from_parts(
        &mut self,
        text: String,
        numbers: Vec<(String, Option<f64>)>,
    ) -> Reason {
        let (names, values) = numbers.into_iter().map(|(name, n)| (name, n.unwrap_or(f64::NAN))).unzip();
        let values: Vec<f64> = values;
        self.build_reason(ReasonWording { text, names }, &values)
    }

    fn build_reason(&mut self, words: ReasonWording, numbers: &[f64]) -> Reason {
        if let Some(template) = self.templates.get(&words) {
            return template.with_numbers(numbers);
        }
        let template = ReasonTemplate::new(words.text.clone(), words.names.clone());
        let reason = template.with_numbers(numbers);
        self.templates.insert(words, template);
        reason
    }
}

impl<'de> Deserialize<'de> for RecordedReason {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ReasonVisitor;
        impl<'de> Visitor<'de> for ReasonVisitor {
            type Value = RecordedReason;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a reason with a text and named numbers")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RecordedReason, A::Error> {
                let (mut words, mut numbers) = (ReasonWording::default(), Vec::new());
                while let Some(name) = map.next_key::<String>()? {
                    if name == "text" && words.text.is_empty() {
                        words.text = map.next_value()?;
                    } else {
                        words.names.push(name);
                        numbers.push(map.next_value::<Option<f64>>()?.unwrap_or(f64::NAN));
                    }
                }
                Ok(RecordedReason { words, numbers })
            }
        }
        deserializer.deserialize_map(ReasonVisitor)
    }
}
