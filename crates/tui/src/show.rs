//! Thread that draws the view and reads keys, behind the run's bounded channel.

use crate::draw::draw;
use crate::keys::{Order, Ui};
use crate::palette::Palette;
use crate::terminal::Screen;
use crate::view::{Facts, View};
use candlewick_runtime::control::{ControlAnswer, ControlOrder, ControlRequest};
use candlewick_runtime::{Notices, Stop};
use candlewick_sdk::Millis;
use ratatui::crossterm::event::{self, Event};
use std::io;
use std::sync::mpsc::Receiver;
use std::time::Duration;
use tokio::sync::mpsc::Sender;
use tokio::sync::oneshot;

/// Maximum delay until a key or an update is processed and drawn.
const FRAME: Duration = Duration::from_millis(100);
const AT_ONCE: usize = 4_096;

pub struct Seat {
    pub orders: Sender<ControlRequest>,
    pub stop: Sender<Stop>,
    pub now: Box<dyn Fn() -> Millis + Send>,
    pub log: Receiver<String>,
    pub has_colours: bool,
}

struct Asked {
    what: &'static str,
    answer: oneshot::Receiver<ControlAnswer>,
}

/// Shows a run until its last notice.
///
/// The run continues if the terminal cannot be used.
pub fn show(facts: Facts, notices: &mut Notices, seat: &Seat) -> io::Result<()> {
    let mut view = View::new(facts);
    // A run that cannot begin leaves the terminal alone.
    let Some(first) = notices.wait() else { return Ok(()) };
    view.on_notice(first);
    let mut screen = Screen::enter()?;
    let (mut ui, mut asked, palette) = (Ui::default(), None::<Asked>, Palette::new(seat.has_colours));
    while !notices.is_over() && Screen::is_ours() {
        for _ in 0..AT_ONCE {
            let Some(received) = notices.try_next() else { break };
            view.on_notice(received);
        }
        for line in seat.log.try_iter() {
            view.on_log(&line);
        }
        hear_answer(&mut asked, &mut ui);
        screen.terminal().draw(|frame| draw(frame, &view, &ui, (seat.now)(), palette))?;
        if !event::poll(FRAME)? {
            continue;
        }
        if let Event::Key(key) = event::read()?
            && let Some(order) = ui.on_key(key, &view)
        {
            match order {
                Order::Redraw => screen.terminal().clear()?,
                order => asked = carry_out(order, seat, &mut ui).or(asked),
            }
        }
    }
    Ok(())
}

fn carry_out(order: Order, seat: &Seat, ui: &mut Ui) -> Option<Asked> {
    let (what, control) = match order {
        Order::Halt => ("halt", ControlOrder::Halt { reason: "ordered in the full-screen view".to_owned() }),
        Order::Resume => ("resume", ControlOrder::Resume),
        Order::Quit | Order::Interrupt => {
            let why = if order == Order::Quit { Stop::Terminated } else { Stop::Interrupted };
            // A run that takes no more is about to end.
            let _ = seat.stop.try_send(why);
            return None;
        }
        Order::Redraw => return None,
    };
    let (sender, answer) = oneshot::channel();
    let request = ControlRequest::new(control, sender);
    if seat.orders.try_send(request).is_err() {
        ui.say(format!("{what}: the run takes no orders at present"));
        return None;
    }
    ui.say(format!("{what}: ordered"));
    Some(Asked { what, answer })
}

fn hear_answer(asked: &mut Option<Asked>, ui: &mut Ui) {
    let Some(Asked { what, answer }) = asked else { return };
    let text = match answer.try_recv() {
        Err(oneshot::error::TryRecvError::Empty) => return,
        Ok(ControlAnswer::Done { .. } | ControlAnswer::Signal { .. }) => format!("{what}: done"),
        Ok(
            ControlAnswer::Refused { problem }
            | ControlAnswer::VenueFailed { problem }
            | ControlAnswer::Unanswered { problem },
        ) => format!("{what}: not done: {problem}"),
        Err(oneshot::error::TryRecvError::Closed) => format!("{what}: the run has ended"),
    };
    ui.say(text);
    *asked = None;
}
