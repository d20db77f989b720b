import { z } from "zod";
import { anything, secretRecord, text } from "./setting.ts";
import type { Secret } from "./secret.ts";

interface ServerBase {
  name: string;
  enabled: boolean;
  /** Seconds. */
  timeout: number;
  metadata: Record<string, unknown>;
}

/** A server that is started as a program. */
export interface StdioServerSetting extends ServerBase {
  connectionType: "stdio";
  command: string;
  args: string[];
  env: Record<string, Secret>;
  cwd?: string;
}

/** A server that is reached by URL. `auto`: Streamable HTTP, and SSE where that is refused. */
export interface RemoteServerSetting extends ServerBase {
  connectionType: "auto" | "http" | "sse";
  url: string;
  headers: Record<string, Secret>;
}

export type McpServerSetting = StdioServerSetting | RemoteServerSetting;

const DEFAULT_TIMEOUT_SECONDS = 30;
const connection = z.enum(["auto", "stdio", "http", "streamable-http", "sse"]);

const shape = {
  url: text.optional().describe("Where the server is reached. With connection_type stdio: its command line."),
  command: text.optional().describe("Program that is the server."),
  args: z.array(z.string()).optional().describe("Arguments of the command."),
  env: secretRecord.optional().describe("Environment variables of the command."),
  cwd: text.optional().describe("Folder the command is started in."),
  headers: secretRecord.optional().describe("HTTP headers sent to the URL."),
  connectionType: connection
    .optional()
    .describe("How to talk to it. Default: stdio for a command, auto for a URL."),
  type: connection.optional().describe("Another name for connection_type."),
  enabled: z.boolean().default(true).describe("Whether it is used."),
  timeout: z
    .number()
    .min(0.1)
    .max(86_400)
    .default(DEFAULT_TIMEOUT_SECONDS)
    .describe("Seconds to wait for an answer."),
  metadata: anything.default({}).describe("Anything; handed on as it is."),
};

type Entry = z.output<z.ZodObject<typeof shape>>;

type Unnamed<T> = T extends unknown ? Omit<T, "name"> : never;

function toServer(entry: Entry, context: z.RefinementCtx): Unnamed<McpServerSetting> {
  const fail = (message: string, ...path: string[]): never => {
    context.addIssue({ code: "custom", path, message });
    return z.NEVER;
  };
  const { enabled, timeout, metadata, command, url, cwd } = entry;
  const base = { enabled, timeout, metadata };
  if (entry.type !== undefined && entry.connectionType !== undefined && entry.type !== entry.connectionType) {
    return fail("differs from connection_type; give one of them", "type");
  }
  const type = entry.connectionType ?? entry.type;
  if (command !== undefined && url !== undefined) return fail("has both command and url; give one of them");
  if (command !== undefined || type === "stdio") {
    if (type !== undefined && type !== "stdio")
      return fail(`is of type ${type}, which needs a url, not a command`);
    if (entry.headers !== undefined) return fail("belongs to a url; a command takes env", "headers");
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
      ...(cwd === undefined ? {} : { cwd }),
    };
  }
  if (url === undefined) return fail("needs a url or a command");
  for (const key of ["args", "env", "cwd"] as const) {
    if (entry[key] !== undefined) return fail("belongs to a command; a url takes headers", key);
  }
  const connectionType = type === "streamable-http" ? "http" : (type ?? "auto");
  return { ...base, connectionType, url, headers: entry.headers ?? {} };
}

/** A command line without quoting, with or without `stdio://` in front. Quoted ones are not guessed at. */
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
