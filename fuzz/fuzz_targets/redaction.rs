#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rpcgraph_fuzz::redaction(data));
