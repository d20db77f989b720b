import path from "node:path";
import { existsSync } from "node:fs";
import { loadConfig } from "@cem/config";
import { isWithin } from "@cem/core/files";
import { CemError, parseJson } from "@cem/core";
import { readYaml } from "@cem/config/yaml";
import { ANSWER_DIFFERENCES, differencesOf, toRecord } from "./differences.ts";
import { migrateConfig } from "./migrate-config.ts";
import { namesIn, textOf, type Migration } from "./migration.ts";

const CONFIG_FILES = ["config.yaml", "config.yml"] as const;
const NEW_CONFIG = "config.cem.yaml";

/** Inspects a project of the Python original and plans its migration. Changes nothing. */
export async function planMigration(project: string): Promise<Migration> {
  const folder = path.resolve(project);
  const migration: Migration = { folder, isProject: false, changes: [], works: [], left: [] };
  const { servers, skills, workspace } = await planConfig(migration);
  await inspectVariables(migration);
  if (servers !== undefined) await inspectTools(migration, servers);
  const skillFolders = skills === undefined ? [] : [skills, ...(workspace ? [`${workspace}/skills`] : [])];
  for (const from of skillFolders) await inspectSkills(migration, from, skills ?? "");
  if (workspace !== undefined) await inspectData(migration, workspace);
  const { left, works } = migration;
  migration.isProject ||= left.length + works.length > 0;
  if (migration.isProject) left.push(...ANSWER_DIFFERENCES);
  return migration;
}

const CALLS_SERVER = /\bcall_mcp_tool\(\s*(?:server_name\s*=\s*)?["'](?<server>[\w-]+)["']/u;

/** Finds tools in Python without a TypeScript counterpart. */
async function inspectTools({ folder, left }: Migration, serversDir: string): Promise<void> {
  for (const server of await namesIn(path.join(folder, serversDir), "folder")) {
    for (const name of await modulesIn(folder, `${serversDir}/${server}`)) {
      const place = `${serversDir}/${server}/${name}`;
      const tool = `${place.slice(0, -".py".length)}.ts`;
      if (existsSync(path.join(folder, tool))) continue;
      const called = CALLS_SERVER.exec((await textOf(path.join(folder, place))) ?? "")?.groups?.["server"];
      const reason =
        called === undefined
          ? `is written in Python: rewrite it as ${tool}`
          : `calls the MCP server ${called}, whose tools are generated: cem add ${called} -- <its command>`;
      left.push({ place, reason });
    }
  }
}

/** Finds skills in Python without a folder with TypeScript code. */
async function inspectSkills({ folder, left }: Migration, from: string, skillsDir: string): Promise<void> {
  for (const name of await modulesIn(folder, from)) {
    const skill = `${skillsDir}/${path.parse(name).name}`;
    if (existsSync(path.join(folder, skill, "index.ts"))) continue;
    const reason = `is written in Python: rewrite it as ${skill}/index.ts, with its description in ${skill}/SKILL.md`;
    left.push({ place: `${from}/${name}`, reason });
  }
}

/** Python modules that may be a tool or a skill, without package indexes, private modules and tests. */
async function modulesIn(project: string, folder: string): Promise<string[]> {
  const names = await namesIn(path.join(project, folder), "file");
  return names.filter(
    (name) => name.endsWith(".py") && !/^(?:[._]|test_|conftest\.py$|setup\.py$)|_test\.py$/u.test(name),
  );
}

/** Plans the new configuration. @returns the folders named in the old one, relative to the project, without those outside of it. */
async function planConfig(migration: Migration) {
  const { folder, left } = migration;
  for (const name of CONFIG_FILES) {
    const before = await textOf(path.join(folder, name));
    if (before === undefined) continue;
    const { text, changes, problems } = await migrateConfig(before, name);
    const settings = toRecord(readYaml(text).value);
    const execution = toRecord(settings["execution"]);
    const place = (key: string, standard: string): string | undefined => {
      const dir = path.resolve(folder, typeof execution[key] === "string" ? execution[key] : standard);
      if (dir !== folder && isWithin(folder, dir))
        return path.relative(folder, dir).split(path.sep).join("/");
      const reason = `execution.${key} leads out of the project, where nothing is looked for`;
      left.push({ place: name, reason });
      return undefined;
    };
    const folders = {
      servers: place("servers_dir", "servers"),
      skills: place("skills_dir", "skills"),
      workspace: place("workspace_dir", "workspace"),
    };
    migration.isProject = true;
    migration.changes = changes;
    const isThere = existsSync(path.join(folder, NEW_CONFIG));
    if (changes.length > 0) migration.config = { file: NEW_CONFIG, from: name, text, before, isThere };
    else if (problems.length === 0) migration.works.push(`${name}  loads as it is`);
    const reasons = [...problems, ...differencesOf(settings)];
    left.push(...reasons.map((reason) => ({ place: name, reason })));
    return folders;
  }
  return { servers: "servers", skills: "skills", workspace: "workspace" };
}

/** Sorts the variables of `.env` into those with an effect here and those without. */
async function inspectVariables(migration: Migration): Promise<void> {
  const { folder, works, left } = migration;
  if ((await textOf(path.join(folder, ".env"))) === undefined) return;
  migration.isProject = true;
  const leave = (reasons: readonly string[]): void =>
    void left.push(...reasons.map((reason) => ({ place: ".env", reason })));
  try {
    const { origins, config, warnings } = await loadConfig({
      cwd: folder,
      configFile: false,
      env: {},
      // Values are only reported, not used.
      trustFolder: true,
    });
    const names = Object.values(origins).flatMap(({ variable }) => variable ?? []);
    if (names.length > 0) works.push(`.env  sets ${[...new Set(names)].toSorted().join(", ")}`);
    for (const { name } of config.mcpServers)
      works.push(`.env  MCP_SERVER_${name.toUpperCase()}_URL is the MCP server ${name}`);
    const label = origins["execution.sandbox_type"]?.variable ?? "";
    const url = origins["execution.msb_server_url"]?.variable;
    if (config.execution.sandboxType === "microsandbox")
      leave([
        `${label}: auto takes the strongest sandbox that works on this host; microsandbox takes no other`,
      ]);
    else if (url !== undefined)
      leave([`${url}: is used with sandbox_type microsandbox alone, not under auto`]);
    leave(warnings);
  } catch (error) {
    if (!CemError.isInstance(error)) throw error;
    leave(error.message.split("\n"));
  }
}

/** Inspects the data of the Python original in the workspace: state, and logs of its runs. */
async function inspectData({ folder, works, left }: Migration, workspace: string): Promise<void> {
  const root = path.join(folder, workspace);
  for (const name of await namesIn(root, "file")) {
    const place = `${workspace}/${name}`;
    if (/\.(?:pkl|pickle)$/u.test(name))
      left.push({ place, reason: "is pickled, which only Python reads: load it there and save it as JSON" });
    else if (name === "state.json") {
      if (parseJson((await textOf(path.join(root, name))) ?? "") !== undefined)
        works.push(`${place}  is read as it is`);
      else left.push({ place, reason: "is not JSON, or is larger than 1 MiB" });
    }
  }
  const logs = await namesIn(path.join(root, ".replay"), "file");
  if (logs.length > 0)
    left.push({
      place: `${workspace}/.replay`,
      reason: `${logs.length} logs of what the original ran stay there; sessions here begin anew`,
    });
}
