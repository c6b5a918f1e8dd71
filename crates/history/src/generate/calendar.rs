//! Market hours and intraday activity of synthetic markets.

use crate::AssetType;
use candlewick_sdk::Millis;

/// Weekend in minutes since Monday 00:00 UTC: Friday 22:00 to Sunday 22:00.
const WEEKEND_MINUTES: std::ops::Range<i64> = (4 * 24 + 22) * 60..(6 * 24 + 22) * 60;
const WEEK: Millis = Millis::new(7 * Millis::DAY.get());
const EPOCH_AFTER_MONDAY: Millis = Millis::new(3 * Millis::DAY.get());

const FOREX_HOURS: [f64; 24] = [
    0.70, 0.70, 0.65, 0.60, 0.60, 0.70, 0.95, 1.30, 1.35, 1.20, 1.05, 1.00, 1.20, 1.50, 1.55, 1.35, 1.10,
    0.95, 0.85, 0.75, 0.70, 0.60, 0.60, 0.65,
];
const ROUND_THE_CLOCK_HOURS: [f64; 24] = [
    1.05, 1.00, 0.95, 0.90, 0.85, 0.85, 0.85, 0.90, 0.95, 0.95, 0.95, 1.00, 1.05, 1.20, 1.30, 1.25, 1.15,
    1.10, 1.05, 1.00, 1.00, 0.95, 0.95, 1.00,
];

pub(super) fn is_open(asset_type: AssetType, minute: Millis) -> bool {
    match asset_type {
        AssetType::Crypto | AssetType::Otc => true,
        AssetType::Forex => {
            let since_monday = minute + EPOCH_AFTER_MONDAY;
            let into_week = since_monday - since_monday.floor_to(WEEK);
            !WEEKEND_MINUTES.contains(&(into_week.get() / Millis::MINUTE.get()))
        }
    }
}

/// Returns the step size factor at `minute`, about 1 on average.
pub(super) fn activity(asset_type: AssetType, minute: Millis) -> f64 {
    let into_day = minute - minute.floor_to(Millis::DAY);
    let hour = (into_day.get() / Millis::HOUR.get()) as usize;
    match asset_type {
        AssetType::Forex => FOREX_HOURS[hour],
        AssetType::Crypto | AssetType::Otc => ROUND_THE_CLOCK_HOURS[hour],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn currencies_rest_from_friday_to_sunday_at_22() {
        // 2026-01-09 was a Friday, 1970-01-02 as well, 1969-12-28 a Sunday.
        for (seconds, open) in [
            (1_767_995_940, true),  // 2026-01-09 21:59
            (1_767_996_000, false), // 2026-01-09 22:00
            (1_768_168_740, false), // 2026-01-11 21:59
            (1_768_168_800, true),  // 2026-01-11 22:00
            (165_540, true),        // 1970-01-02 21:59
            (165_600, false),       // 1970-01-02 22:00
            (-266_460, false),      // 1969-12-28 21:59
            (-266_400, true),       // 1969-12-28 22:00
        ] {
            assert_eq!(is_open(AssetType::Forex, Millis::from_seconds(seconds)), open, "{seconds}");
            assert!(is_open(AssetType::Otc, Millis::from_seconds(seconds)));
        }
    }

    #[test]
    fn an_average_hour_is_about_1() {
        for hours in [FOREX_HOURS, ROUND_THE_CLOCK_HOURS] {
            assert!((hours.iter().sum::<f64>() / 24.0 - 1.0).abs() < 0.1);
        }
        assert_eq!(activity(AssetType::Forex, Millis::HOUR * 38), 1.55);
        assert_eq!(activity(AssetType::Crypto, Millis::HOUR * -1), 1.0);
    }
}
