import { deno } from "./deno.ts";
import { attempt, placeError, type ErrorPlace } from "./guest-errors.ts";
import { closestName } from "./closest-name.ts";
import { inThisRun, toHostPath } from "./paths.ts";
import {
  BlobConstructor,
  create,
  createObjectUrl,
  execPattern,
  includesText,
  keys,
  quote,
  revokeObjectUrl,
  startsWith,
  UrlConstructor,
} from "./primordials.ts";
import { tracedModule } from "./tracer.ts";

const CLIENT_SPECIFIER = "cem:client";
const PROGRAM_URL = "file:///workspace/program.ts";
const TOOL_MODULE = /^\/workspace\/(?:servers|skills)\/([^/]+)\/[^/]+$/;
const HAS_SCHEME = /^[a-z][a-z+.-]*:/i;

/** One import declaration, as the compiled program asks for it. */
export interface ImportRequest {
  specifier: string;
  attributes: Record<string, string>;
  names: ({ name: string } & ErrorPlace)[];
}

type Namespace = Record<string, unknown>;

interface Resolved {
  /** What Deno loads. */
  url: string;
  /** The server or skill that the module belongs to. */
  server: string | undefined;
}

const wrapped = create(null) as Record<string, Namespace>;

/** Loads source text as a module of its own. */
export async function importSource(source: string, type: string): Promise<Namespace> {
  const url = createObjectUrl(new BlobConstructor([source], { type }));
  try {
    return (await import(url)) as Namespace;
  } finally {
    revokeObjectUrl(url);
  }
}

function resolve(specifier: string): Resolved {
  const isPath = startsWith(specifier, "./") || startsWith(specifier, "../") || startsWith(specifier, "/");
  if (!isPath && !startsWith(specifier, "file:")) {
    if (execPattern(HAS_SCHEME, specifier) !== null) return { url: specifier, server: undefined };
    throw new TypeError(
      `"${specifier}" is not here. A program can import ./servers/…, ./skills/…, other files of /workspace, and Node's modules as node:….`,
    );
  }
  const url = new UrlConstructor(specifier, PROGRAM_URL);
  const server = execPattern(TOOL_MODULE, url.pathname)?.[1];
  url.pathname = toHostPath(url.pathname);
  return { url: url.href, server };
}

function attributesOf(attributes: Record<string, string>): string {
  const names = keys(attributes);
  let text = "";
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] as string;
    text += `${index > 0 ? "," : ""}${quote(name)}:${quote(attributes[name] ?? "")}`;
  }
  return text === "" ? "" : ` with {${text}}`;
}

let client: Namespace | undefined;

/** The client module, where runs share it and need not import it again. */
export function useClientModule(namespace: Namespace): void {
  client = namespace;
}

function isClient({ specifier, attributes }: ImportRequest): boolean {
  return client !== undefined && specifier === CLIENT_SPECIFIER && keys(attributes).length === 0;
}

/** Every module in one array, in the order asked for. */
export async function importAll(requests: ImportRequest[]): Promise<Namespace[]> {
  // One module re-exports all of them: they load together, run in order as ES modules do, and none of them is ever
  // the value of a promise, so an export named `then` is not called.
  let source = "";
  const resolved: (Resolved | undefined)[] = [];
  for (let index = 0; index < requests.length; index += 1) {
    const request = requests[index] as ImportRequest;
    if (isClient(request)) {
      resolved[index] = undefined;
      continue;
    }
    try {
      const target = resolve(request.specifier);
      resolved[index] = target;
      source += `export * as m${index} from ${quote(target.url)}${attributesOf(request.attributes)};`;
    } catch (error) {
      throw placed(error, request);
    }
  }
  let modules: Namespace = {};
  try {
    if (source !== "") modules = await importSource(source, "text/javascript");
  } catch (error) {
    throw explain(error, requests, resolved);
  }
  const found: Namespace[] = [];
  for (let index = 0; index < requests.length; index += 1) {
    const target = resolved[index];
    found[index] = target === undefined ? (client as Namespace) : namespaceOf(modules, index, target);
    checkNames(requests[index] as ImportRequest, found[index] as Namespace);
  }
  return found;
}

function namespaceOf(modules: Namespace, index: number, { url, server }: Resolved): Namespace {
  const namespace = modules[`m${index}`] as Namespace;
  return server === undefined ? namespace : (wrapped[inThisRun(url)] ??= tracedModule(server, namespace));
}

function placed(error: unknown, request: ImportRequest): unknown {
  const place = request.names[0];
  return place !== undefined && error instanceof Error ? placeError(error, place) : error;
}

/** Maps a failed import to the program's line that contains it. */
function explain(error: unknown, requests: ImportRequest[], resolved: (Resolved | undefined)[]): unknown {
  const message = attempt(() => (error as Error).message, "");
  for (let index = 0; index < requests.length; index += 1) {
    const target = resolved[index];
    if (target === undefined) continue;
    const { url, server } = target;
    const request = requests[index] as ImportRequest;
    if (!includesText(message, url)) continue;
    if (!includesText(message, `Module not found "${url}`)) return placed(error, request);
    const kind = startsWith(request.specifier, "./skills/") ? "skills" : "servers";
    const near = server === undefined ? undefined : closestName(server, folders(kind));
    const hint = near === undefined ? "" : ` Did you mean ./${kind}/${near}/index.ts?`;
    return placed(new TypeError(`There is no module ${request.specifier}.${hint}`), request);
  }
  return requests.length === 1 ? placed(error, requests[0] as ImportRequest) : error;
}

function folders(kind: string): string[] {
  return attempt(() => {
    const names: string[] = [];
    for (const entry of deno.readDirSync(toHostPath(`/workspace/${kind}`))) names[names.length] = entry.name;
    return names;
  }, []);
}

function checkNames(request: ImportRequest, namespace: Namespace): void {
  for (let index = 0; index < request.names.length; index += 1) {
    const { name, ...place } = request.names[index] as ImportRequest["names"][number];
    if (name in namespace) continue;
    const near = closestName(name, keys(namespace));
    const hint = near === undefined ? "" : ` Did you mean ${near}?`;
    const error = new SyntaxError(`${name} is not exported by ${request.specifier}.${hint}`);
    throw placeError(error, place);
  }
}
