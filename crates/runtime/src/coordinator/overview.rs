//! Overview of the whole run.

use super::Coordinator;
use crate::notice::Funds;
use crate::overview::{BotOverview, Overview, trades_of};
use candlewick_engine::{IntentRow, IntentState};
use candlewick_sdk::Millis;

impl Coordinator {
    pub(crate) fn first_funds(&self) -> Funds {
        Funds { first_wallet: self.first_wallet(), ..Funds::of(self.session.ledger()) }
    }

    pub(crate) fn left_in_doubt(&self) -> Vec<IntentRow> {
        let rows = self.session.book().rows().iter();
        rows.filter(|row| row.state == IntentState::InDoubt).copied().collect()
    }

    pub(crate) fn overview(&self, now: Millis) -> Overview {
        let (session, book) = (self.session.session(), self.session.book());
        let (unsettled, settled) = trades_of(book, session.symbols());
        let ledger = session.ledger();
        Overview {
            state: self.run_state(now),
            funds: Funds::of(ledger),
            wallet: ledger.wallet(),
            day_profit: ledger.day_profit(),
            unsettled,
            settled,
            bots: BotOverview::of_all(session.verdicts(), self.session.tallies()),
            refused: book.refused(),
            limits: session.limit_use(now),
        }
    }
}
