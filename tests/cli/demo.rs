//! The demo server, spoken to directly.
