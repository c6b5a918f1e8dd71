//! A Session with scripted bots, checked against rows of events and expected answers.

use crate::event::{NO_SKEW, at, opened, opened_paying};
use crate::script::{Script, session_settings};
use candlewick_engine::{Action, Event, RiskSettings, Session, TradeBook};
use candlewick_sdk::Millis;

pub(crate) struct TestSession {
    pub(crate) session: Session,
    pub(crate) book: TradeBook,
}

/// An event and the expected answer.
/// `opened` or `opened at 80` (percent) after an order adds the venue's reply two seconds later.
pub(crate) type Row<'a> = (Event, &'a str);

/// An event, the expected answer, and the free balance and open stakes after it in cents.
pub(crate) type MoneyRow<'a> = (Event, &'a str, [i64; 2]);

impl TestSession {
    /// Creates a Session with 10,000.00 and changed default limits.
    pub(crate) fn new(scripts: &[Script], change: impl FnOnce(&mut RiskSettings)) -> Self {
        Self::with_balance(10_000, scripts, change)
    }

    pub(crate) fn with_balance(cash: i64, scripts: &[Script], edit: impl FnOnce(&mut RiskSettings)) -> Self {
        let mut risk = RiskSettings::default();
        edit(&mut risk);
        let bots = scripts.iter().map(|script| script.bot.clone()).collect();
        let settings = session_settings(cash, risk, bots);
        let strategies = scripts.iter().map(Script::strategy).collect();
        let session = Session::new(&settings, strategies).unwrap();
        let mut session = Self { session, book: TradeBook::default() };
        assert_eq!(session.handle(&at(0, NO_SKEW)), format!("day {cash}.00"));
        session
    }

    pub(crate) fn check(&mut self, rows: &[Row<'_>]) {
        for (index, (event, expected)) in rows.iter().enumerate() {
            assert_eq!(self.answer(event, expected), *expected, "row {index}: {event:?}");
        }
    }

    pub(crate) fn check_money(&mut self, rows: &[MoneyRow<'_>]) {
        for (index, (event, expected, money)) in rows.iter().enumerate() {
            let answer = self.answer(event, expected);
            let ledger = self.session.ledger();
            let found = [ledger.free_balance(), ledger.open_stakes()].map(candlewick_sdk::Money::minor);
            assert_eq!((answer.as_str(), found), (*expected, *money), "row {index}: {event:?}");
        }
    }

    fn answer(&mut self, event: &Event, expected: &str) -> String {
        let answer = self.handle(event);
        let Some((_, paying)) = expected.split_once(" opened") else { return answer };
        let number = self.book.rows().last().expect(expected).approved.intent().number();
        let [at, received] = [event.at, event.received].map(|moment| moment + Millis::SECOND * 2);
        let percent = paying.strip_prefix(" at ").map(|percent| percent.parse().unwrap());
        let kind = percent.map_or_else(|| opened(number), |percent| opened_paying(number, percent));
        assert_eq!(self.handle(&Event { at, received, kind }), "");
        answer + " opened" + paying
    }

    /// Handles an event and describes its actions.
    pub(crate) fn handle(&mut self, event: &Event) -> String {
        let answers: Vec<String> = self.actions(event).iter().map(|action| self.describe(action)).collect();
        answers.join(", ")
    }

    pub(crate) fn actions(&mut self, event: &Event) -> Vec<Action> {
        let mut actions = Vec::new();
        self.session.handle_recorded(event, &mut actions);
        self.book.record_event(event);
        for action in &actions {
            self.book.record_action(action);
        }
        actions
    }

    fn describe(&self, action: &Action) -> String {
        let scale = self.session.money_scale();
        match action {
            Action::Open(approved) => {
                let bot = &self.session.bot_names()[approved.bot().index()];
                let stake = scale.to_decimal(approved.stake());
                format!("#{} {bot} {} {stake}", approved.intent(), approved.direction())
            }
            Action::Refuse(refused) => {
                format!("{} {}", self.session.bot_names()[refused.bot.index()], refused.rule)
            }
            Action::DayOpened { equity, .. } => format!("day {}", scale.to_decimal(*equity)),
            Action::Verdict(judgement) => {
                let bot = &self.session.bot_names()[judgement.bot.index()];
                format!("{bot} {:?} after {}", judgement.edge, judgement.trades)
            }
        }
    }
}
