//! Trade gate. While the gate is closed, trades are virtual, and results of virtual trades can open the gate.

use crate::statistics_error::check_probability;
use crate::{EdgeTest, EdgeTestPlan, NotionalStake, StatisticsError, TradeOutcome, Verdict};
use std::collections::VecDeque;
use std::fmt;

const DEFAULT_WINDOW_TRADES: usize = 20;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GateOpening {
    /// Opens after this number of consecutive virtual losses, and stays open until a closing condition applies.
    AfterVirtualLosses(u32),
    /// Opens when the last `over` decided trades, virtual or real, have a win rate of `rate` or more. Otherwise closes.
    WinRate {
        rate: f64,
        /// Number of trades over which the gate computes the win rate. The gate stays closed until there are this many.
        over: u32,
    },
    /// Opens when all trades together, virtual and real, show an edge. Stays open until a closing condition applies.
    VerdictShown {
        test: EdgeTestPlan,
        /// Assumed payout of a won trade, as a fraction of the stake.
        payout: f64,
    },
}

/// Opening and closing conditions of a gate. A count of 0 disables its condition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GateRule {
    pub opening: GateOpening,
    pub close_after_losses: u32,
    /// Number of real trades after which the gate closes. A trade counts as soon as its signal passes the gate.
    pub close_after_trades: u32,
    pub close_after_wins: u32,
    /// Whether the gate closes every day and then ignores the trades of previous days.
    pub resets_daily: bool,
    /// Maximum number of times the gate opens per day. Requires `resets_daily`.
    pub max_daily_openings: u32,
}

impl GateRule {
    pub const fn from_opening(opening: GateOpening) -> Self {
        let (close_after_losses, close_after_trades, close_after_wins) = (0, 0, 0);
        let (resets_daily, openings) = (false, 0);
        Self {
            opening,
            close_after_losses,
            close_after_trades,
            close_after_wins,
            resets_daily,
            max_daily_openings: openings,
        }
    }
}

#[derive(Clone, Debug)]
pub struct GateDecision {
    is_real: bool,
    span: u64,
    day: Option<i64>,
    stake: Option<NotionalStake>,
}

/// Trade gate, initially closed. While the gate is closed, trades are virtual.
///
/// Report the decision and the result of each trade in the order in which they become known. After the gate opens or
/// closes, only trades with later decisions count towards its next change. Draws and cancelled trades do not count.
#[derive(Clone, Debug)]
pub struct TradeGate {
    rule: GateRule,
    is_open: bool,
    day: Option<i64>,
    openings: u32,
    /// Number of the current period. A new period begins whenever the gate opens or closes.
    span: u64,
    /// Consecutive losses in this period: virtual while closed, real while open.
    losses: u32,
    trades: u32,
    wins: u32,
    recent: VecDeque<bool>,
    test: Option<EdgeTest>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GateState {
    pub(crate) rule: GateRule,
    pub(crate) is_open: bool,
    pub(crate) openings: u32,
    pub(crate) losses: u32,
    pub(crate) trades: u32,
    pub(crate) wins: u32,
    pub(crate) recent_trades: u32,
    pub(crate) recent_wins: u32,
    /// Evidence for an edge (account of an [`EdgeTest`]): the current value, and the value that shows an edge.
    pub(crate) edge_account: [f64; 2],
}

impl GateState {
    pub const fn rule(&self) -> &GateRule {
        &self.rule
    }

    pub const fn is_open(&self) -> bool {
        self.is_open
    }

    /// Returns the number of consecutive virtual losses that count towards opening. 0 while the gate is open.
    pub const fn virtual_losses(&self) -> u32 {
        if self.is_open { 0 } else { self.losses }
    }

    /// Returns the win rate of recent decided trades (20 unless set otherwise), `None` before the first result.
    pub fn win_rate(&self) -> Option<f64> {
        (self.recent_trades > 0).then(|| f64::from(self.recent_wins) / f64::from(self.recent_trades))
    }

    fn describe_opening_progress(&self) -> String {
        let GateRule { max_daily_openings: most, opening, .. } = self.rule;
        if most > 0 && self.openings >= most {
            return format!("opened {} of {} today", self.openings, pluralize(most, "time", "times"));
        }
        match opening {
            GateOpening::AfterVirtualLosses(losses) => {
                format!("{} of {}", self.losses, pluralize(losses, "virtual loss", "virtual losses in a row"))
            }
            GateOpening::WinRate { rate, over } => {
                format!("{}, opens at {:.0} %", self.describe_win_rate(over), rate * 100.0)
            }
            GateOpening::VerdictShown { .. } => {
                let [account, goal] = self.edge_account;
                format!("evidence for an edge is {account:.2}, and the gate opens at {goal:.0}")
            }
        }
    }

    fn describe_closing_progress(&self) -> String {
        let rule = &self.rule;
        let mut parts = Vec::new();
        let most = describe_closings(rule.close_after_losses, rule.close_after_wins, rule.close_after_trades);
        for (found, (most, passed)) in [self.losses, self.wins, self.trades].into_iter().zip(most) {
            if most > 0 {
                parts.push(format!("{found} of {passed}"));
            }
        }
        if let GateOpening::WinRate { rate, over } = rule.opening {
            parts.push(format!("{}, closes below {:.0} %", self.describe_win_rate(over), rate * 100.0));
        }
        match (parts.is_empty(), rule.resets_daily) {
            (true, true) => "until the day ends".to_owned(),
            (true, false) => "no closing condition".to_owned(),
            (false, _) => parts.join(", "),
        }
    }

    fn describe_win_rate(&self, over: u32) -> String {
        let known = self.recent_trades;
        match self.win_rate() {
            None => format!("0 of {over} trades settled"),
            Some(rate) if known < over => {
                format!("win rate {:.0} % over {known} trades ({over} needed)", rate * 100.0)
            }
            Some(rate) => format!("win rate {:.0} % over {over} trades", rate * 100.0),
        }
    }
}

impl GateDecision {
    pub const fn is_real(&self) -> bool {
        self.is_real
    }
}

impl TradeGate {
    pub fn new(rule: GateRule) -> Result<Self, StatisticsError> {
        let never = |what| Err(StatisticsError::NotANumberFor { what, value: 0.0 });
        let closes = [rule.close_after_losses, rule.close_after_trades, rule.close_after_wins];
        let mut test = None;
        if rule.max_daily_openings > 0 && !rule.resets_daily {
            let (what, value) =
                ("openings per day (requires a daily reset)", f64::from(rule.max_daily_openings));
            return Err(StatisticsError::NotANumberFor { what, value });
        }
        match rule.opening {
            GateOpening::AfterVirtualLosses(0) => return never("number of virtual losses that open a gate"),
            GateOpening::AfterVirtualLosses(_) if closes == [0; 3] && !rule.resets_daily => {
                return never("number of losses, wins or trades that close a gate");
            }
            GateOpening::WinRate { over: 0, .. } => return never("number of trades for a gate's win rate"),
            GateOpening::WinRate { rate, .. } => {
                check_probability("win rate of a gate", rate)?;
            }
            GateOpening::VerdictShown { payout, .. } if !(payout.is_finite() && payout > 0.0) => {
                return Err(StatisticsError::NotANumberFor { what: "payout of a gate", value: payout });
            }
            GateOpening::VerdictShown { test: plan, .. } => test = Some(EdgeTest::new(plan)),
            GateOpening::AfterVirtualLosses(_) => {}
        }
        let recent = VecDeque::new();
        let (is_open, day, openings, span) = (false, None, 0, 0);
        Ok(Self { rule, is_open, day, openings, span, losses: 0, trades: 0, wins: 0, recent, test })
    }

    /// Sets the current day. Days may have any distinct numbers. Call this before the first decision of a day.
    pub fn set_day(&mut self, day: i64) {
        if self.day == Some(day) {
            return;
        }
        let is_first = self.day.replace(day).is_none();
        if self.rule.resets_daily && !is_first {
            self.set_open(false);
            self.recent.clear();
            self.openings = 0;
        }
    }

    pub const fn is_open(&self) -> bool {
        self.is_open
    }

    pub fn gate_state(&self) -> GateState {
        let Self { rule, is_open, openings, losses, trades, wins, .. } = *self;
        let recent_trades = u32::try_from(self.recent.len()).unwrap_or(u32::MAX);
        let recent_wins = self.recent.iter().filter(|won| **won).count() as u32;
        let edge_account = self.test.as_ref().map_or([1.0; 2], |test| [test.edge_account(), test.goal()]);
        GateState { rule, is_open, openings, losses, trades, wins, recent_trades, recent_wins, edge_account }
    }

    pub fn on_decided(&mut self) -> GateDecision {
        let stake = match (&mut self.test, self.rule.opening) {
            (Some(test), GateOpening::VerdictShown { payout, .. }) => test.on_open(payout).ok(),
            _ => None,
        };
        let decision = GateDecision { is_real: self.is_open, span: self.span, day: self.day, stake };
        if self.is_open {
            self.trades += 1;
            self.close_if_due();
        }
        decision
    }

    pub fn on_ended(&mut self, trade: GateDecision, outcome: TradeOutcome) {
        if let (Some(test), Some(stake)) = (&mut self.test, trade.stake) {
            test.on_settled(stake, outcome);
        }
        let won = match outcome {
            TradeOutcome::Won => true,
            TradeOutcome::Lost => false,
            // The stake was returned, so the trade does not count.
            TradeOutcome::Draw | TradeOutcome::Cancelled => return,
        };
        if self.rule.resets_daily && trade.day != self.day {
            return;
        }
        self.recent.push_back(won);
        while self.recent.len() > self.window_size() {
            self.recent.pop_front();
        }
        if trade.span == self.span {
            self.losses = if won { 0 } else { self.losses + 1 };
            self.wins += u32::from(won);
        }
        if self.is_open {
            self.close_if_due();
            let is_below = matches!(self.rule.opening, GateOpening::WinRate { .. }) && !self.is_opening_due();
            if self.is_open && is_below {
                self.set_open(false);
            }
        } else if self.is_opening_due() && self.may_open() {
            self.set_open(true);
            self.openings += 1;
        }
    }

    const fn may_open(&self) -> bool {
        self.rule.max_daily_openings == 0 || self.openings < self.rule.max_daily_openings
    }

    fn close_if_due(&mut self) {
        let is_reached = |count: u32, most: u32| most > 0 && count >= most;
        let GateRule { close_after_losses, close_after_trades, close_after_wins, .. } = self.rule;
        if is_reached(self.trades, close_after_trades)
            || is_reached(self.losses, close_after_losses)
            || is_reached(self.wins, close_after_wins)
        {
            self.set_open(false);
            if let GateOpening::WinRate { .. } = self.rule.opening {
                // Without this, the same trades would immediately reopen the gate.
                self.recent.clear();
            }
        }
    }

    fn is_opening_due(&self) -> bool {
        match self.rule.opening {
            GateOpening::AfterVirtualLosses(losses) => self.losses >= losses,
            GateOpening::WinRate { rate, over } => {
                let wins = self.recent.iter().filter(|won| **won).count();
                self.recent.len() == over as usize && wins as f64 >= rate * f64::from(over) - 1e-9
            }
            GateOpening::VerdictShown { .. } => {
                self.test.as_ref().is_some_and(|test| test.verdict() == Verdict::EdgeShown)
            }
        }
    }

    const fn window_size(&self) -> usize {
        match self.rule.opening {
            GateOpening::WinRate { over, .. } => over as usize,
            GateOpening::AfterVirtualLosses(_) | GateOpening::VerdictShown { .. } => DEFAULT_WINDOW_TRADES,
        }
    }

    const fn set_open(&mut self, is_open: bool) {
        self.is_open = is_open;
        self.span += 1;
        (self.losses, self.trades, self.wins) = (0, 0, 0);
    }
}

impl fmt::Display for GateRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut closing = Vec::new();
        let Self { close_after_losses, close_after_wins, close_after_trades, .. } = *self;
        for (most, passed) in describe_closings(close_after_losses, close_after_wins, close_after_trades) {
            if most > 0 {
                closing.push(format!("after {passed}"));
            }
        }
        let opening = match self.opening {
            GateOpening::AfterVirtualLosses(losses) => {
                format!("opens after {}", pluralize(losses, "virtual loss", "virtual losses in a row"))
            }
            GateOpening::VerdictShown { payout, .. } => {
                format!("opens once an edge is shown at a payout of {:.2} %", payout * 100.0)
            }
            GateOpening::WinRate { rate, over } => {
                closing.push("below that".to_owned());
                format!("opens at a win rate of {:.2} % or more over the last {over} trades", rate * 100.0)
            }
        };
        if self.resets_daily {
            closing.push("at the end of the day".to_owned());
        }
        let often = match self.max_daily_openings {
            0 => String::new(),
            1 => ", once a day".to_owned(),
            times => format!(", {times} times a day"),
        };
        let closing = if closing.is_empty() { "never".to_owned() } else { closing.join(" or ") };
        write!(f, "{opening}{often}, closes {closing}")
    }
}

impl fmt::Display for GateState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_open {
            write!(f, "open: {}", self.describe_closing_progress())
        } else {
            write!(f, "closed: {}", self.describe_opening_progress())
        }
    }
}

/// Describes the closing conditions. They count signals that pass the gate, even if a risk limit rejects them.
fn describe_closings(losses: u32, wins: u32, trades: u32) -> [(u32, String); 3] {
    let of = |count: u32| if count == 1 { "of a passed signal" } else { "of passed signals" };
    [
        (losses, format!("{} {}", pluralize(losses, "loss", "losses in a row"), of(losses))),
        (wins, format!("{} {}", pluralize(wins, "win", "wins"), of(wins))),
        (trades, pluralize(trades, "passed signal", "passed signals")),
    ]
}

fn pluralize(count: u32, one: &str, more: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {more}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use TradeOutcome::{Draw, Lost, Won};

    fn rule(opening: GateOpening, close_after_losses: u32, close_after_trades: u32) -> GateRule {
        GateRule { close_after_losses, close_after_trades, ..GateRule::from_opening(opening) }
    }

    /// Plays trades: `W` is won, `L` lost, `D` drawn. Returns `r` for each real trade and `v` for each virtual one.
    fn play(gate: &mut TradeGate, results: &str) -> String {
        let trade = |result: char| {
            let trade = gate.on_decided();
            let letter = if trade.is_real() { 'r' } else { 'v' };
            let outcome = match result {
                'W' => Won,
                'L' => Lost,
                _ => Draw,
            };
            gate.on_ended(trade, outcome);
            letter
        };
        results.chars().map(trade).collect()
    }

    fn follow(rule: GateRule, results: &str) -> String {
        play(&mut TradeGate::new(rule).unwrap(), results)
    }

    const HOOK: GateRule = GateRule::from_opening(GateOpening::AfterVirtualLosses(2));
    const ONE: GateRule = GateRule::from_opening(GateOpening::AfterVirtualLosses(1));
    const RATE: GateRule = GateRule::from_opening(GateOpening::WinRate { rate: 0.6, over: 4 });

    #[test]
    fn trades_are_real_while_the_gate_is_open() {
        let rate = |rate, over| GateRule::from_opening(GateOpening::WinRate { rate, over });
        let once = GateRule { close_after_trades: 1, ..HOOK };
        for (rule, results, expected) in [
            (once, "LLWLLLLLW", "vvrvvrvvr"),
            // A win resets the count; a draw does not.
            (once, "LWLDLWW", "vvvvvrv"),
            (GateRule { close_after_losses: 2, ..ONE }, "LWLWLLWLW", "vrrrrrvvr"),
            (GateRule { close_after_losses: 2, close_after_trades: 3, ..ONE }, "LWWWWLLLW", "vrrrvvrrv"),
            (GateRule { close_after_wins: 2, ..ONE }, "LWLWWLW", "vrrrvvr"),
            // Before the sixth trade, 3 of 5 are won. Before the eighth, the last five are W L L W L: 2 of 5.
            (rate(0.6, 5), "WWLWLLWLW", "vvvvvrvvv"),
            // W L opens the gate, and the next loss closes it. A single W does not fill the window, but W W does.
            (GateRule { close_after_losses: 1, ..rate(0.5, 2) }, "WLLWWWW", "vvrvvrr"),
        ] {
            assert_eq!(follow(rule, results), expected, "{rule}");
        }
    }

    fn follow_days(rule: GateRule, days: &[&str]) -> Vec<String> {
        let mut gate = TradeGate::new(rule).unwrap();
        let day = |(day, results): (i64, &&str)| {
            gate.set_day(day);
            play(&mut gate, results)
        };
        (7..).zip(days).map(day).collect()
    }

    #[test]
    fn daily_gate_resets_its_counts_each_day() {
        let hook = GateRule { resets_daily: true, ..HOOK };
        // The last loss of the first day does not count on the second day.
        assert_eq!(follow_days(hook, &["LLWLL", "LWLL", "W", "LLL"]), ["vvrrr", "vvvv", "v", "vvr"]);
        let rate = GateRule {
            resets_daily: true,
            ..GateRule::from_opening(GateOpening::WinRate { rate: 0.5, over: 2 })
        };
        assert_eq!(follow_days(rate, &["WLWW", "WLL", "LWW"]), ["vvrr", "vvr", "vvr"]);
    }

    #[test]
    fn gate_opens_once_per_day() {
        let once = GateRule { resets_daily: true, max_daily_openings: 1, close_after_trades: 1, ..HOOK };
        assert_eq!(follow_days(once, &["LLWLLLL", "LLL"]), ["vvrvvvv", "vvr"]);
        assert_eq!(follow_days(GateRule { max_daily_openings: 2, ..once }, &["LLWLLLLLL"]), ["vvrvvrvvv"]);
        let opening = GateOpening::WinRate { rate: 1.0, over: 1 };
        let rate = GateRule { opening, close_after_trades: 0, ..once };
        // The loss itself closes the gate. The gate does not open a second time that day.
        assert_eq!(follow_days(rate, &["WWLWW", "WW"]), ["vrrvv", "vr"]);
    }

    #[test]
    fn late_result_of_a_previous_day_is_ignored() {
        let rule = GateRule {
            resets_daily: true,
            ..GateRule::from_opening(GateOpening::WinRate { rate: 1.0, over: 1 })
        };
        let mut gate = TradeGate::new(rule).unwrap();
        gate.set_day(1);
        let late = gate.on_decided();
        gate.set_day(2);
        gate.on_ended(late, Won);
        assert!(!gate.is_open());
        let own = gate.on_decided();
        gate.set_day(2);
        gate.on_ended(own, Won);
        assert!(gate.is_open(), "reporting the same day again changes nothing");
    }

    #[test]
    fn unknown_results_do_not_move_the_gate() {
        let mut gate = TradeGate::new(rule(GateOpening::AfterVirtualLosses(1), 0, 1)).unwrap();
        let [first, second] = [gate.on_decided(), gate.on_decided()];
        assert!(!first.is_real() && !second.is_real());
        gate.on_ended(first, Lost);
        assert!(gate.on_decided().is_real() && !gate.is_open());
    }

    #[test]
    fn late_virtual_loss_does_not_count_as_real() {
        let mut gate = TradeGate::new(rule(GateOpening::AfterVirtualLosses(1), 2, 0)).unwrap();
        let [first, late] = [gate.on_decided(), gate.on_decided()];
        gate.on_ended(first, Lost);
        let real = gate.on_decided();
        assert!(real.is_real());
        // One virtual loss and one real loss came first. This is the second real loss.
        gate.on_ended(late, Lost);
        gate.on_ended(real, Lost);
        assert!(gate.is_open(), "a virtual loss was counted as a real one");
        let real = gate.on_decided();
        gate.on_ended(real, Lost);
        assert!(!gate.is_open());
    }

    #[test]
    fn late_real_loss_counts_for_its_own_opening_only() {
        let mut gate = TradeGate::new(rule(GateOpening::AfterVirtualLosses(1), 1, 0)).unwrap();
        let first = gate.on_decided();
        gate.on_ended(first, Lost);
        let [real, late, later] = [gate.on_decided(), gate.on_decided(), gate.on_decided()];
        assert!(late.is_real() && later.is_real());
        gate.on_ended(real, Lost);
        // The gate has closed. This trade was real, so its loss does not open the gate.
        gate.on_ended(late, Lost);
        assert!(!gate.is_open());
        let virtual_one = gate.on_decided();
        gate.on_ended(virtual_one, Lost);
        assert!(gate.is_open());
        gate.on_ended(later, Lost);
        assert!(gate.is_open(), "a loss of the opening before closed it");
    }

    #[test]
    fn shown_edge_opens_the_gate_and_a_coin_does_not() {
        let test = EdgeTestPlan::new(0.05, 0.05, 0.04).unwrap();
        let rule = rule(GateOpening::VerdictShown { test, payout: 0.8 }, 0, 0);
        let real = |results: &str| follow(rule, results).matches('r').count();
        assert!(real(&"WWWWWLWWWW".repeat(60)) > 300);
        assert_eq!(real(&"WL".repeat(2_000)), 0);
    }

    #[test]
    fn rejects_gates_that_never_open_or_close() {
        let rate = |rate, over| GateOpening::WinRate { rate, over };
        let test = EdgeTestPlan::new(0.05, 0.05, 0.04).unwrap();
        for refused in [
            rule(GateOpening::AfterVirtualLosses(0), 0, 1),
            rule(GateOpening::AfterVirtualLosses(2), 0, 0),
            GateRule { max_daily_openings: 1, ..rule(GateOpening::AfterVirtualLosses(2), 0, 1) },
            rule(rate(0.6, 0), 0, 0),
            rule(rate(1.5, 20), 0, 0),
            rule(rate(f64::NAN, 20), 0, 0),
            rule(GateOpening::VerdictShown { test, payout: 0.0 }, 0, 0),
            rule(GateOpening::VerdictShown { test, payout: f64::NAN }, 0, 0),
        ] {
            assert!(TradeGate::new(refused).is_err(), "{refused:?}");
        }
    }

    #[test]
    fn describes_opening_and_closing() {
        for (rule, parts) in [
            (GateRule { close_after_losses: 2, ..RATE }, ["60.00 %", "4 trades", "or below that"]),
            (GateRule { close_after_wins: 1, ..ONE }, ["1 virtual loss", "after 1 win", "a passed signal"]),
            (
                GateRule { resets_daily: true, max_daily_openings: 1, ..HOOK },
                ["2", "once a day", "end of the day"],
            ),
        ] {
            assert!(parts.into_iter().all(|part| rule.to_string().contains(part)), "{rule}");
        }
    }

    #[test]
    fn describes_progress_towards_opening_and_closing() {
        let test = EdgeTestPlan::new(0.05, 0.05, 0.04).unwrap();
        let verdict = GateRule::from_opening(GateOpening::VerdictShown { test, payout: 0.8 });
        let two = GateRule { close_after_losses: 2, close_after_trades: 3, ..HOOK };
        let once = GateRule { resets_daily: true, max_daily_openings: 1, close_after_trades: 1, ..HOOK };
        for (rule, results, expected) in [
            (two, "", "closed: 0 of 2 virtual losses in a row"),
            (two, "WL", "closed: 1 of 2 virtual losses in a row"),
            (two, "LL", "open: 0 of 2 losses in a row of passed signals, 0 of 3 passed signals"),
            (two, "LLL", "open: 1 of 2 losses in a row of passed signals, 1 of 3 passed signals"),
            (two, "LLLW", "open: 0 of 2 losses in a row of passed signals, 2 of 3 passed signals"),
            (two, "LLLL", "closed: 0 of 2 virtual losses in a row"),
            (RATE, "", "closed: 0 of 4 trades settled, opens at 60 %"),
            (RATE, "WLL", "closed: win rate 33 % over 3 trades (4 needed), opens at 60 %"),
            (RATE, "WLLW", "closed: win rate 50 % over 4 trades, opens at 60 %"),
            (RATE, "WLWW", "open: win rate 75 % over 4 trades, closes below 60 %"),
            (once, "LLW", "closed: opened 1 of 1 time today"),
            (
                GateRule { max_daily_openings: 0, close_after_trades: 0, ..once },
                "LL",
                "open: until the day ends",
            ),
            (verdict, "", "closed: evidence for an edge is 1.00, and the gate opens at 20"),
        ] {
            let mut gate = TradeGate::new(rule).unwrap();
            play(&mut gate, results);
            assert_eq!(gate.gate_state().to_string(), expected, "{rule} after {results}");
        }
    }
}
