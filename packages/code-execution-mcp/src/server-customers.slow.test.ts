import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { startIssuer } from "../scripts/customers/issuer.ts";
import type { Issuer } from "../scripts/customers/issuer.ts";
import type { ConfigInput } from "./index.ts";
import { runServer } from "./index.ts";

vi.setConfig({ testTimeout: 120_000 });

const serversDir = fileURLToPath(new URL("../../../servers", import.meta.url));
const HEADER = "x-customer";
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "cem-serve-customers-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});

async function serve(config: ConfigInput): Promise<string> {
  const running = await runServer({
    transport: "http",
    port: 0,
    configFile: false,
    config: {
      ...config,
      execution: {
        workspaceDir: path.join(folder, "workspace"),
        serversDir,
        skillsDir: path.join(folder, "skills"),
      },
      customers: { dir: path.join(folder, "workspaces"), ...config.customers },
      optimizations: { toolCache: false, sandboxPooling: false },
      logging: { level: "CRITICAL" },
    },
  });
  onTestFinished(() => running.close(0));
  return running.url ?? "";
}

const MODES = ["legacy", { pin: "2026-07-28" }] as const;

async function connect(
  url: string,
  headers: Record<string, string>,
  mode: (typeof MODES)[number] = "legacy",
) {
  const client = new Client({ name: "c", version: "1" }, { versionNegotiation: { mode } });
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  await client.connect(transport);
  onTestFinished(() => client.close());
  const call = async (name: string, args: object = {}) => {
    const answer = await client.callTool({ name, arguments: { ...args } });
    return { isError: answer.isError === true, text: JSON.stringify(answer) };
  };
  return { call };
}

/** The traces of one customer, and all the ways in which another could find them. */
async function leaveCanaries({ call }: Awaited<ReturnType<typeof connect>>, canary: string): Promise<void> {
  await call("save_state", { state_data: { canary } });
  const code = `await Deno.writeTextFile("/workspace/note.txt", ${JSON.stringify(canary)}); return 1;`;
  expect((await call("execute_code", { code })).isError).toBe(false);
  const saved = await call("save_skill", {
    name: "own",
    description: canary,
    code: "export const own = (x: number): number => x;",
    test: 'import { own } from "./skills/own/index.ts";\nreturn own(1) === 1;',
  });
  expect(saved).toMatchObject({ isError: false });
}

const LOOK = `const seen: string[] = [];
for (const folder of ["/workspace", "/workspace/sessions", "/workspace/results", "/workspace/..", "/workspace/../../ada/workspace"]) {
  try {
    for await (const { name } of Deno.readDir(folder)) {
      seen.push(name, await Deno.readTextFile(folder + "/" + name).catch(() => ""));
    }
  } catch {}
}
return seen;`;

async function lookAround({ call }: Awaited<ReturnType<typeof connect>>): Promise<string> {
  const answers = [
    await call("get_state"),
    await call("list_skills"),
    await call("search_tools", { query: "own canary" }),
    await call("execute_code", { code: LOOK }),
    await call("read_result", { handle: "/workspace/note.txt" }),
  ];
  return answers.map(({ text }) => text).join("\n");
}

describe("customers of a server", () => {
  it.each(MODES)("are told apart by a trusted proxy's header, and share nothing: %j", async (mode) => {
    const url = await serve({ customers: { header: HEADER }, server: { trustedProxies: ["127.0.0.1"] } });
    const ada = await connect(url, { [HEADER]: "ada" }, mode);
    const bob = await connect(url, { [HEADER]: "bob" }, mode);
    await leaveCanaries(ada, "canary-of-ada");
    expect(await lookAround(ada)).toContain("canary-of-ada");
    expect(await lookAround(bob)).not.toContain("canary-of-ada");
    expect((await readdir(path.join(folder, "workspaces"))).toSorted()).toEqual(["ada", "bob"]);
  });

  it("see a skill that all share soon after it is there", async () => {
    const url = await serve({ customers: { header: HEADER }, server: { trustedProxies: ["127.0.0.1"] } });
    const ada = await connect(url, { [HEADER]: "ada" });
    expect((await ada.call("list_skills")).text).not.toContain("doubled");
    const skill = path.join(folder, "skills/doubled");
    await mkdir(skill, { recursive: true });
    await writeFile(path.join(skill, "index.ts"), "export const doubled = (x: number): number => 2 * x;");
    const code = 'import { doubled } from "./skills/doubled/index.ts";\nreturn doubled(21);';
    await expect.poll(async () => (await ada.call("execute_code", { code })).text).toContain("42");
  });

  it("are refused where no trusted proxy names them", async () => {
    const url = await serve({ customers: { header: HEADER }, server: { trustedProxies: ["10.1.2.3"] } });
    const anyone = await connect(url, { [HEADER]: "ada" });
    const answer = await anyone.call("execute_code", { code: "return 1;" });
    expect(answer).toMatchObject({
      isError: true,
      text: expect.stringContaining("does not say which customer"),
    });
  });

  it("need a name that can be one", async () => {
    const url = await serve({ customers: { header: HEADER }, server: { trustedProxies: ["127.0.0.1"] } });
    const anyone = await connect(url, { [HEADER]: "../ada" });
    const answer = await anyone.call("get_state");
    expect(answer).toMatchObject({
      isError: true,
      text: expect.stringContaining("can't be a customer's id"),
    });
  });

  it("are the users of an OAuth issuer, each of whom has a workspace", async () => {
    const { issuer, sign } = await openIssuer();
    const url = await serve({ server: { authIssuer: issuer, authAudience: "cem" } });
    const as = async (claims: object) => connect(url, { authorization: `Bearer ${await sign(claims)}` });
    const ada = await as({ sub: "ada" });
    await leaveCanaries(ada, "canary-of-ada");
    // The same person at another client of the issuer is another customer; the same again is the same.
    expect(await lookAround(await as({ sub: "ada", client_id: "other" }))).not.toContain("canary-of-ada");
    expect(await lookAround(await as({ sub: "bob" }))).not.toContain("canary-of-ada");
    expect(await lookAround(await as({ sub: "ada" }))).toContain("canary-of-ada");
  });

  it("may be named by a claim", async () => {
    const { issuer, sign } = await openIssuer();
    const url = await serve({
      server: { authIssuer: issuer, authAudience: "cem" },
      customers: { claim: "tenant" },
    });
    const client = await connect(url, {
      authorization: `Bearer ${await sign({ sub: "a", tenant: "acme" })}`,
    });
    await client.call("save_state", { state_data: { a: 1 } });
    expect(await readdir(path.join(folder, "workspaces"))).toEqual(["acme"]);
    await expect(connect(url, { authorization: `Bearer ${await sign({ sub: "a" })}` })).rejects.toThrow(
      /tenant|401|unauthorized/iu,
    );
  });

  it("can't be offered what one connection behind the server shows", async () => {
    const config = { customers: { header: HEADER }, server: { expose: ["resources" as const] } };
    await expect(serve(config)).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  });

  it("wait for a place where as many are at work as may be, and idle ones make room", async () => {
    const url = await serve({
      customers: { header: HEADER, maxOpen: 1 },
      server: { trustedProxies: ["127.0.0.1"] },
    });
    const ada = await connect(url, { [HEADER]: "ada" });
    const bob = await connect(url, { [HEADER]: "bob" });
    const slow = ada.call("execute_code", {
      code: "await new Promise((r) => setTimeout(r, 5000)); return 1;",
    });
    // Where the next expectation fails, the call ends with the client.
    slow.catch(() => {});
    await expect
      .poll(() => bob.call("execute_code", { code: "return 2;" }), { timeout: 5_000 })
      .toMatchObject({ text: expect.stringContaining("customers are at work") });
    expect(await slow).toMatchObject({ isError: false });
    expect(await bob.call("execute_code", { code: "return 2;" })).toMatchObject({ isError: false });
  });
});

/** An OAuth issuer, until the test ends. */
async function openIssuer(): Promise<Issuer> {
  const issuer = await startIssuer();
  onTestFinished(() => issuer.close());
  return issuer;
}
