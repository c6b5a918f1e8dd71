//! Replays the events of each run in a Session and compares the decisions with the recorded ones.

use crate::RecordsError;
use crate::lines::SessionFold;
use crate::moment::count_text;
use crate::run::{NO_RUN, RecordedRun};
use candlewick_engine::{
    Action, Control, Event, EventKind, Header, RecordedEntry, ReloadNote, Rule, Session,
};
use candlewick_journal::{LineKind, StoredLine};
use candlewick_sdk::{Registry, Strategy, StrategyEntry, group_thousands};
use serde::Serialize;
use serde_json::Value;
use std::collections::VecDeque;
use std::mem;

#[derive(Debug, Default, Serialize)]
pub(super) struct DecisionComparison {
    pub events: u64,
    pub actions: u64,
    pub opened: u64,
    pub refused: u64,
    pub difference: Option<Difference>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_compared: Vec<UncomparedDecisions>,
}

/// Start of the uncompared decisions of a run: the first one depends on an obsolete verdict rule.
#[derive(Debug, Serialize)]
pub(super) struct UncomparedDecisions {
    pub seq: u64,
    pub run: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct Difference {
    pub seq: u64,
    pub run: u64,
    pub problem: String,
    pub expected: Option<Value>,
    pub got: Option<Value>,
}

struct Replay {
    session: Session,
    actions: Vec<Action>,
    unmatched: VecDeque<Value>,
    format: u32,
    /// Whether some verdicts follow an obsolete rule. If so, no verdicts are compared.
    has_old_verdicts: bool,
    stopped_at: Option<u64>,
    is_reload_prepared: bool,
}

impl DecisionComparison {
    pub(super) fn summary(&self) -> String {
        let Self { actions, opened, refused, events, .. } = self;
        let opened_words = count_text(*opened, "trade", "trades");
        let refused_words = count_text(*refused, "rejection", "rejections");
        let others =
            count_text(actions - opened - refused, "day start or verdict", "day starts and verdicts");
        let (all, events) = (group_thousands(&actions.to_string()), count_text(*events, "event", "events"));
        format!("all {all} identical ({opened_words}, {refused_words}, {others}) over {events}")
    }

    pub(super) fn compare(
        lines: &[StoredLine],
        runs: &[RecordedRun],
        registry: &Registry,
    ) -> Result<Self, RecordsError> {
        let mut decisions = Self::default();
        for (index, run) in runs.iter().enumerate() {
            let begin = lines.partition_point(|stored| stored.seq <= run.seq);
            let end = runs.get(index + 1);
            let end = end.map_or(lines.len(), |next| lines.partition_point(|stored| stored.seq < next.seq));
            let strategies = match build_strategies(run, registry)? {
                Ok(strategies) => strategies,
                Err(problem) => {
                    decisions.difference = Some(Difference::new(run.seq, run.number, problem));
                    break;
                }
            };
            let mut fold = SessionFold::new(Session::new(&run.settings, strategies)?);
            // The last line is the header of this run, which names the verdicts that continue from earlier runs.
            let earlier = lines[..begin].iter().try_for_each(|stored| fold.apply_line(stored).map(drop));
            if let Err(error) = earlier {
                decisions.difference = Some(Difference::new(run.seq, run.number, error.to_string()));
                break;
            }
            let has_old_verdicts = run.has_old_verdict_rule || lines[begin..].iter().any(is_old_verdict);
            let mut replay = Replay {
                session: fold.session,
                actions: Vec::new(),
                unmatched: VecDeque::new(),
                format: run.format,
                has_old_verdicts,
                stopped_at: None,
                is_reload_prepared: false,
            };
            let mut own = lines[begin..end].iter();
            let difference = own.find_map(|stored| replay.compare_entry(stored, &mut decisions));
            decisions.difference = difference.or_else(|| replay.check_extra_decision(&lines[end - 1]));
            let run = run.number;
            decisions.not_compared.extend(replay.stopped_at.map(|seq| UncomparedDecisions { seq, run }));
            if decisions.difference.is_some() {
                break;
            }
        }
        Ok(decisions)
    }
}

fn build_strategies(
    run: &RecordedRun,
    registry: &Registry,
) -> Result<Result<Vec<Box<dyn Strategy>>, String>, RecordsError> {
    let mut strategies = Vec::new();
    for place in 0..run.strategies.len() {
        match run.build_strategy(place, registry, StrategyEntry::build)? {
            Ok(strategy) => strategies.push(strategy),
            Err(problem) => return Ok(Err(problem)),
        }
    }
    Ok(Ok(strategies))
}

impl Replay {
    fn compare_entry(
        &mut self,
        stored: &StoredLine,
        decisions: &mut DecisionComparison,
    ) -> Option<Difference> {
        if self.stopped_at.is_some() {
            return None;
        }
        match stored.line.kind {
            LineKind::Run => None,
            LineKind::Note => self.prepare_reload(stored),
            LineKind::Event => {
                if let Some(difference) = self.check_extra_decision(stored) {
                    return Some(difference);
                }
                decisions.events += 1;
                self.replay_event(stored)
            }
            LineKind::Action if self.has_old_verdicts && is_verdict(stored) => None,
            LineKind::Action => {
                let expected: Option<Value> = serde_json::from_str(&stored.line.body).ok();
                let got = self.unmatched.pop_front();
                if expected.is_some() && (expected == got || differs_in_rule(expected.as_ref(), got.as_ref()))
                {
                    decisions.actions += 1;
                    let kind = expected.as_ref().and_then(|action| action["action"].as_str());
                    decisions.opened += u64::from(kind == Some("open"));
                    decisions.refused += u64::from(kind == Some("refuse"));
                    return None;
                }
                if self.depends_on_old_verdicts(&[&expected, &got]) {
                    self.stop_comparing(stored);
                    return None;
                }
                let problem = match (&expected, &got) {
                    (None, _) => "the entry is not valid JSON",
                    (_, None) => "the journal contains a decision that the replay did not make",
                    (Some(_), Some(_)) => "the decision differs",
                };
                Some(Difference { expected, got, ..Difference::from_line(stored, problem) })
            }
        }
    }

    fn prepare_reload(&mut self, stored: &StoredLine) -> Option<Difference> {
        let prepared = match ReloadNote::parse(&stored.line.body).transpose()? {
            Ok(note) => self.session.prepare_reload(&note.risk).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        self.is_reload_prepared = prepared.is_ok();
        let problem = format!("cannot replay the reloaded settings: {}", prepared.err()?);
        Some(Difference::from_line(stored, problem))
    }

    fn replay_event(&mut self, stored: &StoredLine) -> Option<Difference> {
        let event: Event = match serde_json::from_str(&stored.line.body) {
            Ok(event) => event,
            Err(error) => {
                return Some(Difference::from_line(stored, format!("cannot read the event: {error}")));
            }
        };
        if stored.line.run == NO_RUN {
            // No Session was running at that time. The next run applies the event at its start.
            self.session.recall(&RecordedEntry::Event(event));
            return None;
        }
        let is_reload = matches!(event.kind, EventKind::Control { control: Control::Reload });
        if is_reload && !mem::take(&mut self.is_reload_prepared) {
            let problem = "the settings were reloaded, but the new settings are not recorded";
            return Some(Difference::from_line(stored, problem));
        }
        self.session.handle_recorded(&event, &mut self.actions);
        let (format, without_verdicts) = (self.format, self.has_old_verdicts);
        let is_compared = |action: &Action| {
            is_recorded(action, format) && !(without_verdicts && matches!(action, Action::Verdict(_)))
        };
        for action in self.actions.drain(..).filter(is_compared) {
            self.unmatched.extend(serde_json::to_value(&action).ok());
        }
        None
    }

    fn depends_on_old_verdicts(&self, decisions: &[&Option<Value>]) -> bool {
        let is_refusal = |decision: &Value| decision["rule"] == Rule::EdgeRejected.as_str();
        self.has_old_verdicts && decisions.iter().any(|one| one.as_ref().is_some_and(is_refusal))
    }

    fn stop_comparing(&mut self, stored: &StoredLine) {
        self.stopped_at = Some(stored.seq);
        self.unmatched.clear();
    }

    fn check_extra_decision(&mut self, stored: &StoredLine) -> Option<Difference> {
        let got = Some(self.unmatched.pop_front()?);
        if self.depends_on_old_verdicts(&[&got]) {
            self.stop_comparing(stored);
            return None;
        }
        let problem = "the replay made a decision that the journal does not contain";
        Some(Difference { got, ..Difference::from_line(stored, problem) })
    }
}

/// Returns whether the only difference is that an older version recorded `MaxOpenTradesPerSymbol` as `MaxOpenTrades`.
fn differs_in_rule(recorded: Option<&Value>, replayed: Option<&Value>) -> bool {
    let (Some(recorded), Some(mut replayed)) = (recorded, replayed.cloned()) else { return false };
    if replayed["rule"] != Rule::MaxOpenTradesPerSymbol.as_str() {
        return false;
    }
    replayed["rule"] = Rule::MaxOpenTrades.as_str().into();
    *recorded == replayed
}

const fn is_recorded(action: &Action, format: u32) -> bool {
    match action {
        Action::Open(_) | Action::Refuse(_) | Action::DayOpened { .. } => true,
        Action::Verdict(_) => format >= Header::FIRST_FORMAT_WITH_VERDICTS,
    }
}

fn is_verdict(stored: &StoredLine) -> bool {
    stored.line.kind == LineKind::Action && stored.line.body.contains(r#""action":"verdict""#)
}

/// Returns whether the line is a verdict from a version that did not divide alpha among the bots.
fn is_old_verdict(stored: &StoredLine) -> bool {
    let weight = || serde_json::from_str::<Value>(&stored.line.body).ok()?.get("weight").cloned();
    is_verdict(stored) && weight().is_none()
}

impl Difference {
    const fn new(seq: u64, run: u64, problem: String) -> Self {
        Self { seq, run, problem, expected: None, got: None }
    }

    fn from_line(stored: &StoredLine, problem: impl Into<String>) -> Self {
        Self::new(stored.seq, stored.line.run, problem.into())
    }
}
