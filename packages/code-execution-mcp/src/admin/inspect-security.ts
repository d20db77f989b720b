import { stat } from "node:fs/promises";
import path from "node:path";
import type { LoadedConfig, McpServerSetting } from "@cem/config";
import type { SandboxProbe } from "@cem/core";
import { authFolder } from "../wiring/auth-folder.ts";
import { probeSandboxes } from "../wiring/choose-sandbox.ts";
import { loadConfig } from "../wiring/load.ts";
import { inspectTrust } from "./folder-trust.ts";
import type { TrustReport } from "./folder-trust.ts";
import type { ServerSource } from "./mcp-servers.ts";
import { unpinnedImage } from "./server-warnings.ts";

const OTHERS = 0o077;

/** A file or folder that may hold what is private. */
export interface PrivatePlace {
  path: string;
  /** Its mode, such as `0600`. */
  mode: string;
  /** Whether others may read or write it. */
  isOpen: boolean;
}

/** What protects the host, the user's secrets and sessions here. */
export interface SecurityReport {
  configuration: LoadedConfig;
  sandboxes: { name: string; probe: SandboxProbe }[];
  trust: TrustReport;
  /** Those that exist. Empty where the system knows no modes. */
  places: PrivatePlace[];
  /** Settings with a secret that stands in a file, with the place: `llm.api_key`, `config.yaml:5`. */
  secretsInFiles: { setting: string; origin: string }[];
  /** MCP servers that run an image which is not named by its digest. */
  unpinnedImages: { server: string; image: string }[];
  /** Whether this runs as the system's administrator. */
  isRoot: boolean;
}

/** Looks at what protects the host. Connects to nothing and imports nothing. */
export async function inspectSecurity(source: ServerSource = {}): Promise<SecurityReport> {
  const { cwd, configFile: file, config: overrides, trustFolder, signal } = source;
  const configuration = await loadConfig({ cwd, file, overrides, trustFolder });
  const { config, origins } = configuration;
  const { SETTINGS } = await import("@cem/config");
  const secretsInFiles = SETTINGS.filter(
    ({ secret, path: setting }) => secret && setting !== "mcp_servers",
  ).flatMap(({ path: setting }) => {
    const origin = origins[setting];
    return origin?.from === "file" ? [{ setting, origin: origin.label }] : [];
  });
  const [sandboxes, trust, places] = await Promise.all([
    probeSandboxes(config, { signal }),
    inspectTrust(source),
    inspectPlaces(configuration, secretsInFiles.length > 0),
  ]);
  return {
    configuration,
    sandboxes,
    trust,
    places,
    secretsInFiles,
    unpinnedImages: config.mcpServers.flatMap((server) => {
      const image = server.connectionType === "stdio" ? unpinnedImage({ ...server }) : undefined;
      return image === undefined ? [] : [{ server: server.name, image }];
    }),
    isRoot: process.getuid?.() === 0,
  };
}

async function inspectPlaces(
  { config, file, folder }: LoadedConfig,
  holdsSecret: boolean,
): Promise<PrivatePlace[]> {
  if (process.platform === "win32") return [];
  const { trustFile } = await import("@cem/config");
  const { workspaceDir } = config.execution;
  const wanted = [
    holdsSecret || config.mcpServers.some(givesValues) ? file : undefined,
    path.join(folder, ".env"),
    trustFile(process.env),
    await authFolder(folder),
    path.join(workspaceDir, "results"),
    config.logging.file,
  ];
  const found = wanted.filter((place) => place !== undefined).map(inspectPlace);
  return (await Promise.all(found)).filter((place) => place !== undefined);
}

/** Whether an environment or headers are written out, in which secrets mostly stand. */
function givesValues(server: McpServerSetting): boolean {
  return Object.keys(server.connectionType === "stdio" ? server.env : server.headers).length > 0;
}

async function inspectPlace(place: string): Promise<PrivatePlace | undefined> {
  const found = await stat(place).catch(() => undefined);
  if (found === undefined) return undefined;
  const mode = found.mode & 0o777;
  return { path: place, mode: `0${mode.toString(8)}`, isOpen: (mode & OTHERS) !== 0 };
}
