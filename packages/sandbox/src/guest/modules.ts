import { SourceTextModule } from "node:vm";
import { deno } from "./deno.ts";
import { attempt, type ErrorPlace } from "./guest-errors.ts";
import type { Inside } from "./inside/index.ts";
import { CLIENT_SPECIFIER, folderOf, pathOf, PROGRAM_URL, resolveModule, serverOf } from "./module-urls.ts";
import { needsRuntime, RuntimeNeeded } from "./needs-runtime.ts";
import { nodeModule } from "./node-modules.ts";
import { toHostPath } from "./paths.ts";
import { settled } from "./primordials.ts";
import type { Realm } from "./realm.ts";
import { exportedFile, generatedCall, toJavaScript, trimmedIndex } from "./source-text.ts";

const HIDDEN =
  "This file runs on the host, where code in the sandbox can't see it. Import its tools from ./servers/<server>/index.ts.";

/** The most names that an error lists. */
const MAX_LISTED = 20;

/** One import declaration, as the compiled program asks for it. */
export interface ImportRequest {
  specifier: string;
  attributes: Record<string, string>;
  /** Names that are taken from it; none for the whole module. */
  names: ({ name: string } & ErrorPlace)[];
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
/** Evaluates a module that is linked. In an object, since a namespace with an export named `then` must never be the value of a promise. */
type Linked = () => Promise<{ namespace: Namespace }>;
type Attributes = Readonly<Record<string, string | undefined>>;

/** The names that a program imports of a module. */
interface Named {
  hosted: readonly string[];
  index: readonly string[];
}

/** Taken before functions that take paths are patched. */
const readText = deno.readTextFileSync.bind(deno);

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
  /** Linked modules by URL. */
  readonly #modules = new Map<string, Promise<SourceTextModule>>();

  constructor(realm: Realm, settings: ModuleSettings) {
    this.#realm = realm;
    this.#settings = settings;
  }

  /**
   * Loads the modules that a program imports; resolves with their namespaces, in the order asked for. Evaluates none before
   * all are linked.
   *
   * @throws RuntimeNeeded; otherwise an error of the realm, or what a module threw.
   */
  async importAll(requests: readonly ImportRequest[]): Promise<Namespace[]> {
    const linked: (Linked | { error: unknown })[] = [];
    for (const request of requests) {
      linked.push(
        await this.#import(request).catch((error: unknown) => {
          if (error instanceof RuntimeNeeded) throw error;
          return { error };
        }),
      );
    }
    const found: Namespace[] = [];
    for (const [index, request] of requests.entries()) {
      const module = linked[index] as Linked | { error: unknown };
      try {
        if (typeof module === "object") throw module.error;
        const { namespace } = await module();
        this.#checkNames(request, namespace);
        found.push(namespace);
      } catch (error) {
        throw this.#explain(error, request);
      }
    }
    return found;
  }

  /** The error of a failed import as one of the realm, with the program's line that contains the import. */
  #explain(error: unknown, request: ImportRequest): unknown {
    const [at] = request.names;
    const isOwn = isMissing(error) && error.url === this.#resolve(request.specifier, PROGRAM_URL);
    const told = isOwn ? this.#missing(request) : this.#realm.ownError(error);
    if (at !== undefined) this.#realm.inside.placeError(told, at.line, at.column);
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
    if (server === undefined) return this.#linked(this.#load(url, request.attributes));
    const named = this.#named(url, request);
    const calls = named && attempt(() => this.#calls(url, named), undefined);
    // The host records them itself.
    if (calls !== undefined) return async () => ({ namespace: calls });
    const linked = await this.#linked(
      named === undefined
        ? this.#load(url, request.attributes)
        : this.#withHostTools(url, named.hosted, named.index.join("")),
    );
    const isKept = this.#settings.toolFolders.some((folder) => pathOf(url).startsWith(`${folder}/`));
    // A program could give a module of its own the name of any server.
    if (!isKept) return linked;
    return async () => ({ namespace: this.#realm.inside.traced(server, (await linked()).namespace) });
  }

  /** The tools without a file and the statements that the names come from, where the module is nothing but a list of them. */
  #named(url: string, { names, whole }: ImportRequest): Named | undefined {
    if (names.length === 0 || whole === true || this.#modules.has(keyOf(url))) return undefined;
    const asked = new Set(names.map(({ name }) => name));
    const hosted = this.#hostToolsOf(url).filter((name) => asked.delete(name));
    const index = asked.size === 0 ? [] : trimmedIndex(this.#readIfThere(url) ?? "", [...asked]);
    return index && { hosted, index };
  }

  /** Functions that only make a call, as those of generated tools do: no module of theirs need be loaded. */
  #calls(url: string, { hosted, index }: Named): Namespace | undefined {
    const { inside } = this.#realm;
    const calls = inside.newNamespace();
    for (const tool of hosted) calls[tool] = inside.hostTool(serverOf(url) ?? "", tool);
    for (const statement of index) {
      const { name = "", file = "" } = exportedFile(statement) ?? {};
      const call = generatedCall(this.#read(new URL(file, url).href), name);
      if (call === undefined) return undefined;
      calls[name] = inside.hostTool(call.server, call.tool, name);
    }
    return calls;
  }

  async #linked(loading: Promise<SourceTextModule>): Promise<Linked> {
    const module = await loading;
    if (module.status === "unlinked") await module.link(this.#link);
    return async () => {
      await settled(module.evaluate());
      return { namespace: module.namespace as Namespace };
    };
  }

  readonly #link = async (
    specifier: string,
    referrer: { identifier: string },
    extra: { attributes?: Readonly<Record<string, string | undefined>> } = {},
  ): Promise<SourceTextModule> => {
    const url = this.#resolve(specifier, referrer.identifier);
    return this.#load(url, { ...extra.attributes });
  };

  #load(url: string, attributes: Attributes): Promise<SourceTextModule> {
    const key = keyOf(url, attributes["type"]);
    const known = this.#modules.get(key);
    if (known !== undefined) return known;
    const loading = this.#make(url, attributes);
    this.#modules.set(key, loading);
    return loading;
  }

  async #make(url: string, attributes: Attributes): Promise<SourceTextModule> {
    if (url === CLIENT_SPECIFIER) return this.#ofValues(url, this.#realm.inside.clientExports());
    if (url.startsWith("node:")) return this.#ofValues(url, await this.#nodeExports(url));
    const own = this.#hostToolsOf(url);
    if (own.length > 0) return this.#withHostTools(url, own, this.#readIfThere(url) ?? "");
    const text = url.startsWith("file:") ? this.#read(url) : await (await fetch(url)).text();
    if (attributes["type"] === "json") {
      const value = this.#realm.inside.parse(text.replace(/^\uFEFF/, ""));
      return this.#ofValues(url, { default: value });
    }
    if (attributes["type"] !== undefined) {
      throw this.#error("TypeError", `A module can't be imported as ${JSON.stringify(attributes["type"])}.`);
    }
    return this.#source(url, text);
  }

  #source(url: string, text: string): SourceTextModule {
    const { pathname } = new URL(url);
    const isTypeScript = !url.startsWith("data:") || url.startsWith("data:application/typescript");
    const code = isTypeScript ? toJavaScript(text, url.startsWith("file:") ? pathname : ".ts") : text;
    const isLight = this.#realm.context !== undefined;
    if (isLight && needsRuntime(code)) throw new RuntimeNeeded();
    // After an `await` there are no frames of the guest on the stack.
    return new SourceTextModule(`await 0;${code}`, {
      identifier: url,
      context: this.#realm.context as never,
      initializeImportMeta: fileMeta(this.#realm.inside, url),
      ...(!isLight && {
        importModuleDynamically: async (specifier: string, _: unknown, given: Record<string, string>) => {
          const module = await this.#load(this.#resolve(specifier, url), { ...given });
          if (module.status === "unlinked") await module.link(this.#link);
          await settled(module.evaluate());
          return module;
        },
      }),
    } as never);
  }

  /** A server's tools on the host that have no file, beside what its own module exports. */
  async #withHostTools(url: string, tools: readonly string[], text: string): Promise<SourceTextModule> {
    const exports = Object.create(null) as Namespace;
    const { inside } = this.#realm;
    for (const tool of tools) exports[tool] = inside.hostTool(serverOf(url) ?? "", tool);
    if (text === "") return this.#ofValues(url, exports);
    const own = this.#source(url, text);
    if (tools.length === 0) return own;
    await own.link(this.#link);
    const from = `export * from "own"; export { ${tools.join(", ")} } from "host";`;
    const module = new SourceTextModule(from, { identifier: url, context: this.#realm.context as never });
    const host = this.#ofValues(`${url}#host`, exports);
    await module.link(async (specifier: string) => (specifier === "own" ? own : host));
    return module;
  }

  #hostToolsOf(url: string): readonly string[] {
    const server = serverOf(url);
    return server !== undefined && Object.hasOwn(this.#settings.hostTools, server)
      ? (this.#settings.hostTools[server] ?? [])
      : [];
  }

  /** A module of values. Deno never frees a `SyntheticModule`, nor the realm that it is made for. */
  #ofValues(url: string, exports: Namespace): SourceTextModule {
    const values = this.#realm.inside.newNamespace();
    const lines = Object.keys(exports).map((name, index) => {
      values[name] = attempt(() => exports[name], undefined);
      const quoted = JSON.stringify(name);
      return `const value${index} = values[${quoted}]; export { value${index} as ${quoted} };`;
    });
    return new SourceTextModule(`const { values } = import.meta; ${lines.join("")}`, {
      identifier: url,
      context: this.#realm.context as never,
      initializeImportMeta: valuesMeta(values),
    } as never);
  }

  async #nodeExports(url: string): Promise<Namespace> {
    if (this.#realm.context !== undefined) throw new RuntimeNeeded();
    return nodeModule(url);
  }

  #readIfThere(url: string): string | undefined {
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
    if (resolved.url === undefined) throw this.#error("TypeError", resolved.refusal);
    return resolved.url;
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
    for (const { name, line, column } of request.names) {
      if (name in namespace) continue;
      const hint = listed("It exports", Object.keys(namespace));
      const error = this.#error("SyntaxError", `${name} is not exported by ${request.specifier}.${hint}`);
      this.#realm.inside.placeError(error, line, column);
      throw error;
    }
  }
}

/** The first of the names, as a sentence. */
function listed(beginning: string, names: readonly string[]): string {
  if (names.length === 0) return "";
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : "";
  return ` ${beginning} ${names.slice(0, MAX_LISTED).join(", ")}${more}.`;
}

type InitializeMeta = (meta: Namespace) => void;

/*
 * Deno holds what initializes `import.meta` for as long as the module lives. So it must not lead to the module: neither
 * would ever be freed, nor the realm. These functions stand here because closures hold all of their scope.
 */

function fileMeta(inside: Inside, url: string): InitializeMeta {
  return (meta) => {
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

function valuesMeta(values: Namespace): InitializeMeta {
  return (meta) => {
    meta["values"] = values;
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
