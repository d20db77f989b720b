import { posix, win32 } from "node:path";

/** A program whose MCP server configuration can be read. */
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
  /** The user's home folder. */
  home: string;
  /** The project folder, whose own configuration files are read too. */
  cwd: string;
  platform: NodeJS.Platform;
  /** Environment variables; `APPDATA`, `XDG_CONFIG_HOME` and `CODEX_HOME` are read. */
  environment: Readonly<Record<string, string | undefined>>;
}

/** A configuration file of another MCP client. */
export interface ConfigFile {
  client: McpClientName;
  scope: "user" | "project";
  /** The file's path. */
  file: string;
  /** The key of the object that holds the servers by name. */
  key: "mcpServers" | "servers" | "context_servers" | "mcp_servers" | "mcp";
  /** @defaultValue JSON with comments */
  format?: "toml" | undefined;
}

/** Lists the files in which other MCP clients keep their servers on a platform. */
export function clientConfigFiles({ home, cwd, platform, environment }: ClientConfigLocations): ConfigFile[] {
  const paths = platform === "win32" ? win32 : posix;
  const join = (...parts: string[]): string => paths.join(...parts);
  const applications =
    platform === "win32"
      ? (environment["APPDATA"] ?? join(home, "AppData", "Roaming"))
      : platform === "darwin"
        ? join(home, "Library", "Application Support")
        : (environment["XDG_CONFIG_HOME"] ?? join(home, ".config"));
  const mcpServers = "mcpServers";
  const servers = "servers";
  // These use it on macOS too.
  const settings =
    platform === "win32" ? applications : (environment["XDG_CONFIG_HOME"] ?? join(home, ".config"));
  const zed = platform === "win32" ? "Zed" : "zed";
  const codex = environment["CODEX_HOME"] ?? join(home, ".codex");
  const opencode = [
    join(environment["XDG_CONFIG_HOME"] ?? join(home, ".config"), "opencode"),
    cwd,
    join(cwd, ".opencode"),
  ];
  return [
    {
      client: "claude-desktop",
      scope: "user",
      file: join(applications, "Claude", "claude_desktop_config.json"),
      key: mcpServers,
    },
    { client: "claude-code", scope: "user", file: join(home, ".claude.json"), key: mcpServers },
    { client: "claude-code", scope: "project", file: join(cwd, ".mcp.json"), key: mcpServers },
    { client: "cursor", scope: "user", file: join(home, ".cursor", "mcp.json"), key: mcpServers },
    { client: "cursor", scope: "project", file: join(cwd, ".cursor", "mcp.json"), key: mcpServers },
    { client: "vscode", scope: "user", file: join(applications, "Code", "User", "mcp.json"), key: servers },
    { client: "vscode", scope: "project", file: join(cwd, ".vscode", "mcp.json"), key: servers },
    {
      client: "windsurf",
      scope: "user",
      file: join(home, ".codeium", "windsurf", "mcp_config.json"),
      key: mcpServers,
    },
    { client: "windsurf", scope: "user", file: join(home, ".codeium", "mcp_config.json"), key: mcpServers },
    { client: "zed", scope: "user", file: join(settings, zed, "settings.json"), key: "context_servers" },
    { client: "zed", scope: "project", file: join(cwd, ".zed", "settings.json"), key: "context_servers" },
    { client: "codex", scope: "user", file: join(codex, "config.toml"), key: "mcp_servers", format: "toml" },
    {
      client: "codex",
      scope: "project",
      file: join(cwd, ".codex", "config.toml"),
      key: "mcp_servers",
      format: "toml",
    },
    { client: "gemini", scope: "user", file: join(home, ".gemini", "settings.json"), key: mcpServers },
    { client: "gemini", scope: "project", file: join(cwd, ".gemini", "settings.json"), key: mcpServers },
    ...opencode.flatMap((folder, at): ConfigFile[] =>
      ["opencode.json", "opencode.jsonc"].map((name) => ({
        client: "opencode",
        scope: at === 0 ? "user" : "project",
        file: join(folder, name),
        key: "mcp",
      })),
    ),
  ];
}
