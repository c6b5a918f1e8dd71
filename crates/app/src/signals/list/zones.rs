//! Time zones in lines that are not entries, which may apply to the times of the entries.

use super::cell::{offset_zone, zone_of};
use super::plain::folded;
use super::zone_names::{
    is_doubtful, is_one_of, is_zone_where_alone, may_name_a_zone, may_stand_beside_a_zone, zones_by_name,
};
use chrono_tz::Tz;

const SHIFTS: &str =
    " minus plus menos mais mas behind ahead before after atras adelante antes depois later earlier ";
const BESIDE_ONE: &str =
    " time times hora horario session sessao sesion market mercado open close signals sinais ";

/// Returns the distinct time zones of a line, `None` for one that cannot be parsed.
///
/// Recognises UTC offsets, IANA names, cities and abbreviations.
pub(super) fn zones_in(line: &str) -> Vec<Option<Tz>> {
    let text = folded(line);
    let words: Vec<&str> = words_of(&text).collect();
    let mut zones: Vec<Option<Tz>> = iana_zones(line).map(Some).collect();
    zones.extend(names_of_utc(&text).map(|(name, behind)| offset_behind(name, behind, &text)));
    zones.extend(zones_by_name(&words).into_iter().map(Some));
    if zones.is_empty() && (may_name_a_zone(&words) || is_doubted(line, &text)) {
        zones.push(None);
    }
    let mut once: Vec<Option<Tz>> = Vec::new();
    for zone in zones {
        if !once.contains(&zone) {
            once.push(zone);
        }
    }
    once
}

pub(super) fn zones_alone(line: &str) -> Vec<Tz> {
    let zones: Option<Vec<Tz>> = zones_in(line).into_iter().collect();
    let text = folded(line);
    let words: Vec<&str> =
        words_of(&text).filter(|word| !word.bytes().all(|sign| sign.is_ascii_digit())).collect();
    zones.filter(|_| may_stand_beside_a_zone(&words)).unwrap_or_default()
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|sign: char| !sign.is_alphanumeric()).filter(|word| !word.is_empty())
}

fn iana_zones(line: &str) -> impl Iterator<Item = Tz> {
    let names = line.split(|sign: char| !(sign.is_alphanumeric() || "/_-+".contains(sign)));
    names.filter(|name| name.contains('/')).filter_map(zone_of)
}

/// Returns each `utc` and `gmt` with the text after it, except those of `Etc/GMT+3`.
fn names_of_utc(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let names = text.match_indices("utc").chain(text.match_indices("gmt"));
    names
        .filter(|(place, _)| !text[..*place].ends_with("etc/"))
        .map(|(place, name)| (name, &text[place + name.len()..]))
}

fn offset_behind(name: &str, behind: &str, text: &str) -> Option<Tz> {
    let behind = behind.trim_start();
    let Some(sign) = behind.chars().next().filter(|sign| "+-".contains(*sign)) else {
        // `UTC3`, `-3 UTC` and `UTC minus 3` may be anything.
        let is_shift = |word: &str| is_hours(word) || is_one_of(word, SHIFTS);
        let mut words = text.split(|sign: char| !(sign.is_alphanumeric() || "+-:/.".contains(sign)));
        let is_bare = !behind.starts_with(|sign: char| sign.is_alphanumeric()) && !words.any(is_shift);
        return offset_zone(name).filter(|_| is_bare);
    };
    let hours = behind[1..].trim_start();
    let end =
        hours.find(|sign: char| !(sign.is_ascii_digit() || ":.,".contains(sign))).unwrap_or(hours.len());
    offset_zone(&format!("{name}{sign}{}", hours[..end].trim_end_matches([':', '.', ','])))
}

fn is_hours(word: &str) -> bool {
    let digits = word.trim_start_matches(['+', '-']).trim_end_matches('h');
    let parts: Vec<&str> = digits.split(':').collect();
    let is_number =
        |part: &&str| (1..=4).contains(&part.len()) && part.bytes().all(|sign| sign.is_ascii_digit());
    let is_signed = word.starts_with(['+', '-']);
    parts.iter().all(is_number) && (parts.len() == 1 || (parts.len() == 2 && is_signed))
}

fn is_doubted(line: &str, text: &str) -> bool {
    let is_capital = |word: &str| word.chars().all(|sign| sign.is_ascii_uppercase() || sign.is_ascii_digit());
    if words_of(line).any(|word| is_capital(word) && is_doubtful(&word.to_lowercase())) {
        return true;
    }
    let alone = |part: &str| {
        let mut words = words_of(part)
            .filter(|word| !is_one_of(word, BESIDE_ONE) && !word.bytes().all(|sign| sign.is_ascii_digit()));
        matches!((words.next(), words.next()), (Some(word), None) if is_zone_where_alone(word))
    };
    let mut in_brackets = text.split(['(', '[']).skip(1).filter_map(|part| part.split([')', ']']).next());
    let is_offset = || {
        let only = text.trim_matches(|sign: char| !(sign.is_alphanumeric() || "+-".contains(sign)));
        only.starts_with(['+', '-']) && is_hours(only)
    };
    alone(text) || in_brackets.any(alone) || is_offset()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> Vec<String> {
        let names = zones_in(text).into_iter().map(|zone| zone.map(super::super::cell::zone_words));
        names.map(|name| name.unwrap_or_else(|| "?".to_owned())).collect()
    }

    #[test]
    fn the_zones_of_a_line_are_read_or_known_to_be_there() {
        for (text, expected) in [
            ("Timezone: UTC-3", &["UTC-3"][..]),
            ("UTC +1", &["UTC+1"]),
            ("GMT \u{2212}3", &["UTC-3"]),
            ("GMT\u{2011}3", &["UTC-3"]),
            ("UTC\u{2796}3", &["UTC-3"]),
            ("Horário de Brasília (UTC-03:00)", &["UTC-3", "America/Sao_Paulo"]),
            ("UTC+5:30", &["Asia/Kolkata"]),
            ("IST (UTC+5:30)", &["Asia/Kolkata"]),
            ("Time zone GMT +05:30.", &["Asia/Kolkata"]),
            ("UTC3", &["?"]),
            ("-3 UTC", &["?"]),
            ("UTC minus 3", &["?"]),
            ("3 hours behind UTC", &["?"]),
            ("3h behind UTC", &["?"]),
            ("UTC+3:30", &["?"]),
            ("all times UTC.", &["UTC"]),
            ("10:30 GBPJPY CALL UTC", &["UTC"]),
            ("Timezone: America/Sao_Paulo", &["America/Sao_Paulo"]),
            ("Etc/GMT+3", &["UTC-3"]),
            ("UTC-3 (GMT-4)", &["UTC-3", "UTC-4"]),
            ("BRT", &["UTC-3"]),
            ("brt time", &["UTC-3"]),
            ("WIB", &["UTC+7"]),
            ("PKT (Karachi)", &["UTC+5", "Asia/Karachi"]),
            ("London session", &["Europe/London"]),
            ("New York time", &["America/New_York"]),
            ("hora de Brasília", &["America/Sao_Paulo"]),
            ("hora de São Paulo", &["America/Sao_Paulo"]),
            ("LONDON / NEW YORK", &["Europe/London", "America/New_York"]),
            ("Kolkata", &["Asia/Kolkata"]),
            ("Ho Chi Minh", &["Asia/Ho_Chi_Minh"]),
        ] {
            assert_eq!(named(text), expected, "{text}");
        }
    }

    #[test]
    fn what_may_be_a_zone_is_doubted_in_whatever_way_it_is_written() {
        for text in [
            "EST",
            "est",
            "EDT",
            "BRST",
            "IST",
            "CST",
            "CET",
            "Signals in EST",
            "all EDT",
            "ET",
            "(ET)",
            "Signals (PT)",
            "VIP room (PT)",
            "NY session",
            "NYC",
            "Timezone: IST",
            "Time zone?",
            "Fuso",
            "Horário local",
            "Hora local",
            "Horas: Brasil",
            "Brasil",
            "Nova York",
            "Nova Iorque",
            "Londres",
            "Mumbai",
            "Server time",
            "broker time",
            "local time",
            "US market",
            "Eastern",
            "Eastern time",
            "Zulu",
            "TZ -3",
            "-3",
            "-03:00",
            "(+5:30)",
            "GMT",
            "Waktu Jakarta Barat",
            "Huso horario",
            "Время",
            "India",
            "India time",
            "EST5EDT",
            "Time: NY",
        ] {
            assert!(!zones_in(text).is_empty(), "{text}");
        }
        for text in [
            "VIP room",
            "EUR/USD only",
            "SINAIS VIP",
            "GET READY",
            "VIP room 24h",
            "24 horas",
            "Timeframe: M5",
            "TIME FRAME 5 MIN",
            "Expiration time: 5 minutes",
            "investimento",
            "Melhora",
            "confuso",
            "M5",
            "GALE 1",
            "Até 2 gales",
            "EURUSD-OTC",
            "BOA SORTE!",
            "PAIR | TIME | DIRECTION",
            "Ativo Hora Direção",
            "M5;GBPJPY;10:30;CALL",
            "wins 3 x 1",
            "gale 2.2",
            "+",
            "-----",
            "",
            "Good morning traders",
            "Bom dia",
            "est un bon jour",
        ] {
            assert_eq!(named(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn a_line_that_says_a_zone_and_no_more_is_known() {
        for (text, expected) in [
            ("Timezone: UTC+1", Some("UTC+1")),
            ("TIMEZONE: UTC -3", Some("UTC-3")),
            ("Horário de Brasília (UTC-3)", Some("UTC-3, America/Sao_Paulo")),
            ("UTC", Some("UTC")),
            ("BRT", Some("UTC-3")),
            ("(UTC+5:30)", Some("Asia/Kolkata")),
            ("Fuso horário: America/Sao_Paulo", Some("America/Sao_Paulo")),
            ("New York time", Some("America/New_York")),
            ("EURUSD UTC", None),
            ("VIP UTC", None),
            ("tomorrow UTC", None),
            ("EST", None),
        ] {
            let zones: Vec<String> =
                zones_alone(text).into_iter().map(super::super::cell::zone_words).collect();
            assert_eq!(Some(zones.join(", ")).filter(|all| !all.is_empty()).as_deref(), expected, "{text}");
        }
    }
}
