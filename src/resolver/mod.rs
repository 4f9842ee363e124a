//! Who answers questions: files, programs, later runs, people, and the chain of them.

mod person;

pub use person::Person;
