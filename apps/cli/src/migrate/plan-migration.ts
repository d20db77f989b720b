import path from "node:path";
import { existsSync } from "node:fs";
import { loadConfig } from "@cem/config";
import { CemError } from "@cem/core";
import { parse } from "yaml";
import { ANSWER_DIFFERENCES, differencesOf, toRecord } from "./differences.ts";
import { migrateConfig } from "./migrate-config.ts";
import { isInside, namesIn, textOf } from "./migration.ts";
import type { LeftOver, MigratedFile, Migration } from "./migration.ts";

const CONFIG_FILES = ["config.yaml", "config.yml"] as const;
const NEW_CONFIG = "config.cem.yaml";

/** Reads a project of the Python original and says what moving it over comes to. Changes nothing. */
export async function planMigration(project: string): Promise<Migration> {
  const folder = path.resolve(project);
  const { config, ...planned } = await planConfig(folder);
  const { servers, skills, workspace } = planned.folders;
  const tools = servers === undefined ? [] : await toolsInPython(folder, servers);
  const skillFolders = skills === undefined ? [] : [skills, ...(workspace ? [`${workspace}/skills`] : [])];
  const moved = await Promise.all(skillFolders.map((from) => skillsInPython(folder, from, skills ?? "")));
  const data = workspace === undefined ? { works: [], left: [] } : await inspectData(folder, workspace);
  const variables = await inspectVariables(folder);
  const left = [...planned.left, ...variables.left, ...tools, ...moved.flat(), ...data.left];
  const isProject = planned.isThere || variables.isThere || left.length + data.works.length > 0;
  return {
    folder,
    isProject,
    config: config && { ...config, isThere: existsSync(path.join(folder, config.file)) },
    changes: planned.changes,
    works: [...planned.works, ...variables.works, ...data.works],
    left: [...left, ...(isProject ? ANSWER_DIFFERENCES : [])],
  };
}

const CALLS_SERVER = /\bcall_mcp_tool\(\s*(?:server_name\s*=\s*)?["'](?<server>[\w-]+)["']/u;

/** Tools in Python that have no file in TypeScript beside them. */
async function toolsInPython(project: string, serversDir: string): Promise<LeftOver[]> {
  const left: LeftOver[] = [];
  for (const server of await namesIn(path.join(project, serversDir), "folder")) {
    for (const name of await modulesIn(project, `${serversDir}/${server}`)) {
      const place = `${serversDir}/${server}/${name}`;
      const tool = `${place.slice(0, -".py".length)}.ts`;
      if (existsSync(path.join(project, tool))) continue;
      const called = CALLS_SERVER.exec((await textOf(path.join(project, place))) ?? "")?.groups?.["server"];
      const reason =
        called === undefined
          ? `is Python: write it as ${tool}`
          : `calls the MCP server ${called}, whose tools are generated: cem add ${called} -- <its command>`;
      left.push({ place, reason });
    }
  }
  return left;
}

/** Skills in Python that have no folder with code in TypeScript. */
async function skillsInPython(project: string, from: string, skillsDir: string): Promise<LeftOver[]> {
  return (await modulesIn(project, from)).flatMap((name) => {
    const skill = `${skillsDir}/${path.parse(name).name}`;
    if (existsSync(path.join(project, skill, "index.ts"))) return [];
    const reason = `is Python: write it as ${skill}/index.ts, with its description in ${skill}/SKILL.md`;
    return [{ place: `${from}/${name}`, reason }];
  });
}

/** Modules in Python that hold a tool or a skill: none of them a package's index, private or a test. */
async function modulesIn(project: string, folder: string): Promise<string[]> {
  const names = await namesIn(path.join(project, folder), "file");
  return names.filter(
    (name) => name.endsWith(".py") && !/^(?:[._]|test_|conftest\.py$|setup\.py$)|_test\.py$/u.test(name),
  );
}

interface PlannedConfig {
  isThere: boolean;
  config?: Omit<MigratedFile, "isThere"> | undefined;
  changes: string[];
  works: string[];
  left: LeftOver[];
  /** Folders relative to the project; absent where they are outside of it. */
  folders: { servers?: string | undefined; skills?: string | undefined; workspace?: string | undefined };
}

async function planConfig(folder: string): Promise<PlannedConfig> {
  const planned: PlannedConfig = {
    isThere: false,
    changes: [],
    works: [],
    left: [],
    folders: { servers: "servers", skills: "skills", workspace: "workspace" },
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
        reason: `execution.${key} leads out of the project, where nothing is looked for`,
      });
      return undefined;
    };
    const folders = {
      servers: place("servers_dir", "servers"),
      skills: place("skills_dir", "skills"),
      workspace: place("workspace_dir", "workspace"),
    };
    return {
      ...planned,
      isThere: true,
      config: changes.length === 0 ? undefined : { file: NEW_CONFIG, from: name, text, before },
      changes,
      works: changes.length === 0 && problems.length === 0 ? [`${name}  loads as it is`] : [],
      left: [
        ...planned.left,
        ...[...problems, ...differencesOf(settings)].map((reason) => ({ place: name, reason })),
      ],
      folders,
    };
  }
  return planned;
}

interface InspectedVariables {
  isThere: boolean;
  works: string[];
  left: LeftOver[];
}

/** Sorts the variables of `.env` into those that set something here and those that do not. */
async function inspectVariables(folder: string): Promise<InspectedVariables> {
  const isThere = (await textOf(path.join(folder, ".env"))) !== undefined;
  if (!isThere) return { isThere, works: [], left: [] };
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
