//! Recognition of time zone offsets and names in entries and headings.

use super::split::{fold_text, is_number, is_one_of};
use crate::candles::deduplicate;
use chrono_tz::{TZ_VARIANTS, Tz};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Abbreviations of zones with the same UTC offset all year.
const ZONE_ABBREVIATIONS: [(&str, &str); 11] = [
    ("brt", "UTC-3"),
    ("pkt", "UTC+5"),
    ("npt", "UTC+5:45"),
    ("wib", "UTC+7"),
    ("wita", "UTC+8"),
    ("hkt", "UTC+8"),
    ("sgt", "UTC+8"),
    ("pht", "UTC+8"),
    ("jst", "UTC+9"),
    ("sast", "UTC+2"),
    ("msk", "Europe/Moscow"),
];
/// Abbreviations that stand for several zones, or that people also use in the wrong season.
const AMBIGUOUS_ABBREVIATIONS: &str = " est edt cst cdt mst mdt pst pdt akst akdt hst hdt ast adt nst ndt brst bst ist cet cest eet eest wet msd \
    kst aest aedt aest acst acdt awst nzst nzdt ict myt uyt uyst clt clst pyt pyst ect gft fnt irst irdt bdt mmt aft trt azt gst \
    samt yekt omst krat irkt yakt vlat uzt kzt almt lkt mvt cct amst wgt egt est5edt cst6cdt mst7mdt pst8pdt ";
/// Words that mean a time zone only if they are alone or next to a word such as *time*.
const WORDLIKE_ZONES: &str = " et ct mt pt ny nyc ldn sp rj br brl uk gb us usa in ind pk ng za jp z zulu cat eat wat amt art cot pet vet bot act wit \
    get met west mest est eastern central mountain pacific atlantic greenwich brasil brazil india pakistan bangladesh indonesia nigeria \
    kenya ghana angola mozambique mocambique portugal spain espana france germany alemanha italy england inglaterra turkey russia \
    japan japao china korea vietnam thailand malaysia philippines iran egypt morocco mexico argentina colombia chile peru ecuador \
    venezuela bolivia uruguay paraguay canada australia europe europa asia asian ";
const PLACE_NAMES: &str = "nova york, nova iorque, nueva york, londres, lisboa, madri, moscou, moscu, toquio, tokio, \
    berlim, frankfurt, pequim, beijing, pekin, sidney, mumbai, bombay, delhi, chennai, bangalore, hyderabad, \
    islamabad, lahore, abuja, washington, miami, rio de janeiro, belo horizonte, curitiba, wall street";
/// IANA city names that are far more often ordinary words or personal names.
const AMBIGUOUS_CITIES: &str = " north south west east center easter christmas wake midway general nome oral troll resolute reunion acre act nsw lhi \
    victoria queensland tasmania ";
const CONTINENTS: &str = " Africa America Antarctica Arctic Asia Atlantic Australia Europe Indian Pacific ";
const ZONE_LABELS: &str = "time zone zona fuso hora huso timezone waktu uhrzeit zeitzone heure время мск";
const NON_ZONE_WORDS: &str = " timeframe timeframes timer lifetime sometimes overtime anytime onetime ";
const NON_ZONE_PHRASES: &str = "time frame, expiry time, expiration time, real time, real-time, all the time, \
    first time, last time, next time, this time, on time, in time, tempo real, zona de";
const COLUMN_LABELS: &str = " par pair pairs ativo activo asset symbol moeda moneda currency time hora horario horas direction direcao direccion \
    action acao sinal signal entrada entry expiry expiration expiracao exp tempo timeframe date data fecha dia day ";
const WORDS_NEAR_ZONE: &str =
    " timezone time times zone fuso zona horario hora horas de do da of all are is in the tz local utc gmt ";
const OFFSET_WORDS: &str =
    " minus plus menos mais mas behind ahead before after atras adelante antes depois later earlier ";
const WORDS_NEAR_WORDLIKE_ZONE: &str =
    " time times hora horario session sessao sesion market mercado open close signals sinais ";

static CITY_ZONES: LazyLock<BTreeMap<String, Tz>> = LazyLock::new(|| {
    let city_of = |zone: &Tz| {
        let (continent, rest) = zone.name().split_once('/')?;
        let city = fold_text(&rest.rsplit('/').next()?.replace('_', " "));
        let is_city = CONTINENTS.contains(&format!(" {continent} ")) && !is_one_of(&city, AMBIGUOUS_CITIES);
        is_city.then_some((city, *zone))
    };
    let mut cities: BTreeMap<String, Tz> = TZ_VARIANTS.iter().filter_map(city_of).collect();
    for (city, zone) in [("brasilia", Tz::America__Sao_Paulo), ("saigon", Tz::Asia__Ho_Chi_Minh)] {
        cities.insert(city.to_owned(), zone);
    }
    cities
});

fn zone_from_abbreviation(word: &str) -> Option<Tz> {
    let word = word.to_lowercase();
    let (_, zone) = ZONE_ABBREVIATIONS.iter().find(|(known, _)| *known == word)?;
    parse_offset_zone(zone).or_else(|| zone.parse().ok())
}

fn may_name_a_zone(words: &[&str]) -> bool {
    if !words.is_empty() && words.iter().all(|word| is_one_of(word, COLUMN_LABELS)) && words.len() > 1 {
        return false;
    }
    let mut line = format!(" {} ", words.join(" "));
    if PLACE_NAMES.split(", ").any(|place| line.contains(&format!(" {place} "))) {
        return true;
    }
    for together in NON_ZONE_PHRASES.split(", ") {
        line = line.replace(&format!(" {together} "), " ");
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let says_zone = |(place, word): (usize, &&str)| {
        // `24 horas` is a duration.
        let is_span = is_one_of(word, " horas hora hours times ") && place > 0 && is_number(words[place - 1]);
        let is_it = ZONE_LABELS.split(' ').any(|start| word.starts_with(start))
            || *word == "tz"
            || ["time", "times", "zone"].iter().any(|end| word.ends_with(end));
        is_it && !is_span && !is_one_of(word, NON_ZONE_WORDS)
    };
    words.iter().enumerate().any(says_zone)
}

pub(super) fn is_ambiguous_zone(word: &str) -> bool {
    is_one_of(word, AMBIGUOUS_ABBREVIATIONS)
}

fn is_zone_context_word(word: &str) -> bool {
    is_one_of(word, WORDS_NEAR_ZONE)
        || is_one_of(word, &CONTINENTS.to_lowercase())
        || zone_from_abbreviation(word).is_some()
        || CITY_ZONES.keys().any(|city| city.split(' ').any(|part| part == word))
}

pub(super) fn parse_zone(text: &str) -> Option<Tz> {
    text.parse().ok().or_else(|| parse_offset_zone(text)).or_else(|| zone_from_abbreviation(text))
}

/// Parses a cell of an unnamed column as a time zone. Rejects ambiguous zones such as `EST`.
pub(super) fn parse_zone_cell(text: &str) -> Option<Tz> {
    parse_offset_zone(text)
        .or_else(|| zone_from_abbreviation(text))
        .or_else(|| text.parse().ok().filter(|_| text.contains('/')))
}

pub(crate) fn parse_offset_zone(text: &str) -> Option<Tz> {
    candlewick_engine::parse_utc_offset(&fold_text(text))
}

pub(crate) fn zone_label(zone: Tz) -> String {
    match zone.name().strip_prefix("Etc/GMT").and_then(|hours| hours.split_at_checked(1)) {
        Some(("+", hours)) => format!("UTC-{hours}"),
        Some(("-", hours)) => format!("UTC+{hours}"),
        _ => zone.name().to_owned(),
    }
}

/// Returns the distinct time zones in a line, with `None` for zones that cannot be parsed.
pub(super) fn find_zones(line: &str) -> Vec<Option<Tz>> {
    let text = fold_text(line);
    let words: Vec<&str> = split_words(&text).collect();
    let names = line.split(|sign: char| !(sign.is_alphanumeric() || "/_-+".contains(sign)));
    let iana = names.filter(|name| name.contains('/')).filter_map(parse_zone);
    let mut zones: Vec<Option<Tz>> = iana.map(Some).collect();
    zones.extend(find_utc_names(&text).map(|(name, behind)| parse_offset(name, behind, &text)));
    zones.extend(words.iter().filter_map(|word| zone_from_abbreviation(word)).map(Some));
    for count in 1..=3 {
        let cities = words.windows(count).filter_map(|words| CITY_ZONES.get(&words.join(" ")));
        zones.extend(cities.copied().map(Some));
    }
    if zones.is_empty() && (may_name_a_zone(&words) || may_contain_zone_abbreviation(line, &text)) {
        zones.push(None);
    }
    deduplicate(zones)
}

pub(super) fn parse_zone_line(line: &str) -> Vec<Tz> {
    let zones: Option<Vec<Tz>> = find_zones(line).into_iter().collect();
    let text = fold_text(line);
    let says_no_more = || split_words(&text).all(|word| is_number(word) || is_zone_context_word(word));
    zones.filter(|_| says_no_more()).unwrap_or_default()
}

fn split_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|sign: char| !sign.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Returns each occurrence of `utc` or `gmt` with the text after it. Skips zone names such as `Etc/GMT+3`.
fn find_utc_names(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let names = text.match_indices("utc").chain(text.match_indices("gmt"));
    names
        .filter(|(place, _)| !text[..*place].ends_with("etc/"))
        .map(|(place, name)| (name, &text[place + name.len()..]))
}

fn parse_offset(name: &str, behind: &str, text: &str) -> Option<Tz> {
    let behind = behind.trim_start();
    let Some(sign) = behind.chars().next().filter(|sign| "+-".contains(*sign)) else {
        // `UTC3`, `-3 UTC` and `UTC minus 3` are ambiguous.
        let is_shift = |word: &str| is_hour_offset(word) || is_one_of(word, OFFSET_WORDS);
        let mut words = text.split(|sign: char| !(sign.is_alphanumeric() || "+-:/.".contains(sign)));
        let is_bare = !behind.starts_with(|sign: char| sign.is_alphanumeric()) && !words.any(is_shift);
        return parse_offset_zone(name).filter(|_| is_bare);
    };
    let hours = behind[1..].trim_start();
    let end = hours.find(|c: char| !(c.is_ascii_digit() || ":.,".contains(c))).unwrap_or(hours.len());
    parse_offset_zone(&format!("{name}{sign}{}", hours[..end].trim_end_matches([':', '.', ','])))
}

fn is_hour_offset(word: &str) -> bool {
    let digits = word.trim_start_matches(['+', '-']).trim_end_matches('h');
    let parts: Vec<&str> = digits.split(':').collect();
    let is_signed = word.starts_with(['+', '-']);
    parts.iter().all(|part| is_number(part) && part.len() <= 4)
        && (parts.len() == 1 || (parts.len() == 2 && is_signed))
}

fn may_contain_zone_abbreviation(line: &str, text: &str) -> bool {
    let is_capital = |word: &str| word.chars().all(|sign| sign.is_ascii_uppercase() || sign.is_ascii_digit());
    if split_words(line).any(|word| is_capital(word) && is_ambiguous_zone(&word.to_lowercase())) {
        return true;
    }
    let alone = |part: &str| {
        let mut words =
            split_words(part).filter(|word| !is_one_of(word, WORDS_NEAR_WORDLIKE_ZONE) && !is_number(word));
        let is_zone = |word| is_one_of(word, WORDLIKE_ZONES) || is_ambiguous_zone(word);
        matches!((words.next(), words.next()), (Some(word), None) if is_zone(word))
    };
    let mut in_brackets = text.split(['(', '[']).skip(1).filter_map(|part| part.split([')', ']']).next());
    let is_offset = || {
        let only = text.trim_matches(|sign: char| !(sign.is_alphanumeric() || "+-".contains(sign)));
        only.starts_with(['+', '-']) && is_hour_offset(only)
    };
    alone(text) || in_brackets.any(alone) || is_offset()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> Vec<String> {
        let names = find_zones(text).into_iter().map(|zone| zone.map(zone_label));
        names.map(|name| name.unwrap_or_else(|| "?".to_owned())).collect()
    }

    #[test]
    fn finds_zones_of_a_line() {
        for (texts, expected) in [
            ("Timezone: UTC-3|GMT \u{2212}3|GMT\u{2011}3|UTC\u{2796}3|Etc/GMT+3|BRT|brt time", "UTC-3"),
            ("UTC +1", "UTC+1"),
            ("Horário de Brasília (UTC-03:00)", "UTC-3, America/Sao_Paulo"),
            ("UTC+5:30|IST (UTC+5:30)|Time zone GMT +05:30.|Kolkata", "Asia/Kolkata"),
            ("UTC3|-3 UTC|UTC minus 3|3 hours behind UTC|3h behind UTC|UTC+3:30", "?"),
            ("all times UTC.|10:30 GBPJPY CALL UTC", "UTC"),
            ("Timezone: America/Sao_Paulo|hora de Brasília|hora de São Paulo", "America/Sao_Paulo"),
            ("UTC-3 (GMT-4)", "UTC-3, UTC-4"),
            ("WIB", "UTC+7"),
            ("PKT (Karachi)", "UTC+5, Asia/Karachi"),
            ("London session", "Europe/London"),
            ("New York time", "America/New_York"),
            ("LONDON / NEW YORK", "Europe/London, America/New_York"),
            ("Ho Chi Minh", "Asia/Ho_Chi_Minh"),
        ] {
            for text in texts.split('|') {
                assert_eq!(named(text).join(", "), expected, "{text}");
            }
        }
    }

    #[test]
    fn detects_ambiguous_zone_names() {
        let doubted = "EST|est|EDT|BRST|IST|CST|CET|Signals in EST|all EDT|ET|(ET)|Signals (PT)|VIP room (PT)|\
             NY session|NYC|Timezone: IST|Time zone?|Fuso|Horário local|Hora local|Horas: Brasil|Brasil|\
             Nova York|Nova Iorque|Londres|Mumbai|Server time|broker time|local time|US market|Eastern|\
             Eastern time|Zulu|TZ -3|-3|-03:00|(+5:30)|GMT|Waktu Jakarta Barat|Huso horario|Время|India|\
             India time|EST5EDT|Time: NY";
        for text in doubted.split('|') {
            assert!(!find_zones(text).is_empty(), "{text}");
        }
        let other = "VIP room|EUR/USD only|SINAIS VIP|GET READY|VIP room 24h|24 horas|Timeframe: M5|TIME FRAME 5 MIN|\
             Expiration time: 5 minutes|investimento|Melhora|confuso|M5|GALE 1|Até 2 gales|EURUSD-OTC|\
             BOA SORTE!|Ativo Hora Direção|M5;GBPJPY;10:30;CALL|wins 3 x 1|gale 2.2|+|-----||\
             Good morning traders|Bom dia|est un bon jour";
        for text in other.split('|').chain(["PAIR | TIME | DIRECTION"]) {
            assert_eq!(named(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn parses_lines_with_only_a_zone() {
        for (texts, expected) in [
            ("Timezone: UTC+1", "UTC+1"),
            ("TIMEZONE: UTC -3|BRT", "UTC-3"),
            ("Horário de Brasília (UTC-3)", "UTC-3, America/Sao_Paulo"),
            ("UTC", "UTC"),
            ("(UTC+5:30)", "Asia/Kolkata"),
            ("Fuso horário: America/Sao_Paulo", "America/Sao_Paulo"),
            ("New York time", "America/New_York"),
            ("EURUSD UTC|VIP UTC|tomorrow UTC|EST", ""),
        ] {
            for text in texts.split('|') {
                let zones: Vec<String> = parse_zone_line(text).into_iter().map(zone_label).collect();
                assert_eq!(zones.join(", "), expected, "{text}");
            }
        }
    }

    #[test]
    fn parses_and_formats_utc_offsets() {
        use chrono::{NaiveDate, Offset as _, TimeZone as _};
        for (minutes, texts) in [
            (0, "UTC|UTC+0"),
            (-180, "utc-3|UTC -3|UTC\u{2212}03:00|UTC-0300"),
            (300, "UTC+05"),
            (60, "GMT+1"),
            (-660, "GMT-11"),
            (840, "UTC+14"),
            (330, "UTC+5:30|UTC+05:30|GMT +5:30|UTC+0530"),
            (345, "UTC+5:45"),
            (270, "UTC+4:30"),
            (390, "UTC+6:30"),
            (570, "UTC+9:30"),
            (-570, "UTC-9:30"),
        ] {
            for text in texts.split('|') {
                let zone = parse_offset_zone(text).unwrap();
                for (year, month) in [(1986, 7), (2005, 1), (2026, 7)] {
                    let day = NaiveDate::from_ymd_opt(year, month, 1).unwrap();
                    let found = zone.offset_from_utc_date(&day).fix().local_minus_utc();
                    assert_eq!(found, minutes * 60, "{text} in {year}");
                }
                if minutes != 0 && minutes % 60 == 0 {
                    assert_eq!(zone_label(zone), format!("UTC{:+}", minutes / 60));
                }
            }
        }
        // Some half-hour offsets belong to no zone, or to a zone for only part of the year.
        for text in "UTC+15|UTC-|UTC3|UTC-5:30|UTC+3:30|UTC+5:3|UTC+530|UTC+5:30:00|UTC++5|-3".split('|') {
            assert_eq!(parse_offset_zone(text), None, "{text}");
        }
        assert_eq!(parse_zone("Europe/Berlin").map(zone_label).as_deref(), Some("Europe/Berlin"));
        assert_eq!(
            (parse_zone("EST").is_some(), parse_zone_cell("EST"), parse_zone_cell("CALL")),
            (true, None, None)
        );
        assert_eq!(parse_zone_cell("America/New_York"), Some(Tz::America__New_York));
        assert_eq!(parse_zone_cell("EUR/USD"), None);
        assert_eq!(parse_zone_cell("WIB"), Some(Tz::Etc__GMTMinus7));
    }
}
