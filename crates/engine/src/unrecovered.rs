//! Ladder levels whose win does not recover the preceding losses.

use crate::ruin_limits::least_payout;
use crate::stake::Stake;
use crate::{EngineError, SessionSettings, StakeSettings, TradeRecord};
use candlewick_sdk::{Money, MoneyScale, Payout};

const MOST_NAMED: usize = 4;

/// Describes the ladders whose upper levels win too little to recover the losses.
///
/// Each text names the levels and the result of a win on each. Payouts are those of `records`, in
/// the order of the bots.
///
/// # Errors
/// An invalid stake.
pub fn levels_that_lose(
    settings: &SessionSettings,
    records: &[TradeRecord],
) -> Result<Vec<String>, EngineError> {
    let scale = settings.money_scale;
    let mut lines = Vec::new();
    for (index, (bot, record)) in settings.bots.iter().zip(records).enumerate() {
        let StakeSettings::Martingale { factor, .. } = bot.stake else { continue };
        let stakes = Stake::new(&bot.stake, scale, &format!("bots[{index}].stake"))?.levels();
        let payout = least_payout(record.payout, bot, settings);
        let left = left_by_a_win(&stakes, payout).into_iter().enumerate();
        let short: Vec<(usize, Money)> = left.filter(|(_, left)| *left < Money::ZERO).collect();
        if short.is_empty() {
            continue;
        }
        let wins_back = ((1.0 + 1.0 / payout.to_fraction()) * 100.0).ceil() / 100.0;
        lines.push(format!(
            "bot \"{}\": at a payout of {} % a win {}, since factor = {factor} does not win back what the levels before it lost; factor = \
             {wins_back} does",
            bot.name,
            payout.to_percent(),
            named(&short, scale)
        ));
    }
    Ok(lines)
}

fn left_by_a_win(stakes: &[Money], payout: Payout) -> Vec<Money> {
    let mut lost = Money::ZERO;
    let left = |stake: &Money| {
        let left = stake.profit_at(payout) - lost;
        lost += *stake;
        left
    };
    stakes.iter().map(left).collect()
}

fn named(short: &[(usize, Money)], scale: MoneyScale) -> String {
    let one =
        |(place, left): &(usize, Money)| format!("on level {} leaves {}", place + 1, scale.format(*left));
    let shown: Vec<String> = short.iter().take(MOST_NAMED).map(one).collect();
    let more = if short.len() > MOST_NAMED { " and so on" } else { "" };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use crate::{IfRefused, LadderEntry, RiskSettings};
    use candlewick_sdk::rust_decimal::Decimal;

    fn lines(factor: f64, levels: u32, percent: i64) -> Vec<String> {
        let (entry, if_refused) = (LadderEntry::NextSignal, IfRefused::Wait);
        let stake = StakeSettings::Martingale { amount: Decimal::TEN, factor, levels, entry, if_refused };
        let settings = SessionSettings {
            money_scale: MoneyScale::default(),
            balance: Decimal::from(1_000),
            risk: RiskSettings::default(),
            bots: vec![testing::bot("b", stake)],
            longer_share_percent: None,
        };
        let payout = Payout::from_percent(Decimal::from(percent)).unwrap();
        levels_that_lose(&settings, &[TradeRecord::assumed(payout)]).unwrap()
    }

    /// By hand: 10, 15, 22.50 win 8.50, 12.75 and 19.125 (to even: 19.12), of which 0, 10 and 25 go before.
    #[test]
    fn a_level_whose_win_is_less_than_what_was_lost_is_named_with_what_is_left() {
        let expected = "bot \"b\": at a payout of 85 % a win on level 3 leaves -5.88, since factor = 1.5 does not win back what the levels \
                        before it lost; factor = 2.18 does";
        assert_eq!(lines(1.5, 3, 85), [expected]);
        assert_eq!(lines(1.5, 2, 85), [""; 0]);
        // 10 to 160 win 8, 16, 32, 64, 128 at 80 %, and 0, 10, 30, 70, 150 were lost: on the fourth 64 - 70, on the fifth 128 - 150.
        let doubled = lines(2.0, 5, 80).concat();
        assert!(
            doubled.contains("a win on level 4 leaves -6.00, on level 5 leaves -22.00, since"),
            "{doubled}"
        );
        assert!(doubled.ends_with("factor = 2.25 does"), "{doubled}");
        assert_eq!(lines(2.25, 6, 80), [""; 0], "the factor that is named");
        assert_eq!(lines(2.18, 6, 85), [""; 0]);
    }
}
