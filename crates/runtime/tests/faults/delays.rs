//! Entry delays, ladders and session stops in some schedules, and their tally from the events only.

use crate::memory_journal::events;
use crate::prelude::*;
use crate::trade::to_minor;
use candlewick_engine::{BotLimitSettings, IfRefused, LadderEntry};

const DELAYED_ONE_IN: u64 = 4;
const LEVELS: usize = 3;
const SESSION: [i64; 4] = [0, 0, 20, 60];

/// Returns whether bots have delays. A separate draw keeps schedules without delays unchanged.
fn is_on(seed: u64) -> bool {
    mix([seed, 3_001, 1]).is_multiple_of(DELAYED_ONE_IN)
}

pub(crate) fn with_delays(mut plan: Plan) -> Plan {
    if !is_on(plan.seed) {
        return plan;
    }
    let dice = &mut Dice::new(mix([plan.seed, 3_001, 2]));
    let shared = dice.one_in(2).then(|| dice.between(1, 4));
    for (number, bot) in plan.bots.iter_mut().enumerate() {
        let longest = bot.interval.length().get() / 1_000 - 1;
        let own = longest - dice.skewed(0, longest - i64::from(number == 0));
        bot.entry_delay_s = shared.unwrap_or(own);
        if let StakeSettings::Fixed { amount } = bot.stake
            && dice.one_in(2)
        {
            let (entry, if_refused) = dice.pick(&[
                (LadderEntry::NextCandle, IfRefused::Reset),
                (LadderEntry::NextSignal, IfRefused::Wait),
            ]);
            let levels = LEVELS as u32;
            bot.stake = StakeSettings::Martingale { amount, factor: 2.0, levels, entry, if_refused };
        }
        if dice.one_in(3) {
            let session_loss_limit = Decimal::from(dice.pick(&SESSION));
            let session_profit_target = Decimal::from(dice.pick(&SESSION));
            let limits =
                BotLimitSettings { session_loss_limit, session_profit_target, ..BotLimitSettings::default() };
            plan.risk.bots.insert(bot.name.clone(), limits);
        }
    }
    plan.risk.session.loss_limit = Decimal::from(dice.pick(&SESSION));
    plan.risk.session.profit_target = Decimal::from(dice.pick(&SESSION));
    plan
}

pub(crate) fn end_of_run(world: &World, drawn: End) -> End {
    let key = mix([world.plan.seed, world.time.now().get() as u64, 3_001]);
    match drawn {
        End::Crash(_) if is_on(world.plan.seed) && key.is_multiple_of(2) => {
            End::Killed(Millis::new((key >> 8) as i64 % 60_000))
        }
        drawn => drawn,
    }
}

pub(crate) fn delay_of(world: &World, approved: &OrderTerms) -> Millis {
    Millis::from_seconds(world.plan.bots[approved.bot().index()].entry_delay_s)
}

#[derive(Default)]
struct Ladder {
    level: Option<usize>,
    /// Whether the ladder may be abandoned. No settlement reports that: the next stake or win reveals the level.
    may_give_up: bool,
    last: Option<IntentId>,
    profit: i64,
    results: Vec<(IntentId, Outcome)>,
}

#[derive(Default)]
pub(crate) struct Tally {
    ladders: Vec<Ladder>,
    session: BTreeMap<IntentId, i64>,
    late_seconds: BTreeSet<String>,
    late_profit: i64,
}

impl Tally {
    pub(crate) fn new(world: &World, book: &TradeBook) -> Self {
        let mut tally = Self::default();
        for bot in &world.plan.bots {
            let may_give_up = bot.stake.if_refused() == IfRefused::Reset;
            tally.ladders.push(Ladder { level: Some(0), may_give_up, ..Ladder::default() });
        }
        for kind in events(world.disk().lines.iter(), &["\"settled", "\"correction\"", "\"second_trade\""]) {
            tally.take(&kind, book);
        }
        tally.begin_session();
        for ladder in tally.ladders.iter_mut().filter(|ladder| ladder.may_give_up) {
            ladder.level = None;
        }
        tally
    }

    pub(crate) fn take(&mut self, event: &EventKind, book: &TradeBook) {
        match event {
            EventKind::Settled(TradeSettlement { intent, outcome, profit, .. })
            | EventKind::SettledByPerson { intent, outcome, profit } => {
                let bot = bot_of(book, *intent);
                self.climb(bot, *intent, *outcome);
                self.ladders[bot].profit += profit.minor();
                self.session.insert(*intent, profit.minor());
            }
            EventKind::Correction { intent, outcome, profit } => {
                let bot = bot_of(book, *intent);
                self.correct(bot, *intent, *outcome);
                if let Some(known) = self.session.get_mut(intent) {
                    self.ladders[bot].profit += profit.minor() - *known;
                    *known = profit.minor();
                }
            }
            EventKind::SecondTrade(trade) => self.find_second(book, trade.intent, trade.venue_id.as_str()),
            EventKind::SecondTradeSettled { intent, venue_id, profit } => {
                if self.late_seconds.contains(venue_id.as_str()) {
                    self.late_profit += profit.minor();
                } else {
                    self.ladders[bot_of(book, *intent)].profit += profit.minor();
                }
            }
            EventKind::Control { control: Control::Resume } => self.begin_session(),
            _ => {}
        }
    }

    fn begin_session(&mut self) {
        self.ladders.iter_mut().for_each(|ladder| ladder.profit = 0);
        self.late_profit = 0;
        self.session.clear();
    }

    fn find_second(&mut self, book: &TradeBook, intent: IntentId, venue_id: &str) {
        if self.ladders[bot_of(book, intent)].results.iter().any(|(known, _)| *known == intent) {
            self.late_seconds.insert(venue_id.to_owned());
        }
    }

    fn correct(&mut self, bot: usize, intent: IntentId, outcome: Outcome) {
        let ladder = &mut self.ladders[bot];
        for result in ladder.results.iter_mut().filter(|(known, _)| *known == intent) {
            result.1 = outcome;
        }
        let level = ladder.results.iter().fold(0, |level, (_, outcome)| next_level(level, *outcome));
        ladder.level = (!ladder.may_give_up).then_some(level);
    }

    fn climb(&mut self, bot: usize, intent: IntentId, outcome: Outcome) {
        let ladder = &mut self.ladders[bot];
        ladder.results.push((intent, outcome));
        if outcome != Outcome::Won && ladder.may_give_up && ladder.last != Some(intent) {
            ladder.level = None;
        }
        let won = (outcome == Outcome::Won).then_some(0);
        ladder.level = ladder.level.map(|level| next_level(level, outcome)).or(won);
    }

    pub(crate) fn check(&mut self, world: &World, approved: &ApprovedTrade, book: &TradeBook) {
        let bot = approved.bot().index();
        let settings = &world.plan.bots[bot];
        if let StakeSettings::Martingale { amount, if_refused, .. } = settings.stake {
            let staked = approved.stake().minor();
            let level = (0..LEVELS).find(|level| staked == to_minor(amount) << level);
            let is_given_up = if_refused == IfRefused::Reset && level == Some(0);
            let expected = self.ladders[bot].level;
            let is_right = level.is_some() && (is_given_up || expected.is_none() || level == expected);
            world.require(is_right, || format!("{} stakes {staked}, not {expected:?}", approved.intent()));
            (self.ladders[bot].level, self.ladders[bot].last) = (level, Some(approved.intent()));
        }
        let open = |of: Option<usize>| -> i64 {
            let rows = book.rows().iter().filter(|row| is_unfinished(row));
            let rows = rows.filter(|row| of.is_none_or(|bot| row.approved.bot().index() == bot));
            rows.map(|row| row.approved.stake().minor()).sum()
        };
        let risk = &world.plan.risk;
        let own = risk.bots.get(&settings.name).cloned().unwrap_or_default();
        let all = self.ladders.iter().map(|ladder| ladder.profit).sum::<i64>() + self.late_profit;
        for (loss, target, profit, at_stake) in [
            (risk.session.loss_limit, risk.session.profit_target, all, open(None)),
            (own.session_loss_limit, own.session_profit_target, self.ladders[bot].profit, open(Some(bot))),
        ] {
            let (loss, target) = (to_minor(loss), to_minor(target));
            let is_within = loss == 0 || profit - at_stake >= -loss;
            let is_open = is_within && (target == 0 || profit < target);
            world.require(is_open, || format!("{profit} so far, {at_stake} at stake: {approved:?}"));
        }
    }
}

const fn next_level(level: usize, outcome: Outcome) -> usize {
    match outcome {
        Outcome::Won => 0,
        Outcome::Lost => (level + 1) % LEVELS,
        Outcome::Draw | Outcome::Cancelled => level,
    }
}

fn bot_of(book: &TradeBook, intent: IntentId) -> usize {
    book.row(intent).unwrap().approved.bot().index()
}
