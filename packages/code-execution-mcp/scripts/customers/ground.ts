import { rm } from "node:fs/promises";
import path from "node:path";
import type { JsonValue, SandboxProvider } from "@cem/core";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createAgent, defineTool, runServer } from "../../src/index.ts";
import type { Agent, AgentOptions, ConfigInput } from "../../src/index.ts";
import { startIssuer } from "./issuer.ts";
import type { Access, Visitor } from "./visitor.ts";
import { look, makeVisitor, plant } from "./visitor.ts";
import { temporaryFolder } from "../../../../scripts/temporary-folder.ts";

/** How customers come: in code, or over HTTP behind a proxy, with tokens that name them, or with tokens of users. */
export const ENTRANCES = ["code", "header", "claim", "user"] as const;
export type Entrance = (typeof ENTRANCES)[number];

const HEADER = "x-customer";
/** Enough to have all at work at once, little enough for a small machine. */
const AT_ONCE = 8;

interface Settings {
  provider: SandboxProvider;
  entrance: Entrance;
  customers: number;
}

/** Has customers leave canaries and look for those of the others. @returns what leaked, as sentences. */
export async function tryCustomers({ provider, entrance, customers }: Settings): Promise<string[]> {
  const folder = temporaryFolder("cem-canaries");
  const root = path.join(folder, "workspaces");
  const post: JsonValue[] = [];
  const closing: (() => Promise<unknown> | void)[] = [];
  try {
    const options = optionsIn(folder, provider, post);
    const open = await openEntrance(entrance, options, closing);
    const ids = Array.from({ length: customers }, (_, index) => `customer_${index}`);
    const visitors = await Promise.all(ids.map(async (id) => makeVisitor(id, await open(id))));
    for (const { access } of visitors) closing.unshift(() => access.close());
    const named = entrance === "user" ? undefined : root;
    await inTurns(visitors, (one) => plant(one, named && path.join(named, one.id)));
    const problems: string[] = [];
    await inTurns(visitors, ({ access }) => access.comeAgain());
    await inTurns(visitors, async (one) => {
      const others = visitors.filter((other) => other !== one);
      const found = await look(one, sampleOf(others, one), root);
      if (!found.includes(one.canary))
        problems.push(`${one.id} does not find its own: ${found.slice(0, 300)}`);
      for (const other of others) {
        if (found.includes(other.canary)) problems.push(`${one.id} found the canary of ${other.id}`);
        if (found.includes(other.address)) problems.push(`${one.id} found the address of ${other.id}`);
      }
    });
    problems.push(...misdelivered(post, visitors));
    for (const { id, address } of visitors) {
      const own = post.filter(
        (sent) => JSON.stringify(sent).includes(`"${id}"`) && JSON.stringify(sent).includes(address),
      );
      if (own.length < 2) problems.push(`the token of ${id} is not known to its own customer`);
    }
    return problems;
  } finally {
    for (const close of closing) await close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Values that went out for another than their owner. */
function misdelivered(post: readonly JsonValue[], visitors: readonly Visitor[]): string[] {
  return post.flatMap((sent) => {
    const { from, text } = sent as { from: string; text: string };
    const owner = visitors.find(({ address }) => text.includes(address));
    return owner === undefined || owner.id === from ? [] : [`${from} sent the address of ${owner.id}`];
  });
}

/** Each looks for what some others have; together they look for all. */
function sampleOf(others: readonly Visitor[], one: Visitor): readonly Visitor[] {
  const at = Number(one.id.split("_")[1]);
  return Array.from(
    { length: Math.min(AT_ONCE, others.length) },
    (_, index) => others[(at + index) % others.length],
  ).filter((other) => other !== undefined);
}

async function inTurns<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = items.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const item of left) await work(item);
    }),
  );
}

function optionsIn(folder: string, sandboxProvider: SandboxProvider, post: JsonValue[]): AgentOptions {
  const config: ConfigInput = {
    customers: { dir: path.join(folder, "workspaces"), maxOpen: 1_000 },
    execution: {
      workspaceDir: path.join(folder, "workspace"),
      serversDir: path.join(folder, "servers"),
      skillsDir: path.join(folder, "skills"),
      typeCheck: "off",
    },
    privacy: { vault: "disk", vaultDir: path.join(folder, "vaults"), vaultKey: "5a".repeat(32) },
    optimizations: {
      sandboxPooling: false,
      toolCacheFile: path.join(folder, "cache/tools.json"),
      searchCacheDir: path.join(folder, "cache/search"),
    },
    logging: { level: "CRITICAL" },
  };
  const send = defineTool({
    description: "Sends a text.",
    input: {
      type: "object",
      properties: { from: { type: "string" }, text: { type: "string" } },
      required: ["from", "text"],
    },
    execute: (input) => {
      post.push({ ...input });
      return { sent: input };
    },
  });
  return { configFile: false, config, sandboxProvider, tools: { post: { send } } };
}

async function openEntrance(
  entrance: Entrance,
  options: AgentOptions,
  closing: (() => Promise<unknown> | void)[],
): Promise<(id: string) => Promise<Access>> {
  if (entrance === "code")
    return async (customer) => agentAccess(() => createAgent({ ...options, customer }));
  const issuer = entrance === "header" ? undefined : await startIssuer();
  if (issuer !== undefined) closing.push(() => issuer.close());
  const { config = {} } = options;
  const told: ConfigInput =
    issuer === undefined
      ? { customers: { ...config.customers, header: HEADER }, server: { trustedProxies: ["127.0.0.1"] } }
      : {
          customers: { ...config.customers, ...(entrance === "claim" ? { claim: "tenant" } : {}) },
          server: { authIssuer: issuer.issuer, authAudience: "cem" },
        };
  const running = await runServer({
    ...options,
    config: { ...config, ...told },
    transport: "http",
    port: 0,
  });
  closing.unshift(() => running.close(0));
  return async (id) => {
    const headers =
      issuer === undefined
        ? { [HEADER]: id }
        : {
            authorization: `Bearer ${await issuer.sign(entrance === "claim" ? { sub: "all", tenant: id } : { sub: id, client_id: "app" })}`,
          };
    const modes = ["legacy", { pin: "2026-07-28" }] as const;
    const mode = modes[Number(id.split("_")[1]) % modes.length] ?? "legacy";
    const client = new Client({ name: "c", version: "1" }, { versionNegotiation: { mode } });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(running.url ?? ""), { requestInit: { headers } }),
    );
    return clientAccess(client);
  };
}

function agentAccess(open: () => Agent): Access {
  let agent = open();
  // The same name for all: a session of one customer is none of another's.
  const session = "main";
  return {
    async code(code) {
      const { code: _, ...result } = await agent.executeCode(code, { session });
      return JSON.stringify(result);
    },
    async ask(told) {
      const found = await agent.searchTools("note canary own");
      const recalled = await agent.executeTask(`Continue from step 2: say ${told[0] ?? ""}`, { session });
      return JSON.stringify([found, { ...recalled, code: "" }]);
    },
    async comeAgain() {
      await agent.dispose();
      agent = open();
    },
    close: () => agent.dispose(),
  };
}

function clientAccess(client: Client): Access {
  const call = async (name: string, args: object): Promise<string> =>
    JSON.stringify(await client.callTool({ name, arguments: { ...args } }).catch(String));
  return {
    code: (code) => call("execute_code", { code }),
    async ask(told) {
      const answers = [
        await call("get_state", {}),
        await call("list_skills", {}),
        await call("search_tools", { query: "own canary note" }),
        await call("get_state", { state_file: "../../customer_0/workspace/state.json" }),
      ];
      for (const one of told) {
        answers.push(await call("read_result", { handle: one }));
        answers.push(await call("save_state", { state_data: { one } }), await call("get_state", {}));
      }
      return answers.join("\n");
    },
    comeAgain: async () => {},
    close: () => client.close(),
  };
}
