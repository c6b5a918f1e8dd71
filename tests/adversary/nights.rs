//! Long runs: the price API fails for a while, and money moves while bots trade.

use crate::clock::{instant, now_ms};
use crate::judge::{HALTED, Judgement, cents, ledger_faults};
use crate::lies::Outcome;
use crate::records::Detail;
use crate::trader::{Shown, Trader};
use crate::venue::{PriceHealth, Venue};
use crate::world::World;
use std::process::Child;
use std::time::Duration;

/// Two intervals, one more for the first candle that is missing, and a request that times out.
const NOTICED_AFTER_MS: i64 = 10_000 + 5_000 + 7_000;
/// Two intervals, and a poll of `status`.
const RECOVERED_AFTER_MS: i64 = 10_000 + 5_000;
const POLL_PAUSE: Duration = Duration::from_millis(1500);
/// Two readings of the wallet, of which the second confirms the first 10 s later, and the time they take.
const REPORTED_AFTER_MS: i64 = 3_000 + 10_000 + 4_000;
/// Time in which a stake may rest on a balance from before a movement: until its report, and the second in which an order goes out.
const UNKNOWN_FOR_MS: i64 = REPORTED_AFTER_MS + 1_000;
/// Stakes of the bots in thousandths of the free money: small beside the movements.
const SHARE_PERMILLE: i64 = 2;
const LAST_MOVEMENT_S: u64 = 22;
const BEGIN_S: u64 = 14;

const OUTCOMES: &[Outcome] = &[Outcome::Won, Outcome::Lost, Outcome::Won, Outcome::Lost, Outcome::Draw];

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Night {
    Prices(Option<PriceHealth>),
    Movements,
}

struct Look {
    at: i64,
    has_trouble: bool,
}

impl Night {
    pub(crate) const ALL: [Self; 3] = [
        Self::Prices(Some(PriceHealth::Unavailable)),
        Self::Prices(Some(PriceHealth::Silent)),
        Self::Movements,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Prices(None) => "night-prices-fail",
            Self::Prices(Some(PriceHealth::Silent)) => "night-prices-silent",
            Self::Prices(Some(_)) => "night-prices-503",
            Self::Movements => "night-movements",
        }
    }

    pub(crate) fn play(self, seconds: u64) -> Judgement {
        let world = World::new(Vec::new(), OUTCOMES, 0);
        let venue = Venue::start(self.name(), world, Detail::Full, Duration::from_millis(30));
        let stake = (self == Self::Movements).then_some("{ kind = \"share\", percent = 0.2 }");
        let trader = Trader::new(&venue, 0, stake);
        let mut child = trader.start(seconds);
        let mut faults = Vec::new();
        match self {
            Self::Prices(way) => faults = prices_fail(&venue, &trader, &mut child, way, seconds),
            Self::Movements => move_money(&venue, seconds),
        }
        let shown = trader.finish(child, seconds);
        let world = venue.world();
        let differs = self == Self::Movements && last_difference(&shown) != 0;
        if shown.code != Some(if differs { HALTED } else { 0 }) {
            faults.push(format!("ends with {:?}: {:?}", shown.code, shown.halts()));
        }
        if self == Self::Movements {
            faults.extend(movement_faults(&world, &shown));
        } else {
            faults.extend(ledger_faults(&world, &shown));
        }
        let line = format!(
            "code {:?}, {} trades, {} movements, ledger {}, venue {:.2}",
            shown.code,
            world.trades.len(),
            world.movements.len(),
            shown.status["balance"],
            world.wallet(shown.ended_at) as f64 / 100.0,
        );
        let judgement = Judgement { faults, line };
        crate::print_log(self.name(), &judgement, &trader);
        judgement
    }
}

fn stretches(seconds: u64) -> Vec<(u64, u64)> {
    const WELL: [u64; 3] = [60, 120, 90];
    const BAD: [u64; 5] = [24, 45, 90, 180, 30];
    if seconds < 300 {
        return vec![(BEGIN_S, 24)];
    }
    let (mut total, mut stretches) = (0, Vec::new());
    loop {
        let number = stretches.len();
        let stretch = (WELL[number % WELL.len()], BAD[number % BAD.len()]);
        total += stretch.0 + stretch.1;
        if total + 60 > seconds {
            return stretches;
        }
        stretches.push(stretch);
    }
}

fn prices_fail(
    venue: &Venue,
    trader: &Trader,
    child: &mut Child,
    way: Option<PriceHealth>,
    seconds: u64,
) -> Vec<String> {
    let mut faults = Vec::new();
    for (number, (well, bad)) in stretches(seconds).into_iter().enumerate() {
        let looks = look_for(trader, child, well);
        // Of the stretch before, or of the start.
        let recovered = now_ms() - well as i64 * 1000 + RECOVERED_AFTER_MS.min(well as i64 * 1000 - 3000);
        if looks.iter().any(|look| look.at > recovered && look.has_trouble) {
            faults.push(format!("trouble is shown in well stretch {number}"));
        }
        let alternating = [PriceHealth::Unavailable, PriceHealth::Silent][number % 2];
        venue.set_price_health(way.unwrap_or(alternating));
        let (began, orders) = (now_ms(), venue.world().orders.len());
        let looks = look_for(trader, child, bad);
        venue.set_price_health(PriceHealth::Well);
        let noticed = looks.iter().find(|look| look.has_trouble).map(|look| look.at - began);
        if noticed.is_none_or(|after| after > NOTICED_AFTER_MS) {
            faults.push(format!("bad stretch {number} of {bad} s is noticed after {noticed:?} ms"));
        }
        let asked = venue.world().orders.len() - orders;
        if asked > 2 * crate::market::PAIRS.len() {
            faults.push(format!("{asked} orders without prices in stretch {number}"));
        }
    }
    let looks = look_for(trader, child, RECOVERED_AFTER_MS as u64 / 1000);
    if looks.last().is_some_and(|look| look.has_trouble) {
        faults.push("trouble is still shown after the last stretch".to_owned());
    }
    faults
}

fn look_for(trader: &Trader, child: &mut Child, seconds: u64) -> Vec<Look> {
    let end = instant() + Duration::from_secs(seconds);
    let mut looks = Vec::new();
    while instant() < end && child.try_wait().is_ok_and(|status| status.is_none()) {
        let at = now_ms();
        let (code, status, _) = trader.ask(&["status", "--running"]);
        let troubles = status["bot"]["troubles"].as_array().is_some_and(|troubles| !troubles.is_empty());
        looks.push(Look { at, has_trouble: code != 0 || troubles });
        std::thread::sleep(POLL_PAUSE.min(end.saturating_duration_since(instant())));
    }
    looks
}

fn move_money(venue: &Venue, seconds: u64) {
    const CENTS: [i64; 5] = [-30_000, 20_000, -25_050, -10_001, 40_000];
    const PAUSES_S: [u64; 3] = [45, 80, 61];
    let pause = |number: usize| if seconds < 300 { 20 } else { PAUSES_S[number % PAUSES_S.len()] };
    let end = instant() + Duration::from_secs(seconds - LAST_MOVEMENT_S);
    std::thread::sleep(Duration::from_secs(BEGIN_S));
    for number in 0.. {
        if instant() > end {
            break;
        }
        venue.world().movements.push((now_ms(), CENTS[number % CENTS.len()]));
        std::thread::sleep(Duration::from_secs(pause(number)));
    }
}

fn amounts(shown: &Shown, kind: &str) -> Vec<(i64, i64)> {
    let events = shown.events.iter().filter(|event| event["event"] == kind);
    events.filter_map(|event| Some((event["at"].as_i64()?, cents(&event["amount"])?))).collect()
}

fn last_difference(shown: &Shown) -> i64 {
    amounts(shown, "wallet_difference").last().map_or(0, |(_, cents)| *cents)
}

/// A movement is booked as a deposit or withdrawal, or reported as a difference while it may be of trades. Both together
/// are what moved, and the ledger is the wallet but for the difference.
fn movement_faults(world: &World, shown: &Shown) -> Vec<String> {
    let mut faults = Vec::new();
    let (booked, differences) = (amounts(shown, "deposit"), amounts(shown, "wallet_difference"));
    for (at, cents) in &world.movements {
        let mut reports = booked.iter().chain(&differences).map(|(when, _)| when - at);
        if !reports.any(|after| (-1000..=REPORTED_AFTER_MS).contains(&after)) {
            faults.push(format!("a movement of {cents} cents is not reported within {REPORTED_AFTER_MS} ms"));
        }
    }
    let sum = |amounts: &[(i64, i64)]| -> i64 { amounts.iter().map(|(_, cents)| cents).sum() };
    let (moved, booked, differs) = (sum(&world.movements), sum(&booked), last_difference(shown));
    if booked + differs != moved {
        faults.push(format!("{moved} cents moved, {booked} are booked and {differs} are a difference"));
    }
    let (ledger, wallet) = (cents(&shown.status["balance"]), world.wallet(shown.ended_at));
    if ledger != Some(wallet - differs) {
        faults.push(format!("the ledger has {ledger:?} cents, the venue {wallet}, not {differs} more"));
    }
    let moved = |until: i64| -> i64 {
        world.movements.iter().filter(|(at, _)| *at <= until).map(|(_, cents)| cents).sum()
    };
    for order in &world.orders {
        // The bot knows what its trades brought, and not yet of what has just left. A reading after a movement, taken while trades
        // were being paid, does not tell which of them it holds.
        let first = order.at - UNKNOWN_FOR_MS;
        let times = || (0..UNKNOWN_FOR_MS / 100).map(|step| order.at - step * 100);
        let of_trades = times().map(|at| world.wallet(at) - moved(at)).max().unwrap_or_default();
        let has_moved = world.movements.iter().any(|(at, _)| (first..=order.at).contains(at));
        let paid = if has_moved { world.paid(first, order.at) } else { 0 };
        let known = of_trades + times().map(moved).max().unwrap_or_default() + paid;
        if order.cents > known * SHARE_PERMILLE / 1000 + 1 {
            let last = world.movements.iter().rfind(|(at, _)| *at <= order.at).map(|(at, _)| order.at - at);
            faults.push(format!(
                "a stake of {} cents is above 0.2 % of {known}, {last:?} ms after the last movement",
                order.cents
            ));
        }
    }
    faults
}
