//! A situation in which every rule passes, as a basis for tests of the rules.

use super::{Limits, Proposal, RiskSettings, RiskState, RiskView, Ruling};
use crate::intent::{IntentStage, Intents};
use crate::ledger::Ledger;
use crate::{BotId, EdgeVerdict, IntentId, Origin, SymbolId};
use candlewick_sdk::{Direction, Expiry, Millis, Money, MoneyScale, Outcome, Reason, Symbol};
use serde_json::{Value, from_value};

static REASON: Reason = Reason::new("test");

pub(super) struct Situation {
    pub(super) limits: Limits,
    pub(super) state: RiskState,
    pub(super) ledger: Ledger,
    pub(super) intents: Intents,
    pub(super) proposal: Proposal<'static>,
}

impl Default for Situation {
    /// Default limits, balance 10,000.00, stake 10.00, at 2026-01-05 00:01 UTC.
    fn default() -> Self {
        Self::with(|_| {})
    }
}

impl Situation {
    pub(super) const SYMBOL: SymbolId = SymbolId::FIRST;

    pub(super) fn other_symbol() -> SymbolId {
        SymbolId::new(1).expect("1 is a position")
    }

    pub(super) fn with(change: impl Fn(&mut RiskSettings)) -> Self {
        let mut settings = RiskSettings::default();
        change(&mut settings);
        let limits = Limits::new(&settings, MoneyScale::default()).expect("sound settings");
        let at = Millis::new(1_767_571_260_000);
        Self {
            state: RiskState::new(&limits, 2),
            ledger: Ledger::new(Money::from_minor(1_000_000)),
            intents: Intents::with_capacity(8, 2),
            limits,
            proposal: Proposal {
                bot: BotId::FIRST,
                symbol: Self::SYMBOL,
                direction: Direction::Buy,
                expiry: Expiry {
                    close_type: "01:00".parse().expect("a code"),
                    expiration_type: candlewick_sdk::ExpirationType::TimeFixed,
                },
                stake: Money::from_minor(1_000),
                at,
                received: at,
                origin: Origin::Live,
                last_close: at,
                interval: Millis::MINUTE,
                nominal_close: at + Millis::MINUTE,
                edge: EdgeVerdict::Open,
                reason: &REASON,
                is_virtual: false,
            },
        }
    }

    pub(super) fn from_json(settings: &Value) -> Self {
        let settings: RiskSettings = from_value(settings.clone()).expect("sound settings");
        Self::with(|risk| risk.clone_from(&settings))
    }

    pub(super) fn know_bots(&mut self, names: &[&str]) {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        self.limits.bind_ids(&names, &[]);
        self.state = RiskState::new(&self.limits, 2).with_bots(names.len());
    }

    pub(super) fn know_symbols(&mut self, symbols: &[&str]) {
        let symbols: Vec<Symbol> = symbols.iter().map(|symbol| symbol.parse().expect("a symbol")).collect();
        self.limits.bind_ids(&[], &symbols);
    }

    pub(super) fn view(&self) -> RiskView<'_> {
        let Self { limits, state, ledger, intents, proposal } = self;
        RiskView { limits, state, ledger, intents, counts: intents.counts(proposal.symbol) }
    }

    pub(super) fn ask(&self, check: fn(&Proposal, RiskView<'_>) -> Ruling) -> Ruling {
        check(&self.proposal, self.view())
    }

    pub(super) fn begin(&mut self, symbol: SymbolId, stage: IntentStage) {
        let proposal = Proposal { symbol, ..self.proposal };
        let id: IntentId = self.intents.next;
        self.intents.add_in_flight(super::ApprovedTrade::new(&proposal, id).terms(), proposal.nominal_close);
        match stage {
            IntentStage::InFlight => {}
            IntentStage::InDoubt => self.intents.mark_in_doubt(id),
            IntentStage::Open => assert!(self.intents.mark_open(id).is_some()),
        }
    }

    /// Counts a trade with this outcome towards the pauses. `moment` is its time and the end of its day.
    pub(super) fn end(&mut self, whose: (BotId, SymbolId), outcome: Outcome, moment: (Millis, Millis)) {
        self.state.pauses.count_outcome(&self.limits.pauses, whose, outcome, moment);
    }

    pub(super) fn move_to(&mut self, at: Millis) {
        (self.proposal.at, self.proposal.received, self.proposal.last_close) = (at, at, at);
    }

    pub(super) fn lose(&mut self, amount: Money) {
        self.ledger.reserve(amount);
        self.ledger.settle(amount, -amount);
    }
}
