import { afterAll, describe, expect, it } from "vitest";
import { connectHttp, jsonOf } from "../../fixtures/clients.ts";
import { createLocalAgent } from "../../fixtures/local-agent.ts";
import { ask, at, INITIALIZE, LIST_TOOLS, post, servesInTests } from "../../fixtures/serve.ts";

const { agent, release } = createLocalAgent();
const serve = servesInTests(agent);
const VERSION = { "mcp-protocol-version": "2025-11-25" };
const LISTEN = { headers: { accept: "text/event-stream", ...VERSION } };

afterAll(() => agent.dispose());

async function open(url: string): Promise<Record<string, string>> {
  const { headers, status } = await post(url, INITIALIZE);
  return { ...VERSION, status: String(status), "mcp-session-id": String(headers["mcp-session-id"]) };
}

const call = (code: string, id = 3): string =>
  JSON.stringify({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name: "execute_code", arguments: { code } },
  });

/** Reads the beginning of an event stream, and hangs up. */
async function beginningOf(url: string, init: RequestInit): Promise<string> {
  const controller = new AbortController();
  const answer = await fetch(url, { ...init, signal: controller.signal });
  const { value } = (await answer.body?.getReader().read()) ?? {};
  controller.abort();
  return new TextDecoder().decode(value);
}

describe("sessions of the older protocol", () => {
  it("end when they are deleted", async () => {
    const { url } = await serve({});
    const session = await open(url);
    expect((await ask(url, { method: "DELETE", headers: session })).status).toBe(200);
    expect((await post(url, LIST_TOOLS, session)).status).toBe(404);
    // Some clients name the type of a body that is not there.
    const headers = { ...(await open(url)), "content-type": "application/json" };
    expect((await ask(url, { method: "DELETE", headers })).status).toBe(200);
  });

  it("end when nobody uses them", async () => {
    const { url } = await serve({ sessionIdleMs: 400 });
    const session = await open(url);
    await expect.poll(async () => (await post(url, LIST_TOOLS, session)).status, { interval: 900 }).toBe(404);
  });

  it("are let go where clients never end them: the next client gets one, and who works keeps his", async () => {
    const { url } = await serve({ maxSessions: 10 });
    const worker = await connectHttp(url, "legacy");
    const running = worker.callTool({
      name: "execute_code",
      arguments: { code: `await reached("kept"); return 1;` },
    });
    for (let at = 0; at < 30; at++) {
      const session = await open(url);
      expect(session["status"]).toBe("200");
      await post(url, LIST_TOOLS, session);
    }
    expect((await ask(at(url, "/readyz"))).status).toBe(200);
    release("kept");
    expect(jsonOf(await running)).toMatchObject({ result: 1 });
    const next = await connectHttp(url, "legacy");
    const answer = await next.callTool({ name: "execute_code", arguments: { code: "return 7;" } });
    expect(jsonOf(answer)).toMatchObject({ result: 7 });
    await Promise.all([worker.close(), next.close()]);
  });

  it("are refused where all are in use, and /readyz says so", async () => {
    const { url, server } = await serve({ maxSessions: 1 });
    const session = await open(url);
    const running = post(url, call(`await reached("full"); return 1;`), session);
    await expect.poll(() => server.runs.active).toBe(1);
    const refused = await post(url, INITIALIZE);
    expect([refused.status, refused.body]).toEqual([
      503,
      expect.stringMatching(/Try again later|try again later/),
    ]);
    const { status, body } = await ask(at(url, "/readyz"));
    expect([status, body]).toEqual([503, "1 sessions are open and in use, which is the maximum\n"]);
    release("full");
    await running;
    await ask(url, { method: "DELETE", headers: session });
    expect((await ask(at(url, "/readyz"))).status).toBe(200);
  });
});

describe("an event stream", () => {
  it("begins with an id to resume from and the time to wait", async () => {
    const { url } = await serve();
    const session = await open(url);
    const beginning = /^id: \S+\nretry: 1000\ndata: \n\n/;
    expect((await post(url, LIST_TOOLS, session)).body).toMatch(beginning);
    expect(await beginningOf(url, { headers: { ...LISTEN.headers, ...session } })).toMatch(beginning);
  });

  it("has no empty event for clients of revisions that know none", async () => {
    const { url } = await serve();
    const body = INITIALIZE.replace("2025-11-25", "2025-03-26");
    const { headers } = await post(url, body);
    const session = {
      "mcp-session-id": String(headers["mcp-session-id"]),
      "mcp-protocol-version": "2025-03-26",
    };
    expect((await post(url, LIST_TOOLS, session)).body).toMatch(/^event: message\n/);
  });

  it("can be interrupted: the run goes on, and who comes back gets its answer", async () => {
    const { url, server } = await serve();
    const session = await open(url);
    const headers = {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      ...session,
    };
    const body = call(`await reached("resumed"); return "kept";`);
    const [, id = ""] = /^id: (\S+)/.exec(await beginningOf(url, { method: "POST", headers, body })) ?? [];
    expect(server.runs.active).toBe(1);
    const resume = () => fetch(url, { headers: { ...LISTEN.headers, ...session, "last-event-id": id } });
    let answer = await resume();
    // The server has not noticed yet that the stream was interrupted.
    while (answer.status === 409) answer = await resume();
    release("resumed");
    expect(await answer.text()).toContain(String.raw`\"result\":\"kept\"`);
    const stranger = await open(url);
    const foreign = { ...LISTEN.headers, ...stranger, "last-event-id": id };
    expect((await ask(url, { headers: foreign })).status).toBe(400);
  });
});
