import { mkdtempSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { deleteCustomer } from "./admin.ts";
import { defineTool, runServer } from "./index.ts";
import type { RunningServer } from "./index.ts";

const TOKEN = "a-token-that-is-long-enough";
const MAIL = "ada.lovelace@example.org";
const HOSTILE = `<img src=x onerror="alert(1)"><script>alert(2)</script>`;
const LONG = { timeout: 30_000, interval: 50 };

let running: RunningServer;
let origin = "";
let removed = 0;

beforeAll(async () => {
  running = await runServer({
    cwd: mkdtempSync(path.join(os.tmpdir(), "cem-console-")),
    transport: "http",
    port: 0,
    config: {
      logging: { level: "CRITICAL" },
      server: { authToken: TOKEN },
      guardrails: { privacyProtection: true },
    },
    tools: {
      crm: {
        find: defineTool({
          description: "Find a contact.",
          input: { type: "object", properties: {} },
          execute: () => ({ name: HOSTILE, mail: MAIL }),
        }),
        remove: defineTool({
          description: "Remove a contact.",
          annotations: { destructiveHint: true },
          input: { type: "object", properties: {} },
          execute: () => ({ removed: (removed += 1) }),
        }),
      },
    },
  });
  origin = new URL(running.url ?? "").origin;
});
afterAll(() => running.close(0));

interface Answered {
  status: number;
  headers: Headers;
  text: string;
  data: Record<string, unknown>;
}

async function call(
  target: string,
  init: RequestInit & { token?: string | undefined } = {},
): Promise<Answered> {
  const { token = TOKEN, ...rest } = init;
  const headers = new Headers(rest.headers);
  if (token !== "") headers.set("authorization", `Bearer ${token}`);
  if (rest.body !== undefined && !headers.has("content-type"))
    headers.set("content-type", "application/json");
  const answer = await fetch(`${origin}${target}`, { ...rest, headers, redirect: "manual" });
  const text = await answer.text();
  const isJson = answer.headers.get("content-type")?.includes("json") === true;
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    data: (isJson ? JSON.parse(text) : {}) as Answered["data"],
  };
}

const post = (target: string, body: unknown): Promise<Answered> =>
  call(target, { method: "POST", body: JSON.stringify(body) });

async function finished(id: string): Promise<Answered> {
  return vi.waitFor(async () => {
    const answer = await call(`/api/v1/runs/${id}`);
    expect(["running", "asking"]).not.toContain(answer.data["status"]);
    return answer;
  }, LONG);
}

async function startCode(code: string): Promise<string> {
  const { status, data } = await post("/api/v1/runs", { code });
  expect(status).toBe(202);
  return String(data["id"]);
}

describe("the REST API of a server", () => {
  it("shows a run with its calls and without the values of persons", async () => {
    const code = `import { find } from "./servers/crm/index.ts";
console.log("to ${MAIL}");
return { found: await find({}), to: "${MAIL}" };`;
    const { text, data } = await finished(await startCode(code));
    expect(data).toMatchObject({
      status: "success",
      kind: "code",
      toolCalls: [{ server: "crm", tool: "find", status: "success" }],
      value: { found: { name: HOSTILE } },
      redactions: [{ type: "EMAIL" }],
      sandbox: { name: "deno" },
      context: { saved: expect.any(Number) },
    });
    expect(text).not.toContain(MAIL);
    expect((await call("/api/v1/runs")).text).not.toContain(MAIL);
  });

  it("shows no beginning of a value where the code is cut", async () => {
    const begun = `return "${MAIL}";\n// `;
    const code = `${begun}${" ".repeat(64 * 1024 - begun.length - 12)}${MAIL}`;
    const { text, data } = await finished(await startCode(code));
    expect(data).toMatchObject({ status: "success", inputIsCut: true, codeIsCut: true });
    expect(text).not.toContain(MAIL.slice(0, 12));
  });

  it("lists runs of MCP clients too", async () => {
    const client = new Client({ name: "test", version: "1.0.0" });
    const requestInit = { headers: { authorization: `Bearer ${TOKEN}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(running.url ?? ""), { requestInit }));
    await client.callTool({ name: "execute_code", arguments: { code: "return 4711;" } });
    await client.close();
    await vi.waitFor(async () => {
      const { data } = await call("/api/v1/runs");
      expect(data["runs"]).toContainEqual(
        expect.objectContaining({ title: "return 4711;", status: "success" }),
      );
    }, LONG);
  });

  it("lets a person answer what a run asks", async () => {
    const id = await startCode(`import { remove } from "./servers/crm/index.ts";\nreturn await remove({});`);
    const question = await vi.waitFor(async () => {
      const { data } = await call(`/api/v1/runs/${id}`);
      expect(data["openQuestions"]).toHaveLength(1);
      const [asked] = data["openQuestions"] as [{ id: string; message: string }];
      return asked;
    }, LONG);
    expect(question.message).toContain("crm.remove");
    expect(removed).toBe(0);
    const wrong = { action: "accept", content: { answer: 5 } };
    expect(await post(`/api/v1/runs/${id}/questions/${question.id}`, wrong)).toMatchObject({
      status: 400,
      data: {
        error: { code: "OPTION_INVALID", message: expect.stringContaining("does not fit its question") },
      },
    });
    const given = { action: "accept", content: { answer: "Yes, this once" } };
    expect((await post(`/api/v1/runs/${id}/questions/${question.id}`, given)).status).toBe(200);
    expect((await finished(id)).data).toMatchObject({ status: "success", value: { removed: 1 } });
    expect((await post(`/api/v1/runs/${id}/questions/${question.id}`, given)).status).toBe(404);
  });

  it.each([
    ["{", 400, "OPTION_INVALID"],
    [`{"code":"${"x".repeat(1_100_000)}"}`, 413, "INPUT_TOO_LARGE"],
  ])("refuses a body that it can't take in its own form: %.10s", async (body, status, code) => {
    const refused = await call("/api/v1/runs", { method: "POST", body });
    expect(refused).toMatchObject({ status, data: { error: { code, message: expect.any(String) } } });
  });

  it("ends a run, and streams how runs change", async () => {
    const ending = new AbortController();
    const headers = { authorization: `Bearer ${TOKEN}` };
    const stream = await fetch(`${origin}/api/v1/events`, { headers, signal: ending.signal });
    expect(stream.headers.get("content-type")).toBe("text/event-stream");
    const id = await startCode("while (true) await Promise.resolve();");
    const ended = post(`/api/v1/runs/${id}/end`, {});
    let seen = "";
    for await (const chunk of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      seen += chunk;
      if (new RegExp(`event: run\\ndata: [^\\n]*${id}[^\\n]*"status":"cancelled"`).test(seen)) break;
    }
    ending.abort();
    expect((await ended).status).toBe(200);
    expect((await finished(id)).data).toMatchObject({ status: "cancelled", error: { code: "ABORTED" } });
  });

  it("finds tools, and keeps state", async () => {
    expect((await call("/api/v1/tools")).data["servers"]).toContainEqual(
      expect.objectContaining({ name: "crm" }),
    );
    const { data } = await call("/api/v1/tools/search?query=remove+contact");
    const [best] = data["tools"] as [object];
    expect(best).toMatchObject({ tool: { server: "crm", name: "remove" } });
    const saved = { method: "PUT", body: JSON.stringify({ data: { count: 1, mail: MAIL } }) };
    expect((await call("/api/v1/state", saved)).status).toBe(200);
    const state = await call("/api/v1/state");
    expect(state.data).toMatchObject({ exists: true, data: { count: 1 } });
    expect(state.text).not.toContain(MAIL);
  });

  it.each([
    ["without a token", "/api/v1/runs", { token: "" }, 401],
    ["with a wrong token", "/api/v1/runs", { token: "another-token-of-some-length" }, 401],
    ["its description without a token", "/api/openapi.json", { token: "" }, 401],
    ["from a page of another host", "/api/v1/runs", { headers: { origin: "https://evil.example" } }, 403],
    [
      "a form's body",
      "/api/v1/runs",
      { method: "POST", body: "code=1", headers: { "content-type": "text/plain" } },
      415,
    ],
    ["what is no JSON", "/api/v1/runs", { method: "POST", body: "{" }, 400],
    ["an unknown key", "/api/v1/runs", { method: "POST", body: `{"code":"1","limits":{}}` }, 400],
    [
      "code that is too long",
      "/api/v1/runs",
      { method: "POST", body: JSON.stringify({ code: "1".repeat(200_000) }) },
      413,
    ],
    ["a run that is not there", "/api/v1/runs/run-x", {}, 404],
    ["a state file elsewhere", "/api/v1/state?file=../../etc/passwd.json", {}, 400],
    ["what is not there", "/api/v1/nothing", {}, 404],
  ])("refuses %s", async (_, target, init, status) => {
    expect((await call(target, init)).status).toBe(status);
  });

  it("describes itself", async () => {
    const { data } = await call("/api/openapi.json");
    expect(data).toMatchObject({ openapi: "3.1.0", paths: { "/api/v1/tasks": { post: {} } } });
  });
});

describe("the page's address", () => {
  it("allows nothing that comes from elsewhere, and needs no token, since it has no data", async () => {
    const { status, headers } = await call("/console", { token: "" });
    expect([status, headers.get("location")]).toEqual([308, "./console/"]);
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'; script-src 'self';");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
  });

  it.each(["/console/../package.json", "/console/%2e%2e%2fpackage.json", "/console/nothing.js"])(
    "has no file %s",
    async (target) => {
      expect([404, 503]).toContain((await call(target)).status);
    },
  );
});

describe("customers of one server", () => {
  it("see the runs of their own only, and can neither read, answer nor end those of others", async () => {
    const cwd = mkdtempSync(path.join(os.tmpdir(), "cem-console-customers-"));
    const several = await runServer({
      cwd,
      transport: "http",
      port: 0,
      config: {
        logging: { level: "CRITICAL" },
        server: { authToken: TOKEN, trustedProxies: ["127.0.0.1"] },
        customers: { header: "x-customer" },
      },
    });
    const own = origin;
    origin = new URL(several.url ?? "").origin;
    try {
      const as = (customer: string, target: string, body?: unknown): Promise<Answered> =>
        call(target, {
          headers: { "x-customer": customer },
          ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
        });
      const { data } = await as("ada", "/api/v1/runs", { code: "return 1;" });
      const run = `/api/v1/runs/${String(data["id"])}`;
      expect((await as("ada", run)).status).toBe(200);
      expect((await as("ada", "/api/v1/runs")).data["runs"]).toHaveLength(1);
      expect((await as("bob", "/api/v1/runs")).data["runs"]).toEqual([]);
      expect((await as("bob", run)).status).toBe(404);
      expect((await as("bob", `${run}/end`, {})).status).toBe(404);
      expect((await as("bob", `${run}/questions/x`, { action: "cancel" })).status).toBe(404);
      expect((await call("/api/v1/runs")).status).toBe(403);
      await vi.waitFor(async () => {
        expect((await as("ada", run)).data["status"]).toBe("success");
      }, LONG);
      // Whoever comes with the id of a customer who was deleted elsewhere sees nothing of before.
      await deleteCustomer("ada", { cwd, configFile: false });
      const { data: anew } = await as("ada", "/api/v1/runs", { code: "return 2;" });
      expect((await as("ada", run)).status).toBe(404);
      expect((await as("ada", "/api/v1/runs")).data["runs"]).toMatchObject([{ id: anew["id"] }]);
    } finally {
      origin = own;
      await several.close(0);
    }
  });
});
