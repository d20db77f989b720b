import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import os from "node:os";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { connectHttp, jsonOf } from "../../fixtures/clients.ts";
import { createLocalAgent } from "../../fixtures/local-agent.ts";
import { ask, at, INITIALIZE, post, servesInTests } from "../../fixtures/serve.ts";
import type { HttpOptions } from "../index.ts";

const { agent, release } = createLocalAgent();
const serve = servesInTests(agent);
const TOKEN = "a-long-enough-token-0123456789";
const MB = 1024 * 1024;
const hasIpv6 = Object.values(os.networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === "::1"),
);
const IPV6_LOOPBACK: [string, RegExp][] = hasIpv6 ? [["::1", /^http:\/\/\[::1\]:\d+\/mcp$/]] : [];

afterAll(() => agent.dispose());

/** The first bytes of the answer to raw bytes, which may be half a request. */
async function askRaw(url: string, text: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.write(text);
  const [answer] = await new Promise<[Buffer]>((resolve, reject) => {
    socket.once("data", (...args: [Buffer]) => resolve(args));
    socket.once("error", reject);
  });
  socket.destroy();
  return answer.toString();
}

describe("serveHttp", () => {
  describe("the address", () => {
    it.each([
      ["0.0.0.0", "listening on every address would"],
      ["::", "every address"],
      ["192.0.2.1", "listening on 192.0.2.1 would"],
      ["", "every address"],
    ])("is refused where it is %j without auth", async (host, words) => {
      await expect(serve({ host })).rejects.toMatchObject({
        code: "ADDRESS_REFUSED",
        message: expect.stringContaining(words),
        details: { host },
      });
    });

    it.each([
      ["https://tools.example", "https://tools.example/mcp"],
      ["https://example.com/tools/mcp", "https://example.com/tools/mcp"],
    ])("is known as %s where that is the public URL", async (publicUrl, expected) => {
      expect((await serve({ publicUrl })).url).toBe(expected);
    });

    it.each([
      ["127.0.0.1", /^http:\/\/127\.0\.0\.1:\d+\/mcp$/],
      ["localhost", /^http:\/\/localhost:\d+\/mcp$/],
      ...IPV6_LOOPBACK,
    ])("may be %s without auth", async (host, url) => {
      const serving = await serve({ host });
      expect(serving.url).toMatch(url);
      expect((await post(serving.url, INITIALIZE)).status).toBe(200);
    });

    it("is port 3000 of 127.0.0.1 by default", async () => {
      const blocker = createServer();
      // Where something else listens there already, that will do.
      await new Promise<void>((resolve) => {
        blocker.once("error", () => resolve());
        blocker.listen(3000, "127.0.0.1", resolve);
      });
      onTestFinished(() => void blocker.close());
      await expect(serve({ port: undefined })).rejects.toMatchObject({
        message: "Can't listen on 127.0.0.1:3000: the port is taken.",
      });
    });

    it("that is taken is refused with the reason", async () => {
      const { url } = await serve();
      const port = Number(new URL(url).port);
      await expect(serve({ port })).rejects.toMatchObject({
        code: "ADDRESS_UNUSABLE",
        message: `Can't listen on 127.0.0.1:${port}: the port is taken.`,
        details: { host: "127.0.0.1", port, reason: "taken" },
      });
    });

    it("that belongs to another machine is refused with the reason", async () => {
      await expect(serve({ host: "192.0.2.1", auth: { token: TOKEN } })).rejects.toMatchObject({
        code: "ADDRESS_UNUSABLE",
        message: "Can't listen on 192.0.2.1:0: the address does not belong to this machine.",
        details: { reason: "not-local" },
      });
    });

    it("may be every address with auth", async () => {
      const { url } = await serve({ host: "0.0.0.0", auth: { token: TOKEN } });
      expect(url).toMatch(/^http:\/\/localhost:\d+\/mcp$/);
      expect((await post(url, INITIALIZE)).status).toBe(401);
      expect((await post(url, INITIALIZE, { authorization: `Bearer ${TOKEN}` })).status).toBe(200);
    });

    it("is not listened on any longer when setting up the server fails", async () => {
      const free = createServer().listen(0, "127.0.0.1");
      await new Promise((resolve) => free.once("listening", resolve));
      const { port } = free.address() as AddressInfo;
      await new Promise((resolve) => free.close(resolve));
      const auth = { token: "short" };
      await expect(serve({ port, auth })).rejects.toMatchObject({ code: "AUTH_INVALID" });
      await expect(ask(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow("ECONNREFUSED");
    });
  });

  it("refuses unknown options by name", async () => {
    await expect(serve({ allowedHost: ["a"] } as HttpOptions)).rejects.toMatchObject({
      code: "OPTION_INVALID",
      message: '"allowedHost" is not an option of serveHttp. Did you mean "allowedHosts"?',
    });
  });

  describe("bad input", () => {
    it("gets a clear answer, and harms nobody", async () => {
      const { url } = await serve();
      expect((await post(url, "{")).status).toBe(400);
      expect((await post(url, "[]")).status).toBe(400);
      expect((await post(url, INITIALIZE, { "content-type": "text/plain" })).status).toBe(415);
      expect((await post(url, INITIALIZE, { "mcp-session-id": "nobody" })).status).toBe(404);
      expect((await ask(url, { method: "PUT" })).status).toBe(405);
      expect(await ask(at(url, "/nothing"))).toMatchObject({
        status: 404,
        body: "There is nothing at GET /nothing. MCP is served at /mcp.\n",
        headers: { "content-type": "text/plain; charset=utf-8" },
      });
      expect(await askRaw(url, "GET //[ HTTP/1.1\r\nHost: localhost\r\n\r\n")).toContain("400 Bad Request");
      expect((await ask(url, { headers: { "x-long": "x".repeat(20_000) } })).status).toBe(431);
      expect((await post(url, INITIALIZE)).status).toBe(200);
    });

    it("of 50 MB is refused before it is read", async () => {
      const { url } = await serve();
      const head = `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${50 * MB}\r\n\r\n`;
      expect(await askRaw(url, head)).toMatch(/^HTTP\/1\.1 413 /);
    });

    it("that turns out too large is refused, and the client can go on", async () => {
      const { url } = await serve();
      const client = await connectHttp(url, "modern");
      const code = `return ${JSON.stringify("x".repeat(5 * MB))}.length`;
      await expect(client.callTool({ name: "execute_code", arguments: { code } })).rejects.toThrow(
        /413|Payload Too Large|EPIPE|ECONNRESET|fetch failed/,
      );
      expect(jsonOf(await client.callTool({ name: "list_servers", arguments: {} }))).toHaveLength(4);
      await client.close();
    });

    it("as code or as a task that is too long is refused, and nothing is run", async () => {
      const { url } = await serve();
      const client = await connectHttp(url, "modern");
      for (const [name, arguments_, problem] of [
        [
          "execute_code",
          { code: `return 1;${" ".repeat(128 * 1024)}` },
          "code has 131081 characters, and 131072",
        ],
        [
          "execute_task",
          { task_description: "add ".repeat(20_000) },
          "task_description has 80000 characters, and 65536",
        ],
      ] as const) {
        const answer = await client.callTool({ name, arguments: arguments_ });
        expect(answer).toMatchObject({ isError: true });
        expect(JSON.stringify(answer.content)).toContain(problem);
      }
      await client.close();
    });

    it("that never comes does not keep the others waiting", async () => {
      const { url } = await serve();
      const slow = connect(Number(new URL(url).port), "127.0.0.1");
      onTestFinished(() => void slow.destroy());
      await new Promise<void>((resolve) => {
        slow.write("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{", () => resolve());
      });
      expect((await post(url, INITIALIZE)).status).toBe(200);
    });
  });

  describe("close", () => {
    it("is not ready, takes no more, and lets what runs finish", async () => {
      const serving = await serve();
      const client = await connectHttp(serving.url, "modern");
      const code = `await reached("close"); return "finished";`;
      const answer = client.callTool({ name: "execute_code", arguments: { code } });
      await expect.poll(() => serving.server.runs.active).toBeGreaterThan(0);
      const closing = serving.close(10_000);
      await expect(post(serving.url, INITIALIZE)).rejects.toThrow(/ECONNREFUSED/);
      release("close");
      expect(jsonOf(await answer)).toMatchObject({ result: "finished" });
      await closing;
      await expect(serving.closed).resolves.toBeUndefined();
    });

    it("cancels what does not finish in time", async () => {
      const serving = await serve();
      const client = await connectHttp(serving.url, "legacy");
      const answer = client.callTool({ name: "execute_code", arguments: { code: "await forever();" } });
      await expect.poll(() => serving.server.runs.active).toBe(1);
      const started = performance.now();
      await Promise.allSettled([answer, serving.close(20)]);
      expect(performance.now() - started).toBeLessThan(20_000);
      expect(serving.server.runs.active).toBe(0);
    });
  });
});
