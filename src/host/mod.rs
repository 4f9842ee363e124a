//! A host: the configuration, and one client for each connected server.
