//! Entry delays, ladders and stops of a session in some schedules, and a tally of them from the events alone.

use crate::memory_journal::events;
use crate::prelude::*;
use candlewick_engine::{BotLimitSettings, IfRefused, LadderEntry};

const DELAYED_ONE_IN: u64 = 4;
const LEVELS: usize = 3;
const SESSION: [i64; 4] = [0, 0, 20, 60];

/// Whether bots have delays. Drawn beside the other dice, so that schedules without stay as they are.
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
        // Mostly nearly a candle, so that much ends while an open waits.
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

pub(crate) struct Tally {
    levels: Vec<Option<usize>>,
    last: Vec<Option<IntentId>>,
    may_give_up: Vec<bool>,
    /// What each bot has won and lost since the run began, or a person resumed it; in minor units.
    profits: Vec<i64>,
    results: Vec<Vec<(IntentId, Outcome)>>,
    session: BTreeMap<IntentId, i64>,
    late_seconds: BTreeSet<String>,
    late_profit: i64,
}

impl Tally {
    pub(crate) fn of(world: &World, book: &TradeBook) -> Self {
        let count = world.plan.bots.len();
        let is_reset = |bot: &BotSettings| bot.stake.if_refused() == IfRefused::Reset;
        let may_give_up = world.plan.bots.iter().map(is_reset).collect();
        let mut tally = Self {
            levels: vec![Some(0); count],
            last: vec![None; count],
            may_give_up,
            profits: vec![0; count],
            results: vec![Vec::new(); count],
            session: BTreeMap::new(),
            late_seconds: BTreeSet::new(),
            late_profit: 0,
        };
        for kind in events(world.disk().lines.iter(), &["\"settled", "\"correction\"", "\"second_trade\""]) {
            tally.take(&kind, book);
        }
        tally.begin_session();
        for (level, may_give_up) in tally.levels.iter_mut().zip(&tally.may_give_up) {
            if *may_give_up {
                *level = None;
            }
        }
        tally
    }

    pub(crate) fn take(&mut self, event: &EventKind, book: &TradeBook) {
        match event {
            EventKind::Settled(Settled { intent, outcome, profit, .. })
            | EventKind::SettledByPerson { intent, outcome, profit } => {
                let bot = bot_of(book, *intent);
                self.climb(bot, *intent, *outcome);
                self.profits[bot] += profit.minor();
                self.session.insert(*intent, profit.minor());
            }
            EventKind::Correction { intent, outcome, profit } => {
                let bot = bot_of(book, *intent);
                self.correct(bot, *intent, *outcome);
                if let Some(known) = self.session.get_mut(intent) {
                    self.profits[bot] += profit.minor() - *known;
                    *known = profit.minor();
                }
            }
            EventKind::SecondTrade(trade) => {
                self.find_second(book, trade.intent, trade.venue_id.as_str());
            }
            EventKind::SecondTradeSettled { intent, venue_id, profit } => {
                if self.late_seconds.contains(venue_id.as_str()) {
                    self.late_profit += profit.minor();
                } else {
                    self.profits[bot_of(book, *intent)] += profit.minor();
                }
            }
            EventKind::Control { control: Control::Resume } => self.begin_session(),
            _ => {}
        }
    }

    fn begin_session(&mut self) {
        self.profits.fill(0);
        self.late_profit = 0;
        self.session.clear();
    }

    fn find_second(&mut self, book: &TradeBook, intent: IntentId, venue_id: &str) {
        if self.results[bot_of(book, intent)].iter().any(|(known, _)| *known == intent) {
            self.late_seconds.insert(venue_id.to_owned());
        }
    }

    fn correct(&mut self, bot: usize, intent: IntentId, outcome: Outcome) {
        for result in self.results[bot].iter_mut().filter(|(known, _)| *known == intent) {
            result.1 = outcome;
        }
        let results = self.results[bot].iter();
        let level = results.fold(0, |level, (_, outcome)| next_level(level, *outcome));
        // A ladder that may be given up was perhaps given up in between.
        self.levels[bot] = (!self.may_give_up[bot]).then_some(level);
    }

    fn climb(&mut self, bot: usize, intent: IntentId, outcome: Outcome) {
        self.results[bot].push((intent, outcome));
        // A draw re-enters as well, and that order may be refused.
        if outcome != Outcome::Won && self.may_give_up[bot] && self.last[bot] != Some(intent) {
            self.levels[bot] = None;
        }
        let won = (outcome == Outcome::Won).then_some(0);
        self.levels[bot] = self.levels[bot].map(|level| next_level(level, outcome)).or(won);
    }

    pub(crate) fn check(&mut self, world: &World, approved: &Approved, book: &TradeBook) {
        let bot = approved.bot().index();
        let settings = &world.plan.bots[bot];
        if let StakeSettings::Martingale { amount, if_refused, .. } = settings.stake {
            let staked = approved.stake().minor();
            let level = (0..LEVELS).find(|level| staked == minor(amount) << level);
            let is_given_up = if_refused == IfRefused::Reset && level == Some(0);
            let expected = self.levels[bot];
            let is_right = level.is_some() && (is_given_up || expected.is_none() || level == expected);
            world.require(is_right, || format!("{} stakes {staked}, not {expected:?}", approved.intent()));
            self.levels[bot] = level;
            self.last[bot] = Some(approved.intent());
        }
        let open = |of: Option<usize>| -> i64 {
            let rows = book.rows().iter().filter(|row| is_unfinished(row));
            let rows = rows.filter(|row| of.is_none_or(|bot| row.approved.bot().index() == bot));
            rows.map(|row| row.approved.stake().minor()).sum()
        };
        let session = &world.plan.risk.session;
        let of_run = (session.loss_limit, session.profit_target);
        let own = world.plan.risk.bots.get(&settings.name);
        let of_bot = own.map(|own| (own.session_loss_limit, own.session_profit_target));
        let counted = [
            (Some(of_run), self.profits.iter().sum::<i64>() + self.late_profit, open(None)),
            (of_bot, self.profits[bot], open(Some(bot))),
        ];
        for (limits, profit, at_stake) in counted {
            let (loss, target) = limits.map_or((0, 0), |(loss, target)| (minor(loss), minor(target)));
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

fn minor(amount: Decimal) -> i64 {
    (amount * Decimal::ONE_HUNDRED).to_i64().unwrap()
}
