//! Table of scenarios: one lie, two lies, and honest venues.

use crate::lies::{Kind, Lie, MarketLie, Outcome, Place, Profit, WalletLie, Word};
use crate::records::Detail;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Expectation {
    Trade,
    Equal,
    Halt,
    /// As `Equal`, with an alarm or a warning if the exit code is 0.
    Report,
    /// As `Equal`, with growing pauses between orders.
    Pause,
    /// As `Equal`, without an order after the ban was known.
    NotAfterBan,
    NotTrade,
}

pub(crate) struct Scenario {
    pub(crate) name: String,
    pub(crate) lies: Vec<Lie>,
    pub(crate) must: Expectation,
    pub(crate) outcomes: &'static [Outcome],
    pub(crate) detail: Detail,
    pub(crate) list_lag_ms: i64,
    pub(crate) reply_delay_ms: u64,
    pub(crate) is_short: bool,
    pub(crate) seconds: Option<u64>,
    pub(crate) loss_limit: i64,
}

impl Scenario {
    pub(crate) fn new(name: impl Into<String>, must: Expectation, lies: Vec<Lie>) -> Self {
        Self {
            name: name.into(),
            lies,
            must,
            outcomes: &[Outcome::Won, Outcome::Lost, Outcome::Won, Outcome::Won, Outcome::Lost],
            detail: Detail::Full,
            list_lag_ms: 0,
            reply_delay_ms: 30,
            is_short: false,
            seconds: None,
            loss_limit: 0,
        }
    }

    fn short(self) -> Self {
        Self { is_short: true, ..self }
    }

    fn detail(self, detail: Detail) -> Self {
        Self { detail, ..self }
    }

    fn outcomes(self, outcomes: &'static [Outcome]) -> Self {
        Self { outcomes, ..self }
    }

    fn seconds(self, seconds: u64) -> Self {
        Self { seconds: Some(seconds), ..self }
    }

    fn loss_limit(self, loss_limit: i64) -> Self {
        Self { loss_limit, ..self }
    }
}

pub(crate) fn all() -> Vec<Scenario> {
    let lying = [
        refusals_that_took(),
        older_trades(),
        later_words(),
        profits(),
        unpaid_trades(),
        contradictions(),
        wallet_lists(),
        close_times(),
        other_accounts(),
        refusals(),
    ];
    let mut rows = pairs(&lying);
    rows.extend([honest_venues(), other_markets(), movements()].into_iter().chain(lying).flatten());
    rows
}

/// Two lies in a run: one row of each kind with one of every other kind. Neither masks the other by its first order.
fn pairs(tables: &[Vec<Scenario>]) -> Vec<Scenario> {
    let is_later = |row: &&Scenario| row.lies[0].from > 0;
    let later: Vec<Vec<_>> = tables.iter().map(|table| table.iter().filter(is_later).collect()).collect();
    let mut rows = Vec::new();
    for (number, first) in later.iter().enumerate() {
        for (place, second) in later.iter().enumerate().skip(number + 1) {
            let (first, second) = (first[place % first.len()], second[(number + place) % second.len()]);
            let name = format!("pair-{}+{}", first.name, second.name);
            let lies = vec![first.lies[0], second.lies[0]];
            // An order in doubt takes most of the time.
            rows.push(Scenario::new(name, Expectation::Equal, lies).seconds(40));
        }
    }
    rows
}

fn honest_venues() -> Vec<Scenario> {
    let plain = |name: &str, lies: Vec<Lie>| Scenario::new(format!("sound-{name}"), Expectation::Trade, lies);
    vec![
        plain("plain", vec![]).short(),
        plain("rich-detail", vec![]).detail(Detail::Rich).short(),
        plain("short-detail", vec![]).detail(Detail::Short),
        Scenario { reply_delay_ms: 900, ..plain("slow-replies", vec![]) },
        Scenario { list_lag_ms: 3000, ..plain("late-list", vec![]) },
        plain("draws", vec![]).outcomes(&[Outcome::Draw, Outcome::Won]),
        plain("cancellations", vec![]).outcomes(&[Outcome::Cancelled, Outcome::Lost]),
        plain("losses", vec![]).outcomes(&[Outcome::Lost]),
        plain("losses-to-the-limit", vec![]).outcomes(&[Outcome::Lost]).loss_limit(400),
        plain("wins", vec![]).outcomes(&[Outcome::Won]).short(),
        plain("lost-reply", vec![Lie::once(Kind::ReplyLost, 3)]).seconds(45),
    ]
}

fn refusals_that_took() -> Vec<Scenario> {
    let mut rows = Vec::new();
    for (status, message) in [
        (400, "Bad Request"),
        (401, "Invalid token TOKEN"),
        (403, "internal bot needed for TOKEN"),
        (404, "Not Found"),
        (422, "insufficient balance"),
    ] {
        let kind = |listed_after_ms| Kind::RefusalThatTook { status, message, listed_after_ms };
        let halt =
            |form: &str, lie| Scenario::new(format!("a1-{status}-{form}"), Expectation::Halt, vec![lie]);
        let each = halt("each", Lie::always(kind(0))).loss_limit(100);
        rows.push(Scenario { is_short: status == 400, ..each });
        rows.push(halt("once", Lie::once(kind(0), 4)));
        rows.push(halt("listed-late", Lie::once(kind(8000), 3)));
    }
    rows
}

fn older_trades() -> Vec<Scenario> {
    let kind = |age_s, is_taken| Kind::OlderTrade { age_s, is_taken };
    let doubt = |name: String, lie| Scenario::new(name, Expectation::Equal, vec![lie]).seconds(45);
    let report = |name: &str, lie| {
        Scenario::new(format!("a2-frozen-{name}"), Expectation::Report, vec![lie]).seconds(45)
    };
    let mut rows = vec![
        report("request-time", Lie::always(Kind::FrozenRequestTime)),
        report("from-the-fifth", Lie::from(Kind::FrozenRequestTime, 4)),
        report("once", Lie::once(Kind::FrozenRequestTime, 6)),
    ];
    for age_s in [2400, 300, 30] {
        let taken = doubt(format!("a2-{age_s}-seconds-taken"), Lie::once(kind(age_s, true), 3));
        rows.push(Scenario { is_short: age_s == 2400, ..taken });
        rows.push(doubt(format!("a2-{age_s}-seconds-not-taken"), Lie::once(kind(age_s, false), 3)));
        rows.push(doubt(format!("a2-{age_s}-seconds-each"), Lie::from(kind(age_s, true), 1)));
    }
    rows
}

fn later_words() -> Vec<Scenario> {
    let first =
        |reported, truth, until_ms, is_listed| Kind::FirstWord { reported, truth, until_ms, is_listed };
    let revised = |first, then, after_ms, reopened_ms| Kind::Revised { first, then, after_ms, reopened_ms };
    let equal = |name: &str, lie| Scenario::new(format!("a3-{name}"), Expectation::Equal, vec![lie]);
    let report = |name: &str, lie| Scenario::new(format!("a3-{name}"), Expectation::Report, vec![lie]);
    let cut = Word::with(Outcome::Won, Profit::Percent(40));
    let reverted = Word { is_reverted: true, ..Word::with(Outcome::Won, Profit::Percent(0)) };
    let reverted_loss = Word { is_reverted: true, ..Word::DRAW };
    let ever = 1_000_000;
    vec![
        equal("cancelled-lost", Lie::always(first(Word::CANCELLED, Word::LOST, ever, false)))
            .loss_limit(100)
            .short(),
        equal("cancelled-lost-later", Lie::once(first(Word::CANCELLED, Word::LOST, 6000, true), 3)),
        equal("cancelled-won", Lie::once(first(Word::CANCELLED, Word::WON, ever, false), 3)),
        equal("won-lost", Lie::always(first(Word::WON, Word::LOST, ever, false))).loss_limit(100).short(),
        equal("won-lost-later", Lie::once(first(Word::WON, Word::LOST, 6000, true), 3)),
        equal("won-lost-revised", Lie::once(revised(Word::WON, Word::LOST, 8000, 0), 3)),
        equal("lost-won", Lie::once(first(Word::LOST, Word::WON, ever, false), 2)),
        equal("lost-won-revised", Lie::from(revised(Word::LOST, Word::WON, 6000, 0), 2)),
        equal("lost-draw-later", Lie::once(first(Word::LOST, Word::DRAW, 4000, true), 2)),
        equal("reopened-won-lost", Lie::once(revised(Word::WON, Word::LOST, 3000, 6000), 3)),
        equal("reopened-lost-won", Lie::from(revised(Word::LOST, Word::WON, 2000, 5000), 3)),
        report("reopened-same", Lie::once(revised(Word::LOST, Word::LOST, 3000, 5000), 3)),
        equal("cut-once", Lie::once(revised(Word::WON, cut, 6000, 0), 3)),
        equal("cut-each", Lie::always(revised(Word::WON, cut, 4000, 0))).short(),
        equal("cut-in-the-list", Lie::once(first(Word::WON, cut, ever, false), 3)),
        equal("reverted-once", Lie::once(revised(Word::WON, reverted, 6000, 0), 3)),
        equal("reverted-each", Lie::always(revised(Word::WON, reverted, 4000, 0))),
        equal("reverted-loss", Lie::once(revised(Word::LOST, reverted_loss, 6000, 0), 3)),
    ]
}

fn profits() -> Vec<Scenario> {
    let settled = |reported, paid| Kind::Settled { reported, paid };
    let halt = |name: &str, lie| Scenario::new(format!("a4-{name}"), Expectation::Halt, vec![lie]);
    let gross = Word::with(Outcome::Won, Profit::Gross);
    let payout_60 = Word { payout: Some(60), ..Word::WON };
    let payout_95 = Word { payout: Some(95), ..Word::WON };
    let plus = Word::with(Outcome::Won, Profit::Plus(10));
    let minus = Word::with(Outcome::Won, Profit::Plus(-30));
    let more_lost = Word::with(Outcome::Lost, Profit::Percent(-150));
    let less_lost = Word::with(Outcome::Lost, Profit::Percent(-50));
    let lost_plus = Word::with(Outcome::Lost, Profit::Percent(100));
    let cancelled_minus = Word::with(Outcome::Cancelled, Profit::Percent(-100));
    vec![
        halt("gross-each", Lie::always(settled(gross, Word::WON))).short(),
        halt("gross-once", Lie::once(settled(gross, Word::WON), 3)),
        halt("gross-paid", Lie::from(settled(gross, gross), 2)),
        halt("payout-cut-each", Lie::always(settled(payout_60, payout_60))).short(),
        halt("payout-cut-once", Lie::once(settled(payout_60, payout_60), 3)).detail(Detail::Rich),
        halt("payout-raised", Lie::once(settled(payout_95, payout_95), 3)),
        halt("off-by-10-cents", Lie::once(settled(plus, Word::WON), 3)),
        halt("off-by-30-cents-paid", Lie::once(settled(minus, minus), 3)),
        halt("off-each", Lie::always(settled(plus, plus))),
        halt("loss-above-stake", Lie::once(settled(more_lost, more_lost), 3)),
        halt("loss-below-stake", Lie::once(settled(less_lost, less_lost), 3)),
        halt("loss-with-profit", Lie::once(settled(lost_plus, lost_plus), 3)),
        halt("cancelled-with-loss", Lie::once(settled(cancelled_minus, cancelled_minus), 3)),
    ]
}

fn unpaid_trades() -> Vec<Scenario> {
    let halt = |name: &str, lie| Scenario::new(format!("a5-{name}"), Expectation::Halt, vec![lie]);
    let lost_paid_double =
        Kind::Settled { reported: Word::LOST, paid: Word::with(Outcome::Lost, Profit::Percent(-200)) };
    let mut rows = vec![
        halt("fee-of-a-cent", Lie::always(Kind::HiddenFee(1))),
        halt("loss-taken-twice", Lie::once(lost_paid_double, 4)),
    ];
    for (name, kind) in [
        ("wins-unpaid", Kind::WinUnpaid),
        ("fee", Kind::HiddenFee(50)),
        ("cancelled-kept", Kind::CancelledKept),
    ] {
        rows.push(halt(&format!("{name}-each"), Lie::always(kind)).loss_limit(100).short());
        rows.push(halt(&format!("{name}-once"), Lie::once(kind, 4)));
        rows.push(halt(&format!("{name}-late"), Lie::from(kind, 7)));
    }
    rows
}

fn contradictions() -> Vec<Scenario> {
    let amounts = |percents, taken| Kind::WalletAmounts { percents, taken };
    let fee = |cents, is_taken| Kind::TenantFee { cents, is_taken };
    let row = |name: &str, must, lie| Scenario::new(format!("a6-{name}"), must, vec![lie]);
    vec![
        row("two-wallets-600", Expectation::Halt, Lie::always(amounts(&[100, 500], 600))).short(),
        row("one-wallet-600", Expectation::Halt, Lie::once(amounts(&[600], 600), 3)),
        row("one-wallet-600-untaken", Expectation::Halt, Lie::once(amounts(&[600], 100), 3)),
        row("one-wallet-40", Expectation::Halt, Lie::once(amounts(&[40], 100), 3)),
        row("two-wallets-150", Expectation::Halt, Lie::from(amounts(&[75, 75], 150), 4)),
        row("tenant-fee-each", Expectation::Equal, Lie::always(fee(50, true))).short(),
        row("tenant-fee-once", Expectation::Equal, Lie::once(fee(75, true), 3)),
        row("tenant-fee-untaken", Expectation::Report, Lie::once(fee(50, false), 3)),
    ]
}

fn wallet_lists() -> Vec<Scenario> {
    let kinds = [
        ("twice", WalletLie::Twice),
        ("swapped", WalletLie::Swapped),
        ("currency", WalletLie::OtherCurrency),
        ("user", WalletLie::OtherUser),
        ("id", WalletLie::OtherId),
        ("duplicate-keys", WalletLie::DuplicateKeys),
        ("jump", WalletLie::Jump),
        ("gone", WalletLie::Gone),
    ];
    let places = [("reply", Place::Reply), ("detail", Place::Detail), ("list", Place::List)];
    let twice = |(name, place)| {
        let lie = Lie::always(Kind::TwiceWritten(place));
        Scenario::new(format!("a7-keys-twice-in-{name}"), Expectation::Report, vec![lie]).seconds(45)
    };
    let mut rows: Vec<Scenario> = places.into_iter().map(twice).collect();
    for (name, lie) in kinds {
        let kind = Kind::Wallets(lie);
        // A malformed reading is ignored; a jump needs a second reading that confirms it.
        let is_malformed = matches!(lie, WalletLie::Twice | WalletLie::DuplicateKeys);
        let steady_must = if is_malformed { Expectation::Report } else { Expectation::Halt };
        let short_must = if lie == WalletLie::Jump { Expectation::Equal } else { Expectation::Report };
        let row = |form: &str, must, lie| Scenario::new(format!("a7-{name}-{form}"), must, vec![lie]);
        let steady = row("from-the-fourth", steady_must, Lie::from(kind, 3));
        let is_short = matches!(lie, WalletLie::Twice | WalletLie::Jump | WalletLie::Gone);
        rows.push(Scenario { is_short, ..steady });
        rows.push(row("for-three-readings", short_must, Lie { kind, from: 3, times: 3 }));
        rows.push(row("once", short_must, Lie::once(kind, 4)));
    }
    rows
}

fn close_times() -> Vec<Scenario> {
    let kind = |shift_ms, place| Kind::CloseTime { shift_ms, place };
    let report = |name: &str, lie| Scenario::new(format!("a8-{name}"), Expectation::Report, vec![lie]);
    let (hour, day) = (3_600_000, 86_400_000);
    vec![
        report("hour-in-the-reply", Lie::always(kind(hour, Place::Reply))).short(),
        report("hour-everywhere", Lie::always(kind(hour, Place::Everywhere))),
        report("hour-once", Lie::once(kind(hour, Place::Everywhere), 3)),
        report("day-in-the-reply", Lie::once(kind(day, Place::Reply), 3)),
        report("day-everywhere", Lie::always(kind(day, Place::Everywhere))),
        report("day-in-records", Lie::once(kind(day, Place::Detail), 3)),
        report("before-open-in-the-reply", Lie::once(kind(-10_000, Place::Reply), 3)),
        report("before-open-everywhere", Lie::always(kind(-10_000, Place::Everywhere))),
        report("half-a-minute", Lie::always(kind(30_000, Place::Everywhere))),
    ]
}

fn other_accounts() -> Vec<Scenario> {
    let halt = |name: &str, lie| Scenario::new(format!("a9-{name}"), Expectation::Halt, vec![lie]);
    let mut rows = Vec::new();
    for (place_name, place) in [("reply", Place::Reply), ("detail", Place::Detail), ("list", Place::List)] {
        let kinds = [
            ("real-flag", Kind::RealFlag(place)),
            ("real-wallet", Kind::RealWallet(place)),
            ("opposite", Kind::OppositeDirection(place)),
            ("other-user", Kind::OtherUser(place)),
        ];
        for (name, kind) in kinds {
            let row = halt(&format!("{name}-{place_name}"), Lie::from(kind, 2));
            let is_short = (name == "real-flag") == (place == Place::Reply) && place != Place::List;
            rows.push(Scenario { is_short: is_short && name != "other-user", ..row });
        }
    }
    rows
}

fn other_markets() -> Vec<Scenario> {
    let row = |name: &str, must, lie, from| {
        Scenario::new(format!("a9-{name}"), must, vec![Lie::from(Kind::Market(lie), from)])
    };
    vec![
        row("price-records-from-the-future", Expectation::Report, MarketLie::RecordsMoved(3_600_000), 0)
            .short(),
        row("price-records-of-a-day-ago", Expectation::Report, MarketLie::RecordsMoved(-86_400_000), 0),
        row("price-records-of-a-minute-ahead", Expectation::Report, MarketLie::RecordsMoved(60_000), 3),
        row("candles-of-a-minute", Expectation::NotTrade, MarketLie::CandlesOf(60), 0).short(),
        row("candles-of-half-a-minute", Expectation::NotTrade, MarketLie::CandlesOf(30), 0),
        row("candles-of-a-day-ago", Expectation::NotTrade, MarketLie::CandlesMoved(-86_400_000), 0),
        row("candles-from-the-future", Expectation::NotTrade, MarketLie::CandlesMoved(3_600_000), 0),
    ]
}

fn refusals() -> Vec<Scenario> {
    let refusal = |status, message| Lie::from(Kind::Refusal { status, message }, 2);
    let row = |name: &str, must, lie| Scenario::new(format!("a10-{name}"), must, vec![lie]).seconds(60);
    vec![
        row("inactive-symbol", Expectation::Pause, refusal(400, "symbol is not active")).short(),
        row("inactive-symbol-422", Expectation::Pause, refusal(422, "symbol is not active")),
        row("too-many-per-minute", Expectation::Pause, refusal(400, "too many trades per minute")).short(),
        row("too-many-per-day", Expectation::Pause, refusal(403, "too many trades per day")),
        row("too-many-pending", Expectation::Pause, refusal(400, "too many pending trades")),
        row("outdated-price", Expectation::Pause, refusal(400, "outdated price")),
        row("unknown-reason", Expectation::Pause, refusal(422, "code 7311 for TOKEN")),
        row("banned", Expectation::NotAfterBan, Lie::from(Kind::Banned, 3)).short(),
        row("banned-from-the-start", Expectation::NotAfterBan, Lie::always(Kind::Banned)),
        row("banned-late", Expectation::NotAfterBan, Lie::from(Kind::Banned, 6)),
    ]
}

fn movements() -> Vec<Scenario> {
    let row = |name: &str, cents| {
        Scenario::new(format!("money-{name}"), Expectation::Equal, vec![Lie::once(Kind::Movement(cents), 4)])
    };
    vec![
        row("deposit", 25_000).short(),
        row("withdrawal", -25_000).short(),
        row("withdrawal-of-a-stake", -2_000),
    ]
}
