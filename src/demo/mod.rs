//! The demo server, built on the server's half of elicitation.
