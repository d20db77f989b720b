import { posix, win32 } from "node:path";

export type McpClientName = "claude-desktop" | "claude-code" | "cursor" | "vscode";

/** Where to look. */
export interface ClientConfigLocations {
  home: string;
  /** The folder whose project files count. */
  cwd: string;
  platform: NodeJS.Platform;
  environment: Readonly<Record<string, string | undefined>>;
}

export interface ConfigFile {
  client: McpClientName;
  scope: "user" | "project";
  file: string;
  /** The member that holds the servers. */
  key: "mcpServers" | "servers";
}

/** The files in which other programs keep their MCP servers, by platform. */
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
  ];
}
