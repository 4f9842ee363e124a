//! A tool's arguments from the words of a command line, typed by its `inputSchema`. Nothing here does I/O.
