//! Recognition of cells in lists without a header, and of entries that span several lines.

use super::above::strikeout_problem;
use super::columns::{Cells, Column, ListBots};
use super::lines::has_entry_columns;
use super::split::{
    GALE_TIME_ERROR, is_gale_only, is_number, normalize_text, parse_label, remove_gales, split_cells,
};
use super::time::{UnresolvedDate, parse_time_of_day, parse_timeframe};
use crate::signals::message::parse_direction;
use candlewick_sdk::Direction;

const ARROWS_UP: [char; 5] = ['\u{2b06}', '\u{2191}', '\u{1f53c}', '\u{2197}', '\u{2934}'];
const ARROWS_DOWN: [char; 5] = ['\u{2b07}', '\u{2193}', '\u{1f53d}', '\u{2198}', '\u{2935}'];
const GREEN_CIRCLE: char = '\u{1f7e2}';
const RED_CIRCLE: char = '\u{1f534}';
const CHART_EMOJIS: [char; 3] = ['\u{1f4c8}', '\u{1f4c9}', '\u{1f4ca}'];
const CROSS_EMOJIS: &str =
    "\u{274c}\u{274e}\u{1f6ab}\u{1f6d1}\u{1f6b7}\u{1f5d1}\u{26d4}\u{23f8}\u{1f44e}\u{2716}\u{2717}\u{2718}";
/// Number of lines in an entry whose pair, time, direction and expiry are on separate lines.
const BLOCK_LINES: std::ops::RangeInclusive<usize> = 3..=6;
const BLOCK_COLUMNS: [&[Column]; 4] =
    [&[Column::Symbol, Column::Bot], &[Column::Time], &[Column::Direction], &[Column::Expiry]];

pub(super) enum InferredLine {
    Entry(Box<Cells>, Vec<Column>),
    Gale,
    Nothing,
}

pub(super) fn infer_cells(text: &str, bots: &ListBots<'_>) -> Result<InferredLine, String> {
    let has_icon = find_arrow(text)?.is_some() || find_circle(text)?.is_some();
    if !has_icon && is_gale_only(&split_cells(text, bots)) {
        return Ok(InferredLine::Gale);
    }
    infer_block(&[text], bots)
}

pub(super) fn infer_block(texts: &[impl AsRef<str>], bots: &ListBots<'_>) -> Result<InferredLine, String> {
    let (mut line, mut has_gale) = (Vec::new(), false);
    for text in texts {
        let mut own = split_cells(text.as_ref(), bots);
        if has_gale && own.iter().any(|cell| parse_time_of_day(cell).is_some()) {
            return Err(GALE_TIME_ERROR.to_owned());
        }
        has_gale |= remove_gales(&mut own)?;
        line.append(&mut own);
    }
    if line.is_empty() {
        return Ok(if has_gale { InferredLine::Gale } else { InferredLine::Nothing });
    }
    let (mut cells, mut columns) = (Cells { is_inferred: true, has_gale, ..Cells::default() }, Vec::new());
    let mut label: Option<(&str, &[Column])> = None;
    let mut place = 0;
    for cell in &line {
        if let Some(columns) = parse_label(cell) {
            if let Some((label, _)) = label.replace((cell, columns)) {
                return Err(missing_value_problem(label));
            }
            continue;
        }
        place += 1;
        let labelled = label.take();
        let minutes = labelled.and_then(|(_, columns)| parse_labelled_minutes(cell, columns));
        let cell = minutes.as_ref().unwrap_or(cell);
        let column = Column::classify(cell, bots)?;
        if let Some((label, columns)) = labelled.filter(|(_, columns)| !columns.contains(&column)) {
            let what = columns.first().map(|column| column.label_with_article()).unwrap_or_default();
            return Err(format!("{cell:?} follows {label:?} but is not {what}"));
        }
        if let Some(earlier) = columns.iter().position(|known| *known == column) {
            // Accepts a repeated direction, as in CALL (BUY).
            if column == Column::Direction && parse_direction(cell) == parse_direction(&cells.texts[3]) {
                continue;
            }
            let (one, what) = (earlier + 1, column.label_with_article());
            let hint = if column == Column::Time { "; write an expiry in the form M5" } else { "" };
            return Err(format!("columns {one} and {place} are both {what}: remove one column{hint}"));
        }
        columns.push(column);
        match column {
            Column::Date => cells.date = UnresolvedDate::parse(cell),
            Column::Expiry => {
                cells.texts[4] = parse_timeframe(cell).map(|own| own.to_string()).unwrap_or_default();
            }
            // `texts` has no date column.
            column => cells.texts[column as usize - 1].clone_from(cell),
        }
    }
    if let Some((label, _)) = label {
        return Err(missing_value_problem(label));
    }
    for text in texts {
        add_direction_from_icon(text.as_ref(), bots, &mut cells, &mut columns)?;
    }
    match [Column::Time, Column::Direction].map(|column| columns.contains(&column)) {
        [true, true] => Ok(InferredLine::Entry(Box::new(cells), columns)),
        [false, true] => Err("the entry has no time such as 10:00".to_owned()),
        [true, false] => Err(
            match texts.iter().flat_map(|text| text.as_ref().chars()).find(|sign| CHART_EMOJIS.contains(sign))
            {
                Some(chart) => format!("no direction: add CALL or PUT, because {chart} may be decoration"),
                None => "the entry has no direction such as CALL".to_owned(),
            },
        ),
        [false, false] => Err("the entry has no time and no direction".to_owned()),
    }
}

fn missing_value_problem(label: &str) -> String {
    format!("nothing follows {label:?}")
}

/// Parses the number in `EXP 5` as minutes. Without the label, a number is not an expiry.
fn parse_labelled_minutes(cell: &str, columns: &[Column]) -> Option<String> {
    let minutes = format!("M{cell}");
    (columns == [Column::Expiry] && is_number(cell) && parse_timeframe(&minutes).is_some()).then_some(minutes)
}

fn add_direction_from_icon(
    text: &str,
    bots: &ListBots<'_>,
    cells: &mut Cells,
    columns: &mut Vec<Column>,
) -> Result<(), String> {
    if let Some(cross) = text.chars().find(|sign| CROSS_EMOJIS.contains(*sign)) {
        return Err(format!("{cross} marks the line as cancelled: remove the mark or the line"));
    }
    let arrow = find_arrow(text)?;
    // If the line has no symbol, bot or direction, a circle in it is only decoration.
    let gives_circle_sense = |cell: &String| {
        matches!(Column::classify(cell, bots), Ok(Column::Bot | Column::Symbol | Column::Direction))
    };
    let circle = find_circle(text)?.filter(|_| split_cells(text, bots).iter().any(gives_circle_sense));
    for (icon, up, down) in [
        (arrow, "the arrow points up", "the arrow points down"),
        (circle, "the circle is green (up)", "the circle is red (down)"),
    ] {
        let Some(icon) = icon else { continue };
        if !columns.contains(&Column::Direction) {
            cells.texts[3] = icon.to_string();
            columns.push(Column::Direction);
        }
        if parse_direction(&cells.texts[3]) != Ok(icon) {
            let words = if icon == Direction::Buy { up } else { down };
            return Err(format!("{words}, but the text says {}: keep only one", cells.texts[3]));
        }
    }
    Ok(())
}

pub(super) fn parse_date_line(line: &str, bots: &ListBots<'_>) -> Option<UnresolvedDate> {
    let mut cells = split_cells(line, bots);
    cells.retain(|cell| parse_label(cell).is_none_or(|columns| columns != [Column::Date]));
    if let [cell] = cells.as_slice() { UnresolvedDate::parse(cell.trim_end_matches(':')) } else { None }
}

pub(super) fn parse_expiry_line(line: &str, bots: &ListBots<'_>) -> Option<String> {
    let cells = split_cells(line, bots);
    let (label, cell) = match cells.as_slice() {
        [cell] => (None, cell),
        [label, cell] => (Some(parse_label(label)?), cell),
        _ => return None,
    };
    if label.is_some_and(|columns| columns != [Column::Expiry])
        || line.contains(|sign: char| CROSS_EMOJIS.contains(sign))
    {
        return None;
    }
    let minutes = label.and_then(|columns| parse_labelled_minutes(cell, columns));
    let cell = minutes.as_ref().unwrap_or(cell);
    let is_expiry = Column::classify(cell, bots) == Ok(Column::Expiry);
    parse_timeframe(cell).filter(|_| is_expiry).map(|expiry| expiry.to_string())
}

pub(super) fn find_columns(line: &str, bots: &ListBots<'_>) -> Vec<Column> {
    let mut columns: Vec<Column> =
        split_cells(line, bots).iter().filter_map(|cell| Column::classify(cell, bots).ok()).collect();
    let pictures = [find_arrow(line), find_circle(line)];
    columns.extend(pictures.into_iter().filter_map(Result::ok).flatten().map(|_| Column::Direction));
    columns
}

fn find_arrow(line: &str) -> Result<Option<Direction>, String> {
    choose_direction(line.contains(ARROWS_UP), line.contains(ARROWS_DOWN), "both an up and a down arrow")
}

fn find_circle(line: &str) -> Result<Option<Direction>, String> {
    choose_direction(line.contains(GREEN_CIRCLE), line.contains(RED_CIRCLE), "both a green and a red circle")
}

fn choose_direction(is_buy: bool, is_sell: bool, both: &str) -> Result<Option<Direction>, String> {
    if is_buy && is_sell {
        return Err(format!("the line has {both}: remove one"));
    }
    Ok(is_buy.then_some(Direction::Buy).or(is_sell.then_some(Direction::Sell)))
}

pub(super) struct EntryBlock {
    pub(super) text: String,
    pub(super) cells: Box<Cells>,
    pub(super) columns: Vec<Column>,
    pub(super) line_count: usize,
}

/// Returns the entry in the lines up to the next blank line. `None` if one of these lines is an entry by itself.
pub(super) fn find_block(lines: &[(u64, &str)], bots: &ListBots<'_>) -> Option<EntryBlock> {
    let follows = |pair: &[(u64, &str)]| pair[0].0 + 1 == pair[1].0;
    let count = 1 + lines.windows(2).take_while(|pair| follows(pair)).count();
    let own = lines.get(..count).filter(|_| BLOCK_LINES.contains(&count))?;
    let is_left_out = |text: &str| text.starts_with('#') || strikeout_problem(text).is_some();
    if own
        .iter()
        .any(|(_, text)| is_left_out(text) || has_entry_columns(&find_columns(&normalize_text(text), bots)))
    {
        return None;
    }
    let (texts, plain): (Vec<&str>, Vec<String>) =
        own.iter().map(|(_, raw)| (*raw, normalize_text(raw))).unzip();
    let Ok(InferredLine::Entry(cells, columns)) = infer_block(&plain, bots) else { return None };
    let is_whole = BLOCK_COLUMNS.iter().all(|one| one.iter().any(|column| columns.contains(column)));
    let text = texts.join(" ");
    is_whole.then_some(EntryBlock { text, cells, columns, line_count: count })
}
