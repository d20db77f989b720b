import type { Config } from "@cem/config";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { ConfigSource, Profile } from "code-execution-mcp";
import type { SharedOptions } from "../command/options.ts";

/** The generations of the protocol, by what the client asks for. */
const PROTOCOLS = { "2026-07-28": { pin: "2026-07-28" }, "2025-11-25": "legacy" } as const;
export type ProtocolRevision = keyof typeof PROTOCOLS;
export const REVISIONS = Object.keys(PROTOCOLS) as ProtocolRevision[];

/** The settings of the command line that an agent is made with. */
const AGENT_SETTINGS = [
  "config",
  "workspace",
  "servers",
  "skills",
  "customer",
  "sandbox",
  "minIsolation",
  "timeout",
] as const satisfies readonly (keyof SharedOptions)[];

/** These trials belong to no session. */
const NO_SESSION_LOG = { STATE_AUTO_SAVE: "false" };

/** A way to the server: a client that is connected, and what ends it. */
export interface Connection {
  client: Client;
  close: () => Promise<void>;
}

/** Settings that the server is started with. */
export interface ServerSetUp {
  options: SharedOptions;
  profile: Profile | undefined;
  source: ConfigSource;
  config: Config;
}

/** Starts `cem serve` as a process, as a client does that is given the command. */
export async function connectStdio(revision: ProtocolRevision, setUp: ServerSetUp): Promise<Connection> {
  const client = createClient(revision);
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      // Node's own options, such as conditions, are passed on.
      args: [...process.execArgv, process.argv[1] ?? "", "serve", ...serveWords(setUp)],
      env: { ...definedOf(process.env), ...NO_SESSION_LOG },
      stderr: "ignore",
    }),
  );
  return { client, close: () => client.close() };
}

/** Serves over HTTP as `cem serve http` does, on a port that is free. */
export async function serveHttp({ source, profile, config, options }: ServerSetUp): Promise<{
  connect: (revision: ProtocolRevision) => Promise<Connection>;
  close: () => Promise<void>;
}> {
  const { runServer } = await import("code-execution-mcp");
  const serving = await runServer({
    ...source,
    config: {
      ...source.config,
      execution: { ...source.config?.execution, state: { autoSave: false } },
      // Its log would stand between the lines of this command.
      logging: options.verbose ? {} : { level: "ERROR" },
    },
    // Clients say who they are.
    customer: config.customers.header === undefined ? source.customer : undefined,
    profile,
    transport: "http",
    host: "127.0.0.1",
    port: 0,
  });
  const headers = headersFor(config, options);
  return {
    connect: async (revision) => {
      const client = createClient(revision);
      const transport = new StreamableHTTPClientTransport(new URL(serving.url ?? ""), {
        requestInit: { headers },
      });
      await client.connect(transport);
      return { client, close: () => client.close() };
    },
    close: () => serving.close(0),
  };
}

/** Why the server can't be asked over HTTP from here. `undefined`: it can. */
export function cannotAskOverHttp({ config, options }: ServerSetUp): string | undefined {
  const { authIssuer } = config.server;
  if (authIssuer !== undefined) return `its clients need access tokens of ${authIssuer}`;
  if (config.customers.header !== undefined && options.customer === undefined) {
    return "its clients belong to customers: name one with --customer";
  }
  return undefined;
}

function headersFor({ server, customers }: Config, options: SharedOptions): Record<string, string> {
  const token = server.authToken?.reveal();
  return {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(customers.header !== undefined && { [customers.header]: options.customer ?? "" }),
  };
}

function createClient(revision: ProtocolRevision): Client {
  return new Client(
    { name: "cem-verify", version: "1.0.0" },
    { versionNegotiation: { mode: PROTOCOLS[revision] } },
  );
}

function definedOf(environment: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** The settings of this command line, for `cem serve`. */
function serveWords({ options, profile }: ServerSetUp): string[] {
  const settings = Object.fromEntries(AGENT_SETTINGS.map((name) => [name, options[name]]));
  const given = { ...settings, profile };
  return Object.entries(given).flatMap(([name, value]) =>
    value === undefined
      ? []
      : [`--${name.replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`)}`, value],
  );
}
