import { connect, createServer, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import { join } from "node:path";
import type { NetworkPolicy, SandboxProvider } from "@cem/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Harness, recordingInvoker, type ContractOptions } from "./harness.ts";

function listen(server: Server | HttpServer, place: number | string): Promise<void> {
  return new Promise((resolve) => {
    if (typeof place === "number") server.listen(place, "0.0.0.0", () => resolve());
    else server.listen(place, () => resolve());
  });
}

/** `tell` receives each port on which the program listens. The value is the list of ports on which the host reaches it. */
const LISTEN = `import { callTool } from "cem:client"; import net from "node:net"; import { createRequire } from "node:module";
const serve = (net, Type, tell) => { const handle = new Type(1); if (handle.listen(8) !== 0) return; const at = {}; handle.getsockname(at); net.createServer((socket) => socket.end("guest")).listen(handle); tell(at.port); };
const ofSocket = (net) => { const socket = new net.Socket(); socket.on("error", () => {}); try { socket.connect(1, "127.0.0.1"); } catch {} return socket._handle.constructor; };
const ports = []; const tell = (port) => ports.push(port);
WAY
const reached = []; for (const port of ports) if (await callTool("h", "reaches", { port })) reached.push(port); return reached;`;
const THREAD = `const text = "const ofSocket = " + ofSocket + "; const serve = " + serve + "; const tell = (port) => globalThis.postMessage ? postMessage(port) : process.getBuiltinModule('worker_threads').parentPort.postMessage(port); import('node:net').then(({ default: net }) => serve(net, ofSocket(net), tell)).finally(() => tell(0));";
const start = START; let worker; try { worker = await start(new URL("data:text/javascript," + encodeURIComponent(text))); } catch {}
if (worker) await new Promise((done) => { const take = (port) => (port > 0 ? tell(port) : done()); worker.onmessage = ({ data }) => take(data); worker.on?.("message", take); worker.onerror = done; worker.on?.("error", done); });`;
const WAYS = {
  "a socket's handle": "serve(net, ofSocket(net), tell);",
  "the runtime's own modules": `serve(net, createRequire("/workspace/x.js")("internal/test/binding").internalBinding("tcp_wrap").TCP, tell);`,
  "the runtime": `tell(Deno.listen({ hostname: "127.0.0.1", port: 0 }).addr.port);`,
  "a server of the runtime": `tell(Deno.serve({ hostname: "127.0.0.1", port: 0 }, () => new Response("guest")).addr.port);`,
  "the inspector": `for (const name of ["inspector", "inspector/promises"]) { const port = 20_000 + Math.floor(Math.random() * 10_000); try { (await import("node:" + name)).open(port, "127.0.0.1"); tell(port); } catch {} }`,
  "a thread": THREAD.replace("START", '(url) => new Worker(url, { type: "module" })'),
  "a thread of Node's": THREAD.replace(
    "START",
    'async (url) => { Object.getOwnPropertyDescriptor = () => undefined; return new (await import("node:worker_threads")).Worker(url); }',
  ),
};

/** Whether a program answers on this port of the host. */
function isGuestAt(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write("GET /json HTTP/1.0\r\n\r\n"));
    socket.on("data", (data) => resolve(/guest|DebuggerUrl/.test(String(data))));
    socket.on("error", () => resolve(false)).on("close", () => resolve(false));
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

  /** Tries to reach an address in every way that the runtime offers. */
  const reach = (host: string) => `const results = [];
const url = "http://${host}:${port}/";
try { results.push(await (await fetch(url, { signal: AbortSignal.timeout(2000) })).text()); } catch (error) { results.push(error.name); }
try { (await Deno.connect({ hostname: "${host}", port: ${port} })).close(); results.push("connected"); } catch (error) { results.push(error.name); }
return results.join();`;

  const networks: NetworkPolicy[] = ["none", "all", { hosts: ["127.0.0.1"] }];
  it.each(options.network === false ? ["none" as const] : networks)(
    "is reached by nobody with the network %j",
    async (network) => {
      const harness = await Harness.make(makeProvider(), {}, { network });
      const invoker = recordingInvoker(({ args }) => isGuestAt((args as { port: number }).port));
      try {
        for (const [name, way] of Object.entries(WAYS)) {
          const outcome = await harness.run(
            LISTEN.replace("WAY", () => way),
            { invoker },
          );
          const { value = [] } = outcome as { value?: unknown };
          expect([name, value, outcome.status]).toEqual([
            name,
            [],
            expect.stringMatching(/completed|failed/),
          ]);
        }
      } finally {
        await harness.dispose();
      }
    },
  );

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
