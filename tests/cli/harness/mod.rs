//! Runs the program in a separate folder, against servers that follow a script.

mod browser;
mod fake;
mod kept;
pub(crate) mod pages;
mod run;
mod script;
mod terminal;
mod test;

pub(crate) use browser::{AtBrowser, Page, Tab};
pub(crate) use fake::{Fake, received};
pub(crate) use kept::{Keepers, Kept, until};
pub(crate) use run::{Run, wait};
pub(crate) use script::Step;
pub(crate) use terminal::AtTerminal;
pub(crate) use test::Test;
