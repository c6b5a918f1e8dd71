//! Display of the configured time zones with their current time.

use super::finding::{Check, Finding};
use candlewick_engine::{RiskSettings, time_zone};
use candlewick_sdk::Millis;
use chrono::{DateTime, Duration, Offset, TimeZone, Utc};

pub(super) fn check(risk: &RiskSettings, now: Millis) -> Finding {
    let now = DateTime::from_timestamp_millis(now.get()).unwrap_or_default();
    let mut parts = vec![format!(
        "the day of the limits starts at {} {}",
        risk.day_start,
        there(&risk.day_timezone, now)
    )];
    for hours in &risk.hours {
        parts.push(format!("trades from {} to {} {}", hours.from, hours.to, there(&hours.timezone, now)));
    }
    if risk.hours.is_empty() {
        parts.push("trades at all hours (risk.hours)".to_owned());
    }
    let text = parts.join("; ");
    let zones = std::iter::once(&risk.day_timezone).chain(risk.hours.iter().map(|hours| &hours.timezone));
    let unknown: Vec<&str> = zones.map(String::as_str).filter(|name| time_zone(name).is_none()).collect();
    if unknown.is_empty() {
        Check::TimeZones.ok(text)
    } else {
        let remedy =
            format!("{} is no time zone: use an IANA name, such as Europe/London", unknown.join(", "));
        Check::TimeZones.fail(text, remedy)
    }
}

/// Formats a zone as `Europe/London (now 14:05, with summer time)`.
fn there(name: &str, now: DateTime<Utc>) -> String {
    let Some(zone) = time_zone(name) else { return name.to_owned() };
    let local = now.with_timezone(&zone).format("%H:%M");
    let offset = |moment: DateTime<Utc>| zone.offset_from_utc_datetime(&moment.naive_utc()).fix();
    // Clocks that change do so twice a year, and stand otherwise for at least three months.
    let changes = [91, 182, 273].iter().any(|days| offset(now + Duration::days(*days)) != offset(now));
    let summer = if changes { ", its clocks change in summer" } else { "" };
    format!("{name} (now {local} there{summer})")
}

#[cfg(test)]
mod tests {
    use super::super::finding::Mark;
    use super::*;
    use candlewick_engine::Hours;

    fn check_zone(zone: &str, mark: Mark, part: &str) {
        // 2026-01-05 12:00 UTC, and half a year later.
        let risk = RiskSettings { day_timezone: zone.to_owned(), ..RiskSettings::default() };
        let finding = check(&risk, Millis::new(1_767_614_400_000));
        assert!(finding.mark == mark && finding.to_string().contains(part), "{finding}");
    }

    #[test]
    fn each_time_of_day_is_reported_with_its_zone() {
        check_zone("UTC", Mark::Ok, "starts at 00:00 UTC (now 12:00 there); trades at all hours");
        check_zone("America/New_York", Mark::Ok, "(now 07:00 there, its clocks change in summer)");
        check_zone("Asia/Tokyo", Mark::Ok, "(now 21:00 there)");
        check_zone("Mars/Base", Mark::Fail, "Mars/Base is no time zone");
        let hours = Hours {
            days: Vec::new(),
            from: "09:00".into(),
            to: "17:00".into(),
            timezone: "Europe/London".into(),
        };
        let risk = RiskSettings { hours: vec![hours], ..RiskSettings::default() };
        let finding = check(&risk, Millis::new(1_783_252_800_000));
        assert!(finding.text.contains("trades from 09:00 to 17:00 Europe/London (now 13:00"), "{finding}");
    }
}
