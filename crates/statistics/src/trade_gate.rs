//! A gate before a bot's trades: while it is closed trades are virtual, and what they come to opens it.

use crate::StatisticsError;
use crate::statistics_error::check_probability;
use std::collections::VecDeque;

/// What opens a gate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GateOpening {
    /// So many virtual losses in a row, counted from the moment the gate closed. It stays open until a closing condition comes.
    AfterVirtualLosses(u32),
    /// The last `over` decided trades, virtual and real, won at least this share. It closes when they no longer do.
    WinRate {
        /// The share, from 0 to 1.
        rate: f64,
        /// How many trades it is taken over; fewer leave the gate closed.
        over: u32,
    },
}

/// What opens a gate and what closes it again. A condition of 0 is off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GateRule {
    /// What opens it.
    pub opening: GateOpening,
    /// It closes after so many real losses in a row.
    pub close_after_losses: u32,
    /// It closes after so many real trades, counted as they are decided.
    pub close_after_trades: u32,
}

/// A gate as it stands. It begins closed.
///
/// It is told each trade as it is decided and as its result becomes known, in that order in time, so that no decision rests on a
/// result that was not known by then. A draw or a cancellation counts for nothing.
#[derive(Clone, Debug)]
pub struct TradeGate {
    rule: GateRule,
    is_open: bool,
    /// Losses in a row of the kind that is made: virtual ones while it is closed, real ones while it is open.
    losses: u32,
    /// Real trades since it opened.
    trades: u32,
    /// How the last trades ended, where the opening asks for it.
    recent: VecDeque<bool>,
}

impl TradeGate {
    /// A gate that is closed.
    ///
    /// # Errors
    /// [`StatisticsError::NotANumberFor`] for a gate that opens after 0 losses, over 0 trades, or that nothing would ever close;
    /// [`StatisticsError::NotAProbability`] for a win rate that is none.
    pub fn new(rule: GateRule) -> Result<Self, StatisticsError> {
        let never = |what| Err(StatisticsError::NotANumberFor { what, value: 0.0 });
        match rule.opening {
            GateOpening::AfterVirtualLosses(0) => return never("virtual losses before a gate opens"),
            GateOpening::AfterVirtualLosses(_) if rule.close_after_losses + rule.close_after_trades == 0 => {
                return never("losses or trades after which a gate closes");
            }
            GateOpening::WinRate { over: 0, .. } => return never("trades that a win rate is taken over"),
            GateOpening::WinRate { rate, .. } => {
                check_probability("win rate of a gate", rate)?;
            }
            GateOpening::AfterVirtualLosses(_) => {}
        }
        Ok(Self { rule, is_open: false, losses: 0, trades: 0, recent: VecDeque::new() })
    }

    /// Whether the next trade would be real.
    pub const fn is_open(&self) -> bool {
        self.is_open
    }

    /// A trade is decided; whether it is real.
    pub fn on_decided(&mut self) -> bool {
        let is_real = self.is_open;
        if is_real {
            self.trades += 1;
            if self.rule.close_after_trades > 0 && self.trades >= self.rule.close_after_trades {
                self.set_open(false);
            }
        }
        is_real
    }

    /// The result of a trade became known: won, lost, or neither.
    pub fn on_ended(&mut self, is_real: bool, won: Option<bool>) {
        let Some(won) = won else { return };
        // What was decided before the gate moved says nothing of the time since.
        if is_real == self.is_open {
            self.losses = if won { 0 } else { self.losses + 1 };
        }
        match self.rule.opening {
            GateOpening::AfterVirtualLosses(losses) if !self.is_open && self.losses >= losses => {
                self.set_open(true);
            }
            GateOpening::AfterVirtualLosses(_) => {}
            GateOpening::WinRate { rate, over } => self.follow_win_rate(won, rate, over as usize),
        }
        let most = self.rule.close_after_losses;
        if self.is_open && is_real && most > 0 && self.losses >= most {
            self.set_open(false);
            // Otherwise the same trades would open it again at once.
            self.recent.clear();
        }
    }

    fn follow_win_rate(&mut self, won: bool, rate: f64, over: usize) {
        self.recent.push_back(won);
        if self.recent.len() > over {
            self.recent.pop_front();
        }
        let wins = self.recent.iter().filter(|won| **won).count();
        let is_met = self.recent.len() == over && wins as f64 >= rate * over as f64 - 1e-9;
        if is_met != self.is_open {
            self.set_open(is_met);
        }
    }

    const fn set_open(&mut self, is_open: bool) {
        self.is_open = is_open;
        self.losses = 0;
        self.trades = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(opening: GateOpening, close_after_losses: u32, close_after_trades: u32) -> GateRule {
        GateRule { opening, close_after_losses, close_after_trades }
    }

    /// Trades one after the other, `W` won, `L` lost, `D` drawn; `r` stands where a trade was real, `v` where virtual.
    fn follow(rule: GateRule, results: &str) -> String {
        let mut gate = TradeGate::new(rule).unwrap();
        let trade = |result: char| {
            let is_real = gate.on_decided();
            gate.on_ended(is_real, (result != 'D').then_some(result == 'W'));
            if is_real { 'r' } else { 'v' }
        };
        results.chars().map(trade).collect()
    }

    #[test]
    fn after_two_virtual_losses_one_trade_is_real() {
        let rule = rule(GateOpening::AfterVirtualLosses(2), 0, 1);
        assert_eq!(follow(rule, "LLWLLLLLW"), "vvrvvrvvr");
    }

    #[test]
    fn a_win_starts_the_count_anew_and_a_draw_leaves_it() {
        let rule = rule(GateOpening::AfterVirtualLosses(2), 0, 1);
        assert_eq!(follow(rule, "LWLDLWW"), "vvvvvrv");
    }

    #[test]
    fn it_stays_open_until_so_many_real_losses_in_a_row() {
        let rule = rule(GateOpening::AfterVirtualLosses(1), 2, 0);
        assert_eq!(follow(rule, "LWLWLLWLW"), "vrrrrrvvr");
    }

    #[test]
    fn whichever_condition_comes_first_closes_it() {
        let rule = rule(GateOpening::AfterVirtualLosses(1), 2, 3);
        assert_eq!(follow(rule, "LWWWWLLLW"), "vrrrvvrrv");
    }

    #[test]
    fn a_win_rate_is_that_of_all_trades_and_closes_by_itself() {
        let rule = rule(GateOpening::WinRate { rate: 0.6, over: 5 }, 0, 0);
        // Known before the sixth trade: 3 of 5 won; before the eighth: W L L W L, 2 of 5.
        assert_eq!(follow(rule, "WWLWLLWLW"), "vvvvvrvvv");
    }

    #[test]
    fn a_result_that_is_not_known_yet_decides_nothing() {
        let mut gate = TradeGate::new(rule(GateOpening::AfterVirtualLosses(1), 0, 1)).unwrap();
        assert_eq!([gate.on_decided(), gate.on_decided()], [false, false]);
        gate.on_ended(false, Some(false));
        assert!(gate.on_decided() && !gate.is_open());
    }

    #[test]
    fn a_virtual_loss_that_is_known_late_is_no_real_one() {
        let mut gate = TradeGate::new(rule(GateOpening::AfterVirtualLosses(1), 1, 0)).unwrap();
        assert_eq!([gate.on_decided(), gate.on_decided()], [false, false]);
        gate.on_ended(false, Some(false));
        gate.on_ended(false, Some(false));
        assert!(gate.is_open());
    }

    #[test]
    fn a_gate_that_could_never_open_or_close_is_refused() {
        let rate = |rate, over| GateOpening::WinRate { rate, over };
        for refused in [
            rule(GateOpening::AfterVirtualLosses(0), 0, 1),
            rule(GateOpening::AfterVirtualLosses(2), 0, 0),
            rule(rate(0.6, 0), 0, 0),
            rule(rate(1.5, 20), 0, 0),
            rule(rate(f64::NAN, 20), 0, 0),
        ] {
            assert!(TradeGate::new(refused).is_err(), "{refused:?}");
        }
    }
}
