import path from "node:path";
import { existsSync } from "node:fs";
import { lstat, readFile, readdir, writeFile } from "node:fs/promises";
import { PRIVATE_FILE } from "@cem/core/files";
import { parseDocument } from "yaml";
import { migrateConfig } from "./migrate-config.ts";

const CONFIG_FILES = ["config.yaml", "config.yml"] as const;
const NEW_CONFIG = "config.cem.yaml";
/** A larger file is neither a configuration nor a tool. */
const MAX_FILE_BYTES = 1024 * 1024;

/** A configuration that a migration writes: a changed copy of the one that is there. */
export interface MigratedFile {
  /** Its name in the project. */
  file: string;
  /** The name of the file of the Python original. */
  from: string;
  text: string;
  /** Whether there is such a file already, which stays as it is. */
  isThere: boolean;
}

/** Work that is left to a person. */
export interface LeftOver {
  /** Relative to the project. */
  place: string;
  reason: string;
}

/** The plan of moving a project over. */
export interface Migration {
  /** Absolute path of the project. */
  folder: string;
  /** Whether anything of the Python original was found. */
  isProject: boolean;
  /** Absent where the configuration loads as it is. */
  config?: MigratedFile | undefined;
  /** Changes to the configuration, in the new file. */
  changes: string[];
  left: LeftOver[];
}

/** Reads a project of the Python original and says what moving it over comes to. Changes nothing. */
export async function planMigration(project: string): Promise<Migration> {
  const folder = path.resolve(project);
  const from = CONFIG_FILES.find((name) => existsSync(path.join(folder, name)));
  const before = from === undefined ? undefined : await textOf(path.join(folder, from));
  const migrated = from === undefined || before === undefined ? undefined : await migrateConfig(before, from);
  const { text = "", changes = [], problems = [] } = migrated ?? {};
  const place = (key: string, standard: string): string => folderIn(folder, text, key) ?? standard;
  const [servers, skills, workspace] = [
    place("servers_dir", "servers"),
    place("skills_dir", "skills"),
    place("workspace_dir", "workspace"),
  ];
  const left = [
    ...problems.map((reason) => ({ place: from ?? "", reason })),
    ...(await toolsInPython(folder, servers)),
    ...(await skillsInPython(folder, skills, skills)),
    ...(await skillsInPython(folder, `${workspace}/skills`, skills)),
  ];
  const isThere = existsSync(path.join(folder, NEW_CONFIG));
  return {
    folder,
    isProject: migrated !== undefined || left.length > 0,
    config:
      from === undefined || changes.length === 0 ? undefined : { file: NEW_CONFIG, from, text, isThere },
    changes,
    left,
  };
}

/**
 * Writes the configuration of a migration, unless there is one.
 *
 * @returns whether it was written.
 * @throws the file system's error.
 */
export async function writeMigration({ folder, config }: Migration): Promise<boolean> {
  if (config === undefined || config.isThere) return false;
  try {
    // Secrets may stand in it.
    await writeFile(path.join(folder, config.file), config.text, { flag: "wx", mode: PRIVATE_FILE });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** The folder that a configuration names, relative to the project. Nothing is looked for outside of it. */
function folderIn(project: string, yaml: string, key: string): string | undefined {
  const document = parseDocument(yaml);
  const named: unknown = document.errors.length > 0 ? undefined : document.getIn(["execution", key]);
  if (typeof named !== "string") return undefined;
  const relative = path.relative(project, path.resolve(project, named)).split(path.sep).join("/");
  return relative === "" || relative.startsWith("..") || path.isAbsolute(relative) ? undefined : relative;
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

/** The names in a folder, sorted; none where there is no folder. Links are left out. */
async function namesIn(folder: string, kind: "file" | "folder"): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
    throw error;
  });
  return entries
    .filter((entry) => (kind === "file" ? entry.isFile() : entry.isDirectory()))
    .map(({ name }) => name)
    .toSorted();
}

/** The text of a small regular file; `undefined` where there is none. */
async function textOf(file: string): Promise<string | undefined> {
  const found = await lstat(file).catch(() => undefined);
  if (found?.isFile() !== true || found.size > MAX_FILE_BYTES) return undefined;
  return readFile(file, "utf8");
}
