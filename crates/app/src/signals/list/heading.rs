//! What a line that is no entry may say of the lines below it: the day they are of, and the time zone of their times.

use super::cell::{offset_zone, zone_of};
use chrono_tz::Tz;

/// Words that name a day or a month in lists, in English, Portuguese and Spanish.
const DAY_WORDS: &str = " today tomorrow monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun january february march \
    april may june july august september october november december jan feb mar apr jun jul aug sep oct nov dec hoje amanhã amanha segunda terça \
    terca quarta quinta sexta sábado sabado domingo janeiro fevereiro março marco abril maio junho julho agosto setembro outubro novembro \
    dezembro hoy mañana manana lunes martes miércoles miercoles jueves viernes enero febrero marzo mayo junio julio septiembre octubre \
    noviembre diciembre ";
/// Words before a time zone.
const ZONE_WORDS: &str = " timezone zone fuso zona horário horario ";
/// Signs that are written for a minus.
const DASHES: [char; 3] = ['\u{2212}', '\u{2013}', '\u{2014}'];

/// Whether a line may say of which day the lines below it are: it has a date, however written, or names a day or a month.
pub(super) fn may_name_a_day(text: &str) -> bool {
    let lower = text.to_lowercase();
    lower.split(|sign: char| !(sign.is_alphanumeric() || "./-".contains(sign))).any(|token| {
        let token = token.trim_matches(['.', '/', '-']);
        let parts: Vec<&str> = token.split(['.', '/', '-']).collect();
        is_date(token, &parts) || parts.iter().any(|part| is_one_of(part, DAY_WORDS))
    })
}

/// Two or three numbers of a date. `2.2` is none: so factors are written.
fn is_date(token: &str, parts: &[&str]) -> bool {
    let is_number =
        |part: &&str| part.bytes().all(|digit| digit.is_ascii_digit()) && (1..=4).contains(&part.len());
    let is_short = |part: &&str| part.len() <= 2;
    match parts {
        [first, second] => {
            let is_factor = token.contains('.') && first.len() == 1 && second.len() == 1;
            parts.iter().all(|part| is_number(part) && is_short(part)) && !is_factor
        }
        [_, _, _] => parts.iter().all(is_number) && parts.iter().filter(|part| !is_short(part)).count() <= 1,
        _ => false,
    }
}

fn is_one_of(word: &str, words: &str) -> bool {
    !word.is_empty() && words.contains(&format!(" {word} "))
}

/// The time zones that a line names: as hours from UTC, or by their IANA names; none in place of one that cannot be read.
pub(super) fn zones_in(line: &str) -> Vec<Option<Tz>> {
    let upper = line.replace(DASHES, "-").to_uppercase();
    let mut zones: Vec<Option<Tz>> = line
        .split(|sign: char| !(sign.is_alphanumeric() || "/_-+".contains(sign)))
        .filter(|word| word.contains('/') && !word.contains(|sign: char| sign.is_ascii_digit()))
        .filter_map(zone_of)
        .map(Some)
        .collect();
    let names = upper.match_indices("UTC").chain(upper.match_indices("GMT"));
    zones.extend(names.map(|(place, name)| offset_behind(name, &upper[place + name.len()..])));
    if zones.is_empty() {
        let lower = line.to_lowercase();
        let mut words = lower.split(|sign: char| !sign.is_alphanumeric());
        zones.extend(words.any(|word| is_one_of(word, ZONE_WORDS)).then_some(None));
    }
    zones
}

/// The zone of a name and the hours behind it, as `UTC`, `UTC -3` and `GMT+05:00`.
fn offset_behind(name: &str, behind: &str) -> Option<Tz> {
    let behind = behind.trim_start();
    let Some(sign) = behind.chars().next().filter(|sign| "+-".contains(*sign)) else {
        // `UTC3` may be anything.
        return offset_zone(name).filter(|_| !behind.starts_with(|sign: char| sign.is_alphanumeric()));
    };
    let hours = behind[1..].trim_start();
    let end =
        hours.find(|sign: char| !(sign.is_ascii_digit() || ":.,".contains(sign))).unwrap_or(hours.len());
    let hours = hours[..end].trim_end_matches([':', '.', ',']);
    offset_zone(&format!("{name}{sign}{}", hours.strip_suffix(":00").unwrap_or(hours)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_may_name_a_day_in_the_ways_in_which_chats_write_it() {
        for text in [
            "28/11",
            "28.11",
            "28-11",
            "27-11-26",
            "2026.11.28",
            " 28/11/2026 (Sat)",
            "# 28 November",
            "tomorrow",
            "Amanhã",
            "SÁBADO",
            "segunda-feira",
            "Signals of 28.11.",
            "28 nov",
        ] {
            assert!(may_name_a_day(text), "{text}");
        }
        for text in [
            "VIP room 24h",
            "100 % sure",
            "the rest of the day",
            "gale 2.2",
            "1.0850",
            "M5",
            "10:00 EURUSD CALL",
            "-----",
            "",
        ] {
            assert!(!may_name_a_day(text), "{text}");
        }
    }

    #[test]
    fn the_zones_of_a_line_are_read_or_known_to_be_there() {
        let hours = |text: &str| {
            let names = zones_in(text).into_iter().map(|zone| zone.map(super::super::cell::zone_words));
            names.map(|name| name.unwrap_or_else(|| "?".to_owned())).collect::<Vec<_>>()
        };
        for (text, expected) in [
            ("Timezone: UTC-3", vec!["UTC-3"]),
            ("UTC +1", vec!["UTC+1"]),
            ("GMT \u{2212}3", vec!["UTC-3"]),
            ("Horário de Brasília (UTC-03:00)", vec!["UTC-3"]),
            ("UTC+5:30", vec!["?"]),
            ("UTC3", vec!["?"]),
            ("all times UTC.", vec!["UTC"]),
            ("Timezone: America/Sao_Paulo", vec!["America/Sao_Paulo"]),
            ("UTC-3 (GMT-4)", vec!["UTC-3", "UTC-4"]),
            ("Horário de Brasília", vec!["?"]),
            ("EUR/USD only", vec![]),
            ("VIP room", vec![]),
        ] {
            assert_eq!(hours(text), expected, "{text}");
        }
    }
}
