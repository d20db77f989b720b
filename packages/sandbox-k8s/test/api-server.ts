import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { findProblems } from "./known-fields.ts";
import { StoredObjects, type ObjectEvent, type StoredObject } from "./stored-objects.ts";

const PATH =
  /^\/(?:api\/v1|apis\/[^/]+\/[^/]+)(?:\/namespaces\/(?<namespace>[^/]+))?\/(?<plural>[^/]+)(?:\/(?<name>[^/]+))?(?:\/(?<sub>[^/]+))?$/;

/** A refusal, as the API server words it. */
class Refused extends Error {
  readonly status: number;
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

/** Takes the connection to a pod's command, as a kubelet does. */
export type ExecHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/**
 * A test's API server where the real one is not at hand: objects with versions, watches, finalizers, merge patches,
 * refusal of what the schemas do not know, and websockets to commands. Set `forbids` to take rights away.
 */
export class TestApiServer {
  readonly token: string = crypto.randomUUID();
  readonly objects = new StoredObjects();
  /** `create sandboxes`, `get nodes`: what the caller may not do. */
  readonly forbids = new Set<string>();
  readonly requests: { method: string; path: string; body: unknown }[] = [];
  readonly #server: Server;
  #onExec: ExecHandler = (_, socket) => socket.destroy();

  constructor() {
    this.#server = createServer((request, response) => void this.#serve(request, response));
    this.#server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (!this.#isKnown(request) || this.forbids.has("create pods/exec"))
        return socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
      this.#onExec(request, socket, head);
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async listen(onExec: ExecHandler): Promise<this> {
    this.#onExec = onExec;
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  #isKnown({ headers }: IncomingMessage): boolean {
    return headers.authorization === `Bearer ${this.token}`;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = (status: number, body: object) => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    try {
      if (!this.#isKnown(request)) throw new Refused(401, "Unauthorized", "Unauthorized");
      const raw = await text(request);
      const body = raw === "" ? {} : (JSON.parse(raw) as object);
      const url = new URL(request.url ?? "", this.url);
      this.requests.push({ method: request.method ?? "", path: url.pathname, body });
      if (url.searchParams.get("watch") === "true") return this.#watch(url, request, response);
      answer(request.method === "POST" ? 201 : 200, this.#carryOut(request, url, body));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const { status: code, reason, message } = error;
      answer(code, { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message });
    }
  }

  #carryOut({ method, headers }: IncomingMessage, url: URL, body: object): object {
    const { collection, plural, name, sub } = this.#placeOf(url);
    if (name === undefined) {
      if (method === "POST") return this.#create(collection, plural, body as StoredObject);
      this.#mustAllow("list", plural);
      const items = this.objects.list(collection).filter((object) => isSelected(object, url.searchParams));
      return {
        kind: "List",
        apiVersion: "v1",
        metadata: { resourceVersion: String(this.objects.version) },
        items,
      };
    }
    const found = this.objects.find(collection, name);
    const verb = { GET: "get", PATCH: "patch", DELETE: "delete" }[method ?? ""] ?? "update";
    this.#mustAllow(verb, plural);
    if (found === undefined) throw new Refused(404, "NotFound", `${plural} "${name}" not found`);
    if (method === "GET") return found;
    if (method === "DELETE") {
      const { propagationPolicy } = body as { propagationPolicy?: string };
      return this.objects.delete(collection, found, propagationPolicy === "Foreground");
    }
    if (headers["content-type"] !== "application/merge-patch+json")
      throw new Refused(415, "UnsupportedMediaType", String(headers["content-type"]));
    const changed = merge(found, body) as StoredObject;
    if (sub !== "status") mustBeValid(changed);
    return this.objects.put(collection, changed);
  }

  #create(collection: string, plural: string, object: StoredObject): StoredObject {
    this.#mustAllow("create", plural);
    mustBeValid(object);
    if (this.objects.find(collection, object.metadata.name) !== undefined)
      throw new Refused(409, "AlreadyExists", `${plural} "${object.metadata.name}" already exists`);
    return this.objects.put(collection, object);
  }

  #watch(url: URL, request: IncomingMessage, response: ServerResponse): void {
    const { collection } = this.#placeOf(url);
    response.writeHead(200, { "content-type": "application/json", "transfer-encoding": "chunked" });
    response.flushHeaders();
    const version = Number(url.searchParams.get("resourceVersion") ?? this.objects.version);
    const stop = this.objects.watch(collection, version, (event: ObjectEvent) => {
      if (isSelected(event.object, url.searchParams)) response.write(`${JSON.stringify(event)}\n`);
    });
    request.socket.once("close", stop);
    response.once("close", stop);
  }

  #placeOf(url: URL) {
    const { namespace = "", plural = "", name, sub } = PATH.exec(url.pathname)?.groups ?? {};
    if (plural === "") throw new Refused(404, "NotFound", "the server could not find the requested resource");
    return { collection: `${namespace}/${plural}`, plural, name, sub };
  }

  #mustAllow(verb: string, plural: string): void {
    if (!this.forbids.has(`${verb} ${plural}`)) return;
    throw new Refused(
      403,
      "Forbidden",
      `${plural} is forbidden: User "guest-test" cannot ${verb} resource "${plural}"`,
    );
  }
}

function mustBeValid(object: StoredObject): void {
  const problems = findProblems(object);
  if (problems.length === 0) return;
  throw new Refused(
    422,
    "Invalid",
    `${object.kind} "${object.metadata.name}" is invalid: ${problems.join("; ")}`,
  );
}

function isSelected({ metadata }: StoredObject, query: URLSearchParams): boolean {
  const field = query.get("fieldSelector");
  if (field !== null && field !== `metadata.name=${metadata.name}`) return false;
  const labels = query.get("labelSelector")?.split(",") ?? [];
  return labels.every((label) => {
    const [key = "", value] = label.split("=");
    return metadata.labels?.[key] === value;
  });
}

/** As RFC 7386 has it. */
function merge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const base = typeof target === "object" && target !== null && !Array.isArray(target) ? target : {};
  const merged = new Map<string, unknown>(Object.entries(base));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, merge(merged.get(key), value));
  }
  return Object.fromEntries(merged);
}
