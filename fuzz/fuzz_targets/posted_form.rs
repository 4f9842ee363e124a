#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| toolnexus::fuzzing::posted_form(bytes));
