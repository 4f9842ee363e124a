//! A terminal on Unix: its keys (`tty`), what rings while they are waited for (`alarm`), job control (`job`), and signals
//! during a dialog (`signals`). What stands outside this folder knows no system.

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
