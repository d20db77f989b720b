import { existsSync } from "node:fs";
import { readFile, rm, stat } from "node:fs/promises";
import path from "node:path";
import type { Config, LoadedConfig, Secret } from "@cem/config";
import type { ServerEntry } from "@cem/config/edit";
import { serverNotFound } from "@cem/core";
import { replaceFile } from "@cem/core/files";
import { findLookAlike, shellWord } from "@cem/core/text";
import type { ServerSource } from "../options.ts";
import { loadConfig, openProject } from "../wiring/open-project.ts";
import { authFolder, type Project } from "../wiring/project.ts";
import { layFilesFor, withMcpTools } from "./servers.ts";
import { trustItems, trustServers } from "./trust.ts";

/** Names that people take for official servers of the product they mention. */
const WELL_KNOWN = `
  atlassian aws azure cloudflare confluence context7 discord docker everything fetch figma filesystem
  gdrive github gitlab google-drive google-maps grafana hubspot huggingface kubernetes linear memory
  mongodb notion playwright postgres postgresql puppeteer salesforce sentry sequential-thinking
  shopify slack sqlite stripe supabase terraform vercel zapier
`
  .trim()
  .split(/\s+/u);
/** Packages on npm and PyPI that others imitate. */
const WELL_KNOWN_PACKAGES = `
  @modelcontextprotocol/server-everything @modelcontextprotocol/server-filesystem @modelcontextprotocol/server-memory
  @modelcontextprotocol/server-sequential-thinking @modelcontextprotocol/server-github @modelcontextprotocol/server-gitlab
  @modelcontextprotocol/server-postgres @modelcontextprotocol/server-puppeteer @modelcontextprotocol/server-slack
  @modelcontextprotocol/server-brave-search @modelcontextprotocol/server-google-maps @modelcontextprotocol/server-gdrive
  @notionhq/notion-mcp-server @playwright/mcp @sentry/mcp-server @stripe/mcp @supabase/mcp-server-supabase
  @upstash/context7-mcp chrome-devtools-mcp figma-developer-mcp firecrawl-mcp mcp-atlassian mcp-remote
  mcp-server-fetch mcp-server-git mcp-server-sqlite mcp-server-time
`
  .trim()
  .split(/\s+/u);
/** The same in the form used for comparison, with one character between scope and name. */
const COMPARED_PACKAGES = new Map(
  WELL_KNOWN_PACKAGES.map((name) => [name.replace("@", "").replace("/", " "), name]),
);
const CONTAINER_PROGRAMS = new Set(["docker", "podman", "nerdctl"]);
/** Options of `run` that take no value. */
const FLAGS =
  /^(?:-[itdPq]+|--(?:rm|init|interactive|tty|detach|privileged|read-only|publish-all|no-healthcheck|quiet|sig-proxy|oom-kill-disable|disable-content-trust))$/u;

/**
 * Warnings about a new server: a name, a package or an image that looks like another, an image that is not pinned.
 *
 * @param otherWords - Words of the commands of other servers.
 */
export function warningsOf(
  name: string,
  entry: ServerEntry,
  others: Iterable<string>,
  otherWords: Iterable<string> = [],
): string[] {
  const other = findLookAlike(name, [...others, ...WELL_KNOWN]);
  const image = unpinnedImage(entry);
  const near = imitatedPackage(entry, otherWords);
  return [
    other && `"${name}" looks like "${other}", which is another server. Is it the one you mean?`,
    near &&
      `The package "${near.name}" looks like "${near.other}", which is another. Is it the one you mean?`,
    image &&
      `The image ${image} can change behind its tag. Pin it by its digest, which this prints: docker image inspect --format '{{index .RepoDigests 0}}' ${shellWord(image)}`,
  ].filter((warning) => warning !== undefined);
}

/** The package or image in a command that could be mistaken for a well-known one or for that of another server. */
function imitatedPackage(
  { args }: ServerEntry,
  otherWords: Iterable<string>,
): { name: string; other: string } | undefined {
  if (!Array.isArray(args)) return undefined;
  const compared = new Map(COMPARED_PACKAGES);
  // Other words of a command, such as `run`, are not names.
  for (const name of [...otherWords].map(packageOf))
    if (name !== undefined && /[/-]/u.test(name)) compared.set(name.replace("@", "").replace("/", " "), name);
  const known = new Set(compared.values());
  for (const word of args.map(String)) {
    const name = packageOf(word);
    if (name === undefined || known.has(name)) continue;
    // Two spaces avoid an exact match, which is not reported: a known name without its `@` is a look-alike.
    const near = findLookAlike(name.replaceAll("@", "").replace("/", "  "), compared.keys());
    const other = compared.get(near ?? "");
    if (other !== undefined) return { name, other };
  }
  return undefined;
}

/** The name of a package or an image without its version; `undefined` for a path, an option or a text that is none. */
function packageOf(word: string): string | undefined {
  const given = word.replace(/^--?[\w-]+=/u, "");
  // A version follows the name; the first character may be the @ of a scope.
  const [rest = ""] = given.slice(1).split(/[@=<>~![]|:[\w.-]*$/u, 1);
  const name = given.slice(0, 1) + rest;
  const isOther = /^(?:[-./~\\]|\w:|https?$)/u.test(name) || /[\s"'`(){};,&|]/u.test(name);
  return isOther ? undefined : name;
}

/** The image that a container is started from, unless it is pinned by digest. */
export function unpinnedImage({ command, args }: ServerEntry): string | undefined {
  if (typeof command !== "string" || !Array.isArray(args)) return undefined;
  if (!CONTAINER_PROGRAMS.has(path.basename(command).replace(/\.exe$/iu, ""))) return undefined;
  const words = args.map(String);
  const run = words.indexOf("run");
  if (run === -1) return undefined;
  for (let at = run + 1; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (!word.startsWith("-")) return /@sha256:[0-9a-f]{64}$/u.test(word) ? undefined : word;
    // `-e NAME` and `--env NAME` take the next word; `-eNAME` and `--env=NAME` do not.
    if (!FLAGS.test(word) && !word.includes("=") && !/^-[a-z].+/u.test(word)) at += 1;
  }
  return undefined;
}

/** The names of a server's secret variables, headers and sign-in keys that are written out instead of as `${NAME}`. */
export async function secretsIn({ env, headers, auth }: ServerEntry): Promise<string[]> {
  const { createSecretList } = await import("@cem/bridge");
  const given = Object.entries<unknown>({ ...(env as object), ...(headers as object), ...(auth as object) });
  return given.flatMap(([name, value]) => {
    const text = String((value as Partial<Secret> | undefined)?.reveal?.() ?? value);
    return !text.includes("${") && createSecretList({ [name]: text }).length > 0 ? [name] : [];
  });
}

/**
 * Adds MCP servers to the configuration file, which is created if missing, and blocks tools of theirs. Its comments are kept.
 *
 * @returns the path of the file, and warnings about the servers.
 * @throws CemError `SERVER_EXISTS`, or `CONFIG_INVALID` for invalid settings; the file is not changed then.
 */
export async function addServers(
  servers: readonly { name: string; entry: ServerEntry; blockedTools?: readonly string[] | undefined }[],
  source: ServerSource = {},
) {
  const { addServer, blockTools } = await import("@cem/config/edit");
  return editConfig(source, async ({ file, text }) => {
    const edited = servers.reduce((yaml, { name, entry }) => addServer(yaml, name, entry), text ?? "");
    await replaceFile(
      file,
      blockTools(
        edited,
        servers.flatMap(({ blockedTools = [] }) => blockedTools),
      ),
    );
    let config: Config;
    try {
      const load = (): Promise<LoadedConfig> =>
        loadConfig({ cwd: source.cwd, configFile: file, trustFolder: false });
      // First, since they can be part of what is trusted.
      await layFilesFor(await load());
      const loaded = await load();
      const names = servers.map(({ name }) => name);
      await trustServers(loaded, names);
      ({ config } = loaded);
    } catch (error) {
      await (text === undefined ? rm(file) : replaceFile(file, text));
      throw error;
    }
    const known = new Set(config.mcpServers.map(({ name }) => name));
    const warnings = servers.flatMap(({ name, entry }) =>
      warningsOf(
        name,
        entry,
        [...known].filter((other) => other !== name),
        config.mcpServers.flatMap((other) =>
          other.name !== name && other.connectionType === "stdio" ? other.args : [],
        ),
      ),
    );
    for (const { name, entry } of servers) {
      const secrets = (await secretsIn(entry)).join(", ");
      const advice = `Before you share it, write \${NAME} there, and NAME=… in .env.`;
      if (secrets !== "") warnings.push(`${path.basename(file)} holds ${secrets} of "${name}". ${advice}`);
    }
    return { file, warnings };
  });
}

/**
 * Exempts a server's tools from approval in the configuration file. This takes effect at once, unless something else in the
 * folder is waiting to be trusted.
 */
export async function exemptFromApproval(name: string, source: ServerSource = {}): Promise<void> {
  const { exemptServer } = await import("@cem/config/edit");
  await editConfig(source, async ({ file, text = "" }) => {
    const load = (): Promise<LoadedConfig> =>
      loadConfig({ cwd: source.cwd, configFile: file, trustFolder: false });
    const before = await load();
    await replaceFile(file, exemptServer(text, name));
    const { trust } = await load();
    if (before.trust.held.length === 0) await trustItems(trust.folder, trust.requested);
  });
}

/** The outcome of removing a server. */
export type RemovedServer = Awaited<ReturnType<typeof removeServerAndFiles>>;

/**
 * Removes an MCP server from the configuration file, and its generated files. The user's sign-in is kept, since other
 * projects may use it.
 *
 * @throws CemError `SERVER_NOT_FOUND` if there is neither.
 */
export async function removeServerAndFiles(name: string, source: ServerSource = {}) {
  const { directory, isGenerated, known, signIn } = await withMcpTools(
    source,
    `removing ${name}`,
    async (mcpTools, project) => {
      const generated = await mcpTools.readGenerated(name).catch(() => undefined);
      return {
        directory: await mcpTools.folderOf(name),
        isGenerated: generated?.lock.server.name === name,
        known: [...mcpTools.servers.keys()],
        signIn: await signInOf(name, project),
      };
    },
  );
  const { removeServer } = await import("@cem/config/edit");
  const changed = await editConfig(source, async ({ file, text = "" }) => {
    const edited = removeServer(text, name);
    if (edited === undefined && !isGenerated) throw serverNotFound(name, known);
    if (edited !== undefined) await replaceFile(file, edited);
    return edited === undefined ? undefined : file;
  });
  const removed = isGenerated ? await removeFiles(directory) : [];
  return { file: changed, removed, signIn };
}

async function signInOf(name: string, { config, folder }: Project): Promise<string | undefined> {
  const server = config.mcpServers.find((one) => one.name === name);
  if (server === undefined || !("url" in server) || !URL.canParse(server.url)) return undefined;
  const { signInFile, storeKey } = await import("@cem/mcp-client/tools");
  const file = signInFile(await authFolder(folder), storeKey(server.url, server.auth?.clientId));
  return existsSync(file) ? file : undefined;
}

async function removeFiles(directory: string): Promise<string[]> {
  const { removeServerFiles } = await import("@cem/tool-files");
  const names = await removeServerFiles({
    serversDir: path.dirname(directory),
    folder: path.basename(directory),
  });
  return names.map((name) => path.join(directory, name));
}

interface ConfigText {
  file: string;
  text?: string | undefined;
}

/** Edits the active configuration file under a lock shared with other processes. */
async function editConfig<Result>(
  source: ServerSource,
  edit: (place: ConfigText) => Promise<Result>,
): Promise<Result> {
  const { editInTurn } = await import("@cem/config/edit");
  const { file } = await readConfigText(source);
  return editInTurn(file, async () => edit(await readConfigText(source)));
}

/** Reads the active configuration file. Without text, its path is where one would be created. */
async function readConfigText(source: ServerSource): Promise<ConfigText> {
  const named = typeof source.configFile === "string" ? source.configFile : undefined;
  const cwd = path.resolve(source.cwd ?? ".");
  if (named !== undefined && (await stat(path.resolve(cwd, named)).catch(() => undefined)) === undefined) {
    return { file: path.resolve(cwd, named) };
  }
  await using project = await openProject(source);
  const { file } = project;
  if (file === undefined) return { file: path.join(cwd, "config.yaml") };
  return { file, text: await readFile(file, "utf8") };
}
