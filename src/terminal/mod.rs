//! What a person sees and types when asked. Only this module and `output` print.
//!
//! A dialog runs on a separate thread (`session`) and has the terminal to itself (`stage`): it draws on standard error,
//! below the output (`layout`, `painter`), and waits for keys and for an alarm (`unix`) at the same time, so that a
//! withdrawn question disappears without a key press. Ctrl-Z suspends it, with the terminal restored. Lines are edited
//! here (`editor`); lists are drawn by dialoguer (`list`, `drawing`), but their keys are read here, so that a paste
//! presses none. If the cursor cannot be moved, everything is lines and numbers (`plain`). A form is filled in field by
//! field (`fill`, `fields`, `review`); a link is agreed to (`link`), opened (`browser`) and waited for (`waiting`).

mod address;
mod ask;
mod browser;
mod colour;
mod command;
mod dates;
mod dialog;
mod drawing;
mod editor;
mod entry;
mod external;
mod fields;
mod fill;
mod filled;
mod gate;
mod guard;
mod key;
mod layout;
mod line;
mod link_consent;
mod list;
#[cfg(feature = "notify")]
mod notification;
mod object;
mod open;
mod pager;
mod painter;
mod plain;
mod review;
mod scene;
mod stage;
mod switch;
mod unfold;
#[cfg(unix)]
mod unix;
mod waiting;

pub(crate) use browser::open as open_in_browser;
pub use colour::{Colour, choose_colour, is_coloured, painted};
pub(crate) use command::TypedCommand;
pub(crate) use dates::complete;
#[cfg(feature = "fuzzing")]
pub(crate) use entry::fuzzed_keys;
pub(crate) use fill::{Asking, PersonReply};
pub use filled::Filled;
pub use gate::{Gate, gate, is_asking};
#[cfg(feature = "notify")]
pub(crate) use notification::show_notification;
pub use open::Terminal;
pub use pager::{is_paging, page};
pub(crate) use stage::DialogEnd;
pub(crate) use unix::restore;
pub use unix::suspend;

use editor::Editor;
use key::Key;
use unix::{Alarm, AlarmCause, Bell, DialogSignals, Input, Ready, Tty, leave_signals, open_input, spawn_with_signals};
