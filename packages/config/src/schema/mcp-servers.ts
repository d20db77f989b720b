import * as z from "zod/mini";
import {
  anyObject,
  described,
  fail,
  number,
  optional,
  secretRecord,
  secretText,
  setting,
  text,
  unique,
  variableRecord,
  whole,
  withDefault,
} from "./setting.ts";

const DEFAULT_TIMEOUT_SECONDS = 30;
const MAX_CONCURRENCY = 10_000;
const MAX_CONNECTIONS = 1_000;
const MAX_PORT = 65_535;
/** The beginning may be a variable. */
const WHOLE_URL = /^(?:[a-z][a-z\d+.-]*:\/\/|\$\{)./iu;
const connection = z.enum(["auto", "stdio", "http", "streamable-http", "sse"]);

const authEntry = z.strictObject({
  kind: optional(
    z.enum(["authorization-code", "client-credentials"]),
    "OAuth grant type. Default: client-credentials with an issuer, else authorization-code.",
  ),
  clientId: optional(
    text,
    "OAuth client id, for an authorization server at which clients are registered by hand. Default: registered dynamically.",
  ),
  clientSecret: optional(secretText, "OAuth client secret."),
  issuer: optional(text, "OAuth issuer that the secret is sent to, for client-credentials."),
  scopes: optional(z.array(text), "OAuth scopes to request."),
  clientMetadataUrl: optional(text, "HTTPS URL of the client metadata document."),
  callbackPort: optional(
    whole(1, MAX_PORT),
    "Port of the redirect URL http://127.0.0.1:<port>/callback. Default: a free one.",
  ),
});

/** Either a user signs in through the browser, or this machine with a client secret. */
function toAuth(entry: z.output<typeof authEntry>, payload: z.core.ParsePayload) {
  const { clientId, clientSecret, issuer, scopes, clientMetadataUrl, callbackPort } = entry;
  const { kind = issuer === undefined ? "authorization-code" : "client-credentials" } = entry;
  if (kind === "client-credentials")
    return clientId !== undefined && clientSecret !== undefined && issuer !== undefined
      ? { kind, clientId, clientSecret, issuer, scopes }
      : fail(payload, "needs client_id, client_secret and issuer for client-credentials");
  return { kind, scopes, clientId, clientSecret, clientMetadataUrl, callbackPort };
}

const shape = {
  url: optional(text, "URL of the server. With connection_type stdio: its command line."),
  command: optional(text, "Program that runs the server."),
  args: optional(z.array(z.string()), "Arguments of the command."),
  env: optional(variableRecord, "Environment variables of the command."),
  cwd: setting(
    z.optional(text),
    "Folder the command is started in, and that relative paths in command and args count from. Default: the folder of the configuration.",
    // A variable may hold an absolute path.
    { path: (cwd) => !cwd.startsWith("${") },
  ),
  headers: optional(secretRecord, "HTTP headers sent to the URL."),
  connectionType: optional(connection, "Transport. Default: stdio for a command, auto for a URL."),
  type: optional(connection, "Another name for connection_type."),
  auth: optional(
    z.pipe(authEntry, z.transform(toAuth)),
    "OAuth for a URL. Default: through the browser, when the server requires it.",
  ),
  enabled: optional(z.boolean(), "Whether it is used. Default: true."),
  disabled: optional(z.boolean(), "The opposite of enabled, as other programs write it."),
  concurrency: optional(
    whole(1, MAX_CONCURRENCY),
    "Maximum calls at once, of all runs together. Default: what each run may make.",
  ),
  writes: optional(
    z.enum(["serial", "parallel"]),
    "Calls of tools that change something, by annotation or else by name: one after the other, or at once. Default: serial.",
  ),
  protocol: optional(
    z.enum(["auto", "legacy", "2026-07-28"]),
    "Generation of the protocol. Default: negotiated.",
  ),
  connections: optional(
    z.enum(["auto", "shared", "session", "run"]),
    "Which calls share a connection. session: those of a client or workflow run, which is the default (auto). run: further ones for runs side by side. shared: all, for a server without state or questions.",
  ),
  maxConnections: optional(
    whole(1, MAX_CONNECTIONS),
    "Maximum connections, each a process for a command; further calls wait. Default: 8.",
  ),
  timeout: described(
    withDefault(number(0.1, 86_400), DEFAULT_TIMEOUT_SECONDS),
    "Timeout of a call, in seconds.",
  ),
  metadata: described(withDefault(anyObject, {}), "Any data; passed on unchanged."),
};

type Entry = z.output<z.ZodMiniObject<typeof shape>>;

/** A program with stdin and stdout, or a URL: `auto` is Streamable HTTP, with SSE where the server refuses that. */
function toServer(entry: Entry, payload: z.core.ParsePayload) {
  const refuse = (message: string, ...path: string[]): never => fail(payload, message, ...path);
  const { command, url, args: given = [], env, headers, auth, cwd, ...others } = entry;
  const { type: otherName, connectionType: named, enabled, disabled, ...rest } = others;
  if (enabled !== undefined && enabled === disabled)
    return refuse("contradicts enabled; give one of them", "disabled");
  const base = { ...rest, enabled: enabled ?? disabled !== true };
  if (otherName !== undefined && named !== undefined && otherName !== named)
    return refuse("differs from connection_type; give one of them", "type");
  const type = named ?? otherName;
  if (command !== undefined && url !== undefined) return refuse("has both command and url; give one of them");
  if (command !== undefined || type === "stdio") {
    if (type !== undefined && type !== "stdio")
      return refuse(`is of type ${type}, which needs a url, not a command`);
    for (const key of ["headers", "auth"] as const) {
      if (entry[key] !== undefined) return refuse("belongs to a url; a command takes env", key);
    }
    const [program, ...args] = command === undefined ? commandLine(url ?? "") : [command];
    if (program === undefined)
      return url === undefined
        ? refuse("needs a command")
        : refuse("can't be split into a command line; give command and args", "url");
    return {
      ...base,
      connectionType: "stdio" as const,
      command: program,
      args: [...args, ...given],
      env: env ?? {},
      cwd,
    };
  }
  if (url === undefined) return refuse("needs a url or a command");
  for (const key of ["args", "env", "cwd"] as const) {
    if (entry[key] !== undefined) return refuse("belongs to a command; a url takes headers", key);
  }
  if (!WHOLE_URL.test(url)) return refuse("needs its scheme, as in https://example.com/mcp", "url");
  const connectionType = type === "streamable-http" ? "http" : (type ?? "auto");
  return { ...base, connectionType, url, headers: headers ?? {}, auth };
}

/** Splits a command line, with or without `stdio://`. Empty for one with quotes or backslashes, which is ambiguous. */
function commandLine(url: string): string[] {
  const line = url.replace(/^stdio:(?:\/\/)?/, "").trim();
  return line === "" || /["'\\]/.test(line) ? [] : line.split(/\s+/);
}

const unnamed = z.pipe(z.strictObject(shape), z.transform(toServer));
const named = z.pipe(
  z.strictObject({ name: described(text, "Name of the server."), ...shape }),
  z.transform(({ name, ...entry }, payload) => ({ name, ...toServer(entry, payload) })),
);

export type McpServerSetting = z.output<typeof named>;
export type StdioServerSetting = Extract<McpServerSetting, { connectionType: "stdio" }>;
export type RemoteServerSetting = Exclude<McpServerSetting, StdioServerSetting>;
export type ServerAuthSetting = NonNullable<RemoteServerSetting["auth"]>;

const list = z.array(named).check(
  unique(
    ({ name }: McpServerSetting) => name,
    (name) => `is the name of two servers: ${JSON.stringify(name)}`,
    "name",
  ),
);

const byName = z.pipe(
  z.record(z.string(), unnamed),
  z.transform((servers, payload) =>
    Object.hasOwn(servers, "")
      ? fail(payload, "has a server with an empty name")
      : Object.entries(servers).map(([name, server]): McpServerSetting => ({ name, ...server })),
  ),
);

/** A list of `{name, url, …}`, or a mapping from names to `{command, …}` or `{url, …}`. Always a list once loaded. */
export const mcpServers = z.union([list, byName]);
