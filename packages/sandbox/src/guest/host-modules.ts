import { deno } from "./deno.ts";
import { attempt } from "./guest-errors.ts";
import { toGuestPath, toHostPath } from "./paths.ts";
import { create, execPattern, keys, quote, UrlConstructor } from "./primordials.ts";

const SERVER_INDEX = /^\/workspace\/servers\/([^/]+)\/index\.ts$/;
/** Marks the address of the file itself, where a server has local tools too. */
const OWN_FILE = "?own-file";

interface LoadResult {
  format: "module-typescript";
  source: string;
  shortCircuit: true;
}

interface ModuleHooks {
  load(url: string, context: object, next: (url: string, context: object) => unknown): unknown;
}

/**
 * Serves `./servers/<server>/index.ts` for servers whose tools run on the host and have no file. Whoever imports it,
 * the program or a skill, finds its functions beside those of the file with that name, if there is one.
 */
export async function serveHostTools(tools: Record<string, string[]> = {}): Promise<void> {
  const servers = keys(tools);
  if (servers.length === 0) return;
  const sources = create(null) as Record<string, string>;
  for (let index = 0; index < servers.length; index += 1) {
    const server = servers[index] as string;
    sources[server] = sourceOf(server, tools[server] ?? []);
  }
  const { registerHooks } = (await import("node:module")) as unknown as {
    registerHooks: (hooks: ModuleHooks) => void;
  };
  registerHooks({
    load(url, context, next) {
      const source = moduleAt(url, sources);
      if (source === undefined) return next(url, context);
      return { format: "module-typescript", source, shortCircuit: true } satisfies LoadResult;
    },
  });
}

function moduleAt(url: string, sources: Record<string, string>): string | undefined {
  const parsed = attempt(() => new UrlConstructor(url), undefined);
  if (parsed === undefined || parsed.protocol !== "file:" || parsed.search !== "") return undefined;
  const path = toGuestPath(attempt(() => decodeURIComponent(parsed.pathname), ""));
  const server = execPattern(SERVER_INDEX, path)?.[1];
  const source = server === undefined ? undefined : sources[server];
  if (source === undefined) return undefined;
  const hasFile = attempt(() => deno.statSync(toHostPath(path)).isFile, false);
  return hasFile ? `export * from ${quote(url + OWN_FILE)};\n${source}` : source;
}

function sourceOf(server: string, names: string[]): string {
  let source = `import { callTool } from "cem:client";\n`;
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] as string;
    source += `export async function ${name}(input = {}) { return callTool(${quote(server)}, ${quote(name)}, input); }\n`;
  }
  return source;
}
