//! Who answers questions: files, programs, later runs, people, and the chain of them.

mod answer_program;
pub mod answers;
#[cfg(feature = "http")]
mod browser;
mod chain;
mod deferred;
mod lock;
mod pending;
mod person;
mod queue;
mod record;
mod taken;
mod tally;

pub use answer_program::{AnswerProgram, LineSink, ProgramError};
#[cfg(feature = "http")]
pub use browser::{Browser, BrowserNotice, BrowserOptions, BrowserSink};
pub use chain::Chain;
pub use deferred::Deferred;
pub use pending::{Named, Pending};
pub use person::Person;
pub use record::Recorder;
pub use taken::{PendingError, TakenCall};

#[cfg(test)]
mod tests;
