import { Agent, request } from "node:http";
import { afterAll, describe, expect, it } from "vitest";
import { createLocalAgent } from "../../fixtures/local-agent.ts";
import { INITIALIZE, post, servesInTests } from "../../fixtures/serve.ts";
import { TrustedProxies } from "./trusted-proxies.ts";

const { agent } = createLocalAgent();
const serve = servesInTests(agent);
afterAll(() => agent.dispose());

describe("TrustedProxies", () => {
  const proxies = new TrustedProxies(["10.0.0.0/8", "192.0.2.7", "fd00::/8"]);

  it.each([
    [
      "a client that is no proxy, whatever it claims",
      "203.0.113.9",
      { "x-forwarded-for": "198.51.100.1" },
      "203.0.113.9",
    ],
    ["a proxy that names nobody", "10.1.2.3", {}, "10.1.2.3"],
    ["a proxy", "10.1.2.3", { "x-forwarded-for": "198.51.100.1" }, "198.51.100.1"],
    [
      "a proxy, by a socket for IPv6",
      "::ffff:10.1.2.3",
      { "x-forwarded-for": "198.51.100.1" },
      "198.51.100.1",
    ],
    [
      "a chain of proxies",
      "10.1.2.3",
      { "x-forwarded-for": "198.51.100.1, 192.0.2.7,fd00::2" },
      "198.51.100.1",
    ],
    [
      "what a client claimed before its proxy",
      "10.1.2.3",
      { "x-forwarded-for": "1.1.1.1, 198.51.100.1" },
      "198.51.100.1",
    ],
    ["no address", "10.1.2.3", { "x-forwarded-for": "1.1.1.1, unknown" }, "10.1.2.3"],
    ["ports", "fd00::1", { "x-forwarded-for": "198.51.100.1:4711" }, "198.51.100.1"],
    [
      "Forwarded",
      "10.1.2.3",
      { forwarded: 'for=1.1.1.1;proto=http, by=x;For="[2001:db8::1]:4711"' },
      "2001:db8::1",
    ],
    [
      "both, which agree",
      "10.1.2.3",
      { forwarded: "for=198.51.100.1", "x-forwarded-for": "198.51.100.1" },
      "198.51.100.1",
    ],
    [
      "both, of which the client wrote one",
      "10.1.2.3",
      { forwarded: "for=1.1.1.1", "x-forwarded-for": "198.51.100.1" },
      "10.1.2.3",
    ],
  ])("takes the client from %s", (_, peer, headers, client) => {
    expect(proxies.clientOf(peer, headers)).toBe(client);
  });

  it.each(["localhost", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/1e1", "fd00::/129", "10.0.0.0/8/8", ""])(
    "does not take %j for an address",
    (range) => {
      expect(() => new TrustedProxies([range])).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
    },
  );
});

describe("clients behind a proxy", () => {
  const MAX_SESSIONS = 4;
  const open = (url: string, client: string) => post(url, INITIALIZE, { "x-forwarded-for": client });
  /** Opens sessions that listen, and so are not let go for others. */
  const fill = async (url: string, client: string, count: number): Promise<() => void> => {
    const listener = new Agent({ keepAlive: true });
    for (let at = 0; at < count; at++) {
      const { headers } = await open(url, client);
      const sent = request(url, {
        agent: listener,
        headers: { accept: "text/event-stream", "mcp-session-id": String(headers["mcp-session-id"]) },
      });
      sent.on("error", () => {});
      await new Promise((resolve) => sent.once("response", resolve).end());
    }
    return () => listener.destroy();
  };

  it("have shares of the sessions of their own", async () => {
    const { url } = await serve({ maxSessions: MAX_SESSIONS, trustedProxies: ["127.0.0.0/8"] });
    const stop = await fill(url, "198.51.100.1", MAX_SESSIONS / 2);
    expect([(await open(url, "198.51.100.1")).status, (await open(url, "198.51.100.2")).status]).toEqual([
      503, 200,
    ]);
    stop();
  });

  it("are one client where the proxy is not named", async () => {
    const { url } = await serve({ maxSessions: MAX_SESSIONS });
    const stop = await fill(url, "198.51.100.1", MAX_SESSIONS / 2);
    expect((await open(url, "198.51.100.2")).status).toBe(503);
    stop();
  });
});
