import path from "node:path";
import { existsSync } from "node:fs";
import { loadConfig } from "@cem/config";
import { CemError } from "@cem/core";
import { parse } from "yaml";
import { ANSWER_DIFFERENCES, differencesOf, toRecord } from "./differences.ts";
import { migrateConfig } from "./migrate-config.ts";
import { isUnwritten, migrateSkills, migrateTools } from "./migrate-modules.ts";
import { isInside, namesIn, textOf } from "./migration.ts";
import type { LeftOver, MigratedFile, Migration } from "./migration.ts";

const CONFIG_FILES = ["config.yaml", "config.yml"] as const;
const NEW_CONFIG = "config.cem.yaml";

/** Reads a project of the Python original and says what moving it over comes to. Changes nothing. */
export async function planMigration(project: string): Promise<Migration> {
  const folder = path.resolve(project);
  const config = await planConfig(folder);
  const { servers: serversDir, skills: skillsDir, workspace } = config.folders;
  const dirs = await Promise.all([
    serversDir === undefined ? undefined : migrateTools(folder, serversDir),
    skillsDir === undefined
      ? undefined
      : migrateSkills(
          folder,
          [skillsDir, ...(workspace === undefined ? [] : [`${workspace}/skills`])],
          skillsDir,
        ),
  ]);
  const [tools, skills] = dirs.map((one) => one ?? { files: [], left: [], servers: [] });
  const data = workspace === undefined ? { works: [], left: [] } : await inspectData(folder, workspace);
  const variables = await inspectVariables(folder);
  const files = [...config.files, ...(tools?.files ?? []), ...(skills?.files ?? [])].map(
    (file): MigratedFile => ({ ...file, isThere: existsSync(path.join(folder, file.file)) }),
  );
  const done = new Set<string>();
  for (const { file, isThere } of files)
    if (isThere && !isUnwritten(await textOf(path.join(folder, file)))) done.add(file);
  const servers = (tools?.servers ?? []).map((server) => ({
    ...server,
    isConfigured: config.servers.has(server.name) || variables.servers.includes(server.name),
  }));
  const isProject =
    config.isThere || variables.isThere || files.length + servers.length + data.works.length > 0;
  return {
    folder,
    isProject,
    files,
    changes: config.changes,
    works: [...config.works, ...variables.works, ...data.works],
    left: [
      ...config.left,
      ...variables.left,
      ...(tools?.left ?? []),
      ...(skills?.left ?? []),
      ...data.left,
      ...(isProject ? ANSWER_DIFFERENCES : []),
    ].filter(({ place }) => !done.has(place)),
    servers,
  };
}

interface PlannedConfig {
  isThere: boolean;
  files: Omit<MigratedFile, "isThere">[];
  changes: string[];
  works: string[];
  left: LeftOver[];
  /** Folders relative to the project; absent where they are outside of it. */
  folders: { servers?: string | undefined; skills?: string | undefined; workspace?: string | undefined };
  /** The names of the MCP servers. */
  servers: ReadonlySet<string>;
}

async function planConfig(folder: string): Promise<PlannedConfig> {
  const planned: PlannedConfig = {
    isThere: false,
    files: [],
    changes: [],
    works: [],
    left: [],
    folders: { servers: "servers", skills: "skills", workspace: "workspace" },
    servers: new Set(),
  };
  for (const name of CONFIG_FILES) {
    const before = await textOf(path.join(folder, name));
    if (before === undefined) continue;
    const { text, changes, problems } = await migrateConfig(before, name);
    const settings = toRecord(problems.length > 0 ? safely(() => parse(text)) : parse(text));
    const execution = toRecord(settings["execution"]);
    const place = (key: string, standard: string): string | undefined => {
      const dir = path.resolve(folder, typeof execution[key] === "string" ? execution[key] : standard);
      if (isInside(folder, dir)) return path.relative(folder, dir).split(path.sep).join("/");
      planned.left.push({
        place: name,
        reason: `execution.${key} leads out of the project, where nothing is written`,
      });
      return undefined;
    };
    const folders = {
      servers: place("servers_dir", "servers"),
      skills: place("skills_dir", "skills"),
      workspace: place("workspace_dir", "workspace"),
    };
    const entries = settings["mcp_servers"];
    const names = Array.isArray(entries)
      ? entries.map((entry) => toRecord(entry)["name"])
      : Object.keys(toRecord(entries));
    return {
      ...planned,
      isThere: true,
      files: changes.length === 0 ? [] : [{ file: NEW_CONFIG, from: name, text, before }],
      changes,
      works: changes.length === 0 && problems.length === 0 ? [`${name}  loads as it is`] : [],
      left: [
        ...planned.left,
        ...[...problems, ...differencesOf(settings)].map((reason) => ({ place: name, reason })),
      ],
      folders,
      servers: new Set(names.map(String)),
    };
  }
  return planned;
}

interface InspectedVariables {
  isThere: boolean;
  /** The names of the MCP servers. */
  servers: string[];
  works: string[];
  left: LeftOver[];
}

/** Sorts the variables of `.env` into those that set something here and those that do not. */
async function inspectVariables(folder: string): Promise<InspectedVariables> {
  const isThere = (await textOf(path.join(folder, ".env"))) !== undefined;
  if (!isThere) return { isThere, servers: [], works: [], left: [] };
  try {
    const { origins, config, warnings } = await loadConfig({
      cwd: folder,
      file: false,
      env: {},
      // Values are only reported: none of them is used.
      trustFolder: true,
    });
    const names = Object.values(origins).flatMap(({ variable }) => variable ?? []);
    const servers = config.mcpServers.map(({ name }) => name);
    const isMicrosandbox = config.execution.sandboxType === "microsandbox";
    const label = origins["execution.sandbox_type"]?.variable ?? "";
    const url = isMicrosandbox ? undefined : origins["execution.msb_server_url"]?.variable;
    return {
      isThere,
      servers,
      works: [
        ...(names.length === 0 ? [] : [`.env  sets ${[...new Set(names)].toSorted().join(", ")}`]),
        ...servers.map((name) => `.env  MCP_SERVER_${name.toUpperCase()}_URL is the MCP server ${name}`),
      ],
      left: [
        ...(isMicrosandbox
          ? [
              {
                place: ".env",
                reason: `${label}: auto takes the strongest sandbox that works on this host; microsandbox takes no other`,
              },
            ]
          : []),
        ...(url === undefined
          ? []
          : [
              {
                place: ".env",
                reason: `${url}: is used with sandbox_type microsandbox alone, not under auto`,
              },
            ]),
        ...warnings.map((reason) => ({ place: ".env", reason })),
      ],
    };
  } catch (error) {
    if (!CemError.isInstance(error)) throw error;
    return {
      isThere,
      servers: [],
      works: [],
      left: error.message.split("\n").map((reason) => ({ place: ".env", reason })),
    };
  }
}

function safely(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Looks at what the Python original kept in the workspace: state, and logs of what it ran. */
async function inspectData(
  project: string,
  workspace: string,
): Promise<{ works: string[]; left: LeftOver[] }> {
  const root = path.join(project, workspace);
  const works: string[] = [];
  const left: LeftOver[] = [];
  for (const name of await namesIn(root, "file")) {
    const place = `${workspace}/${name}`;
    if (/\.(?:pkl|pickle)$/u.test(name))
      left.push({ place, reason: "is pickled, which only Python reads: load it there and save it as JSON" });
    else if (name === "state.json") {
      if (isJson(await textOf(path.join(root, name)))) works.push(`${place}  is read as it is`);
      else left.push({ place, reason: "is no JSON, or larger than 1 MiB" });
    }
  }
  const logs = await namesIn(path.join(root, ".replay"), "file");
  if (logs.length > 0)
    left.push({
      place: `${workspace}/.replay`,
      reason: `${logs.length} logs of what the original ran stay there; sessions here begin anew`,
    });
  return { works, left };
}

function isJson(text: string | undefined): boolean {
  try {
    JSON.parse(text ?? "");
    return true;
  } catch {
    return false;
  }
}
