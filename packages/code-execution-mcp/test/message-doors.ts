import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Client, specTypeSchemas, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { generateTools } from "../src/admin.ts";
import { runServer } from "../src/index.ts";
import type { ConfigInput } from "../src/index.ts";
import { COMPILE_CACHE, makeProject } from "./upstream-project.ts";

const directory = fileURLToPath(new URL("../../mcp-client/fixtures/directory-server.ts", import.meta.url));
const serveStdio = fileURLToPath(new URL("../fixtures/serve-stdio.ts", import.meta.url));
const CONDITIONS = "--conditions=@cem/source";

/** The first person of each server behind. */
const FIRST = { directory: 0, other: 100 };

/** How a client reaches the server, and the server those behind it. */
export interface Way {
  client: "stdio" | "http";
  era: "legacy" | "modern";
  behind: "stdio" | "http";
}

/** A client of a server with two directories behind it, and everything that passed between them. */
export interface Doors {
  client: Client;
  /** Values that the client received, by the name of its type in the SDK. */
  received: { type: string; message: JSONRPCMessage }[];
  /** Values that the server `directory` received, by the message type. */
  got: (door: string) => unknown[];
  /** Begins anew with what the client and the servers behind received. */
  forget: () => void;
  /** Runs code with the tools of both servers, and returns what the client is told of it. */
  run: (
    code: string,
    options?: { signal?: AbortSignal },
  ) => Promise<{ result: unknown; error: string | null }>;
  /** Lines of the server's log. */
  log: () => string;
}

/**
 * @param answer - The model's answer to a text.
 * @param atEnd - Takes what closes them.
 */
export async function openDoors(
  { client: by, era, behind }: Way,
  { config, answer }: { config?: ConfigInput; answer: (text: string) => string },
  atEnd: (work: () => Promise<void>) => void,
): Promise<Doors> {
  const project = await makeProject(atEnd);
  const file = path.join(project.folder, "got.jsonl");
  const servers: NonNullable<ConfigInput["mcpServers"]> = {};
  for (const [name, first] of Object.entries(FIRST)) {
    const args = [CONDITIONS, directory, file, behind, String(first)];
    servers[name] =
      behind === "stdio"
        ? { command: process.execPath, args, env: { ...COMPILE_CACHE } }
        : { url: await startHttp(args, atEnd) };
  }
  await generateTools(project.source(servers));
  const { onLog: _onLog, ...source } = project.source(servers, config);
  const options = { ...source, expose: ["resources", "prompts"] as const };
  const log: string[] = [];
  let transport: Transport;
  if (by === "http") {
    const running = await runServer({
      ...options,
      config: { ...options.config, logging: { level: "ERROR" } },
      log: (level, message) => void log.push(`${level} ${message}`),
      transport: "http",
      port: 0,
    });
    atEnd(() => running.close(0));
    transport = new StreamableHTTPClientTransport(new URL(running.url ?? ""));
  } else {
    const args = [CONDITIONS, serveStdio, JSON.stringify(options)];
    const env = { ...getDefaultEnvironment(), ...COMPILE_CACHE };
    const stdio = new StdioClientTransport({ command: process.execPath, args, env, stderr: "pipe" });
    stdio.stderr?.on("data", (text) => log.push(String(text)));
    transport = stdio;
  }
  const client = new Client(
    { name: "test", version: "1.0.0" },
    {
      capabilities: { elicitation: { form: {} }, sampling: {} },
      versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: "2026-07-28" } },
    },
  );
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    const schema = (params as { requestedSchema?: { properties: Record<string, { default?: string }> } })
      .requestedSchema;
    const name = schema?.properties["name"]?.default;
    // Nobody answers the question that is withdrawn.
    return name === undefined
      ? new Promise(() => {})
      : { action: "accept" as const, content: { name: `Yes, ${name}` } };
  });
  client.setRequestHandler("sampling/createMessage", async ({ params }) => ({
    model: "test",
    role: "assistant",
    content: { type: "text", text: answer(JSON.stringify(params)) },
  }));
  const received = watch(transport);
  await client.connect(transport);
  atEnd(() => client.close());
  const lines = (): string[] => (existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : []);
  let earlier = 0;
  return {
    client,
    received,
    got: (door) =>
      lines()
        .slice(earlier)
        .map((line) => JSON.parse(line) as { door: string; got: unknown; first: number })
        .filter((one) => one.door === door && one.first === FIRST.directory)
        .map(({ got }) => got),
    forget: () => {
      earlier = lines().length;
      received.length = 0;
    },
    async run(code, options = {}) {
      const importing = `import * as directory from "./servers/directory/index.ts";\nimport * as other from "./servers/other/index.ts";\n`;
      const request = { name: "execute_code", arguments: { code: importing + code } };
      const answered = await client.callTool(request, { ...options, onprogress: () => {} });
      return answered.structuredContent as { result: unknown; error: string | null };
    },
    log: () => log.join("\n"),
  };
}

async function startHttp(args: string[], atEnd: (work: () => Promise<void>) => void): Promise<string> {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
  atEnd(async () => void child.kill());
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error("The server ended before it listened.");
}

/** Keeps every message that a client receives, with the name of its type. */
function watch(transport: Transport): Doors["received"] {
  const received: Doors["received"] = [];
  const methods = new Map<string | number, string>();
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if ("method" in message && "id" in message) methods.set(message.id, message.method);
    return send(message, options);
  };
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has handlers only
  transport.onmessage = (message) => void received.push({ type: typeOf(message, methods), message });
  return received;
}

function typeOf(message: JSONRPCMessage, methods: ReadonlyMap<string | number, string>): string {
  if ("method" in message) return TYPES.get(message.method) ?? message.method;
  if ("error" in message) return "JSONRPCErrorResponse";
  if (message.result["resultType"] === "input_required") return "InputRequiredResult";
  const method = methods.get(message.id) ?? "";
  const result = (TYPES.get(method) ?? "").replace(/Request$/, "Result");
  return result in specTypeSchemas ? result : "EmptyResult";
}

/** Unions and what other types are made of. */
const GENERAL =
  /^(?:Client|Server|Paginated|JSONRPC|Compatibility.*|OAuth.*)?(?:Request|Result|Notification)$/;

/** The names of all types of messages that the SDK knows, of every revision of the protocol. */
export function messageTypes(): string[] {
  const names = Object.keys(specTypeSchemas).filter((name) => /(?:Request|Result|Notification)$/.test(name));
  return [...names.filter((name) => !GENERAL.test(name)), "JSONRPCErrorResponse", "InputRequiredResult"];
}

function methodOf(name: string): string | undefined {
  const { "~standard": standard } = specTypeSchemas[name as keyof typeof specTypeSchemas];
  const described = standard as { jsonSchema?: { input(options: object): object } };
  const schema: { properties?: { method?: { const?: string } } } =
    described.jsonSchema?.input({ target: "draft-2020-12" }) ?? {};
  return schema.properties?.method?.const;
}

/** The names of types by method. */
const TYPES: ReadonlyMap<string, string> = new Map(
  messageTypes().flatMap((name) => {
    const method = name in specTypeSchemas ? methodOf(name) : undefined;
    return method === undefined ? [] : [[method, name] as const];
  }),
);
