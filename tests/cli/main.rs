//! What a user sees, through the built binary and on the wire.

mod http;
