//! The state of a Session, taken out to be kept and put back into another of the same settings.

mod changed;

pub use changed::SettingsBefore;

use super::Session;
use super::verdicts::SharedVerdicts;
use crate::intent::Intents;
use crate::outside_signal::KnownSignals;
use crate::reentry::Reentry;
use crate::risk::RiskState;
use crate::stake::Stake;
use crate::{BotVerdict, Ledger, SecondTrade};
use candlewick_sdk::{Millis, MoneyScale, Symbol};
use serde::{Deserialize, Serialize};

/// All that a Session has become by what it was handed, besides its strategies: money, intents, limits' counts, stakes and
/// verdicts. Its settings are not part of it, nor are strategies, which are warmed with candles.
#[derive(Clone, Serialize, Deserialize)]
pub struct SessionSnapshot {
    format: u32,
    money_scale: MoneyScale,
    bots: Vec<BotState>,
    /// The Session's own first, then those that only earlier runs traded.
    symbols: Vec<Symbol>,
    shared: SharedVerdicts,
    state: RiskState,
    ledger: Ledger,
    intents: Intents,
    second_trades: Vec<SecondTrade>,
    next_release: Millis,
    /// Signals from outside that were met.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    outside: Option<Box<KnownSignals>>,
}

#[derive(Clone, Serialize, Deserialize)]
struct BotState {
    name: String,
    stake: Stake,
    verdict: BotVerdict,
    last_close: Millis,
    /// Its next entry without a signal, where its ladder goes on with the next candle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reentry: Option<Box<Reentry>>,
}

/// Why a Session cannot go on from a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// Another version of the program wrote it.
    #[error("it has format {found}, and this program reads format {known}", known = SessionSnapshot::FORMAT)]
    Format {
        /// Its format.
        found: u32,
    },
    /// It is of a Session with other settings.
    #[error("it is of a run with other {what}")]
    OtherSettings {
        /// Which differ.
        what: &'static str,
    },
    /// Its settings are others, and under them only all the trades before it say what it comes to.
    #[error("{why}")]
    NeedsAll {
        /// Which setting, and why.
        why: String,
    },
}

impl SessionSnapshot {
    /// The number of its form: raised with every change of what it holds or means.
    pub const FORMAT: u32 = 2;

    /// Whether it can be of a Session with the bots, symbols and money of this one.
    fn check(&self, session: &Session) -> Result<(), RestoreError> {
        if self.format != Self::FORMAT {
            return Err(RestoreError::Format { found: self.format });
        }
        let other = |what| Err(RestoreError::OtherSettings { what });
        if self.money_scale != session.money_scale {
            return other("decimals of its money");
        }
        let is_of_bots = self.bots.iter().map(|bot| &bot.name).eq(&session.names);
        if !is_of_bots || !self.state.has_bots(self.bots.len()) {
            return other("bots");
        }
        if !self.symbols.starts_with(&session.symbols) || !self.state.has_symbols(self.symbols.len()) {
            return other("symbols");
        }
        Ok(())
    }
}

impl Session {
    /// Its state as it stands. Limits that are prepared and not in force yet are no part of it.
    pub fn snapshot(&self) -> SessionSnapshot {
        let bots = self.names.iter().zip(&self.bots).map(|(name, bot)| BotState {
            name: name.clone(),
            stake: bot.stake.clone(),
            verdict: (*bot.verdict).clone(),
            last_close: bot.last_close,
            reentry: bot.reentry.clone(),
        });
        SessionSnapshot {
            format: SessionSnapshot::FORMAT,
            money_scale: self.money_scale,
            bots: bots.collect(),
            symbols: self.symbols.clone(),
            shared: self.shared.clone(),
            state: self.state.clone(),
            ledger: self.ledger.clone(),
            intents: self.intents.clone(),
            second_trades: self.second_trades.clone(),
            next_release: self.next_release,
            outside: self.known_signals(),
        }
    }

    /// Goes on from a snapshot of a Session of the same settings. Strategies are shown nothing.
    ///
    /// # Errors
    /// [`RestoreError`]: then the Session is not to be used, unless its settings are the ones of the snapshot.
    pub fn restore(&mut self, snapshot: SessionSnapshot) -> Result<(), RestoreError> {
        snapshot.check(self)?;
        let SessionSnapshot { bots, symbols, shared, state, .. } = snapshot;
        for (own, kept) in self.bots.iter_mut().zip(bots) {
            let is_same = own.reentry.is_some() == kept.reentry.is_some();
            if !is_same || !own.stake.go_on_from(kept.stake) {
                return Err(RestoreError::OtherSettings { what: "stakes" });
            }
            *own.verdict = kept.verdict;
            (own.last_close, own.reentry) = (kept.last_close, kept.reentry);
        }
        (self.symbols, self.shared, self.state) = (symbols, shared, state);
        (self.ledger, self.intents) = (snapshot.ledger, snapshot.intents);
        (self.second_trades, self.next_release) = (snapshot.second_trades, snapshot.next_release);
        self.outside = snapshot.outside;
        Ok(())
    }
}
