//! Who answers questions: files, programs, later runs, people, and the chain of them.

pub mod answers;
mod chain;
mod person;
mod record;

pub use chain::Chain;
pub use person::Person;
pub use record::Recorder;
