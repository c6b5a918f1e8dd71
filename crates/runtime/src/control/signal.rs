//! External signals: bot lookup, outcomes, counts, and text rendering.

use super::{ControlAnswer, ControlOrder, ControlRequest};
use candlewick_broker::clock::Hold;
use candlewick_engine::{IntentId, Rule, SignalId, SignalReason, SignalSource};
use candlewick_sdk::{CloseType, Direction, Millis, escape_hidden};
use chrono::{DateTime, SecondsFormat};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use tokio::sync::{mpsc, oneshot};

/// A trade signal from an external source. The signal names the bot, or a symbol that only one bot trades.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignalOrder {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bot: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    pub direction: Direction,
    pub source: SignalSource,
    /// Id that the sender has chosen. Later signals with the same id are dropped.
    pub id: SignalId,
    /// Venue time of the signal. If `None`, the time of arrival is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Millis>,
    /// Lifetime of the signal in ms. Used only if it is shorter than the risk limit on signal delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_ms: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub close_type: Option<CloseType>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<SignalReason>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "signal", rename_all = "snake_case")]
pub enum SignalOutcome {
    Approved { intent: IntentId },
    Refused { rule: String },
    Duplicate,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextEntry {
    pub at: Millis,
    pub bot: String,
    pub direction: Direction,
}

const MAX_STORED_REASONS: usize = 16;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignalTally {
    pub approved: u64,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub refused: BTreeMap<String, u64>,
    pub duplicates: u64,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub malformed: BTreeMap<String, u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<NextEntry>,
    /// Number of skipped lines in the watched signal list, and the reason for the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed_over: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub by_source: BTreeMap<String, SourceTally>,
}

impl SignalTally {
    /// Counts the decision on a signal. `None` means that the signal was a duplicate.
    pub fn count(&mut self, source: &str, decided: Option<Result<(), Rule>>) {
        let of_source = self.by_source.entry(source.to_owned()).or_default();
        match decided {
            Some(Ok(())) => {
                self.approved += 1;
                of_source.approved += 1;
            }
            Some(Err(rule)) => {
                let is_late = rule == Rule::LateSignal;
                *(if is_late { &mut of_source.late } else { &mut of_source.refused }) += 1;
                *self.refused.entry(rule.as_str().to_owned()).or_default() += 1;
            }
            None => {
                self.duplicates += 1;
                of_source.duplicates += 1;
            }
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SourceTally {
    pub approved: u64,
    /// Number of rejected signals. Late signals are counted separately.
    pub refused: u64,
    pub late: u64,
    pub duplicates: u64,
    pub malformed: u64,
    pub turned_away: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reasons: BTreeMap<String, u64>,
}

impl SourceTally {
    pub(crate) fn add_reasons(&mut self, reasons: BTreeMap<String, u64>) {
        for (reason, times) in reasons {
            if self.reasons.len() < MAX_STORED_REASONS || self.reasons.contains_key(&reason) {
                *self.reasons.entry(reason).or_default() += times;
            }
        }
    }
}

/// Queues a signal for the run and returns a receiver for its outcome.
/// If the receiver is dropped before the run has received the signal, the signal is withdrawn.
pub async fn send_signal(
    orders: &mpsc::WeakSender<ControlRequest>,
    order: SignalOrder,
    hold: Hold,
) -> Result<oneshot::Receiver<ControlAnswer>, RunEnded> {
    let (answer, answered) = oneshot::channel();
    let orders = orders.upgrade().ok_or(RunEnded)?;
    let request = ControlRequest { hold, ..ControlRequest::new(ControlOrder::Signal(order), answer) };
    orders.send(request).await.map_err(|_| RunEnded)?;
    Ok(answered)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the run has ended")]
pub struct RunEnded;

const MAX_SHOWN_REASONS: usize = 5;

impl SignalTally {
    pub fn is_empty(&self) -> bool {
        self.by_source.is_empty()
    }

    pub fn describe(&self) -> Vec<String> {
        if self.is_empty() {
            return Vec::new();
        }
        let all = self.by_source.values().fold(SourceTally::default(), SourceTally::sum);
        let late = candlewick_engine::Rule::LateSignal.as_str();
        let rules = self.refused.iter().filter(|(rule, _)| rule.as_str() != late);
        let rules: Vec<String> = rules.map(|(rule, count)| format!("{rule} {count}")).collect();
        let mut lines = vec![format!("{} received: {}", all.total(), all.describe_counts(&rules))];
        if self.by_source.len() > 1 {
            let of_source = |(source, tally): (&String, &SourceTally)| {
                format!("{}: {}", escape_hidden(source), tally.describe_counts(&[]))
            };
            lines.extend(self.by_source.iter().map(of_source));
        }
        let of_source = |(source, tally): (&String, &SourceTally)| {
            let problem = escape_hidden(tally.problem.as_ref()?);
            Some(format!("last invalid signal ({}): {problem}", escape_hidden(source)))
        };
        let problems: Vec<String> = self.by_source.iter().filter_map(of_source).collect();
        // Old journals contain only one problem, the last one of all sources.
        let last = self.problem.as_ref().filter(|_| problems.is_empty());
        lines.extend(last.map(|problem| format!("last invalid signal: {}", escape_hidden(problem))));
        lines.extend(problems);
        lines.extend(self.by_source.iter().filter_map(|(source, tally)| tally.describe_reasons(source)));
        lines
    }
}

impl SourceTally {
    fn sum(self, other: &Self) -> Self {
        Self {
            approved: self.approved + other.approved,
            refused: self.refused + other.refused,
            late: self.late + other.late,
            duplicates: self.duplicates + other.duplicates,
            malformed: self.malformed + other.malformed,
            turned_away: self.turned_away + other.turned_away,
            problem: None,
            reasons: BTreeMap::new(),
        }
    }

    const fn total(&self) -> u64 {
        let Self { approved, refused, late, duplicates, malformed, turned_away, .. } = *self;
        approved + refused + late + duplicates + malformed + turned_away
    }

    fn describe_reasons(&self, source: &str) -> Option<String> {
        if self.reasons.len() < 2 {
            return None;
        }
        let mut reasons: Vec<(&String, &u64)> = self.reasons.iter().collect();
        reasons.sort_by_key(|(reason, times)| (std::cmp::Reverse(**times), *reason));
        let more = reasons.len().saturating_sub(MAX_SHOWN_REASONS);
        let words = |(reason, times): &(&String, &u64)| {
            let times = if **times == 1 { "once".to_owned() } else { format!("{times} times") };
            format!("{times}: {}", escape_hidden(reason))
        };
        let mut words: Vec<String> = reasons.iter().take(MAX_SHOWN_REASONS).map(words).collect();
        words.extend((more > 0).then(|| format!("and {more} other reasons")));
        Some(format!("invalid signals ({}): {}", escape_hidden(source), words.join("; ")))
    }

    fn describe_counts(&self, rules: &[String]) -> String {
        let Self { approved, refused, late, duplicates, malformed, turned_away, .. } = *self;
        let rules = if rules.is_empty() { String::new() } else { format!(" ({})", rules.join(", ")) };
        let counts = [
            (approved, "approved".to_owned()),
            (refused, format!("rejected{rules}")),
            (late, "late".to_owned()),
            (duplicates, if duplicates == 1 { "duplicate" } else { "duplicates" }.to_owned()),
            (malformed, "malformed".to_owned()),
            (turned_away, "turned away".to_owned()),
        ];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        counts.map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join(", ")
    }
}

#[derive(serde::Serialize, serde::Deserialize)]
struct SignalNote {
    signals: SignalTally,
}

impl SignalTally {
    pub(crate) fn to_note(&self) -> String {
        let note = SignalNote { signals: Self { next: None, passed_over: None, ..self.clone() } };
        serde_json::to_string(&note).unwrap_or_default()
    }

    pub fn from_note(body: &str) -> Option<Self> {
        serde_json::from_str::<SignalNote>(body).ok().map(|note| note.signals)
    }
}

const MAX_TIME_AHEAD: Millis = Millis::MINUTE;
const MAX_LISTED_NAMES: usize = 12;

#[derive(Clone, Debug, Default)]
pub struct SignalBots {
    bots: Vec<(String, String)>,
}

impl SignalBots {
    pub const MAX_AGE: Millis = Millis::DAY;

    pub fn new(bots: impl IntoIterator<Item = (String, String)>) -> Self {
        Self { bots: bots.into_iter().collect() }
    }

    pub fn check(&self, order: &SignalOrder, now: Millis) -> Result<usize, String> {
        let place = self.find(order.bot.as_deref(), order.symbol.as_deref())?;
        check_time(order.time.unwrap_or(now), now)?;
        Ok(place)
    }

    /// Returns the index of the bot with this name, or of the only bot that trades the symbol.
    /// If both are given, both must match. Unambiguous spellings of the symbol such as `eur/usd` are accepted.
    pub fn find(&self, bot: Option<&str>, symbol: Option<&str>) -> Result<usize, String> {
        let known = symbol.map(|written| self.find_symbol(written).ok_or(written));
        match (bot, known) {
            (None, None) => Err(format!("neither bot nor symbol is named; {}", self.describe_bots())),
            (Some(name), known) => {
                let place = self.bots.iter().position(|(own, _)| own == name);
                let place = place.ok_or_else(|| format!("unknown bot {name:?}; {}", self.describe_bots()))?;
                let own = &self.bots[place].1;
                match known {
                    None => Ok(place),
                    Some(Ok(symbol)) if symbol == own => Ok(place),
                    Some(Ok(other) | Err(other)) => Err(format!("bot {name} trades {own}, not {other:?}")),
                }
            }
            (None, Some(Err(written))) => {
                Err(format!("no bot trades {written:?}; the bots trade {}", join_names(self.symbols())))
            }
            (None, Some(Ok(symbol))) => {
                let of_symbol = || self.bots.iter().enumerate().filter(|(_, (_, own))| own == symbol);
                let names = of_symbol().map(|(_, (name, _))| name.as_str());
                match (of_symbol().next(), of_symbol().nth(1)) {
                    (Some((place, _)), None) => Ok(place),
                    _ => Err(format!("several bots trade {symbol:?}. Name one of {}", join_names(names))),
                }
            }
        }
    }

    pub fn find_symbol(&self, written: &str) -> Option<&str> {
        let symbols: BTreeSet<&str> = self.symbols().collect();
        if let Some(symbol) = symbols.get(written) {
            return Some(symbol);
        }
        let wanted = normalize(written);
        let mut alike = symbols.into_iter().filter(|symbol| normalize(symbol) == wanted);
        alike.next().filter(|_| alike.next().is_none())
    }

    pub fn symbols(&self) -> impl Iterator<Item = &str> {
        self.bots.iter().map(|(_, symbol)| symbol.as_str())
    }

    fn describe_bots(&self) -> String {
        format!("the bots are {}", join_names(self.bots.iter().map(|(name, _)| name.as_str())))
    }
}

fn normalize(symbol: &str) -> String {
    symbol.chars().filter(|sign| sign.is_alphanumeric()).collect::<String>().to_uppercase()
}

fn join_names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut all: Vec<&str> = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    let more = all.len().saturating_sub(MAX_LISTED_NAMES);
    all.truncate(MAX_LISTED_NAMES);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{more}", all.join(", "))
}

fn check_time(given: Millis, now: Millis) -> Result<(), String> {
    let wrong = if given > now + MAX_TIME_AHEAD {
        "is ahead of venue time"
    } else if given < now - SignalBots::MAX_AGE {
        "is more than a day behind venue time"
    } else {
        return Ok(());
    };
    Err(format!(
        "the signal's time {} {wrong} ({}). Omit the time, or send the actual time of the signal",
        format_utc(given),
        format_utc(now)
    ))
}

fn format_utc(at: Millis) -> String {
    match DateTime::from_timestamp_millis(at.get()) {
        Some(time) => time.to_rfc3339_opts(SecondsFormat::Secs, true),
        None => format!("{at} ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally() -> SignalTally {
        let webhook = SourceTally { approved: 2, late: 1, turned_away: 9, ..SourceTally::default() };
        let list = SourceTally { duplicates: 1, malformed: 1, refused: 3, ..SourceTally::default() };
        SignalTally {
            approved: 2,
            refused: [("LateSignal".to_owned(), 1), ("InFlight".to_owned(), 3)].into(),
            duplicates: 1,
            malformed: [("list".to_owned(), 1)].into(),
            problem: Some("line 2: no\u{1b}".to_owned()),
            next: None,
            passed_over: None,
            by_source: [("webhook".to_owned(), webhook), ("list".to_owned(), list)].into(),
        }
    }

    #[test]
    fn counts_signals_in_total_and_by_source() {
        let expected = [
            "17 received: 2 approved, 3 rejected (InFlight 3), 1 late, 1 duplicate, 1 malformed, 9 turned away",
            "list: 3 rejected, 1 duplicate, 1 malformed",
            "webhook: 2 approved, 1 late, 9 turned away",
        ];
        let found = tally().describe();
        assert_eq!(found[..3], expected);
        let last = &found[3];
        assert!(last.contains("line 2: no") && !last.contains('\u{1b}'), "{last}");
        let mut failed = tally();
        failed.by_source.get_mut("webhook").unwrap().problem = Some("not a JSON object".to_owned());
        assert!(failed.describe()[3].ends_with("(webhook): not a JSON object"), "{:?}", failed.describe());
        assert!(SignalTally::default().describe().is_empty());
    }

    #[test]
    fn lists_reasons_of_invalid_signals_by_frequency() {
        let mut stdin = SourceTally { malformed: 4, duplicates: 1, ..SourceTally::default() };
        let object = "not a JSON object";
        stdin.add_reasons([(object.to_owned(), 2)].into());
        stdin.add_reasons([("no bot trades EURUSD\u{1b}".to_owned(), 1), (object.to_owned(), 1)].into());
        let tally =
            |stdin| SignalTally { by_source: [("stdin".to_owned(), stdin)].into(), ..SignalTally::default() };
        let words = tally(stdin.clone()).describe();
        assert_eq!(words[0], "5 received: 1 duplicate, 4 malformed");
        let expected = "invalid signals (stdin): 3 times: not a JSON object; once: no bot trades EURUSD";
        assert!(words[1].starts_with(expected) && !words[1].contains('\u{1b}'), "{words:?}");
        (0..1_000).for_each(|number| stdin.add_reasons([(format!("x{number}"), 1)].into()));
        assert_eq!(stdin.reasons.len(), 16);
        assert!(tally(stdin).describe()[1].ends_with("; once: x1; once: x10; and 11 other reasons"));
        let same =
            SourceTally { malformed: 2, reasons: [(object.to_owned(), 2)].into(), ..SourceTally::default() };
        assert_eq!(tally(same).describe().len(), 1, "the last says it");
    }

    #[test]
    fn reads_tallies_only_from_signal_notes() {
        assert_eq!(SignalTally::from_note(&tally().to_note()), Some(tally()));
        for other in ["{\"note\":\"signals (list): read\"}", "{\"alarm\":\"x\"}", "{}", ""] {
            assert_eq!(SignalTally::from_note(other), None, "{other}");
        }
    }

    fn bots(bots: &[(&str, &str)]) -> SignalBots {
        SignalBots::new(bots.iter().map(|(name, symbol)| ((*name).to_owned(), (*symbol).to_owned())))
    }

    fn check(bot: Option<&str>, symbol: Option<&str>, expected: Result<usize, &str>) {
        let bots = bots(&[("btc", "BTCUSDT"), ("eur", "EURUSD"), ("eur2", "EURUSD"), ("otc", "EURUSD-OTC")]);
        assert_eq!(bots.find(bot, symbol), expected.map_err(str::to_owned), "{bot:?} {symbol:?}");
    }

    #[test]
    fn finds_the_bot_by_name_or_unique_symbol() {
        check(Some("eur2"), None, Ok(2));
        check(Some("eur2"), Some("EURUSD"), Ok(2));
        check(None, Some("BTCUSDT"), Ok(0));
        check(None, Some("btc/usdt"), Ok(0));
        check(None, Some("EUR/USD-OTC"), Ok(3));
        check(None, None, Err("neither bot nor symbol is named; the bots are btc, eur, eur2, otc"));
        check(Some("eth"), None, Err("unknown bot \"eth\"; the bots are btc, eur, eur2, otc"));
        check(Some("btc"), Some("EUR/USD"), Err("bot btc trades BTCUSDT, not \"EURUSD\""));
        check(Some("btc"), Some("X"), Err("bot btc trades BTCUSDT, not \"X\""));
        let unknown = "no bot trades \"EURJPY\"; the bots trade BTCUSDT, EURUSD, EURUSD-OTC";
        check(None, Some("EURJPY"), Err(unknown));
        check(None, Some("EUR/USD"), Err("several bots trade \"EURUSD\". Name one of eur, eur2"));
        let two = bots(&[("a", "EUR/USD"), ("b", "EURUSD")]);
        assert_eq!(two.find(None, Some("EURUSD")), Ok(1));
        assert_eq!(two.find_symbol("eur-usd"), None);
        let many: Vec<(String, String)> = (0..20).map(|n| (format!("bot{n}"), format!("S{n}"))).collect();
        let problem = SignalBots::new(many).find(None, Some("none")).unwrap_err();
        assert!(problem.ends_with("S10, S11 and 8 more"), "{problem}");
    }

    #[test]
    fn rejects_signal_times_of_another_day() {
        // 2026-01-05 10:30 UTC.
        let now = Millis::new(1_767_609_000_000);
        for (given, expected) in [
            (now, None),
            (now + Millis::MINUTE, None),
            (now - Millis::DAY, None),
            (now + Millis::MINUTE + Millis::new(1), Some("the signal's time 2026-01-05T10:31:00Z is ahead")),
            (
                now - Millis::DAY - Millis::new(1),
                Some("the signal's time 2026-01-04T10:29:59Z is more than a day"),
            ),
            (Millis::ZERO, Some("the signal's time 1970-01-01T00:00:00Z is more than a day behind")),
        ] {
            let problem = check_time(given, now).err().unwrap_or_default();
            assert_eq!(problem.is_empty(), expected.is_none(), "{problem}");
            assert!(problem.starts_with(expected.unwrap_or_default()), "{problem}");
        }
    }
}
