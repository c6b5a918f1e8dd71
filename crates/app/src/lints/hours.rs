//! Lints of trading hours.

use super::LintInput;
use candlewick_engine::{BotLimitSettings, BotSettings, DayStart, Hours, RiskSettings, Window};
use candlewick_sdk::Millis;
use candlewick_sdk::rust_decimal::Decimal;

/// Start of 2026, the checked year: a whole year includes the summer time of every zone.
const YEAR_START: Millis = Millis::new(1_767_225_600_000);
const YEAR_DAYS: i64 = 365;

/// Windows of one setting, any of which must be open to trade.
struct Windows {
    place: String,
    hours: Vec<(Hours, Window)>,
}

pub(super) fn split_hours(input: &LintInput<'_>) -> Vec<String> {
    let risk = &input.loaded.config.risk;
    let Ok(day) = DayStart::new(&risk.day_start, &risk.day_timezone, "risk") else { return Vec::new() };
    let has_any = has_day_limit(risk) || risk.bots.values().any(has_own_day_limit);
    let is_limited =
        |bot: &&BotSettings| has_day_limit(risk) || risk.bots.get(&bot.name).is_some_and(has_own_day_limit);
    let of_all = risk_windows(risk).filter(|_| has_any).map(|own| vec![own]);
    let of_bots = input.bots().iter().filter(is_limited).map(|bot| bot_windows(bot, risk));
    let mut notes: Vec<String> = Vec::new();
    for group in of_all.into_iter().chain(of_bots) {
        for (place, hours, window) in group.iter().flat_map(Windows::iter) {
            let note = format!(
                "{place}: {} contains the start of the day, {} {}, at which daily limits start over; set risk.day_start outside of it",
                describe_hours(hours),
                risk.day_start,
                risk.day_timezone
            );
            let is_whole_day = hours.from == hours.to;
            if !is_whole_day && is_split(window, day, &group) && !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    notes
}

pub(super) fn disjoint_hours(input: &LintInput<'_>) -> Vec<String> {
    input.each_bot(|bot| {
        let all = bot_windows(bot, &input.loaded.config.risk);
        // An overlap begins with one of the windows.
        let mut starts = all.iter().flat_map(Windows::iter).flat_map(|(.., window)| starts_of(window));
        if all.len() < 2 || starts.any(|at| is_open(&all, at)) {
            return None;
        }
        let describe = |own: &Windows| {
            let hours: Vec<String> = own.hours.iter().map(|(hours, _)| describe_hours(hours)).collect();
            format!("{} ({})", own.place, hours.join(", "))
        };
        let places: Vec<String> = all.iter().map(describe).collect();
        Some(format!("it can never trade its own signals: {} do not overlap", places.join(" and ")))
    })
}

impl Windows {
    fn iter(&self) -> impl Iterator<Item = (&str, &Hours, &Window)> {
        self.hours.iter().map(|(hours, window)| (self.place.as_str(), hours, window))
    }
}

fn starts_of(window: &Window) -> impl Iterator<Item = Millis> {
    let end = YEAR_START + Millis::DAY * YEAR_DAYS;
    let next = |at: &Millis| window.next_start(*at);
    std::iter::successors(window.next_start(YEAR_START), next).take_while(move |at| *at < end)
}

fn is_open(all: &[Windows], at: Millis) -> bool {
    all.iter().all(|own| own.hours.iter().any(|(_, window)| window.contains(at)))
}

fn is_split(window: &Window, day: DayStart, group: &[Windows]) -> bool {
    starts_of(window).any(|start| {
        let (_, end) = day.day_of(start);
        let is_inside = |at: Millis| window.contains(at) && is_open(group, at);
        end - start < Millis::DAY && is_inside(end - Millis::new(1)) && is_inside(end)
    })
}

fn has_day_limit(risk: &RiskSettings) -> bool {
    // The default number of trades is out of reach, and a pause without a length lasts until the day ends.
    let default = RiskSettings::default().max_trades_per_day;
    let amounts = [risk.daily_loss_limit, risk.daily_profit_target];
    let percentages = [risk.daily_loss_limit_percent, risk.daily_profit_target_percent];
    ![0, default].contains(&risk.max_trades_per_day)
        || risk.pauses.iter().any(|pause| pause.for_s == 0)
        || is_any_set(amounts, percentages)
}

fn has_own_day_limit(own: &BotLimitSettings) -> bool {
    let amounts = [own.daily_loss_limit, own.daily_profit_target];
    let percentages = [own.daily_loss_limit_percent, own.daily_profit_target_percent];
    own.max_trades_per_day > 0 || is_any_set(amounts, percentages)
}

fn is_any_set(amounts: [Decimal; 2], percentages: [f64; 2]) -> bool {
    amounts.iter().any(|amount| !amount.is_zero()) || percentages.iter().any(|percent| *percent > 0.0)
}

fn bot_windows(bot: &BotSettings, risk: &RiskSettings) -> Vec<Windows> {
    risk_windows(risk).into_iter().chain(filter_windows(bot)).collect()
}

fn risk_windows(risk: &RiskSettings) -> Option<Windows> {
    let window = |hours: &Hours| Some((hours.clone(), Window::new(hours, "risk.hours").ok()?));
    let hours: Vec<(Hours, Window)> = risk.hours.iter().filter_map(window).collect();
    (!hours.is_empty()).then(|| Windows { place: "risk.hours".to_owned(), hours })
}

/// Returns the hours among the filters of a combination, all of which must be open.
fn filter_windows(bot: &BotSettings) -> Vec<Windows> {
    let filters = bot.params.get("filters").and_then(|filters| filters.as_array());
    let windows = filters.into_iter().flatten().filter_map(|filter| {
        let [from, to] = filter.get("hours")?.as_array()?.as_slice() else { return None };
        let timezone = filter.get("timezone").and_then(|zone| zone.as_str()).unwrap_or("UTC").to_owned();
        let (from, to) = (from.as_str()?.to_owned(), to.as_str()?.to_owned());
        let hours = Hours { days: Vec::new(), from, to, timezone };
        let window = Window::new(&hours, "hours").ok()?;
        Some(Windows { place: format!("the filter of bot \"{}\"", bot.name), hours: vec![(hours, window)] })
    });
    windows.collect()
}

fn describe_hours(hours: &Hours) -> String {
    format!("{} to {} {}", hours.from, hours.to, hours.timezone)
}
