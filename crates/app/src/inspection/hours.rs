//! Windows of trading hours that the start of the day cuts in two, or that never meet.

use crate::configuration::Config;
use candlewick_engine::{BotLimitSettings, BotSettings, DayStart, Hours, RiskSettings, Window};
use candlewick_sdk::Millis;

/// A year is looked at, with the summer time of all zones: 2026.
const FROM: Millis = Millis::new(1_767_225_600_000);
const DAYS: i64 = 365;

/// Windows of one key, of which a moment has to lie within any.
struct Windows {
    /// Where they stand, in words.
    place: String,
    hours: Vec<(Hours, Window)>,
}

/// That the start of the day cuts a window of hours in two, where a limit of the day is on.
pub fn split_hours(config: &Config) -> Vec<String> {
    let risk = &config.risk;
    let Ok(day) = DayStart::new(&risk.day_start, &risk.day_timezone, "risk") else { return Vec::new() };
    let is_on =
        |bot: &&BotSettings| has_day_limit(risk) || risk.bots.get(&bot.name).is_some_and(has_own_day_limit);
    let of_all =
        windows_of_risk(risk).filter(|_| has_day_limit(risk) || risk.bots.values().any(has_own_day_limit));
    // What a bot trades lies within all of its windows, so that these are looked at together.
    let groups: Vec<Vec<Windows>> = of_all
        .map(|own| vec![own])
        .into_iter()
        .chain(config.bots.iter().filter(is_on).map(|bot| windows_of(bot, risk)))
        .collect();
    let days = groups.iter().flatten().flat_map(|own| &own.hours);
    let cure = days.filter_map(|(hours, _)| {
        let other = DayStart::new(&hours.to, &hours.timezone, "risk").ok()?;
        let keeps_all = groups.iter().all(|group| split_in(group, other).next().is_none());
        keeps_all.then(|| {
            let Hours { to, timezone, .. } = hours;
            format!("; day_start = \"{to}\" and day_timezone = \"{timezone}\" in [risk] keep it in one day")
        })
    });
    let cure = cure.into_iter().next().unwrap_or_default();
    let mut notes: Vec<String> = Vec::new();
    for (place, hours) in groups.iter().flat_map(|group| split_in(group, day)) {
        let note = format!(
            "{place}: {} runs over the start of the day, {} {}: the limits of a day begin anew in the middle of it{cure}",
            hours_words(hours),
            risk.day_start,
            risk.day_timezone
        );
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

/// The windows of a group that a day's start cuts while all of the group are open, each with its place.
fn split_in(group: &[Windows], day: DayStart) -> impl Iterator<Item = (&str, &Hours)> {
    let all = group.iter().flat_map(|own| own.hours.iter().map(|one| (own.place.as_str(), one)));
    let split =
        all.filter(move |(_, (hours, window))| hours.from != hours.to && is_split(window, day, group));
    split.map(|(place, (hours, _))| (place, hours))
}

/// Bots whose hours, their own and those of `[risk]`, have no moment in common.
pub(super) fn hours_that_never_meet(config: &Config) -> Vec<String> {
    config.bots.iter().filter_map(|bot| never_meet(bot, &config.risk)).collect()
}

fn never_meet(bot: &BotSettings, risk: &RiskSettings) -> Option<String> {
    let all = windows_of(bot, risk);
    // What they have in common begins with one of them.
    let mut starts = all.iter().flat_map(|own| &own.hours).flat_map(|(_, window)| starts_of(window));
    if all.len() < 2 || starts.any(|at| is_open(&all, at)) {
        return None;
    }
    let words = all.iter().map(|own| {
        let hours: Vec<String> = own.hours.iter().map(|(hours, _)| hours_words(hours)).collect();
        format!("{} ({})", own.place, hours.join(", "))
    });
    let words: Vec<String> = words.collect();
    Some(format!(
        "bot \"{}\" can never trade on signals of its own: {} have no moment in common; change one of them",
        bot.name,
        words.join(" and ")
    ))
}

/// The starts of a window in a year.
fn starts_of(window: &Window) -> impl Iterator<Item = Millis> {
    let end = FROM + Millis::new(DAYS * Millis::DAY.get());
    let next = |at: &Millis| window.next_start(*at);
    std::iter::successors(window.next_start(FROM), next).take_while(move |at| *at < end)
}

fn is_open(all: &[Windows], at: Millis) -> bool {
    all.iter().all(|own| own.hours.iter().any(|(_, window)| window.contains(at)))
}

/// All windows of a bot, its own and those of `[risk]`.
fn windows_of(bot: &BotSettings, risk: &RiskSettings) -> Vec<Windows> {
    windows_of_risk(risk).into_iter().chain(filters_of(bot)).collect()
}

fn is_split(window: &Window, day: DayStart, group: &[Windows]) -> bool {
    starts_of(window).any(|start| {
        let (_, ends) = day.day_of(start);
        let is_within = |at: Millis| window.contains(at) && is_open(group, at);
        ends - start < Millis::DAY && is_within(ends - Millis::new(1)) && is_within(ends)
    })
}

fn has_day_limit(risk: &RiskSettings) -> bool {
    // The usual number is none that a bot comes to; a pause without an end of its own ends with the day.
    let is_counted = ![0, RiskSettings::default().max_trades_per_day].contains(&risk.max_trades_per_day);
    if is_counted || risk.pauses.iter().any(|pause| pause.for_s == 0) {
        return true;
    }
    let money = [risk.daily_loss_limit, risk.daily_profit_target];
    let percent = [risk.daily_loss_limit_percent, risk.daily_profit_target_percent];
    money.iter().any(|amount| !amount.is_zero()) || percent.iter().any(|percent| *percent > 0.0)
}

fn has_own_day_limit(own: &BotLimitSettings) -> bool {
    if own.max_trades_per_day > 0 {
        return true;
    }
    let money = [own.daily_loss_limit, own.daily_profit_target];
    let percent = [own.daily_loss_limit_percent, own.daily_profit_target_percent];
    money.iter().any(|amount| !amount.is_zero()) || percent.iter().any(|percent| *percent > 0.0)
}

fn windows_of_risk(risk: &RiskSettings) -> Option<Windows> {
    let hours =
        risk.hours.iter().filter_map(|hours| Some((hours.clone(), Window::new(hours, "risk.hours").ok()?)));
    Some(Windows { place: "risk.hours".to_owned(), hours: hours.collect() })
        .filter(|all| !all.hours.is_empty())
}

/// The filters of a combination that are hours, each of which has to let a signal pass.
fn filters_of(bot: &BotSettings) -> Vec<Windows> {
    let filters = bot.params.get("filters").and_then(|filters| filters.as_array());
    let hours = filters.into_iter().flatten().filter_map(|filter| {
        let [from, to] = filter.get("hours")?.as_array()?.as_slice() else { return None };
        let timezone = filter.get("timezone").and_then(|zone| zone.as_str()).unwrap_or("UTC");
        let text = |time: &serde_json::Value| time.as_str().map(str::to_owned);
        let hours =
            Hours { days: Vec::new(), from: text(from)?, to: text(to)?, timezone: timezone.to_owned() };
        let window = Window::new(&hours, "hours").ok()?;
        let place = format!("the filter of bot \"{}\"", bot.name);
        Some(Windows { place, hours: vec![(hours, window)] })
    });
    hours.collect()
}

fn hours_words(hours: &Hours) -> String {
    format!("{} to {} {}", hours.from, hours.to, hours.timezone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::configuration::{Base, Flag, Loaded};

    fn config(risk: &str, params: &str) -> Config {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("bot.toml");
        let bot = "[[bots]]\nname = \"eur\"\nsymbol = \"EURUSD\"\ninterval = \"1m\"\nstrategy = \"combine\"\nclose_type = \"01:00\"\n";
        std::fs::write(&file, format!("[risk]\n{risk}\n{bot}params = {{ {params} }}\n")).unwrap();
        Loaded::read(&[file], Base::Bare, Vec::<Flag>::new()).unwrap().config
    }

    #[test]
    fn a_window_that_runs_over_the_start_of_the_day_is_noted_beside_a_limit_of_the_day() {
        let night = "hours = [{ from = \"22:00\", to = \"02:00\" }]";
        for (risk, expected) in [
            ("daily_loss_limit = 10", 1),
            ("daily_loss_limit = 0\ndaily_profit_target_percent = 2.0", 1),
            ("daily_loss_limit = 0", 0),
            ("daily_loss_limit = 0\nmax_trades_per_day = 0", 0),
            ("daily_loss_limit = 0\nmax_trades_per_day = 5", 1),
            ("daily_loss_limit = 0\nmax_trades_per_day = 0\npauses = [{ after = 3, of = \"wins\" }]", 1),
            (
                "daily_loss_limit = 0\nmax_trades_per_day = 0\npauses = [{ after = 3, of = \"wins\", for_s = 60 }]",
                0,
            ),
            ("daily_loss_limit = 0\nmax_trades_per_day = 0\nbots = { eur = { max_trades_per_day = 2 } }", 1),
            ("daily_loss_limit = 10\nday_start = \"02:00\"", 0),
            // Midnight in Tokyo is 15:00 UTC.
            ("daily_loss_limit = 10\nday_timezone = \"Asia/Tokyo\"", 0),
        ] {
            let notes = split_hours(&config(&format!("{risk}\n{night}"), ""));
            assert_eq!(notes.len(), expected, "{risk}: {notes:?}");
            let cure = "22:00 to 02:00 UTC runs over the start of the day, 00:00 UTC";
            assert!(notes.iter().all(|note| note.contains(cure) && note.contains("day_start = \"02:00\"")));
        }
        // Up to midnight, all day, and a night by the clock of a summer in London, where 23:30 UTC is 00:30.
        for (hours, expected) in [
            ("from = \"20:00\", to = \"00:00\"", 0),
            ("from = \"00:00\", to = \"00:00\"", 0),
            ("from = \"00:30\", to = \"02:00\", timezone = \"Europe/London\"", 1),
            ("from = \"01:00\", to = \"02:00\", timezone = \"Europe/London\"", 0),
        ] {
            let notes = split_hours(&config(&format!("hours = [{{ {hours} }}]"), ""));
            assert_eq!(notes.len(), expected, "{hours}: {notes:?}");
        }
        let own = "filters = [{ hours = [\"22:00\", \"02:00\"] }]";
        assert_eq!(split_hours(&config("daily_loss_limit = 10", own)).len(), 1);
        // Of a night of which [risk] leaves the hours before midnight alone, none is cut.
        let evening = "daily_loss_limit = 10\nhours = [{ from = \"20:00\", to = \"00:00\" }]";
        assert_eq!(split_hours(&config(evening, own)), Vec::<String>::new());
    }

    #[test]
    fn a_start_of_the_day_is_proposed_only_where_it_cuts_no_window() {
        let two = |one: &str, other: &str| {
            split_hours(&config(&format!("daily_loss_limit = 10\nhours = [{{ {one} }}, {{ {other} }}]"), ""))
        };
        // 04:00 ends the later of the two; 01:00 would cut it.
        let notes = two("from = \"20:00\", to = \"01:00\"", "from = \"22:00\", to = \"04:00\"");
        assert!(
            notes.len() == 2 && notes.iter().all(|note| note.contains("day_start = \"04:00\"")),
            "{notes:?}"
        );
        // Together they are the whole day.
        let notes = two("from = \"22:00\", to = \"10:00\"", "from = \"08:00\", to = \"23:00\"");
        assert!(notes.len() == 1 && !notes[0].contains("day_start = "), "{notes:?}");
    }

    #[test]
    fn hours_without_a_moment_in_common_are_told_with_both() {
        let filter = |hours: &str| format!("filters = [{{ hours = [{hours}] }}]");
        let day = "hours = [{ from = \"08:00\", to = \"12:00\" }]";
        for (risk, params, expected) in [
            (day, filter("\"12:00\", \"14:00\""), true),
            (day, filter("\"11:59\", \"14:00\""), false),
            // London's 12:30 is 11:30 UTC in summer.
            (
                day,
                "filters = [{ hours = [\"12:30\", \"14:00\"], timezone = \"Europe/London\" }]".to_owned(),
                false,
            ),
            ("", filter("\"12:00\", \"14:00\""), false),
            ("hours = [{ from = \"22:00\", to = \"06:00\" }]", filter("\"05:00\", \"07:00\""), false),
            (
                "",
                "filters = [{ hours = [\"08:00\", \"09:00\"] }, { hours = [\"10:00\", \"11:00\"] }]"
                    .to_owned(),
                true,
            ),
        ] {
            let notes = hours_that_never_meet(&config(risk, &params));
            assert_eq!(!notes.is_empty(), expected, "{risk} {params}: {notes:?}");
        }
        let note = hours_that_never_meet(&config(day, &filter("\"12:00\", \"14:00\""))).concat();
        for part in ["bot \"eur\" can never trade", "08:00 to 12:00 UTC", "12:00 to 14:00 UTC"] {
            assert!(note.contains(part), "{note}");
        }
    }
}
