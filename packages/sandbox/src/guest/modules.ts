import { SourceTextModule, SyntheticModule } from "node:vm";
import { closestName } from "./closest-name.ts";
import { deno } from "./deno.ts";
import { attempt, placeError, type ErrorPlace } from "./guest-errors.ts";
import { CLIENT_SPECIFIER, folderOf, PROGRAM_URL, resolveModule, serverOf } from "./module-urls.ts";
import { nodeModule } from "./node-modules.ts";
import { toHostPath } from "./paths.ts";
import { settled } from "./primordials.ts";
import type { Realm } from "./realm.ts";
import { reExportsOf, toJavaScript, type ReExport } from "./source-text.ts";

const HIDDEN =
  "This file runs on the host, where code in the sandbox can't see it. Import its tools from ./servers/<server>/index.ts.";

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
  /** Guest paths of files that must not be imported. */
  hidden: readonly string[];
  /** Texts in place of those of files, by the URL of the module. */
  texts: Readonly<Record<string, string>>;
}

type Namespace = Record<string, unknown>;
/** In an object, since a namespace with an export named `then` must never be the value of a promise. */
interface Loaded {
  namespace: Namespace;
}
type Attributes = Readonly<Record<string, string | undefined>>;
type VmModule = SourceTextModule | SyntheticModule;

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
  readonly #modules = new Map<string, Promise<VmModule>>();

  constructor(realm: Realm, settings: ModuleSettings) {
    this.#realm = realm;
    this.#settings = settings;
  }

  /** Loads the modules that a program imports; resolves with their namespaces, in the order asked for. */
  async importAll(requests: readonly ImportRequest[]): Promise<Namespace[]> {
    const found: Namespace[] = [];
    for (const request of requests) {
      try {
        const { namespace } = await this.#import(request);
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
    const isOwn =
      error instanceof MissingModule && error.url === this.#resolve(request.specifier, PROGRAM_URL);
    const told = isOwn ? this.#missing(request) : this.#realm.inside.inward(error);
    return at === undefined ? told : placeError(told, at);
  }

  async #import(request: ImportRequest): Promise<Loaded> {
    const url = this.#resolve(request.specifier, PROGRAM_URL);
    if (url === CLIENT_SPECIFIER) return { namespace: this.#realm.inside.clientExports() };
    if (url.startsWith("node:")) return { namespace: await this.#nodeExports(url) };
    const server = folderOf(url);
    if (server === undefined) return this.#whole(url, request.attributes);
    const loaded = (await this.#named(url, request)) ?? (await this.#whole(url, request.attributes));
    return { namespace: this.#realm.inside.traced(server, loaded.namespace) };
  }

  /** Loads only the files that the names come from, where the module is nothing but a list of them. */
  async #named(url: string, { names, whole }: ImportRequest): Promise<Loaded | undefined> {
    if (names.length === 0 || whole === true || this.#modules.has(keyOf(url))) return undefined;
    const hostTools = this.#hostToolsOf(url);
    const table = this.#reExportsOf(url);
    if (table === undefined) return undefined;
    const namespace = Object.create(null) as Namespace;
    for (const { name } of names) {
      if (hostTools.includes(name)) {
        namespace[name] = this.#hostTool(url, name);
        continue;
      }
      const origin = table.get(name);
      if (origin === undefined) return undefined;
      const module = await this.#whole(this.#resolve(origin.specifier, url), {});
      if (!(origin.name in module.namespace)) return undefined;
      namespace[name] = module.namespace[origin.name];
    }
    return { namespace };
  }

  #reExportsOf(url: string): Map<string, ReExport> | undefined {
    try {
      return reExportsOf(toJavaScript(this.#read(url), new URL(url).pathname));
    } catch (error) {
      // Loading the whole module will report the error.
      return error instanceof MissingModule ? new Map() : undefined;
    }
  }

  async #whole(url: string, attributes: Attributes): Promise<Loaded> {
    const module = await this.#load(url, attributes);
    if (module.status === "unlinked") await module.link(this.#link);
    await settled(module.evaluate());
    return { namespace: module.namespace as Namespace };
  }

  readonly #link = async (
    specifier: string,
    referrer: { identifier: string },
    extra: { attributes?: Readonly<Record<string, string | undefined>> } = {},
  ): Promise<VmModule> => {
    const url = this.#resolve(specifier, referrer.identifier);
    return this.#load(url, { ...extra.attributes });
  };

  #load(url: string, attributes: Attributes): Promise<VmModule> {
    const key = keyOf(url, attributes["type"]);
    const known = this.#modules.get(key);
    if (known !== undefined) return known;
    const loading = this.#make(url, attributes);
    this.#modules.set(key, loading);
    return loading;
  }

  async #make(url: string, attributes: Attributes): Promise<VmModule> {
    if (url === CLIENT_SPECIFIER) return this.#synthetic(url, this.#realm.inside.clientExports());
    if (url.startsWith("node:")) return this.#synthetic(url, await this.#nodeExports(url));
    const own = this.#hostToolsOf(url);
    if (own.length > 0) return this.#withHostTools(url, own);
    const isFile = url.startsWith("file:");
    const text = isFile ? this.#read(url) : await (await fetch(url)).text();
    if (attributes["type"] === "json") {
      const value = this.#realm.inside.parse(text.replace(/^\uFEFF/, ""));
      return this.#synthetic(url, { default: value });
    }
    if (attributes["type"] !== undefined) {
      throw this.#error("TypeError", `A module can't be imported as ${JSON.stringify(attributes["type"])}.`);
    }
    return this.#source(url, text);
  }

  #source(url: string, text: string): VmModule {
    const { pathname } = new URL(url);
    const isTypeScript = !url.startsWith("data:") || url.startsWith("data:application/typescript");
    const code = isTypeScript ? toJavaScript(text, url.startsWith("file:") ? pathname : ".ts") : text;
    return new SourceTextModule(code, {
      identifier: url,
      context: this.#realm.context as never,
      initializeImportMeta: (meta: Namespace) => {
        meta["url"] = url;
        meta["main"] = false;
        if (url.startsWith("file:")) {
          meta["filename"] = pathname;
          meta["dirname"] = pathname.slice(0, pathname.lastIndexOf("/"));
        }
        meta["resolve"] = this.#realm.inside.inward((specifier: string) => this.#resolve(specifier, url));
      },
      importModuleDynamically: async (specifier: string, _: unknown, given: Record<string, string>) => {
        try {
          const module = await this.#load(this.#resolve(specifier, url), { ...given });
          if (module.status === "unlinked") await module.link(this.#link);
          await settled(module.evaluate());
          return module;
        } catch (error) {
          throw this.#realm.inside.inward(error);
        }
      },
    } as never);
  }

  /** A server's tools on the host that have no file, beside what its own module exports. */
  async #withHostTools(url: string, tools: readonly string[]): Promise<VmModule> {
    const exports = Object.create(null) as Namespace;
    let text: string | undefined;
    try {
      text = this.#read(url);
    } catch (error) {
      if (!(error instanceof MissingModule)) throw error;
    }
    if (text !== undefined) {
      const module = this.#source(url, text);
      await (module as SourceTextModule).link(this.#link);
      await settled(module.evaluate());
      Object.assign(exports, module.namespace);
    }
    for (const tool of tools) exports[tool] = this.#hostTool(url, tool);
    return this.#synthetic(url, exports);
  }

  #hostToolsOf(url: string): readonly string[] {
    const server = serverOf(url);
    return server !== undefined && Object.hasOwn(this.#settings.hostTools, server)
      ? (this.#settings.hostTools[server] ?? [])
      : [];
  }

  #hostTool(url: string, tool: string): object {
    return this.#realm.inside.hostTool(serverOf(url) ?? "", tool);
  }

  #synthetic(url: string, exports: Namespace): VmModule {
    const names = Object.keys(exports);
    return new SyntheticModule(
      names,
      function (this: SyntheticModule) {
        for (const name of names)
          this.setExport(
            name,
            attempt(() => exports[name], undefined),
          );
      },
      { identifier: url, context: this.#realm.context },
    );
  }

  async #nodeExports(url: string): Promise<Namespace> {
    const found = await nodeModule(url);
    if (!found.isConfined) this.#realm.spend();
    return this.#realm.inside.runtimeExports(found.exports);
  }

  #read(url: string): string {
    const { texts } = this.#settings;
    if (Object.hasOwn(texts, url)) return texts[url] as string;
    const path = decodeURIComponent(new URL(url).pathname);
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

  #error(name: "TypeError" | "SyntaxError" | "Error", message: string): Error {
    return this.#realm.inside.makeError(name, message);
  }

  /** The error of a module that is not there, with the name that was probably meant. */
  #missing({ specifier }: ImportRequest): Error {
    const kind = specifier.startsWith("./skills/") ? "skills" : "servers";
    const server = folderOf(new URL(specifier, PROGRAM_URL).href);
    const near = server === undefined ? undefined : closestName(server, foldersOf(kind));
    // The folder may be there without the module.
    const hint = near === undefined || near === server ? "" : ` Did you mean ./${kind}/${near}/index.ts?`;
    return this.#error("TypeError", `There is no module ${specifier}.${hint}`);
  }

  #checkNames(request: ImportRequest, namespace: Namespace): void {
    for (const { name, ...at } of request.names) {
      if (name in namespace) continue;
      const near = closestName(name, Object.keys(namespace));
      const hint = near === undefined ? "" : ` Did you mean ${near}?`;
      const message = `${name} is not exported by ${request.specifier}.${hint}`;
      throw placeError(this.#error("SyntaxError", message), at);
    }
  }
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
