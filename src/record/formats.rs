//! The formats that are files in this folder's `formats`, as the test `formats_that_are_files_are_listed` lists them.

macro_rules! files {
    ($with:ident! { $($modules:tt)* }) => {
        $with! {
            $($modules)*;
            Arrows = 11 "arrows" true [">", "<", "→", "←"],
            ClaudeDesktop = 1 "claude-desktop" true ["Message from ", "Initializing server...", "Using ", "ClaudeServer"],
            EglotLisp = 4 "eglot-lisp" true ["[client-", "[server-"],
            Helix = 3 "helix" true ["helix_lsp::transport"],
            JournaldExport = 4 "journald-export" true ["__REALTIME_TIMESTAMP="],
            Lsp4e = 7 "lsp4e" true ["LSP4E_TO_LANGUAGE_SERVER", "LANGUAGE_SERVER_TO_LSP4E"],
            LspTest = 14 "lsp-test" false ["FromClient", "FromServer"],
            McpInspector = 6 "mcp-inspector" false ["timestamp"],
            Mcpsnoop = 12 "mcpsnoop" false ["session_id"],
            NvimLua = 4 "nvim-lua" true ["rpc.", "LSP logging initiated"],
            Playwright = 3 "playwright" true ["pw:protocol"],
            Puppeteer = 3 "puppeteer" true ["puppeteer:"],
            Tar = 0 "tar" true ["ustar"],
            VscodeLspJson = 7 "vscode-lsp-json" true ["isLSPMessage"],
            VscodeMcp = 2 "vscode-mcp" true ["[editor -> server]", "[server -> editor]", "[Client Says]", "[Server Says]"],
            Wscat = 10 "wscat" true ["Connected (press CTRL+C to quit)"],
            Zed = 5 "zed" true ["// Send:", "// Receive"],
        }
    };
}
pub(super) use files;
