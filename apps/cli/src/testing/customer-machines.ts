import { cpSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { onTestFinished } from "vitest";
import { startIssuer } from "../../../../packages/code-execution-mcp/scripts/customers/issuer.ts";
import { startMachine, told } from "./queue-machines.ts";
import { roundRobin } from "./round-robin.ts";
import { runCem, temporaryFolder } from "./run-cem.ts";
import type { Ended } from "./run-cem.ts";

const CALL = { timeout: 120_000 };
type Answer = Record<string, unknown>;

/** Settings shared by all machines that serve customers. */
export interface CustomerMachinesSettings {
  redisUrl: string;
  storeUrl: string;
  keys?: string | undefined;
  customers?: Record<string, unknown> | undefined;
  queue?: Record<string, unknown> | undefined;
}

/** Two servers behind a proxy that takes turns, and workers, each process with a folder of its own. */
export interface CustomerMachines {
  /** Where the servers are, each by itself. The proxy goes by this list. */
  urls: string[];
  /** Starts another server. */
  serve: (keys?: string) => Promise<{ url: string; machine: ReturnType<typeof startMachine> }>;
  /** The servers and workers, in the order of their starts. */
  machines: ReturnType<typeof startMachine>[];
  /** Starts a worker. */
  work: (keys?: string) => Promise<ReturnType<typeof startMachine>>;
  /** Has a customer come by the proxy, or by one of {@link urls}. */
  come: (id: string, options?: ComeOptions) => Promise<Visit>;
  /** A customer's token. */
  token: (id: string) => Promise<string>;
  /** Calls received by the tools, in order. */
  calls: () => string[];
  /** Log output of all processes. */
  logs: () => string;
  /** The folders of all processes. */
  folders: string[];
  /** Runs the command as an operator, on a machine of its own. */
  admin: (args: readonly string[], keys?: string) => Promise<Ended>;
}

interface ComeOptions {
  url?: string;
  generation?: "legacy" | { pin: "2026-07-28" };
}

/** Starts two servers whose customers are named by their tokens' claim, and a proxy before them. */
export async function customerMachines(settings: CustomerMachinesSettings): Promise<CustomerMachines> {
  const { redisUrl, storeUrl, keys, customers = {}, queue = {} } = settings;
  const issuer = await startIssuer();
  onTestFinished(() => issuer.close());
  const first = temporaryFolder();
  const jobs = path.join(first, "jobs.log");
  writeFileSync(jobs, "");
  const jobsServer = {
    command: process.execPath,
    args: [path.join(import.meta.dirname, "jobs-server.ts")],
    env: { JOBS_LOG: jobs },
  };
  const config = {
    mcp_servers: { jobs: jobsServer },
    execution: { type_check: "off" },
    logging: { level: "debug" },
    server: { yield_after: 1, auth_issuer: issuer.issuer, auth_audience: "cem" },
    customers: { claim: "tenant", ...customers },
    guardrails: { approvals: [] },
    store: { url: storeUrl, files: "store" },
    queue: { url: redisUrl, lost_after: 2, concurrency: 2, ...queue },
  };
  writeFileSync(path.join(first, "config.yaml"), JSON.stringify(config));
  const envOf = (with_ = keys): Record<string, string> => ({
    CEM_TRUST_FOLDER: "1",
    ...(with_ === undefined ? {} : { CEM_STORE_KEYS: with_ }),
  });
  const generated = await runCem(["generate"], { cwd: first, env: envOf() });
  if (generated.code !== 0) throw new Error(generated.stderr);
  const folders: string[] = [];
  const machines: ReturnType<typeof startMachine>[] = [];
  const folder = (): string => {
    const cwd = temporaryFolder();
    cpSync(first, cwd, { recursive: true });
    folders.push(cwd);
    return cwd;
  };
  const start = (args: readonly string[], with_?: string): ReturnType<typeof startMachine> => {
    const machine = startMachine(args, { cwd: folder(), env: envOf(with_) });
    machines.push(machine);
    return machine;
  };
  const serve: CustomerMachines["serve"] = async (with_) => {
    const machine = start(["serve", "http", "--port", "0"], with_);
    return { machine, url: await told(machine, /"url":"([^"]+)"/u) };
  };
  const urls = (await Promise.all([serve(), serve()])).map(({ url }) => url);
  const proxy = await roundRobin(urls);
  const operator = folder();
  const token = (id: string): Promise<string> => issuer.sign({ sub: "all", tenant: id });
  return {
    urls,
    serve,
    machines,
    folders,
    calls: () => readFileSync(jobs, "utf8").split("\n").filter(Boolean),
    logs: () => machines.map((machine) => machine.log()).join("\n"),
    async work(with_) {
      const machine = start(["worker"], with_);
      await told(machine, /"msg":"taking runs"/u);
      return machine;
    },
    token,
    async come(id, { url = proxy.url, generation = "legacy" } = {}) {
      return Visit.begin({ id, url, generation, token: await token(id) });
    },
    admin: (args, with_) => runCem(args, { cwd: operator, env: envOf(with_) }),
  };
}

interface Visitor {
  id: string;
  url: string;
  token: string;
  generation: "legacy" | { pin: "2026-07-28" };
}

/** A customer's client, which keeps all answers that it received. */
export class Visit {
  readonly id: string;
  /** Handles of runs that outlasted their calls. */
  readonly runs: string[] = [];
  readonly #visitor: Visitor;
  readonly #client: Client;
  readonly #transport: StreamableHTTPClientTransport;
  readonly #heard: string[] = [];

  private constructor(visitor: Visitor, client: Client, transport: StreamableHTTPClientTransport) {
    this.id = visitor.id;
    this.#visitor = visitor;
    this.#client = client;
    this.#transport = transport;
  }

  static async begin(visitor: Visitor): Promise<Visit> {
    const client = new Client(
      { name: "test", version: "1.0.0" },
      { versionNegotiation: { mode: visitor.generation } },
    );
    const headers = { authorization: `Bearer ${visitor.token}` };
    const transport = new StreamableHTTPClientTransport(new URL(visitor.url), { requestInit: { headers } });
    const visit = new Visit(visitor, client, transport);
    await client.connect(transport);
    onTestFinished(() => client.close());
    return visit;
  }

  /** The session of the older protocol. */
  get session(): string | undefined {
    return this.#transport.sessionId;
  }

  /** All answers, events and errors so far, as one text. */
  get heard(): string {
    return this.#heard.join("\n");
  }

  /** Calls a tool of the server. @returns its structured content, or its error as text */
  async call(name: string, given: object, options: { signal?: AbortSignal } = {}): Promise<Answer> {
    const onprogress = (progress: object): void => void this.#heard.push(JSON.stringify(progress));
    try {
      const answer = await this.#client.callTool(
        { name, arguments: { ...given } },
        { ...CALL, onprogress, ...options },
      );
      this.#heard.push(JSON.stringify(answer));
      return (
        answer.isError === true ? { error: JSON.stringify(answer.content) } : answer.structuredContent
      ) as Answer;
    } catch (error) {
      this.#heard.push(String(error));
      return { error: String(error) };
    }
  }

  /** Runs code to its end, by however many calls. */
  async run(code: string): Promise<Answer> {
    let answer = await this.call("execute_code", { code });
    while (typeof answer["run"] === "string") {
      this.runs.push(answer["run"]);
      answer = await this.call("read_result", { handle: answer["run"] });
    }
    return answer;
  }

  /** Asks with this customer's token, as any program can. @returns the answer's status and text */
  async ask(body: object, headers: Record<string, string> = {}): Promise<{ status: number; text: string }> {
    const { url, token } = this.#visitor;
    const answer = await fetch(url, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...body }),
    });
    const text = await answer.text();
    this.#heard.push(text);
    return { status: answer.status, text };
  }
}
