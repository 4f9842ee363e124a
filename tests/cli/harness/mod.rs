//! Running the program in a folder of its own, against servers that follow a script.

mod fake;
mod run;
mod script;
mod test;

pub(crate) use fake::Fake;
pub(crate) use run::Run;
pub(crate) use script::Step;
pub(crate) use test::Test;
