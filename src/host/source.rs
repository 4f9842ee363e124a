use std::path::PathBuf;

use serde_json::Value;

use crate::config::{Config, ConfigError, Environment, load, parse_value};

/// A configuration: a file, or its content.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ConfigSource {
    /// The file at this path.
    File(PathBuf),
    /// This JSON, with the content of a file.
    Value(Value),
}

impl ConfigSource {
    /// Reads the configuration.
    pub(super) fn read(&self) -> Result<Config, ConfigError> {
        let environment = Environment::current();
        match self {
            Self::File(path) => load(path, &environment),
            Self::Value(value) => parse_value(value, &environment),
        }
    }
}

impl From<PathBuf> for ConfigSource {
    fn from(path: PathBuf) -> Self {
        Self::File(path)
    }
}

impl From<&str> for ConfigSource {
    fn from(path: &str) -> Self {
        Self::File(path.into())
    }
}

impl From<Value> for ConfigSource {
    fn from(value: Value) -> Self {
        Self::Value(value)
    }
}
