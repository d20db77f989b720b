import { afterAll, describe, expect, it } from "vitest";
import { connectHttp, jsonOf } from "../../fixtures/clients.ts";
import { issuer } from "../../fixtures/issuer.ts";
import { createLocalAgent } from "../../fixtures/local-agent.ts";
import { ask, at, INITIALIZE, LIST_TOOLS, post, servesInTests } from "../../fixtures/serve.ts";

const { agent, release } = createLocalAgent();
const serve = servesInTests(agent);
const VERSION = { "mcp-protocol-version": "2025-11-25" };
const LISTEN = { headers: { accept: "text/event-stream", ...VERSION } };

afterAll(() => agent.dispose());

async function open(url: string, as: Record<string, string> = {}): Promise<Record<string, string>> {
  const { headers, status } = await post(url, INITIALIZE, as);
  return { ...VERSION, ...as, status: String(status), "mcp-session-id": String(headers["mcp-session-id"]) };
}

const call = (code: string, id = 3): string =>
  JSON.stringify({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name: "execute_code", arguments: { code } },
  });

const CANCEL = JSON.stringify({
  jsonrpc: "2.0",
  method: "notifications/cancelled",
  params: { requestId: 3 },
});

/** Reads the beginning of an event stream, and hangs up. */
async function beginningOf(url: string, init: RequestInit): Promise<string> {
  const controller = new AbortController();
  const answer = await fetch(url, { ...init, signal: controller.signal });
  const { value } = (await answer.body?.getReader().read()) ?? {};
  controller.abort();
  return new TextDecoder().decode(value);
}

/** Sends a request, and hangs up once its stream has begun. Returns the id to resume it from. */
async function begin(url: string, session: Record<string, string>, body: string): Promise<string> {
  const headers = {
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
    ...session,
  };
  const [, id = ""] = /^id: (\S+)/.exec(await beginningOf(url, { method: "POST", headers, body })) ?? [];
  return id;
}

async function resume(url: string, session: Record<string, string>, id: string): Promise<Response> {
  for (;;) {
    const answer = await fetch(url, { headers: { ...LISTEN.headers, ...session, "last-event-id": id } });
    // The server has not noticed yet that the stream was interrupted.
    if (answer.status !== 409) return answer;
    await answer.text();
  }
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

  it("are shared among customers, however many clients one of them has", async () => {
    const { url: issuerUrl, sign } = await issuer();
    const auth = { issuer: issuerUrl, audience: "cem", ownerClaim: "sub" };
    const { url, server } = await serve({ maxSessions: 4, auth });
    const as = async (sub: string, client_id: string) => ({
      authorization: `Bearer ${await sign({ sub, client_id })}`,
    });
    const running = [];
    for (const app of ["app1", "app2"]) {
      const session = await open(url, await as("ada", app));
      running.push(post(url, call(`await reached("shared"); return 1;`), session));
    }
    await expect.poll(() => server.runs.active).toBe(2);
    const refused = await post(url, INITIALIZE, await as("ada", "app3"));
    expect([refused.status, refused.body]).toEqual([503, expect.stringContaining("already uses its share")]);
    expect((await open(url, await as("bob", "app1")))["status"]).toBe("200");
    release("shared");
    await Promise.all(running);
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
    const id = await begin(url, session, call(`await reached("resumed"); return "kept";`));
    expect(server.runs.active).toBe(1);
    const answer = await resume(url, session, id);
    release("resumed");
    expect(await answer.text()).toContain(String.raw`\"result\":\"kept\"`);
    const stranger = await open(url);
    const foreign = { ...LISTEN.headers, ...stranger, "last-event-id": id };
    expect((await ask(url, { headers: foreign })).status).toBe(400);
  });

  it("of one call among several is resumed with its whole answer", async () => {
    const { url, server } = await serve();
    const session = await open(url);
    const code = `await reached("many"); return "x".repeat(30_000);`;
    const ids = await Promise.all([3, 4, 5, 6].map((id) => begin(url, session, call(code, id))));
    expect(server.runs.active).toBe(4);
    release("many");
    await expect.poll(() => server.runs.active).toBe(0);
    const answers = await Promise.all(ids.map((id) => resume(url, session, id)));
    for (const answer of answers) expect(await answer.text()).toContain("x".repeat(30_000));
  });

  it("ends its call where nobody comes back for a while, and says so; coming back to one keeps no other", async () => {
    const { url, server } = await serve();
    const session = await open(url);
    const kept = await begin(url, session, call(`await reached("back"); return "kept";`));
    const left = await begin(url, session, call("await forever();", 4));
    const answer = await resume(url, session, kept);
    expect(server.runs.active).toBe(2);
    await expect.poll(() => server.runs.active, { timeout: 20_000 }).toBe(1);
    const late = await resume(url, session, left);
    expect(await late.text()).toMatch(/"id":4,"error":\{"code":-32000,"message":"The client was away/);
    release("back");
    expect(await answer.text()).toContain(String.raw`\"result\":\"kept\"`);
  });

  it("is that of its own request: an id that is under way is refused", async () => {
    const { url } = await serve();
    const session = await open(url);
    const first = await begin(url, session, call(`await reached("twice"); return "first";`));
    const second = await post(url, call(`return "second";`), session);
    expect([second.status, second.body]).toEqual([400, expect.stringContaining("3 is under way already")]);
    release("twice");
    expect(await (await resume(url, session, first)).text()).toContain(String.raw`\"result\":\"first\"`);
    expect((await post(url, call(`return "second";`), session)).body).toContain("second");
  });

  it("ends with an error where its call is cancelled, and its id is free again", async () => {
    const { url, server } = await serve();
    const session = await open(url);
    const running = post(url, call("await forever();"), session);
    await expect.poll(() => server.runs.active).toBe(1);
    await post(url, CANCEL, session);
    expect((await running).body).toMatch(
      /"id":3,"error":\{"code":-32000,"message":"The request was cancelled/,
    );
    await expect.poll(() => server.runs.active).toBe(0);
    expect((await post(url, call(`return "second";`), session)).body).toContain("second");
  });

  it("is none where a call comes after its cancellation, which is not begun", async () => {
    const { url, server } = await serve();
    const session = await open(url);
    expect((await post(url, CANCEL, session)).status).toBe(202);
    const refused = await post(url, call("await forever();"), session);
    expect(JSON.parse(refused.body)).toMatchObject({
      id: 3,
      error: { message: "The request was cancelled." },
    });
    expect(server.runs.active).toBe(0);
    expect((await post(url, call(`return "second";`), session)).body).toContain("second");
  });
});
