import { SourceTextModule } from "node:vm";
import { deno, isOwn } from "./deno.ts";
import { MissingModule, useSourceMap } from "./guest-errors.ts";
import { missing, missingExport, notExported, unparsed, type Importer } from "./module-errors.ts";
import { metaOf } from "./module-meta.ts";
import {
  CLIENT_SPECIFIER,
  folderOf,
  otherIndexesOf,
  pathOf,
  PROGRAM_URL,
  resolveModule,
  serverOf,
} from "./module-urls.ts";
import { needsRuntime, RuntimeNeeded } from "./needs-runtime.ts";
import { nodeModule } from "./node-modules.ts";
import { toHostPath } from "./paths.ts";
import { attempt, parseJson, settled } from "./primordials.ts";
import type { Realm } from "./realm.ts";
import { generatedCall, reExports, toJavaScript } from "./source-text.ts";

const HIDDEN =
  "This file runs on the host, where code in the sandbox can't see it. Import its tools from ./servers/<server>/index.ts.";

/** One import declaration, as the compiled program asks for it. */
export interface ImportRequest {
  specifier: string;
  attributes: Record<string, string>;
  /** The imported names, with their positions in the compiled program; empty for the whole module. */
  names: { name: string; line: number; column: number }[];
  /** Whether the module's namespace is imported as well. */
  whole?: boolean;
}

export interface ModuleSettings {
  /** Names of tools on the host that have no file, by server. */
  hostTools: Readonly<Record<string, readonly string[]>>;
  /** Guest folders that no program can change: calls of tools with modules in them are recorded. */
  toolFolders: readonly string[];
  /** Guest paths of files that must not be imported. */
  hidden: readonly string[];
  /** Source texts that replace files, by the URL of the module. */
  texts: Readonly<Record<string, string>>;
}

type Namespace = Record<string, unknown>;
/** The part of a lock file that names its server. */
type NamedServer = { server: { name: string } };
/**
 * Evaluates a linked module. Returns the namespace in an object, since one with an export named `then` must never be
 * the value of a promise.
 */
type Linked = () => Promise<{ namespace: Namespace }>;
type Attributes = Readonly<Record<string, string | undefined>>;

/** Captured before functions with path parameters are patched. */
const readText = deno.readTextFileSync.bind(deno);
const stat = deno.statSync.bind(deno);

export function createModules(realm: Realm, settings: ModuleSettings) {
  const { inside } = realm;
  const { makeError } = inside;
  const hostTools = new Map(Object.entries(settings.hostTools));
  const modules = new Map<string, Promise<SourceTextModule>>();
  const importers: Importer[] = [];
  /** Requests whose modules are not linked yet. */
  let reading = 0;

  /** Converts the error of a failed import to one of the realm, with the program's line of the import. */
  function explain(error: unknown, request: ImportRequest): unknown {
    if (isOwn(error, RuntimeNeeded)) return error;
    const [at] = request.names;
    const isAsked = isOwn(error, MissingModule) && error.url === resolve(request.specifier, PROGRAM_URL);
    const told = isAsked ? makeError("TypeError", missing(request, exists)) : realm.ownError(error);
    if (at !== undefined) inside.addPlace(told, `\n    at blob:import:${at.line}:${at.column}`);
    return told;
  }

  async function importOne(request: ImportRequest): Promise<Linked> {
    const url = resolve(request.specifier, PROGRAM_URL);
    if (url === CLIENT_SPECIFIER) return async () => ({ namespace: inside.clientExports() });
    if (url.startsWith("node:")) {
      const namespace = await nodeExports(url);
      return async () => ({ namespace });
    }
    const server = folderOf(url);
    if (server === undefined) return toLinked(await load(url, request.attributes));
    const named = namedIn(url, request);
    // The host records these calls itself.
    if (named?.text === "") return async () => ({ namespace: named.calls });
    const linked = await toLinked(
      named === undefined
        ? await load(url, request.attributes)
        : await withValues(url, named.calls, named.text),
    );
    // A program could give its own module the name of any server.
    if (!isKept(url)) return linked;
    const ownName = ownNameOf(url);
    return async () => ({ namespace: inside.traced(server, (await linked()).namespace, ownName) });
  }

  /**
   * Resolves the named imports of a module that only re-exports others: functions that only make a call, as generated
   * tools do, need no module to be loaded; the rest becomes the text of a shorter list of re-exports.
   */
  function namedIn(
    url: string,
    { names, whole }: ImportRequest,
  ): { calls: Namespace; text: string } | undefined {
    if (names.length === 0 || whole === true || modules.has(keyOf(url))) return undefined;
    const asked = new Set(names.map(({ name }) => name));
    const ofHost = hostToolsOf(url).filter((name) => asked.delete(name));
    const calls = hosted(url, ofHost);
    const others = asked.size === 0 ? undefined : reExports(indexText(url) ?? "");
    let text = "";
    for (const exported of asked) {
      const { name, file } = others?.get(exported) ?? {};
      if (name === undefined || file === undefined) return undefined;
      const call = attempt(() => generatedCall(read(resolve(file, url)), name), undefined);
      if (call === undefined) text += `export { ${name} as ${exported} } from ${JSON.stringify(file)};`;
      else calls[exported] = inside.hostTool(call.server, call.tool, exported);
    }
    return { calls, text };
  }

  /** A server's tools on the host that have no file. */
  function hosted(url: string, tools: readonly string[]): Namespace {
    const exports = inside.newNamespace();
    for (const tool of tools) exports[tool] = inside.hostTool(serverOf(url) ?? "", tool);
    return exports;
  }

  async function toLinked(module: SourceTextModule): Promise<Linked> {
    if (module.status === "unlinked") await module.link(link).catch(nameImporter);
    return async () => {
      await settled(module.evaluate());
      return { namespace: module.namespace as Namespace };
    };
  }

  /** Rethrows an error of linking. Names the module that imports what another doesn't export. */
  async function nameImporter(error: unknown): Promise<never> {
    const lacking = missingExport(error, importers, read);
    if (lacking === undefined) throw error;
    const other = await load(resolve(lacking.specifier, lacking.importer), {});
    // It may not be evaluated: its exports can't be read.
    const names = attempt(() => Object.getOwnPropertyNames(other.namespace), []);
    throw makeError("SyntaxError", notExported(lacking, names));
  }

  async function link(
    specifier: string,
    { identifier }: { identifier: string },
    { attributes }: { attributes?: Attributes } = {},
  ): Promise<SourceTextModule> {
    importers.push({ specifier, importer: identifier });
    return load(resolve(specifier, identifier), { ...attributes });
  }

  function load(url: string, attributes: Attributes): Promise<SourceTextModule> {
    const key = keyOf(url, attributes["type"]);
    const loading = modules.get(key) ?? make(url, attributes);
    modules.set(key, loading);
    return loading;
  }

  async function make(url: string, attributes: Attributes): Promise<SourceTextModule> {
    if (url === CLIENT_SPECIFIER) return withValues(url, inside.clientExports());
    if (url.startsWith("node:")) return withValues(url, await nodeExports(url));
    const own = hostToolsOf(url);
    if (own.length > 0) return withValues(url, hosted(url, own), indexText(url));
    const text = url.startsWith("file:") ? read(url) : await (await fetch(url)).text();
    if (attributes["type"] === "json") {
      const value = inside.parse(text.replace(/^\uFEFF/, ""));
      return withValues(url, { default: value });
    }
    if (attributes["type"] !== undefined) {
      throw makeError("TypeError", `A module can't be imported as ${JSON.stringify(attributes["type"])}.`);
    }
    return source(url, text);
  }

  function source(url: string, text: string, more = "", values?: Namespace): SourceTextModule {
    const { pathname } = new URL(url);
    const isTypeScript = !url.startsWith("data:") || url.startsWith("data:application/typescript");
    const isLight = realm.context !== undefined;
    const create = (): SourceTextModule => {
      const path = url.startsWith("file:") ? pathname : ".ts";
      const { code, sourceMap } = isTypeScript ? toJavaScript(text, path) : { code: text };
      if (isLight && needsRuntime(code)) throw new RuntimeNeeded();
      useSourceMap(url, sourceMap);
      // After an `await`, the stack contains no frames of the guest.
      return new SourceTextModule(`await 0;${code}\n${more}`, {
        identifier: url,
        context: realm.context as never,
        initializeImportMeta: metaOf(inside, url, values),
        ...(!isLight && {
          importModuleDynamically: async (specifier: string, _: unknown, given: Record<string, string>) => {
            const module = await load(resolve(specifier, url), { ...given });
            const evaluate = await toLinked(module);
            await evaluate();
            return module;
          },
        }),
      } as never);
    };
    try {
      return create();
    } catch (error) {
      throw isOwn(error, RuntimeNeeded) ? error : makeError("SyntaxError", unparsed(url, text, error));
    }
  }

  function hostToolsOf(url: string): readonly string[] {
    return hostTools.get(serverOf(url) ?? "") ?? [];
  }

  /**
   * Creates a module that exports values, besides the exports of its text. Deno never frees a `SyntheticModule`, nor
   * the realm that it is created for.
   */
  async function withValues(url: string, exports: Namespace, text = ""): Promise<SourceTextModule> {
    const values = inside.newNamespace();
    const lines = Object.keys(exports).map((name, index) => {
      values[name] = attempt(() => exports[name], undefined);
      const quoted = JSON.stringify(name);
      return `const cemValue${index} = import.meta.values[${quoted}]; export { cemValue${index} as ${quoted} };`;
    });
    if (text === "") return source(url, "", lines.join(""), values);
    const own = source(url, text);
    await own.link(link);
    // Values take precedence over exports of the module with the same name.
    const module = source(url, 'export * from "own";', lines.join(""), values);
    await module.link(async () => own);
    return module;
  }

  async function nodeExports(url: string): Promise<Namespace> {
    if (realm.context !== undefined) throw new RuntimeNeeded();
    return nodeModule(url);
  }

  function isKept(url: string): boolean {
    return settings.toolFolders.some((folder) => pathOf(url).startsWith(`${folder}/`));
  }

  /** The name that a server's generated modules call it by, from their lock file. */
  function ownNameOf(url: string): string | undefined {
    const lock = new URL("tools.lock.json", url).href;
    return attempt(() => (parseJson(read(lock)) as NamedServer).server.name, undefined);
  }

  /**
   * The text of a server's module, to combine with its tools on the host. Only from protected folders: elsewhere, a
   * program of another session may have written it.
   */
  function indexText(url: string): string | undefined {
    if (!isKept(url)) return undefined;
    try {
      return read(url);
    } catch (error) {
      if (isOwn(error, MissingModule)) return undefined;
      throw error;
    }
  }

  function read(url: string): string {
    const { texts } = settings;
    if (Object.hasOwn(texts, url)) return texts[url] as string;
    const path = pathOf(url);
    if (settings.hidden.includes(path)) throw makeError("Error", HIDDEN);
    try {
      return readText(toHostPath(path));
    } catch (error) {
      const { NotFound, IsADirectory } = deno.errors;
      throw error instanceof NotFound || error instanceof IsADirectory ? new MissingModule(url) : error;
    }
  }

  function resolve(specifier: string, referrer: string): string {
    const resolved = resolveModule(specifier, referrer);
    const { url } = resolved;
    if (url === undefined) {
      const isFile = referrer !== PROGRAM_URL && referrer.startsWith("file:");
      const place = isFile ? ` This import is in ${pathOf(referrer)}.` : "";
      throw makeError("TypeError", resolved.refusal + place);
    }
    const others = otherIndexesOf(url);
    return others.length === 0 || exists(url) ? url : (others.find(exists) ?? url);
  }

  function exists(url: string): boolean {
    if (Object.hasOwn(settings.texts, url)) return true;
    return attempt(() => stat(toHostPath(pathOf(url))) !== undefined, false);
  }

  function checkNames(request: ImportRequest, namespace: Namespace): void {
    for (const { name } of request.names) {
      if (name in namespace) continue;
      throw makeError("SyntaxError", notExported({ ...request, name }, Object.keys(namespace)));
    }
  }

  async function evaluate(requests: readonly ImportRequest[], linked: readonly Linked[]): Promise<Namespace> {
    const found = inside.newNamespace();
    for (const [index, request] of requests.entries()) {
      try {
        const { namespace } = await (linked[index] as Linked)();
        checkNames(request, namespace);
        found[index] = namespace;
      } catch (error) {
        throw explain(error, request);
      }
    }
    return found;
  }

  return {
    /** Whether modules are being read or linked, which nothing of the program waits for. */
    isReading: (): boolean => reading > 0,
    /**
     * Links the modules that a program imports, and evaluates none. Resolves with the function that evaluates them, which
     * resolves with their namespaces by index. Both throw RuntimeNeeded, an error of the realm, or whatever a module threw.
     */
    async link(requests: readonly ImportRequest[]): Promise<() => Promise<Namespace>> {
      const linked: Linked[] = [];
      reading += 1;
      try {
        for (const request of requests) {
          const loading = importOne(request);
          linked.push(await loading.catch((error: unknown) => Promise.reject(explain(error, request))));
        }
      } finally {
        reading -= 1;
      }
      return () => evaluate(requests, linked);
    },
  };
}

function keyOf(url: string, type = ""): string {
  return `${url} ${type}`;
}
