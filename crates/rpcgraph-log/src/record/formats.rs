//! The list of formats, which the test `formats_are_listed` writes from the files in `formats`.

macro_rules! listed {
    ($with:ident) => {
        $with! {
            JsonLines = 18 "json-lines" false [],
            JsonValues = 17 "json-values" false [],
            JsonArray = 16 "json-array" false [],
            ContentLength = 10 "content-length" true ["-Length", "-length", "-LENGTH"],
            Socat = 10 "socat" true ["  length="],
            Sse = 9 "sse" false [],
            Har = 15 "har" false [],
            VscodeLspText = 8 "vscode-lsp-text" false [],
            ZedAcp = 6 "zed-acp" false ["_direction"],
            McpInspectorNetwork = 6 "mcp-inspector-network" false ["requestBody", "responseBody", "responseStatus", "requestHeaders"],
            ProtocolMonitor = 6 "protocol-monitor" false ["send", "recv", "requestTime"],
            Mcpspy = 13 "mcpspy" false ["transport_type", "message_type"],
            Record = 12 "record" false ["sequence"],
            Tshark = 12 "tshark" false [],
            Arrows = 11 "arrows" true [">", "<", "→", "←"],
            Asciinema = 0 "asciinema" false ["\"version\""],
            Chromedriver = 4 "chromedriver" true ["DevTools WebSocket "],
            Clangd = 12 "clangd" true ["] <-- ", "] --> "],
            ClaudeDesktop = 1 "claude-desktop" true ["Message from ", "Initializing server...", "Using ", "ClaudeServer"],
            EglotLisp = 4 "eglot-lisp" true ["[client-", "[server-"],
            Helix = 3 "helix" true ["helix_lsp::transport"],
            JournaldExport = 4 "journald-export" true ["__REALTIME_TIMESTAMP="],
            Jsonrpc2 = 4 "jsonrpc2" true ["--> request #", "<-- request #", "--> result #", "<-- result #", "--> notif: ", "<-- notif: "],
            Lsp4e = 7 "lsp4e" true ["LSP4E_TO_LANGUAGE_SERVER", "LANGUAGE_SERVER_TO_LSP4E"],
            LspTest = 14 "lsp-test" false ["FromClient", "FromServer"],
            McpInspector = 6 "mcp-inspector" false ["timestamp"],
            Mcpsnoop = 12 "mcpsnoop" false ["session_id"],
            NvimLua = 4 "nvim-lua" true ["rpc.", "LSP logging initiated"],
            Ovsdb = 4 "ovsdb" true ["|jsonrpc"],
            Pcap = 0 "pcap" true ["\u{2}\0\u{4}\0", "\0\u{2}\0\u{4}", "\n\r\r\n"],
            Playwright = 3 "playwright" true ["pw:protocol"],
            Puppeteer = 3 "puppeteer" true ["puppeteer:"],
            Slog = 4 "slog" true ["(id: "],
            SublimeLsp = 4 "sublime-lsp" true [":: -->", ":: <<<", "] -->", "] <<<"],
            Tar = 0 "tar" true ["ustar"],
            TerraformLs = 4 "terraform-ls" true ["rpc_logger.go:"],
            VscodeLspJson = 7 "vscode-lsp-json" true ["isLSPMessage"],
            VscodeMcp = 2 "vscode-mcp" true ["[editor -> server]", "[server -> editor]", "[Client Says]", "[Server Says]"],
            Wscat = 10 "wscat" true ["Connected (press CTRL+C to quit)"],
            Zed = 5 "zed" true ["// Send:", "// Receive"],
        }
    };
}
pub(super) use listed;
