//! Who answers questions: files, programs, later runs, people, and the chain of them.

pub mod answers;
mod chain;
mod person;
mod program;
mod record;

pub use chain::Chain;
pub use person::Person;
pub use program::{LineSink, Program, ProgramError};
pub use record::Recorder;
