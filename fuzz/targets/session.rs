#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| midcall_fuzz::session(data));
