import { posix, win32 } from "node:path";

export type McpClientName =
  | "claude-desktop"
  | "claude-code"
  | "cursor"
  | "vscode"
  | "windsurf"
  | "zed"
  | "codex"
  | "gemini"
  | "opencode";

/** The folders and the platform that decide where configuration files are. */
export interface ClientConfigLocations {
  home: string;
  /** The project folder, whose configuration files are read too. */
  cwd: string;
  platform: NodeJS.Platform;
  /** Environment variables; `APPDATA`, `XDG_CONFIG_HOME` and `CODEX_HOME` are read. */
  environment: Readonly<Record<string, string | undefined>>;
}

export interface ConfigFile {
  client: McpClientName;
  scope: "user" | "project";
  file: string;
  /** The key of the object that holds the servers by name. */
  key: "mcpServers" | "servers" | "context_servers" | "mcp_servers" | "mcp";
}

export function pathsOf(platform: NodeJS.Platform): typeof posix {
  return platform === "win32" ? win32 : posix;
}

/** Lists the files in which other MCP clients keep their servers on a platform. */
export function clientConfigFiles({ home, cwd, platform, environment }: ClientConfigLocations): ConfigFile[] {
  const paths = pathsOf(platform);
  const join = (...parts: string[]): string => paths.join(...parts);
  const xdg = environment["XDG_CONFIG_HOME"] ?? join(home, ".config");
  const windows = environment["APPDATA"] ?? join(home, "AppData", "Roaming");
  const unix = platform === "darwin" ? join(home, "Library", "Application Support") : xdg;
  const applications = platform === "win32" ? windows : unix;
  // Zed uses the XDG folder on macOS too.
  const zed = platform === "win32" ? join(windows, "Zed") : join(xdg, "zed");
  const codex = environment["CODEX_HOME"] ?? join(home, ".codex");
  const user = (client: McpClientName, key: ConfigFile["key"], ...parts: string[]): ConfigFile => {
    return { client, scope: "user", file: join(...parts), key };
  };
  const project = (client: McpClientName, key: ConfigFile["key"], ...parts: string[]): ConfigFile => {
    return { client, scope: "project", file: join(cwd, ...parts), key };
  };
  return [
    user("claude-desktop", "mcpServers", applications, "Claude", "claude_desktop_config.json"),
    user("claude-code", "mcpServers", home, ".claude.json"),
    project("claude-code", "mcpServers", ".mcp.json"),
    // Its settings hold no servers, but switch them off.
    user("claude-code", "mcpServers", home, ".claude", "settings.json"),
    project("claude-code", "mcpServers", ".claude", "settings.json"),
    project("claude-code", "mcpServers", ".claude", "settings.local.json"),
    user("cursor", "mcpServers", home, ".cursor", "mcp.json"),
    project("cursor", "mcpServers", ".cursor", "mcp.json"),
    user("vscode", "servers", applications, "Code", "User", "mcp.json"),
    project("vscode", "servers", ".vscode", "mcp.json"),
    user("windsurf", "mcpServers", home, ".codeium", "windsurf", "mcp_config.json"),
    user("windsurf", "mcpServers", home, ".codeium", "mcp_config.json"),
    user("zed", "context_servers", zed, "settings.json"),
    project("zed", "context_servers", ".zed", "settings.json"),
    user("codex", "mcp_servers", codex, "config.toml"),
    project("codex", "mcp_servers", ".codex", "config.toml"),
    user("gemini", "mcpServers", home, ".gemini", "settings.json"),
    project("gemini", "mcpServers", ".gemini", "settings.json"),
    ...["opencode.json", "opencode.jsonc"].flatMap((name) => [
      user("opencode", "mcp", xdg, "opencode", name),
      project("opencode", "mcp", name),
      project("opencode", "mcp", ".opencode", name),
    ]),
  ];
}
