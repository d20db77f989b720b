import { createServer, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import { join } from "node:path";
import type { SandboxProvider } from "@cem/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Harness, type ContractOptions } from "./harness.ts";

function listen(server: Server | HttpServer, place: number | string): Promise<void> {
  return new Promise((resolve) => {
    if (typeof place === "number") server.listen(place, "0.0.0.0", () => resolve());
    else server.listen(place, () => resolve());
  });
}

/** Contract tests: network access of programs. */
export function networkContract(makeProvider: () => SandboxProvider, options: ContractOptions): void {
  let seen = 0;
  let port = 0;
  const sockets = new Set<Socket>();
  const server = createHttpServer((request, response) => {
    seen += 1;
    if (request.url === "/redirect") response.writeHead(302, { location: `http://127.0.0.2:${port}/` });
    response.end("reached");
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    if (server.listenerCount("request") === 0) seen += 1;
  });
  beforeAll(async () => {
    await listen(server, 0);
    ({ port } = server.address() as AddressInfo);
  });
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  /** Tries an address in every way the runtime has. */
  const reach = (host: string) => `const results = [];
const url = "http://${host}:${port}/";
try { results.push(await (await fetch(url, { signal: AbortSignal.timeout(2000) })).text()); } catch (error) { results.push(error.name); }
try { (await Deno.connect({ hostname: "${host}", port: ${port} })).close(); results.push("connected"); } catch (error) { results.push(error.name); }
return results.join();`;

  describe("without network", () => {
    let harness: Harness;
    const pathSeen: string[] = [];
    let unix: Server;
    beforeAll(async () => {
      harness = await Harness.make(makeProvider());
      unix = createServer(() => pathSeen.push("connection"));
      await listen(unix, join(harness.workspace, "s.sock"));
    });
    afterAll(async () => {
      unix.close();
      await harness.dispose();
    });

    it.each([
      "127.0.0.1",
      "localhost",
      "0.0.0.0",
      "[::1]",
      "2130706433",
      "169.254.169.254",
      "[::ffff:127.0.0.1]",
    ])("reaches nothing at %s", async (host) => {
      const before = seen;
      const found = await harness.value(reach(host));
      expect(found).not.toContain("reached");
      expect(found).not.toContain("connected");
      expect(seen).toBe(before);
    });

    it("looks up no names, opens no sockets and no inspector", async () => {
      const code = `import net from "node:net"; import dns from "node:dns/promises";
const ways = { resolve: () => Deno.resolveDns("example.com", "A"), lookup: () => dns.lookup("example.com"), listen: () => Deno.listen({ port: 0 }),
  unix: () => Deno.connect({ transport: "unix", path: "/workspace/s.sock" }), socket: () => new WebSocket("ws://127.0.0.1:${port}"),
  node: () => new Promise((resolve, reject) => net.connect(${port}, "127.0.0.1", resolve).on("error", reject)),
  inspector: async () => (await import("node:inspector")).open(0) };
const done = [];
for (const [name, way] of Object.entries(ways)) {
  try { const made = await way(); if (name === "socket") await new Promise((ok, no) => { made.onopen = ok; made.onerror = no; }); done.push(name); } catch {}
}
return done;`;
      const before = seen;
      expect(await harness.value(code)).toEqual([]);
      expect(seen).toBe(before);
      expect(pathSeen).toEqual([]);
      const datagram = `import dgram from "node:dgram"; const s = dgram.createSocket("udp4");
await new Promise((resolve, reject) => { s.on("error", reject); s.bind(0, resolve); });`;
      expect(await harness.run(datagram)).toMatchObject({ status: "failed" });
    });
  });

  describe.skipIf(options.network === false)("with hosts that are allowed", () => {
    it("reaches what is listed, by its address, and nothing beside it", async () => {
      const harness = await Harness.make(makeProvider(), {}, { network: { hosts: [`127.0.0.1:${port}`] } });
      try {
        expect(await harness.value(reach("127.0.0.1"))).toBe("reached,connected");
        const before = seen;
        for (const host of ["127.0.0.2", "127.0.0.3", "localhost", "0.0.0.0"]) {
          expect(await harness.value(reach(host))).not.toMatch(/reached|connected/);
        }
        expect(seen).toBe(before);
      } finally {
        await harness.dispose();
      }
    });

    it("follows no redirect to an address that is not listed", async () => {
      const harness = await Harness.make(makeProvider(), {}, { network: { hosts: [`127.0.0.1:${port}`] } });
      try {
        const before = seen;
        const code = `try { return await (await fetch("http://127.0.0.1:${port}/redirect")).text(); } catch (error) { return error.name; }`;
        expect(await harness.value(code)).not.toBe("reached");
        expect(seen).toBe(before + 1);
      } finally {
        await harness.dispose();
      }
    });

    it("reaches nothing internal by a name that leads there", async () => {
      const name = "ip6-localhost.example";
      const harness = await Harness.make(makeProvider(), {}, { network: "all" });
      try {
        const before = seen;
        for (const host of ["localhost", "127.0.0.1", "169.254.169.254", "[::1]", name]) {
          expect(await harness.value(reach(host))).not.toMatch(/reached|connected/);
        }
        expect(seen).toBe(before);
      } finally {
        await harness.dispose();
      }
    });

    it("reaches localhost where that is listed", async () => {
      const harness = await Harness.make(makeProvider(), {}, { network: { hosts: [`localhost:${port}`] } });
      try {
        expect(await harness.value(reach("localhost"))).toContain("reached");
      } finally {
        await harness.dispose();
      }
    });

    it("refuses what is not a host", async () => {
      const made = Harness.make(makeProvider(), {}, { network: { hosts: ["http://x/"] } });
      await expect(made).rejects.toMatchObject({ code: "SANDBOX_SPEC_INVALID" });
    });
  });
}
