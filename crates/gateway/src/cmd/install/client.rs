//! The clients that `install` knows: where each keeps its servers, and in which words.

use super::tree::Format;

/// A client, and where its files are.
pub struct Client {
    /// What `--client` calls it.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Files below a home folder. `CFG` is the folder for configuration on Linux and on macOS; a `*` in a folder's
    /// name stands for any characters.
    pub files: &'static [&'static str],
    /// Files below a project's folder.
    pub project: &'static [&'static str],
    /// An environment variable that names a folder, and the file in there.
    pub variable: Option<(&'static str, &'static str)>,
    pub shape: Shape,
}

/// How a client writes its servers down.
pub struct Shape {
    pub format: Format,
    /// Names that lead to the servers. A `*` stands for each member.
    pub roots: &'static [&'static [&'static str]],
    pub command: &'static str,
    pub args: &'static str,
    /// True if `command` holds all words of the command in one list.
    pub is_one_list: bool,
    pub env: &'static str,
    /// Names of a remote server's address.
    pub urls: &'static [&'static str],
    pub headers: &'static str,
    /// The value of `type` of a server that is started.
    pub stdio: &'static str,
    /// True if `url` means the older SSE transport unless `type` says otherwise.
    pub is_url_sse: bool,
}

const JSON: Shape = Shape {
    format: Format::Json,
    roots: &[&["mcpServers"]],
    command: "command",
    args: "args",
    is_one_list: false,
    env: "env",
    urls: &["url"],
    headers: "headers",
    stdio: "stdio",
    is_url_sse: false,
};

const PLAIN: Client = Client {
    name: "",
    title: "",
    files: &[],
    project: &[],
    variable: None,
    shape: JSON,
};

/// Every client there is, the best known first.
pub const CLIENTS: &[Client] = &[
    Client {
        name: "claude-desktop",
        title: "Claude Desktop",
        files: &["CFG/Claude/claude_desktop_config.json"],
        ..PLAIN
    },
    Client {
        name: "claude-code",
        title: "Claude Code",
        files: &[
            ".claude.json",
            ".claude/.claude.json",
            ".claude-*/.claude.json",
        ],
        project: &[".mcp.json"],
        variable: Some(("CLAUDE_CONFIG_DIR", ".claude.json")),
        shape: Shape {
            roots: &[&["mcpServers"], &["projects", "*", "mcpServers"]],
            ..JSON
        },
    },
    Client {
        name: "vscode",
        title: "VS Code",
        files: &[
            "CFG/Code/User/mcp.json",
            "CFG/Code/User/profiles/*/mcp.json",
            "CFG/Code - Insiders/User/mcp.json",
            "CFG/Code - Insiders/User/profiles/*/mcp.json",
            "CFG/VSCodium/User/mcp.json",
            "CFG/VSCodium/User/profiles/*/mcp.json",
        ],
        project: &[".vscode/mcp.json"],
        shape: Shape {
            roots: &[&["servers"]],
            ..JSON
        },
        ..PLAIN
    },
    Client {
        name: "cursor",
        title: "Cursor",
        files: &[".cursor/mcp.json"],
        project: &[".cursor/mcp.json"],
        ..PLAIN
    },
    Client {
        name: "codex",
        title: "Codex",
        files: &[".codex/config.toml"],
        project: &[".codex/config.toml"],
        variable: Some(("CODEX_HOME", "config.toml")),
        shape: Shape {
            format: Format::Toml,
            roots: &[&["mcp_servers"]],
            headers: "http_headers",
            ..JSON
        },
    },
    Client {
        name: "goose",
        title: "Goose",
        files: &[
            ".config/goose/config.yaml",
            "Library/Application Support/Block/goose/config.yaml",
        ],
        variable: Some(("GOOSE_PATH_ROOT", "config/config.yaml")),
        shape: Shape {
            format: Format::Yaml,
            roots: &[&["extensions"]],
            command: "cmd",
            env: "envs",
            urls: &["uri"],
            ..JSON
        },
        ..PLAIN
    },
    Client {
        name: "windsurf",
        title: "Windsurf",
        files: &[".codeium/windsurf/mcp_config.json"],
        shape: Shape {
            urls: &["serverUrl", "url"],
            ..JSON
        },
        ..PLAIN
    },
    Client {
        name: "zed",
        title: "Zed",
        files: &[".config/zed/settings.json"],
        project: &[".zed/settings.json"],
        shape: Shape {
            roots: &[&["context_servers"]],
            ..JSON
        },
        ..PLAIN
    },
    Client {
        name: "gemini",
        title: "Gemini CLI",
        files: &[".gemini/settings.json"],
        project: &[".gemini/settings.json"],
        shape: GEMINI,
        ..PLAIN
    },
    Client {
        name: "opencode",
        title: "opencode",
        files: &[
            ".config/opencode/opencode.json",
            ".config/opencode/opencode.jsonc",
        ],
        project: &["opencode.json", "opencode.jsonc"],
        shape: Shape {
            roots: &[&["mcp"]],
            is_one_list: true,
            env: "environment",
            stdio: "local",
            ..JSON
        },
        ..PLAIN
    },
    Client {
        name: "lm-studio",
        title: "LM Studio",
        files: &[".lmstudio/mcp.json"],
        ..PLAIN
    },
    Client {
        name: "junie",
        title: "JetBrains Junie",
        files: &[".junie/mcp/mcp.json"],
        project: &[".junie/mcp/mcp.json"],
        ..PLAIN
    },
    Client {
        name: "copilot",
        title: "GitHub Copilot CLI",
        files: &[".copilot/mcp-config.json"],
        shape: Shape {
            stdio: "local",
            ..JSON
        },
        ..PLAIN
    },
    Client {
        name: "continue",
        title: "Continue",
        files: &[".continue/config.yaml"],
        shape: Shape {
            format: Format::Yaml,
            ..JSON
        },
        ..PLAIN
    },
    Client {
        name: "cline",
        title: "Cline",
        files: &[
            "CFG/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        ],
        shape: Shape {
            is_url_sse: true,
            ..JSON
        },
        ..PLAIN
    },
    Client {
        name: "qwen",
        title: "Qwen Code",
        files: &[".qwen/settings.json"],
        project: &[".qwen/settings.json"],
        shape: GEMINI,
        ..PLAIN
    },
    Client {
        name: "amp",
        title: "Amp",
        files: &[".config/amp/settings.json"],
        shape: Shape {
            roots: &[&["amp.mcpServers"]],
            ..JSON
        },
        ..PLAIN
    },
    Client {
        name: "kiro",
        title: "Kiro",
        files: &[".kiro/settings/mcp.json"],
        project: &[".kiro/settings/mcp.json"],
        ..PLAIN
    },
    Client {
        name: "amazon-q",
        title: "Amazon Q",
        files: &[".aws/amazonq/mcp.json"],
        ..PLAIN
    },
    Client {
        name: "warp",
        title: "Warp",
        files: &[".warp/.mcp.json"],
        ..PLAIN
    },
];

const GEMINI: Shape = Shape {
    urls: &["httpUrl", "url"],
    is_url_sse: true,
    ..JSON
};
