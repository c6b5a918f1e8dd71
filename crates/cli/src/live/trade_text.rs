//! Screen texts of opened and settled trades.

use super::line::{BOLD, DIM, clock_time};
use anstyle::Style;
use candlewick_engine::{IntentRow, Opened, Settled, VenueId};
use candlewick_runtime::Funds;
use candlewick_sdk::{Money, MoneyScale, price_text, visible};

pub(super) fn describe_opened(opened: &Opened) -> String {
    let price = opened.open_price.map_or_else(|| "a price not known yet".to_owned(), price_text);
    let until = opened.close_time.map_or_else(|| "an end not known yet".to_owned(), clock_time);
    let payout = opened.payout.map(|payout| format!(", pays {payout} %")).unwrap_or_default();
    let id = visible(opened.venue_id.as_ref().map(VenueId::as_str).unwrap_or_default());
    format!("#{} at {price} until {until}{payout} {DIM}{id}{DIM:#}", opened.intent)
}

pub(super) fn describe_settled(
    settled: &Settled,
    style: Style,
    (funds, intent): (Funds, Option<&IntentRow>),
    scale: MoneyScale,
) -> String {
    let entry = settled.open_price.or(intent.and_then(|row| row.open_price));
    let prices = match (entry, settled.close_price) {
        (Some(entry), Some(exit)) => format!("{} → {}", price_text(entry), price_text(exit)),
        _ => "without prices".to_owned(),
    };
    let profit = format_signed(settled.profit, scale);
    let (free, open) = (scale.format(funds.free), scale.format(funds.open_stakes));
    let balance = format!("balance {BOLD}{free}{BOLD:#}, open stakes {open}");
    format!("#{} {style}{profit}{style:#}  {prices}   {balance}", settled.intent)
}

pub(super) fn format_signed(money: Money, scale: MoneyScale) -> String {
    let sign = if money.is_positive() { "+" } else { "" };
    format!("{sign}{}", scale.format(money))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profits_carry_their_sign() {
        for (units, expected) in [(800, "+8.00"), (-1_000, "-10.00"), (0, "0.00")] {
            assert_eq!(format_signed(Money::from_minor(units), MoneyScale::default()), expected);
        }
    }
}
