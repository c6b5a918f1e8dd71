//! Builds the state and the overview of the run, and notifies the observers of changes.

use super::Coordinator;
use super::command::{Command, Step};
use super::venue_watch::{TOKEN_SOURCE, describe_token_refusal};
use crate::Notice;
use crate::control::{Blockage, ControlAnswer, LateSeries, Phase, QuietSeries, RunState, VenueApi};
use crate::notice::Funds;
use crate::overview::{BotOverview, Overview, collect_trade_overviews};
use candlewick_engine::{IntentRow, IntentState, SeriesId, StakeBound, StakeViolation};
use candlewick_sdk::Millis;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Default)]
pub(crate) struct ReportedState {
    /// Phase last reported to the observers. Initially `Trading`, which observers assume before the first report.
    phase: Phase,
    reason: Option<String>,
    is_halted: bool,
    silent: Vec<VenueApi>,
    late: BTreeMap<SeriesId, LateSeries>,
    quiet: BTreeSet<SeriesId>,
    blocked: Vec<(String, Vec<String>)>,
    looked: Option<(u64, Millis)>,
}

impl Coordinator {
    fn phase_and_reason(&self) -> (Phase, Option<Cow<'_, str>>) {
        let (halted, suspended) =
            (self.session.halt_reason(), self.session.journal.suspension_reason.as_ref());
        let phase = if self.ending.is_stopping() {
            Phase::Stopping
        } else if halted.is_some() {
            Phase::Halted
        } else if suspended.is_some() || self.token_refused.is_some() || self.venue.is_account_restricted() {
            Phase::Suspended
        } else {
            Phase::Trading
        };
        let token_refused = self
            .token_refused
            .as_ref()
            .map(|text| format!("{}. Provide a valid token {TOKEN_SOURCE}", describe_token_refusal(text)));
        let reason = halted.map(|text| Cow::Borrowed(text.as_str())).or(token_refused.map(Cow::Owned));
        let reason = reason.or(suspended.map(|text| Cow::Borrowed(text.as_str())));
        (phase, reason.or_else(|| self.account_restriction().map(Cow::Owned)))
    }

    pub(super) fn answer_with_state(&self, step: &Step<'_>) -> ControlAnswer {
        ControlAnswer::Done { state: Box::new(self.run_state(step.now)) }
    }

    fn run_state(&self, now: Millis) -> RunState {
        let (phase, reason) = self.phase_and_reason();
        let gates: BTreeMap<String, String> = self.session.session().gate_states().collect();
        let blocked = Blockage::list(self.session.session(), now);
        RunState {
            phase,
            reason: reason.map(Cow::into_owned),
            halt: self.session.halt.clone(),
            in_flight: self.session.intents_in_state(IntentState::InFlight).count(),
            in_doubt: self.session.intents_in_state(IntentState::InDoubt).collect(),
            open: self.session.intents_in_state(IntentState::Open).count(),
            at: now,
            clock: self.skew.estimate(),
            audits: self.audits.tallies(),
            heard: self.last_venue_response(),
            apis: self.venue_health(now),
            troubles: self.problems(now),
            reloaded: self.reloaded.clone().map(Box::new),
            stale_after_s: self.settings.stale_after_s,
            signals: self.outside.tally(),
            market: self.market_state(now).map(Box::new),
            gates: Some(gates).filter(|gates| !gates.is_empty()).map(Box::new),
            all_blocked: Blockage::are_all_bots_blocked(&blocked, self.session.session().bot_names().len()),
            blocked,
        }
    }

    pub(super) fn publish_changes(&mut self, step: &mut Step<'_>) {
        let is_halted = self.session.halt_reason().is_some();
        let was_halted = std::mem::replace(&mut self.last_reported.is_halted, is_halted);
        let (phase, reason) = self.phase_and_reason();
        // A stopping run may still halt because of its last wallet reading or a trade report.
        if phase == Phase::Stopping && is_halted && !was_halted {
            let reason = reason.as_deref().map(str::to_owned);
            step.commands.push(Command::Notify(Notice::Phase { phase: Phase::Halted, reason }));
        }
        if phase != self.last_reported.phase || reason.as_deref() != self.last_reported.reason.as_deref() {
            let reason = reason.map(Cow::into_owned);
            step.commands.push(Command::Notify(Notice::Phase { phase, reason: reason.clone() }));
            (self.last_reported.phase, self.last_reported.reason) = (phase, reason);
        }
        self.publish_silent_apis(step);
        self.publish_late_series(step);
        self.warn_about_quiet_series(step);
        self.publish_blockages(step);
    }

    fn publish_silent_apis(&mut self, step: &mut Step<'_>) {
        for api in VenueApi::ALL {
            let (was, is_silent) = (self.last_reported.silent.contains(&api), self.is_silent(api, step.now));
            if was == is_silent {
                continue;
            }
            self.last_reported.silent.retain(|known| *known != api);
            self.last_reported.silent.extend(is_silent.then_some(api));
            let heard = self.last_api_response(api);
            step.commands.push(Command::Notify(Notice::Venue { api, is_silent, heard }));
        }
    }

    fn publish_blockages(&mut self, step: &mut Step<'_>) {
        let looked = Some((self.session.non_candle_events, step.now.floor_to(Millis::MINUTE)));
        if looked == self.last_reported.looked {
            return;
        }
        self.last_reported.looked = looked;
        let mut lasting = Blockage::list(self.session.session(), step.now);
        lasting.retain(|blockage| !blockage.brief);
        let keys = lasting.iter().map(|blockage| (blockage.rule.clone(), blockage.bots.clone()));
        let keys: Vec<_> = keys.collect();
        if keys != self.last_reported.blocked {
            self.last_reported.blocked = keys;
            step.commands.push(Command::Notify(Notice::Blocked(lasting)));
        }
    }

    fn warn_about_quiet_series(&mut self, step: &mut Step<'_>) {
        let quiet: BTreeMap<SeriesId, QuietSeries> = self.market.quiet_series().collect();
        for (_, series) in quiet.iter().filter(|(id, _)| !self.last_reported.quiet.contains(id)) {
            step.warn(series.to_string());
        }
        self.last_reported.quiet = quiet.into_keys().collect();
    }

    fn publish_late_series(&mut self, step: &mut Step<'_>) {
        let late: BTreeMap<SeriesId, LateSeries> = self.market.late_series().collect();
        if late.is_empty() && self.last_reported.late.is_empty() {
            return;
        }
        let began = late.iter().filter(|(id, _)| !self.last_reported.late.contains_key(id));
        let ended = self.last_reported.late.iter().filter(|(id, _)| !late.contains_key(id));
        let notices = began.map(|(_, one)| (*one, true)).chain(ended.map(|(_, one)| (*one, false)));
        for (series, is_late) in notices {
            step.commands.push(Command::Notify(Notice::Candles { series, is_late }));
        }
        self.last_reported.late = late;
    }

    pub(crate) fn initial_funds(&self) -> Funds {
        Funds { first_wallet: self.first_wallet_balance(), ..Funds::from_ledger(self.session.ledger()) }
    }

    pub(crate) fn intents_in_doubt(&self) -> Vec<IntentRow> {
        let rows = self.session.book().rows().iter();
        rows.filter(|row| row.state == IntentState::InDoubt).copied().collect()
    }

    pub(crate) fn overview(&self, now: Millis) -> Overview {
        let (session, book) = (self.session.session(), self.session.book());
        let (unsettled, settled) = collect_trade_overviews(book, session.symbols());
        let ledger = session.ledger();
        Overview {
            state: self.run_state(now),
            funds: Funds::from_ledger(ledger),
            wallet: ledger.wallet_balance(),
            day_profit: ledger.day_profit(),
            unsettled,
            settled,
            bots: BotOverview::collect(session.verdicts(), &self.session.tallies),
            refused: book.refusal_counts(),
            limits: session.limit_usage(now),
        }
    }

    pub(super) fn stake_problems(&self, now: Millis) -> Vec<String> {
        let session = self.session.session();
        let describe = |trouble: StakeViolation| {
            let name = session.bot_names().get(trouble.bot.index()).map_or("", String::as_str);
            let money = |amount| self.session.scale().format(amount);
            let (stake, figure) = (money(trouble.stake), money(trouble.value));
            let (bound, remedy) = describe_bound(trouble.bound);
            format!("the stake {stake} of {name} is {bound} {figure}. No trade can open until {remedy}")
        };
        session.stake_violations(now).into_iter().map(describe).collect()
    }
}

const fn describe_bound(bound: StakeBound) -> (&'static str, &'static str) {
    match bound {
        StakeBound::MinStake => ("below min_stake", "the balance grows or you lower min_stake"),
        StakeBound::MaxStake => ("above max_stake", "you raise max_stake or set cap_stakes"),
        StakeBound::MaxStakePercent => {
            ("above max_stake_percent of the free balance,", "you raise max_stake_percent or set cap_stakes")
        }
        StakeBound::DailyLossLimit => ("above daily_loss_limit", "you raise the limit"),
        StakeBound::BotDailyLossLimit => ("above its own daily_loss_limit", "you raise the limit"),
        StakeBound::FreeBalance => ("above the free balance", "the balance grows or you lower the stake"),
    }
}
