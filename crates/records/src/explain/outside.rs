//! External signals that a bot received since its last candle, and their outcome.

use crate::error::RecordsError;
use crate::moment::time_of_day;
use crate::refusal::read_refusal;
use crate::run::RecordedRun;
use candlewick_engine::{BotSettings, Event, EventKind, Lateness, RiskSettings};
use candlewick_journal::{LineKind, StoredLine};
use candlewick_sdk::{Direction, Millis, visible};
use serde::Serialize;
use std::fmt::{self, Display};

#[derive(Debug, Serialize)]
pub(super) struct SignalMoment {
    at: Millis,
    received: Millis,
    direction: Direction,
    source: String,
    id: String,
    rule: Option<&'static str>,
    refusal: Option<String>,
    intent: Option<u64>,
}

impl SignalMoment {
    pub(super) fn all_of(
        lines: &[StoredLine],
        (bot, run): (&BotSettings, &RecordedRun),
        from: Millis,
        risk: Option<&RiskSettings>,
    ) -> Result<Vec<Self>, RecordsError> {
        let mut found = Vec::new();
        for (place, stored) in lines.iter().enumerate() {
            let Some(event) = outside_event(stored) else { continue };
            let EventKind::OutsideSignal(signal) = event.kind else { continue };
            let own = run.settings.bots.get(signal.bot.index());
            if event.received < from || own.is_none_or(|own| own.name != bot.name) {
                continue;
            }
            let mut moment = Self {
                at: event.at,
                received: event.received,
                direction: signal.direction,
                source: signal.source.to_string(),
                id: signal.id.to_string(),
                rule: None,
                refusal: None,
                intent: None,
            };
            let actions = lines[place + 1..].iter();
            for action in actions.take_while(|next| next.line.kind == LineKind::Action) {
                match read_refusal(action)? {
                    Some(refused) => {
                        let rule = refused.rule;
                        let words =
                            risk.map_or_else(|| rule.words(), |risk| rule.words_within(risk, &bot.name));
                        let lateness = Lateness::of((event.at, event.received), bot.interval.length(), risk);
                        moment.rule = Some(rule.as_str());
                        moment.refusal = Some(rule.with_lateness(words, lateness));
                    }
                    None => moment.intent = action.line.intent.or(moment.intent),
                }
            }
            found.push(moment);
        }
        Ok(found)
    }
}

fn outside_event(stored: &StoredLine) -> Option<Event> {
    let is_one = stored.line.kind == LineKind::Event && stored.line.body.contains("\"outside_signal\"");
    serde_json::from_str(&stored.line.body).ok().filter(|_| is_one)
}

impl Display for SignalMoment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (source, id) = (visible(&self.source), visible(&self.id));
        write!(f, "{} {} {id} from {source}: ", time_of_day(self.received), self.direction)?;
        match (&self.refusal, self.intent) {
            (Some(refusal), _) => write!(f, "refused: {refusal}"),
            (None, Some(intent)) => write!(f, "approved as trade #{intent}"),
            (None, None) => write!(f, "dropped"),
        }
    }
}
