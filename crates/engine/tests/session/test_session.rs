//! A Session with scripted bots, and the rows that it is held to.

use crate::event::{NO_SKEW, at};
use crate::script::Script;
use candlewick_engine::{Action, Event, RiskSettings, Session, SessionSettings, TradeBook};
use candlewick_sdk::MoneyScale;
use candlewick_sdk::rust_decimal::Decimal;

pub(crate) struct TestSession {
    pub(crate) session: Session,
    pub(crate) book: TradeBook,
}

/// An event, and what is answered to it.
pub(crate) type Row<'a> = (Event, &'a str);

/// An event, what is answered to it, and the free balance and open stakes after it, in cents.
pub(crate) type MoneyRow<'a> = (Event, &'a str, [i64; 2]);

impl TestSession {
    /// 10,000.00 and the default limits, some of them changed.
    pub(crate) fn new(scripts: &[Script], change: impl FnOnce(&mut RiskSettings)) -> Self {
        Self::with_balance(10_000, scripts, change)
    }

    pub(crate) fn with_balance(
        balance: i64,
        scripts: &[Script],
        change: impl FnOnce(&mut RiskSettings),
    ) -> Self {
        let mut risk = RiskSettings::default();
        change(&mut risk);
        let settings = SessionSettings {
            money_scale: MoneyScale::default(),
            balance: Decimal::from(balance),
            risk,
            bots: scripts.iter().map(|script| script.bot.clone()).collect(),
            longer_share_percent: None,
        };
        let strategies = scripts.iter().map(Script::strategy).collect();
        let session = Session::new(&settings, strategies).unwrap();
        let mut session = Self { session, book: TradeBook::default() };
        assert_eq!(session.handle(&at(0, NO_SKEW)), format!("day {balance}.00"));
        session
    }

    pub(crate) fn check(&mut self, rows: &[Row<'_>]) {
        for (index, (event, expected)) in rows.iter().enumerate() {
            assert_eq!(self.handle(event), *expected, "row {index}: {event:?}");
        }
    }

    pub(crate) fn check_money(&mut self, rows: &[MoneyRow<'_>]) {
        for (index, (event, expected, money)) in rows.iter().enumerate() {
            let answer = self.handle(event);
            let ledger = self.session.ledger();
            let found = [ledger.free(), ledger.open_stakes()].map(candlewick_sdk::Money::minor);
            assert_eq!((answer.as_str(), found), (*expected, *money), "row {index}: {event:?}");
        }
    }

    /// Hands in an event; what was answered, in words.
    pub(crate) fn handle(&mut self, event: &Event) -> String {
        let answers: Vec<String> = self.actions(event).iter().map(|action| self.words(action)).collect();
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

    fn words(&self, action: &Action) -> String {
        let scale = self.session.money_scale();
        match action {
            Action::Open(approved) => {
                let bot = &self.session.bots()[approved.bot().index()];
                let stake = scale.format(approved.stake());
                format!("#{} {bot} {} {stake}", approved.intent(), approved.direction())
            }
            Action::Refuse(refused) => {
                format!("{} {}", self.session.bots()[refused.bot.index()], refused.rule)
            }
            Action::DayOpened { equity, .. } => format!("day {}", scale.format(*equity)),
            Action::Verdict(judgement) => {
                let bot = &self.session.bots()[judgement.bot.index()];
                format!("{bot} {:?} after {}", judgement.edge, judgement.trades)
            }
        }
    }
}
