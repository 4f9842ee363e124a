/// Checking this value against its schema would cost more than the value's budget, so nothing is known about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooCostly;

/// Where a value breaks its schema, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// JSON pointer into the value.
    pub(crate) path: String,
    /// A fragment that names the rule: `"two" is text, not a whole number`.
    pub(crate) reason: String,
}
