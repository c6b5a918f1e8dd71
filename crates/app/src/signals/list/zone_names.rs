//! Names of time zones in chats: abbreviations, cities, countries and words that announce one.

use super::cell::offset_zone;
use super::plain::folded;
use chrono_tz::{TZ_VARIANTS, Tz};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Abbreviations that mean the same single offset all year.
const KNOWN: [(&str, &str); 11] = [
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
/// Abbreviations of several zones, or often written in summer for the winter zone.
const DOUBTFUL: &str = " est edt cst cdt mst mdt pst pdt akst akdt hst hdt ast adt nst ndt brst bst ist cet cest eet eest wet msd \
    kst aest aedt aest acst acdt awst nzst nzdt ict myt uyt uyst clt clst pyt pyst ect gft fnt irst irdt bdt mmt aft trt azt gst \
    samt yekt omst krat irkt yakt vlat uzt kzt almt lkt mvt cct amst wgt egt est5edt cst6cdt mst7mdt pst8pdt ";
/// Names that are a zone only when alone or next to a time word; elsewhere they are ordinary words.
const ALONE: &str = " et ct mt pt ny nyc ldn sp rj br brl uk gb us usa in ind pk ng za jp z zulu cat eat wat amt art cot pet vet bot act wit \
    get met west mest est eastern central mountain pacific atlantic greenwich brasil brazil india pakistan bangladesh indonesia nigeria \
    kenya ghana angola mozambique mocambique portugal spain espana france germany alemanha italy england inglaterra turkey russia \
    japan japao china korea vietnam thailand malaysia philippines iran egypt morocco mexico argentina colombia chile peru ecuador \
    venezuela bolivia uruguay paraguay canada australia europe europa asia asian ";
const PLACES: [&str; 31] = [
    "nova york",
    "nova iorque",
    "nueva york",
    "londres",
    "lisboa",
    "madri",
    "moscou",
    "moscu",
    "toquio",
    "tokio",
    "berlim",
    "frankfurt",
    "pequim",
    "beijing",
    "pekin",
    "sidney",
    "mumbai",
    "bombay",
    "delhi",
    "chennai",
    "bangalore",
    "hyderabad",
    "islamabad",
    "lahore",
    "abuja",
    "washington",
    "miami",
    "rio de janeiro",
    "belo horizonte",
    "curitiba",
    "wall street",
];
/// IANA cities that are far more often ordinary words or personal names.
const NO_CITIES: &str = " north south west east center easter christmas wake midway general nome oral troll resolute reunion acre act nsw lhi \
    victoria queensland tasmania ";
const CONTINENTS: &str = " Africa America Antarctica Arctic Asia Atlantic Australia Europe Indian Pacific ";
const BEGINNINGS: [&str; 13] = [
    "time",
    "zone",
    "zona",
    "fuso",
    "hora",
    "huso",
    "timezone",
    "waktu",
    "uhrzeit",
    "zeitzone",
    "heure",
    "время",
    "мск",
];
const NO_ZONE: &str = " timeframe timeframes timer lifetime sometimes overtime anytime onetime ";
const NO_ZONE_TOGETHER: [&str; 14] = [
    "time frame",
    "expiry time",
    "expiration time",
    "real time",
    "real-time",
    "all the time",
    "first time",
    "last time",
    "next time",
    "this time",
    "on time",
    "in time",
    "tempo real",
    "zona de",
];
const LABELS: &str = " par pair pairs ativo activo asset symbol moeda moneda currency time hora horario horas direction direcao direccion \
    action acao sinal signal entrada entry expiry expiration expiracao exp tempo timeframe date data fecha dia day ";
const BESIDE: &str =
    " timezone time times zone fuso zona horario hora horas de do da of all are is in the tz local utc gmt ";

static CITIES: LazyLock<BTreeMap<String, Tz>> = LazyLock::new(|| {
    let city_of = |zone: &Tz| {
        let (continent, rest) = zone.name().split_once('/')?;
        let city = folded(&rest.rsplit('/').next()?.replace('_', " "));
        let is_city = CONTINENTS.contains(&format!(" {continent} ")) && !is_one_of(&city, NO_CITIES);
        is_city.then_some((city, *zone))
    };
    let mut cities: BTreeMap<String, Tz> = TZ_VARIANTS.iter().filter_map(city_of).collect();
    for (city, zone) in [("brasilia", Tz::America__Sao_Paulo), ("saigon", Tz::Asia__Ho_Chi_Minh)] {
        cities.insert(city.to_owned(), zone);
    }
    cities
});

pub(super) fn known_zone(word: &str) -> Option<Tz> {
    let word = word.to_lowercase();
    KNOWN
        .iter()
        .find(|(known, _)| *known == word)
        .and_then(|(_, zone)| offset_zone(zone).or_else(|| zone.parse().ok()))
}

pub(super) fn zones_by_name(words: &[&str]) -> Vec<Tz> {
    let mut zones: Vec<Tz> = words.iter().filter_map(|word| known_zone(word)).collect();
    for count in 1..=3 {
        zones.extend(words.windows(count).filter_map(|words| CITIES.get(&words.join(" "))));
    }
    zones
}

pub(super) fn may_name_a_zone(words: &[&str]) -> bool {
    if !words.is_empty() && words.iter().all(|word| is_one_of(word, LABELS)) && words.len() > 1 {
        return false;
    }
    let mut line = format!(" {} ", words.join(" "));
    if PLACES.iter().any(|place| line.contains(&format!(" {place} "))) {
        return true;
    }
    for together in NO_ZONE_TOGETHER {
        line = line.replace(&format!(" {together} "), " ");
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_number = |word: &&str| word.bytes().all(|digit| digit.is_ascii_digit());
    let says_zone = |(place, word): (usize, &&str)| {
        // `24 horas` is a duration.
        let is_duration =
            is_one_of(word, " horas hora hours times ") && place > 0 && is_number(&words[place - 1]);
        let is_it = BEGINNINGS.iter().any(|start| word.starts_with(start))
            || *word == "tz"
            || ["time", "times", "zone"].iter().any(|end| word.ends_with(end));
        is_it && !is_duration && !is_one_of(word, NO_ZONE)
    };
    words.iter().enumerate().any(says_zone)
}

pub(super) fn is_doubtful(word: &str) -> bool {
    is_one_of(word, DOUBTFUL)
}

pub(super) fn is_zone_where_alone(word: &str) -> bool {
    is_one_of(word, ALONE) || is_one_of(word, DOUBTFUL)
}

pub(super) fn may_stand_beside_a_zone(words: &[&str]) -> bool {
    let in_iana = |word: &str| CONTINENTS.to_lowercase().contains(&format!(" {word} "));
    let in_city = |word: &str| CITIES.keys().any(|city| city.split(' ').any(|part| part == word));
    words
        .iter()
        .all(|word| is_one_of(word, BESIDE) || known_zone(word).is_some() || in_city(word) || in_iana(word))
}

/// `words` is a list separated and enclosed by spaces.
pub(super) fn is_one_of(word: &str, words: &str) -> bool {
    !word.is_empty() && words.contains(&format!(" {word} "))
}
