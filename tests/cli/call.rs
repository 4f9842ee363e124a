//! `call`, against servers that follow a script.
