import { SourceTextModule } from "node:vm";
import { deno } from "./deno.ts";
import type { Inside } from "./inside/index.ts";
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

/** The most names that an error lists. */
const MAX_LISTED = 20;

/** One import declaration, as the compiled program asks for it. */
export interface ImportRequest {
  specifier: string;
  attributes: Record<string, string>;
  /** Names that are taken from it, with their places in the compiled program; none for the whole module. */
  names: { name: string; line: number; column: number }[];
  /** Whether the module itself is taken as well. */
  whole?: boolean;
}

/** The modules that can be imported. */
export interface ModuleSettings {
  /** Names of tools on the host that have no file, by server. */
  hostTools: Readonly<Record<string, readonly string[]>>;
  /** Guest folders that no program can change: calls of the tools whose modules lie there are recorded. */
  toolFolders: readonly string[];
  /** Guest paths of files that must not be imported. */
  hidden: readonly string[];
  /** Texts in place of those of files, by the URL of the module. */
  texts: Readonly<Record<string, string>>;
}

type Namespace = Record<string, unknown>;
/** The part of a lock file that names its server. */
type NamedServer = { server: { name: string } };
/** Evaluates a module that is linked. In an object, since a namespace with an export named `then` must never be the value of a promise. */
type Linked = () => Promise<{ namespace: Namespace }>;
type Attributes = Readonly<Record<string, string | undefined>>;

/** Taken before functions that take paths are patched. */
const readText = deno.readTextFileSync.bind(deno);
const stat = deno.statSync.bind(deno);

/** Thrown for a file that does not exist. */
class MissingModule extends Error {
  readonly url: string;
  constructor(url: string) {
    super(`There is no module ${new URL(url).pathname}.`);
    this.url = url;
  }
}

/** The modules of one realm. */
export class Modules {
  readonly #realm: Realm;
  readonly #settings: ModuleSettings;
  readonly #hostTools: ReadonlyMap<string, readonly string[]>;
  /** Linked modules by URL. */
  readonly #modules = new Map<string, Promise<SourceTextModule>>();

  constructor(realm: Realm, settings: ModuleSettings) {
    this.#realm = realm;
    this.#settings = settings;
    this.#hostTools = new Map(Object.entries(settings.hostTools));
  }

  /**
   * Loads the modules that a program imports; resolves with their namespaces by their index. Evaluates none before all are
   * linked.
   *
   * @throws RuntimeNeeded; otherwise an error of the realm, or what a module threw.
   */
  async importAll(requests: readonly ImportRequest[]): Promise<Namespace> {
    const linked: Linked[] = [];
    for (const request of requests) {
      const loading = this.#import(request);
      linked.push(await loading.catch((error: unknown) => Promise.reject(this.#explain(error, request))));
    }
    const found = this.#realm.inside.newNamespace();
    for (const [index, request] of requests.entries()) {
      try {
        const { namespace } = await (linked[index] as Linked)();
        this.#checkNames(request, namespace);
        found[index] = namespace;
      } catch (error) {
        throw this.#explain(error, request);
      }
    }
    return found;
  }

  /** The error of a failed import as one of the realm, with the program's line that contains the import. */
  #explain(error: unknown, request: ImportRequest): unknown {
    if (attempt(() => error instanceof RuntimeNeeded, false)) return error;
    const [at] = request.names;
    const isOwn = isMissing(error) && error.url === this.#resolve(request.specifier, PROGRAM_URL);
    const told = isOwn ? this.#missing(request) : this.#realm.ownError(error);
    if (at !== undefined) this.#realm.inside.addPlace(told, `\n    at blob:import:${at.line}:${at.column}`);
    return told;
  }

  async #import(request: ImportRequest): Promise<Linked> {
    const url = this.#resolve(request.specifier, PROGRAM_URL);
    if (url === CLIENT_SPECIFIER) return async () => ({ namespace: this.#realm.inside.clientExports() });
    if (url.startsWith("node:")) {
      const namespace = await this.#nodeExports(url);
      return async () => ({ namespace });
    }
    const server = folderOf(url);
    if (server === undefined) return this.#linked(await this.#load(url, request.attributes));
    const named = this.#named(url, request);
    // The host records them itself.
    if (named?.text === "") return async () => ({ namespace: named.calls });
    const linked = await this.#linked(
      named === undefined
        ? await this.#load(url, request.attributes)
        : await this.#withValues(url, named.calls, named.text),
    );
    // A program could give a module of its own the name of any server.
    if (!this.#isKept(url)) return linked;
    const ownName = this.#ownName(url);
    return async () => ({
      namespace: this.#realm.inside.traced(server, (await linked()).namespace, ownName),
    });
  }

  /**
   * The exports that a program takes by name of a module that is nothing but a list of others: functions that only make a call, as those
   * of generated tools do, of which no module need be loaded, and the text of a list of the rest.
   */
  #named(url: string, { names, whole }: ImportRequest): { calls: Namespace; text: string } | undefined {
    if (names.length === 0 || whole === true || this.#modules.has(keyOf(url))) return undefined;
    const asked = new Set(names.map(({ name }) => name));
    const calls = this.#hosted(
      url,
      this.#hostToolsOf(url).filter((name) => asked.delete(name)),
    );
    const listed = asked.size === 0 ? undefined : reExports(this.#indexText(url) ?? "");
    let text = "";
    for (const exported of asked) {
      const { name, file } = listed?.get(exported) ?? {};
      if (name === undefined || file === undefined) return undefined;
      const call = attempt(() => generatedCall(this.#read(this.#resolve(file, url)), name), undefined);
      if (call === undefined) text += `export { ${name} as ${exported} } from ${JSON.stringify(file)};`;
      else calls[exported] = this.#realm.inside.hostTool(call.server, call.tool, exported);
    }
    return { calls, text };
  }

  /** A server's tools on the host that have no file. */
  #hosted(url: string, tools: readonly string[]): Namespace {
    const exports = this.#realm.inside.newNamespace();
    for (const tool of tools) exports[tool] = this.#realm.inside.hostTool(serverOf(url) ?? "", tool);
    return exports;
  }

  async #linked(module: SourceTextModule): Promise<Linked> {
    if (module.status === "unlinked") await module.link(this.#link);
    return async () => {
      await settled(module.evaluate());
      return { namespace: module.namespace as Namespace };
    };
  }

  readonly #link = async (
    specifier: string,
    { identifier }: { identifier: string },
    { attributes }: { attributes?: Attributes } = {},
  ): Promise<SourceTextModule> => this.#load(this.#resolve(specifier, identifier), { ...attributes });

  #load(url: string, attributes: Attributes): Promise<SourceTextModule> {
    const key = keyOf(url, attributes["type"]);
    const known = this.#modules.get(key);
    if (known !== undefined) return known;
    const loading = this.#make(url, attributes);
    this.#modules.set(key, loading);
    return loading;
  }

  async #make(url: string, attributes: Attributes): Promise<SourceTextModule> {
    if (url === CLIENT_SPECIFIER) return this.#withValues(url, this.#realm.inside.clientExports());
    if (url.startsWith("node:")) return this.#withValues(url, await this.#nodeExports(url));
    const own = this.#hostToolsOf(url);
    if (own.length > 0) return this.#withValues(url, this.#hosted(url, own), this.#indexText(url));
    const text = url.startsWith("file:") ? this.#read(url) : await (await fetch(url)).text();
    if (attributes["type"] === "json") {
      const value = this.#realm.inside.parse(text.replace(/^\uFEFF/, ""));
      return this.#withValues(url, { default: value });
    }
    if (attributes["type"] !== undefined) {
      throw this.#error("TypeError", `A module can't be imported as ${JSON.stringify(attributes["type"])}.`);
    }
    return this.#source(url, text);
  }

  #source(url: string, text: string, more = "", values?: Namespace): SourceTextModule {
    const { pathname } = new URL(url);
    const isTypeScript = !url.startsWith("data:") || url.startsWith("data:application/typescript");
    const code = isTypeScript ? toJavaScript(text, url.startsWith("file:") ? pathname : ".ts") : text;
    const isLight = this.#realm.context !== undefined;
    if (isLight && needsRuntime(code)) throw new RuntimeNeeded();
    // After an `await` there are no frames of the guest on the stack.
    return new SourceTextModule(`await 0;${code}\n${more}`, {
      identifier: url,
      context: this.#realm.context as never,
      initializeImportMeta: metaOf(this.#realm.inside, url, values),
      ...(!isLight && {
        importModuleDynamically: async (specifier: string, _: unknown, given: Record<string, string>) => {
          const module = await this.#load(this.#resolve(specifier, url), { ...given });
          await (
            await this.#linked(module)
          )();
          return module;
        },
      }),
    } as never);
  }

  #hostToolsOf(url: string): readonly string[] {
    return this.#hostTools.get(serverOf(url) ?? "") ?? [];
  }

  /** A module of values, beside what its text exports. Deno never frees a `SyntheticModule`, nor the realm that it is made for. */
  async #withValues(url: string, exports: Namespace, text = ""): Promise<SourceTextModule> {
    const values = this.#realm.inside.newNamespace();
    const lines = Object.keys(exports).map((name, index) => {
      values[name] = attempt(() => exports[name], undefined);
      const quoted = JSON.stringify(name);
      return `const cemValue${index} = import.meta.values[${quoted}]; export { cemValue${index} as ${quoted} };`;
    });
    if (text === "") return this.#source(url, "", lines.join(""), values);
    const own = this.#source(url, text);
    await own.link(this.#link);
    // Names of the module give way to the values'.
    const module = this.#source(url, 'export * from "own";', lines.join(""), values);
    await module.link(async () => own);
    return module;
  }

  async #nodeExports(url: string): Promise<Namespace> {
    if (this.#realm.context !== undefined) throw new RuntimeNeeded();
    return nodeModule(url);
  }

  #isKept(url: string): boolean {
    return this.#settings.toolFolders.some((folder) => pathOf(url).startsWith(`${folder}/`));
  }

  /** The name that a server's generated modules call it by, from their lock file. */
  #ownName(url: string): string | undefined {
    const lock = new URL("tools.lock.json", url).href;
    return attempt(() => (parseJson(this.#read(lock)) as NamedServer).server.name, undefined);
  }

  /** The text that a server's module has beside its tools on the host. Elsewhere a program of another session may have left it. */
  #indexText(url: string): string | undefined {
    if (!this.#isKept(url)) return undefined;
    try {
      return this.#read(url);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  #read(url: string): string {
    const { texts } = this.#settings;
    if (Object.hasOwn(texts, url)) return texts[url] as string;
    const path = pathOf(url);
    if (this.#settings.hidden.includes(path)) throw this.#error("Error", HIDDEN);
    try {
      return readText(toHostPath(path));
    } catch (error) {
      throw error instanceof deno.errors.NotFound ? new MissingModule(url) : error;
    }
  }

  #resolve(specifier: string, referrer: string): string {
    const resolved = resolveModule(specifier, referrer);
    const { url } = resolved;
    if (url === undefined) {
      const isFile = referrer !== PROGRAM_URL && referrer.startsWith("file:");
      const place = isFile ? ` This import is in ${pathOf(referrer)}.` : "";
      throw this.#error("TypeError", resolved.refusal + place);
    }
    const others = otherIndexesOf(url);
    return others.length === 0 || this.#exists(url)
      ? url
      : (others.find((other) => this.#exists(other)) ?? url);
  }

  #exists(url: string): boolean {
    if (Object.hasOwn(this.#settings.texts, url)) return true;
    return attempt(() => stat(toHostPath(pathOf(url))) !== undefined, false);
  }

  #error(name: "TypeError" | "SyntaxError" | "Error", message: string): object {
    return this.#realm.inside.makeError(name, message);
  }

  /** The error of a module that is not there, with those that are. */
  #missing({ specifier }: ImportRequest): object {
    const kind = specifier.startsWith("./skills/") ? "skills" : "servers";
    const isTool = folderOf(new URL(specifier, PROGRAM_URL).href) !== undefined;
    const hint = isTool ? listed(`./${kind}/ has`, foldersOf(kind)) : "";
    return this.#error("TypeError", `There is no module ${specifier}.${hint}`);
  }

  #checkNames(request: ImportRequest, namespace: Namespace): void {
    for (const { name } of request.names) {
      if (name in namespace) continue;
      const hint = listed("It exports", Object.keys(namespace));
      throw this.#error("SyntaxError", `${name} is not exported by ${request.specifier}.${hint}`);
    }
  }
}

/** The first of the names, as a sentence. */
function listed(beginning: string, names: readonly string[]): string {
  if (names.length === 0) return "";
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : "";
  return ` ${beginning} ${names.slice(0, MAX_LISTED).join(", ")}${more}.`;
}

/**
 * Deno holds what initializes `import.meta` for as long as the module lives. So it must not lead to the module: neither would
 * ever be freed, nor the realm. This function stands here because closures hold all of their scope.
 */
function metaOf(inside: Inside, url: string, values: Namespace | undefined): (meta: Namespace) => void {
  return (meta) => {
    if (values !== undefined) meta["values"] = values;
    meta["url"] = url;
    meta["main"] = false;
    if (url.startsWith("file:")) {
      const { pathname } = new URL(url);
      meta["filename"] = pathname;
      meta["dirname"] = pathname.slice(0, pathname.lastIndexOf("/"));
    }
    meta["resolve"] = inside.resolver(url);
  };
}

/** Of whatever was thrown, a program's proxy as well. */
function isMissing(error: unknown): error is MissingModule {
  return attempt(() => error instanceof MissingModule, false);
}

function keyOf(url: string, type = ""): string {
  return `${url} ${type}`;
}

function foldersOf(kind: string): string[] {
  return attempt(
    () => Array.from(deno.readDirSync(toHostPath(`/workspace/${kind}`)), ({ name }) => name),
    [],
  );
}
