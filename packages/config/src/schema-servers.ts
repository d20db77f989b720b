import * as z from "zod";
import { anyObject, secretRecord, secretText, text } from "./setting.ts";
import type { Secret } from "./secret.ts";

interface ServerBase {
  name: string;
  enabled: boolean;
  /** The timeout of a call, in seconds. */
  timeout: number;
  /** The most calls at once. */
  concurrency?: number | undefined;
  /** The generation of the protocol to use. */
  protocol?: "auto" | "legacy" | "2026-07-28" | undefined;
  metadata: Record<string, unknown>;
}

/** An MCP server that is started as a program and spoken to on its standard streams. */
export interface StdioServerSetting extends ServerBase {
  connectionType: "stdio";
  command: string;
  args: string[];
  env: Record<string, Secret>;
  cwd?: string | undefined;
}

/** An MCP server with a URL. `auto` is Streamable HTTP, or SSE where the server refuses that. */
export interface RemoteServerSetting extends ServerBase {
  connectionType: "auto" | "http" | "sse";
  url: string;
  headers: Record<string, Secret>;
  auth?: ServerAuthSetting | undefined;
}

/** OAuth at a server: a user through the browser, or this machine with a client secret. */
export type ServerAuthSetting =
  | {
      kind: "authorization-code";
      clientId?: string | undefined;
      clientSecret?: Secret | undefined;
      scopes?: string[] | undefined;
      clientMetadataUrl?: string | undefined;
      callbackPort?: number | undefined;
    }
  | {
      kind: "client-credentials";
      clientId: string;
      clientSecret: Secret;
      issuer: string;
      scopes?: string[] | undefined;
    };

export type McpServerSetting = StdioServerSetting | RemoteServerSetting;

const DEFAULT_TIMEOUT_SECONDS = 30;
const MAX_CONCURRENCY = 10_000;
const MAX_PORT = 65_535;
const connection = z.enum(["auto", "stdio", "http", "streamable-http", "sse"]);

const auth = z
  .strictObject({
    kind: z.enum(["authorization-code", "client-credentials"]).describe("OAuth grant type."),
    clientId: text.optional().describe("OAuth client id. Default: registered dynamically."),
    clientSecret: secretText.optional().describe("OAuth client secret."),
    issuer: text.optional().describe("OAuth issuer that the secret is sent to, for client-credentials."),
    scopes: z.array(text).optional().describe("OAuth scopes to request."),
    clientMetadataUrl: text.optional().describe("HTTPS URL of the client metadata document."),
    callbackPort: z.int().min(1).max(MAX_PORT).optional().describe("Port on 127.0.0.1. Default: a free one."),
  })
  .transform((entry, context): ServerAuthSetting => {
    const { kind, clientId, clientSecret, issuer, scopes, clientMetadataUrl, callbackPort } = entry;
    if (kind === "client-credentials") {
      if (clientId !== undefined && clientSecret !== undefined && issuer !== undefined)
        return { kind, clientId, clientSecret, issuer, scopes };
      const message = "needs client_id, client_secret and issuer for client-credentials";
      context.addIssue({ code: "custom", message });
      return z.NEVER;
    }
    return { kind, scopes, clientId, clientSecret, clientMetadataUrl, callbackPort };
  });

const shape = {
  url: text.optional().describe("URL of the server. With connection_type stdio: its command line."),
  command: text.optional().describe("Program that runs the server."),
  args: z.array(z.string()).optional().describe("Arguments of the command."),
  env: secretRecord.optional().describe("Environment variables of the command."),
  cwd: text.optional().describe("Folder the command is started in."),
  headers: secretRecord.optional().describe("HTTP headers sent to the URL."),
  connectionType: connection.optional().describe("Transport. Default: stdio for a command, auto for a URL."),
  type: connection.optional().describe("Another name for connection_type."),
  auth: auth
    .optional()
    .describe("OAuth for a URL. Default: through the browser, when the server requires it."),
  enabled: z.boolean().optional().describe("Whether it is used. Default: true."),
  disabled: z.boolean().optional().describe("The opposite of enabled, as other programs write it."),
  concurrency: z
    .int()
    .min(1)
    .max(MAX_CONCURRENCY)
    .optional()
    .describe("Maximum calls at once, of all runs together. Default: what each run may make."),
  protocol: z
    .enum(["auto", "legacy", "2026-07-28"])
    .optional()
    .describe("Generation of the protocol. Default: negotiated."),
  timeout: z
    .number()
    .min(0.1)
    .max(86_400)
    .default(DEFAULT_TIMEOUT_SECONDS)
    .describe("Timeout of a call, in seconds."),
  metadata: anyObject.default({}).describe("Any data; passed on unchanged."),
};

type Entry = z.output<z.ZodObject<typeof shape>>;

type Unnamed<T> = T extends unknown ? Omit<T, "name"> : never;

function toServer(entry: Entry, context: z.RefinementCtx): Unnamed<McpServerSetting> {
  const fail = (message: string, ...path: string[]): never => {
    context.addIssue({ code: "custom", path, message });
    return z.NEVER;
  };
  const { timeout, metadata, command, url, cwd, concurrency, protocol } = entry;
  if (entry.enabled !== undefined && entry.enabled === entry.disabled)
    return fail("contradicts enabled; give one of them", "disabled");
  const base = {
    enabled: entry.enabled ?? entry.disabled !== true,
    timeout,
    metadata,
    concurrency,
    protocol,
  };
  if (entry.type !== undefined && entry.connectionType !== undefined && entry.type !== entry.connectionType) {
    return fail("differs from connection_type; give one of them", "type");
  }
  const type = entry.connectionType ?? entry.type;
  if (command !== undefined && url !== undefined) return fail("has both command and url; give one of them");
  if (command !== undefined || type === "stdio") {
    if (type !== undefined && type !== "stdio")
      return fail(`is of type ${type}, which needs a url, not a command`);
    for (const key of ["headers", "auth"] as const) {
      if (entry[key] !== undefined) return fail("belongs to a url; a command takes env", key);
    }
    const [program, ...args] = command === undefined ? commandLine(url ?? "") : [command];
    if (program === undefined) {
      return url === undefined
        ? fail("needs a command")
        : fail("can't be split into a command line; give command and args", "url");
    }
    return {
      ...base,
      connectionType: "stdio",
      command: program,
      args: [...args, ...(entry.args ?? [])],
      env: entry.env ?? {},
      cwd,
    };
  }
  if (url === undefined) return fail("needs a url or a command");
  for (const key of ["args", "env", "cwd"] as const) {
    if (entry[key] !== undefined) return fail("belongs to a command; a url takes headers", key);
  }
  const connectionType = type === "streamable-http" ? "http" : (type ?? "auto");
  return {
    ...base,
    connectionType,
    url,
    headers: entry.headers ?? {},
    auth: entry.auth,
  };
}

/** Splits a command line, with or without `stdio://`. Empty for one with quotes or backslashes, which is ambiguous. */
function commandLine(url: string): string[] {
  const line = url.replace(/^stdio:(?:\/\/)?/, "").trim();
  return line === "" || /["'\\]/.test(line) ? [] : line.split(/\s+/);
}

const unnamed = z.strictObject(shape).transform(toServer);
const named = z
  .strictObject({ name: text.describe("Name of the server."), ...shape })
  .transform(({ name, ...entry }, context): McpServerSetting => ({ name, ...toServer(entry, context) }));

const list = z.array(named).superRefine((servers, context) => {
  const names = new Set<string>();
  for (const [index, { name }] of servers.entries()) {
    if (names.has(name)) {
      context.addIssue({
        code: "custom",
        path: [index, "name"],
        message: `is the name of two servers: ${JSON.stringify(name)}`,
      });
    }
    names.add(name);
  }
});

const byName = z
  .record(text, unnamed)
  .transform((servers) =>
    Object.entries(servers).map(([name, server]): McpServerSetting => ({ name, ...server })),
  );

/** A list of `{name, url, …}`, or a mapping from names to `{command, …}` or `{url, …}`. Always a list once loaded. */
export const mcpServers = z.union([list, byName]);
