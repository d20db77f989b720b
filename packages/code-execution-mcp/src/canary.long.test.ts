import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { AgentEvent, TaskResult } from "@cem/core";
import { createDenoSandboxProvider } from "@cem/sandbox-deno";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { startChatServer } from "../../codegen/fixtures/chat-server.ts";
import { person, valuesOf } from "../../mcp-client/fixtures/people.ts";
import type { Person } from "../../mcp-client/fixtures/people.ts";
import { makeProject } from "../test/upstream-project.ts";
import type { Project } from "../test/upstream-project.ts";
import { generateTools } from "./admin.ts";
import { createAgent, runServer } from "./index.ts";
import type { Agent, ConfigInput } from "./index.ts";

vi.setConfig({ testTimeout: 240_000 });

const RECORDS = 200;
const PER_RUN = 50;
const VALUES = Array.from({ length: RECORDS }, (_, index) => valuesOf(person(index))).flat();
const fixture = fileURLToPath(new URL("../../mcp-client/fixtures/people-server.ts", import.meta.url));
const importing = `import { list_people, describe_person, fail_with, stall_with } from "./servers/source/index.ts";
import { store_person, store_note } from "./servers/sink/index.ts";
`;

type Transport = "stdio" | "http";

interface Canary {
  project: Project;
  servers: NonNullable<ConfigInput["mcpServers"]>;
  /** Arguments that the second server got. */
  stored: () => (Partial<Person> & { note?: string })[];
}

async function startCanary(transport: Transport): Promise<Canary> {
  const project = await makeProject();
  const file = path.join(project.folder, "stored.jsonl");
  const servers: Record<string, { command: string; args: string[] } | { url: string }> = {};
  for (const role of ["source", "sink"]) {
    const args = ["--conditions=@cem/source", fixture, role, file];
    servers[role] =
      transport === "stdio"
        ? { command: process.execPath, args: [...args, "stdio"] }
        : { url: await startHttp([...args, "http"]) };
  }
  await generateTools(project.source(servers));
  return {
    project,
    servers,
    stored: () =>
      existsSync(file)
        ? readFileSync(file, "utf8")
            .trim()
            .split("\n")
            .map((line) => JSON.parse(line) as Partial<Person>)
        : [],
  };
}

async function startHttp(args: string[]): Promise<string> {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
  onTestFinished(() => void child.kill());
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error("The server ended before it listened.");
}

/** Runs code or a task and keeps all that came out of it. */
class Watch {
  readonly seen: unknown[] = [];
  readonly agent: Agent;

  constructor(agent: Agent) {
    this.agent = agent;
    onTestFinished(() => agent.dispose());
  }

  async code(code: string, limits?: { timeoutMs: number }): Promise<TaskResult> {
    return this.#keep(this.agent.executeCode(importing + code, { limits, onEvent: this.#see }));
  }

  async task(task: string): Promise<TaskResult> {
    return this.#keep(this.agent.executeTask(task, { onEvent: this.#see }));
  }

  readonly #see = (event: AgentEvent): void => void this.seen.push(structuredClone(event));

  async #keep(request: Promise<TaskResult>): Promise<TaskResult> {
    const result = await request;
    this.seen.push(result);
    return result;
  }
}

/** The values that stand in something. */
function leaked(seen: unknown): string[] {
  const text = typeof seen === "string" ? seen : JSON.stringify(seen);
  const digits = text.replaceAll(/(?<=\d)[ -](?=\d)/g, "");
  return VALUES.filter((value) => text.includes(value) || (/^\d+$/.test(value) && digits.includes(value)));
}

function filesIn(folder: string, isOurs: (file: string) => boolean): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && isOurs(path.join(entry.parentPath, entry.name)))
    .map((entry) => readFileSync(path.join(entry.parentPath, entry.name), "latin1"))
    .join("\n");
}

interface Way {
  isolation: "auto" | "permissions";
  transport: Transport;
  guest: "values" | "tokens";
}

/** Two ways in which everything differs; all of them with `pnpm test:canary`. */
const WAYS: readonly Way[] =
  process.env["CEM_TESTS"] === "all"
    ? (["auto", "permissions"] as const).flatMap((isolation) =>
        (["stdio", "http"] as const).flatMap((transport) =>
          (["values", "tokens"] as const).map((guest) => ({ isolation, transport, guest })),
        ),
      )
    : [
        { isolation: "auto", transport: "stdio", guest: "values" },
        { isolation: "permissions", transport: "http", guest: "tokens" },
      ];

const PRIVACY: ConfigInput = { privacy: { custom: [{ type: "EMPLOYEE", pattern: "EMP-\\d{6}" }] } };
const TO_SINK = "for (const one of people) await store_person(one);";

describe("values of persons", () => {
  it.each(WAYS)(
    "reach the second server and nothing else: isolation $isolation, servers over $transport, code sees $guest",
    async ({ isolation, transport, guest }) => {
      const { project, servers, stored } = await startCanary(transport);
      const log: string[] = [];
      const watch = new Watch(
        createAgent({
          ...project.source(servers, { ...PRIVACY, privacy: { ...PRIVACY.privacy, guest } }),
          sandboxProvider: createDenoSandboxProvider({ isolation }),
          log: (level, message) => log.push(`${level} ${message}`),
        }),
      );
      for (let from = 0; from < RECORDS; from += PER_RUN) {
        const result =
          await watch.code(`const { people } = await list_people({ from: ${from}, count: ${PER_RUN} });
${TO_SINK}
console.log(people[0]); console.log(people.map((p) => p.phone + " " + p.password).join("|"));
for (const p of people.slice(0, 5)) process.stdout?.write?.(p.email.slice(0, 6));
return { people, byEmail: Object.fromEntries(people.map((p) => [p.email, p.ssn])) };`);
        expect(result.error).toBeNull();
      }
      expect(stored()).toEqual(Array.from({ length: RECORDS }, (_, index) => person(index)));

      const failing = await watch.code("await fail_with({ index: 7 });");
      expect(failing.status).toBe("error");
      const quoting = await watch.code(
        "const { people: [one] } = await list_people({ from: 9, count: 1 }); throw new Error(`bad: ${JSON.stringify(one)}`);",
      );
      expect(quoting.status).toBe("error");
      const wrong = await watch.code(
        "const { people: [one] } = await list_people({ from: 3, count: 1 }); await store_person({ ...one, id: one.email, card: 5 });",
      );
      expect(wrong.status).toBe("error");
      const late = await watch.code(
        "const text = await describe_person({ index: 11 }); console.log(text); await stall_with({ index: 11 });",
        { timeoutMs: 1_500 },
      );
      expect(late.status).toBe("timeout");
      const joined = await watch.code(
        "const { people: [one] } = await list_people({ from: 4, count: 1 }); await store_note({ note: `<${one.email}> card=${one.card}; call ${one.phone}` }); return one.email;",
      );
      expect(stored().at(-1)).toEqual({
        note: `<${person(4).email}> card=${person(4).card}; call ${person(4).phone}`,
      });
      // A model may send back anything that it was shown.
      await watch.code(`await store_note({ note: ${JSON.stringify(joined.value)} });`);
      expect(stored().at(-1)).toEqual({ note: person(4).email });

      await watch.agent.dispose();
      expect(leaked(watch.seen)).toEqual([]);
      expect(leaked(log.join("\n"))).toEqual([]);
      expect(log.join("\n")).toContain(
        "source (stderr): listed".slice(0, transport === "stdio" ? undefined : 0),
      );
    },
  );
});

describe("a text that the sandbox cuts", () => {
  it.each([
    ["a message", "throw new Error(JSON.stringify(people));"],
    [
      "a cause",
      "throw new Error('x', { cause: new Error(people.map((p) => `${p.email} ${p.phone} ${p.card}`).join()) });",
    ],
    ["a list", "throw people;"],
    ["what is printed", "console.log([...people, ...people, ...people]);"],
  ])("ends with no part of a value: %s", async (_, code) => {
    const { project, servers } = await startCanary("stdio");
    const watch = new Watch(createAgent({ ...project.source(servers, PRIVACY), log: () => {} }));
    for (let from = 0; from < 45; from += 9) {
      const { error, output } = await watch.code(
        `const { people } = await list_people({ from: ${from}, count: 150 });\n${code}`,
      );
      const [shown = "", note] = (error?.message ?? output).split(" [Only the first ");
      expect(note).toBeDefined();
      const parts = Array.from({ length: 150 }, (__, index) => valuesOf(person(from + index)))
        .flat()
        .flatMap((value) => Array.from({ length: value.length }, (__, end) => value.slice(0, end)))
        .filter((part) => part.length >= 7 && shown.endsWith(part));
      expect(parts).toEqual([]);
    }
  });
});

describe("values of persons and a model", () => {
  it("are in no prompt, not of a task, a type error, a failure or a repair", async () => {
    const { project, servers, stored } = await startCanary("stdio");
    const fenced = (code: string): { text: string } => ({ text: `\`\`\`ts\n${importing}${code}\n\`\`\`` });
    const token = (text: string): string => /\[\[EMAIL:[a-z2-7]{16}\]\]/.exec(text)?.[0] ?? "none";
    const chat = await startChatServer({
      replies: [
        fenced("await fail_with({ index: 5 });\nexport default 1;"),
        fenced(
          "const { people } = await list_people({ from: 0, count: 3 });\nconsole.log(people);\nthrow new Error(people[1].email + people[2].password);",
        ),
        (request) => {
          const asked = request.body.messages.map(({ content }) => content).join("\n");
          return fenced(
            `await store_note({ note: ${JSON.stringify(`for ${token(asked)}`)} });\nexport default ${JSON.stringify(token(asked))};`,
          );
        },
      ],
    });
    onTestFinished(() => chat.close());
    const watch = new Watch(
      createAgent({
        ...project.source(servers, {
          ...PRIVACY,
          llm: { enabled: true, baseUrl: `${chat.origin}/v1`, apiKey: "k".repeat(20), maxRetries: 0 },
        }),
        log: () => {},
      }),
    );
    const result = await watch.task(
      `Store a note in the sink for ${person(42).email}, whose card is ${person(42).card}`,
    );
    expect(result.error).toBeNull();
    expect(stored().at(-1)).toEqual({ note: `for ${person(42).email}` });
    expect(chat.requests).toHaveLength(3);
    expect(leaked(chat.requests)).toEqual([]);
    expect(leaked(watch.seen)).toEqual([]);
    await watch.agent.dispose();
    const sessions = filesIn(path.join(project.folder, "workspace/sessions"), () => true);
    expect(sessions).toContain("Store a note in the sink");
    expect(sessions).toContain("[[EMAIL:");
    expect(leaked(sessions)).toEqual([]);
  });

  it("are in no code that rules wrote, as it is shown", async () => {
    const { project, servers } = await startCanary("stdio");
    const watch = new Watch(createAgent({ ...project.source(servers, PRIVACY), log: () => {} }));
    await watch.task(`Store note with note "${person(1).email}"`);
    expect(leaked(watch.seen)).toEqual([]);
  });
});

describe("values of persons and a client", () => {
  it("are in no answer, no page and no file of ours", async () => {
    const { project, servers, stored } = await startCanary("http");
    const logFile = path.join(project.folder, "cem.log");
    const running = await runServer({
      ...project.source(servers, { ...PRIVACY, logging: { level: "DEBUG", file: logFile } }),
      transport: "http",
      port: 0,
    });
    onTestFinished(() => running.close(0));
    const answers: unknown[] = [];
    const connect = async (): Promise<Client> => {
      const client = new Client(
        { name: "test", version: "1.0.0" },
        { versionNegotiation: { mode: "legacy" } },
      );
      await client.connect(new StreamableHTTPClientTransport(new URL(running.url ?? "")));
      return client;
    };
    const client = await connect();
    const call = async (
      from: Client,
      name: string,
      args: Record<string, unknown>,
    ): Promise<Record<string, unknown>> => {
      const answer = await from.callTool(
        { name, arguments: args },
        { onprogress: (progress) => answers.push(progress) },
      );
      answers.push(answer);
      return answer.structuredContent as Record<string, unknown>;
    };
    const { result } = await call(client, "execute_code", {
      code: `${importing}const { people } = await list_people({ from: 0, count: ${RECORDS} }); await Deno.writeTextFile("/workspace/people.json", JSON.stringify(people)); await Deno.writeTextFile("/workspace/state.json", JSON.stringify({ last: people[3] })); console.log(people.slice(0, 3)); return people;`,
    });
    const handle = (result as { path: string }).path;
    let offset: number | undefined = 0;
    while (offset !== undefined) {
      const page = await call(client, "read_result", { handle, offset, limit: 3_333 });
      offset = page["next_offset"] as number | undefined;
    }
    const state = await call(client, "get_state", {});
    const { email } = (state["data"] as { last: Person }).last;
    await call(client, "execute_code", {
      code: `${importing}return store_note({ note: ${JSON.stringify(email)} });`,
    });
    expect(stored()).toEqual([{ note: person(3).email }]);
    await call(client, "execute_task", { task_description: `Store note with note "${person(9).email}"` });
    await call(client, "execute_code", { code: `${importing}await fail_with({ index: 2 });` });
    const other = await connect();
    await call(other, "execute_code", {
      code: `${importing}return store_note({ note: ${JSON.stringify(email)} });`,
    });
    expect(stored().filter(({ note }) => note === person(3).email)).toHaveLength(1);
    expect(JSON.stringify(answers.at(-1))).toContain("no value of this session");
    await Promise.all([client.close(), other.close()]);
    expect(leaked(answers)).toEqual([]);
    const written = filesIn(project.folder, (file) => !/stored\.jsonl|people\.json|state\.json/.test(file));
    expect(leaked(written)).toEqual([]);
  });

  it("come page by page without a value that a border cuts", async () => {
    const { project } = await startCanary("http");
    const running = await runServer({
      ...project.source({}, PRIVACY),
      transport: "http",
      port: 0,
    });
    onTestFinished(() => running.close(0));
    const results = path.join(project.folder, "workspace", "results");
    const client = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode: "legacy" } });
    await client.connect(new StreamableHTTPClientTransport(new URL(running.url ?? "")));
    const people = Array.from({ length: 10 }, (_, index) => person(index));
    await client.callTool({ name: "execute_code", arguments: { code: "return 'x'.repeat(60_000);" } });
    const name =
      readdirSync(results, { recursive: true, encoding: "utf8" }).find((file) => file.endsWith(".txt")) ?? "";
    await writeFile(path.join(results, name), people.map((one) => JSON.stringify(one)).join("\n"));
    const size = readFileSync(path.join(results, name)).length;
    const pages: unknown[] = [];
    for (let offset = 0; offset < size; offset += 97) {
      const handle = `/workspace/results/${name}`;
      const page = await client.callTool({ name: "read_result", arguments: { handle, offset, limit: 97 } });
      pages.push((page.structuredContent as { text: string }).text);
    }
    await client.close();
    expect(leaked(pages.join(""))).toEqual([]);
    expect(pages.join("")).toContain("[[EMAIL:");
  });
});
