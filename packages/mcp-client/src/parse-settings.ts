import { CemError } from "@cem/core";
import { parseArgsStringToArgv } from "string-argv";
import { z } from "zod";
import { expandVariables } from "./environment-values.ts";
import type { Environment, Expansion } from "./environment-values.ts";
import type { AuthSettings, McpServerSettings, TransportSettings } from "./server-settings.ts";

const authSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("authorization-code"),
    clientId: z.string().optional(),
    clientSecret: z.string().optional(),
    scopes: z.array(z.string()).optional(),
    clientMetadataUrl: z.string().optional(),
    callbackPort: z.int().min(1).max(65_535).optional(),
  }),
  z.strictObject({
    kind: z.literal("client-credentials"),
    clientId: z.string(),
    clientSecret: z.string(),
    issuer: z.string(),
    scopes: z.array(z.string()).optional(),
  }),
]);

const shared = {
  command: z.string().min(1).optional(),
  args: z.array(z.string()).optional(),
  env: z.record(z.string(), z.coerce.string()).optional(),
  cwd: z.string().optional(),
  url: z.string().min(1).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  enabled: z.boolean().optional(),
  /** Seconds. */
  timeout: z.number().positive().optional(),
  concurrency: z.int().positive().optional(),
  protocol: z.enum(["auto", "legacy", "2026-07-28"]).optional(),
  auth: authSchema.optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
};

const listEntrySchema = z.strictObject({
  ...shared,
  name: z.string().min(1),
  connection_type: z.enum(["sse", "stdio", "http"]).optional(),
});

/** Other programs keep keys of their own in this form, so unknown ones pass. */
const mapEntrySchema = z.looseObject({
  ...shared,
  type: z.enum(["stdio", "http", "sse", "streamable-http", "streamableHttp"]).optional(),
  disabled: z.boolean().optional(),
});

type Entry = z.infer<typeof listEntrySchema> | z.infer<typeof mapEntrySchema>;

export interface ParseServerSettingsOptions {
  /** Where `${VAR}` comes from. Default: `process.env`. */
  environment?: Environment;
  /** Named in errors, such as the file. Default: `mcp_servers`. */
  source?: string;
}

/**
 * Reads server settings in either form that people have: a list of
 * `{name, url, connection_type, enabled, timeout, metadata}`, or a map
 * `{name: {command, args, env, cwd} | {url, headers}}`, also inside `mcpServers` or `servers`.
 * Pure: nothing is started or read but what is passed in.
 *
 * @throws CemError `SERVER_SETTINGS_INVALID` or `VARIABLE_MISSING`, with the place and without values.
 */
export function parseServerSettings(
  raw: unknown,
  options: ParseServerSettingsOptions = {},
): McpServerSettings[] {
  const source = options.source ?? "mcp_servers";
  const environment = options.environment ?? process.env;
  const settings = entriesOf(raw, source).map(({ name, entry, place }) =>
    toSettings(name, entry, place, environment),
  );
  const names = new Set<string>();
  for (const { name } of settings) {
    if (names.has(name)) throw invalid(source, `has two servers named "${name}". Rename one`);
    names.add(name);
  }
  return settings;
}

function entriesOf(raw: unknown, source: string): { name: string; entry: Entry; place: string }[] {
  if (raw === undefined || raw === null) return [];
  if (Array.isArray(raw)) {
    return raw.map((item, index) => {
      const place = `${source}[${index}]`;
      const entry = check(listEntrySchema, item, place);
      return { name: entry.name, entry, place };
    });
  }
  if (typeof raw !== "object") throw invalid(source, "must be a list or a map of servers");
  const holder = raw as Record<string, unknown>;
  for (const key of ["mcpServers", "servers"]) {
    const inner = holder[key];
    if (typeof inner === "object" && inner !== null && !isEntry(inner)) {
      return entriesOf(inner, `${source}.${key}`);
    }
  }
  return Object.entries(holder).map(([name, item]) => {
    const place = `${source}.${name}`;
    return { name, entry: check(mapEntrySchema, item, place), place };
  });
}

/** A server may itself be called `servers`. */
function isEntry(value: object): boolean {
  return typeof Reflect.get(value, "command") === "string" || typeof Reflect.get(value, "url") === "string";
}

function check<T>(schema: z.ZodType<T>, value: unknown, place: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const path = [place, ...(issue?.path ?? []).map(String)].join(".");
  throw invalid(path, issue?.message ?? "is not valid");
}

function toSettings(name: string, entry: Entry, place: string, environment: Environment): McpServerSettings {
  const expansion: Expansion = { environment, secrets: new Set() };
  const expand = (text: string, key: string): string => expandVariables(text, `${place}.${key}`, expansion);
  const enabled = entry.enabled ?? !("disabled" in entry && entry.disabled === true);
  // A server that is switched off must not fail for a variable that only it needs.
  const fill = enabled ? expand : (text: string): string => text;
  const settings: McpServerSettings = { name, transport: toTransport(entry, place, fill), enabled };
  if (entry.timeout !== undefined) {
    settings.timeoutMs = entry.timeout * 1_000;
    settings.connectTimeoutMs = entry.timeout * 1_000;
  }
  if (entry.concurrency !== undefined) settings.concurrency = entry.concurrency;
  if (entry.protocol !== undefined) settings.protocol = entry.protocol;
  if (entry.auth !== undefined) settings.auth = fillAuth(entry.auth, fill);
  if (entry.metadata !== undefined) settings.metadata = entry.metadata;
  if (expansion.secrets.size > 0) settings.secrets = [...expansion.secrets];
  return settings;
}

type Fill = (text: string, key: string) => string;

function toTransport(entry: Entry, place: string, fill: Fill): TransportSettings {
  const type = "connection_type" in entry ? entry.connection_type : "type" in entry ? entry.type : undefined;
  if (entry.command !== undefined && type !== "http" && type !== "sse") {
    return stdio(fill(entry.command, "command"), (entry.args ?? []).map(argumentFiller(fill)), entry, fill);
  }
  if (entry.url === undefined) {
    throw invalid(place, "needs either `command` (a program to start) or `url` (a server to reach)");
  }
  if (type === "stdio") {
    const [command, ...args] = parseArgsStringToArgv(entry.url.replace(/^stdio:\/\//, ""));
    if (command === undefined) throw invalid(`${place}.url`, "names no command to start");
    return stdio(
      fill(command, "url"),
      [...args.map((text) => fill(text, "url")), ...(entry.args ?? [])],
      entry,
      fill,
    );
  }
  const url = fill(entry.url, "url");
  if (!URL.canParse(url) || !["http:", "https:"].includes(new URL(url).protocol)) {
    throw invalid(
      `${place}.url`,
      "must be an http or https URL, or a command line with connection_type: stdio",
    );
  }
  const headers = fillAll(entry.headers, "headers", fill);
  return { kind: type === "sse" ? "sse" : "http", url, ...(headers === undefined ? {} : { headers }) };
}

function argumentFiller(fill: Fill): (text: string, index: number) => string {
  return (text, index) => fill(text, `args[${index}]`);
}

function stdio(command: string, args: string[], entry: Entry, fill: Fill): TransportSettings {
  const env = fillAll(entry.env, "env", fill);
  return {
    kind: "stdio",
    command,
    args,
    ...(env === undefined ? {} : { env }),
    ...(entry.cwd === undefined ? {} : { cwd: fill(entry.cwd, "cwd") }),
  };
}

function fillAll(
  values: Record<string, string> | undefined,
  key: string,
  fill: Fill,
): Record<string, string> | undefined {
  if (values === undefined) return undefined;
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, fill(value, `${key}.${name}`)]),
  );
}

function fillAuth(auth: z.infer<typeof authSchema>, fill: Fill): AuthSettings {
  const filled: Record<string, unknown> = { ...auth };
  for (const key of ["clientId", "clientSecret", "issuer"]) {
    const value = filled[key];
    if (typeof value === "string") filled[key] = fill(value, `auth.${key}`);
  }
  return authSchema.parse(filled) as AuthSettings;
}

function invalid(place: string, what: string): CemError {
  return new CemError("SERVER_SETTINGS_INVALID", `${place}: ${what.replace(/\.$/, "")}.`, {
    details: { place },
  });
}
