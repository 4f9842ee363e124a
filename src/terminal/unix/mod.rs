//! A terminal on Unix: its keys (`tty`), events while waiting for them (`alarm`), job control (`job`), and signals
//! during a dialog (`signals`). Code outside this folder is independent of the system.

mod alarm;
mod input;
mod job;
mod signals;
mod tty;

pub use job::suspend;
pub(crate) use tty::restore;
pub(super) use {
    alarm::{Alarm, AlarmCause, Bell},
    input::{Input, open_input},
    signals::{DialogSignals, leave_signals, spawn_with_signals},
    tty::{Ready, Tty},
};
