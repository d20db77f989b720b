// The cost of customers: the start of a server with a thousand on disk beside one with none, a new customer's first run beside
// that of an old one, and what an idle one holds. Alone: node --expose-gc --conditions=@cem/source scripts/bench/customers.ts
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { runServer } from "code-execution-mcp";
import type { RunningServer } from "code-execution-mcp";
import { interleaved, rounded } from "./measure.ts";
import { renderTable } from "./table.ts";
import type { Table } from "./table.ts";
import { withFolder, writeSampleServer } from "./workspace.ts";

const ON_DISK = 1_000;
const AT_WORK = 20;
const IDLE_SECONDS = 1;
const HEADER = "x-customer";
const BYTES_PER_KIB = 1_024;

async function writeCustomers(folder: string, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    const home = path.join(folder, "workspaces", `old_${at}`);
    for (const part of ["workspace", "sessions", ".skills"])
      await mkdir(path.join(home, part), { recursive: true });
    await writeFile(path.join(home, "workspace", "state.json"), '{"visits":1}');
    await writeFile(path.join(home, "sessions", "session_001.json"), "{}");
  }
}

function serve(folder: string, idle = 300): Promise<RunningServer> {
  return runServer({
    transport: "http",
    port: 0,
    cwd: folder,
    configFile: false,
    config: {
      customers: { header: HEADER, idle, maxOpen: 1_000 },
      server: { trustedProxies: ["127.0.0.1"] },
      execution: { typeCheck: "off" },
      logging: { level: "CRITICAL" },
    },
  });
}

async function firstRun({ url = "" }: RunningServer, customer: string): Promise<void> {
  const client = new Client({ name: "bench", version: "0" });
  const requestInit = { headers: { [HEADER]: customer } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  const code = 'import { add } from "./servers/math/index.ts";\nreturn add({ a: 1, b: 2 });';
  const { isError } = await client.callTool({ name: "execute_code", arguments: { code } });
  await client.close();
  if (isError === true) throw new Error(`The run of ${customer} failed.`);
}

/** Memory of this process's guests, as far as it is theirs alone, in KiB. */
async function guestsKib(): Promise<number> {
  const parents = new Map<number, number>();
  const sizes = new Map<number, number>();
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/u.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, "utf8").catch(() => "");
    const rollup = await readFile(`/proc/${name}/smaps_rollup`, "utf8").catch(() => "");
    parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
    sizes.set(Number(name), Number(/^Pss:\s+(\d+)/mu.exec(rollup)?.[1] ?? 0));
  }
  const isOwn = (pid: number | undefined): boolean =>
    pid !== undefined && pid > 1 && (pid === process.pid || isOwn(parents.get(pid)));
  return [...sizes].reduce((sum, [pid, size]) => sum + (pid !== process.pid && isOwn(pid) ? size : 0), 0);
}

function heapKib(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / BYTES_PER_KIB;
}

async function measureMemory(folder: string): Promise<string[][]> {
  const server = await serve(folder, IDLE_SECONDS);
  await firstRun(server, "first");
  const [heap, guests] = [heapKib(), await guestsKib()];
  await Promise.all(Array.from({ length: AT_WORK }, (_, at) => firstRun(server, `idle_${at}`)));
  const [heapOpen, guestsOpen] = [heapKib(), await guestsKib()];
  await delay(IDLE_SECONDS * 3_000);
  const [heapLeft, guestsLeft] = [heapKib(), await guestsKib()];
  await server.close(0);
  const each = (kib: number): string => `${rounded(Math.max(0, kib) / AT_WORK)} KiB`;
  return [
    ["memory of a customer at work, host", each(heapOpen - heap), "", ""],
    ["memory of a customer at work, guest", each(guestsOpen - guests), "", ""],
    ["memory of an idle customer, host", each(heapLeft - heap), "", ""],
    ["memory of an idle customer, guest", each(guestsLeft - guests), "", ""],
  ];
}

/** Customers of a server. */
export async function measureCustomers(rounds: number): Promise<Table> {
  return withFolder((none) =>
    withFolder(async (many) => {
      for (const folder of [none, many]) await writeSampleServer(folder);
      await writeCustomers(many, ON_DISK);
      const start = async (folder: string): Promise<void> => (await serve(folder)).close(0);
      const starts = await interleaved({ none: () => start(none), many: () => start(many) }, rounds);
      const server = await serve(many);
      let at = 0;
      const runs = await interleaved(
        {
          old: () => firstRun(server, `old_${at}`),
          fresh: () => firstRun(server, `new_${(at += 1)}`),
        },
        rounds,
      );
      await server.close(0);
      const row = (title: string, one: number, other: number): string[] => [
        title,
        rounded(one),
        rounded(other),
        rounded(other / one),
      ];
      const median = (samples: typeof starts, name: string): number => samples.get(name)?.median ?? NaN;
      return {
        title: "Customers of a server, ms",
        columns: ["", "before", "after", "ratio"],
        rows: [
          row(`start of a server: none on disk, ${ON_DISK}`, median(starts, "none"), median(starts, "many")),
          row("first run of a customer: known, new", median(runs, "old"), median(runs, "fresh")),
          ...(process.platform === "linux" ? await measureMemory(none) : []),
        ],
      };
    }),
  );
}

if (import.meta.main) {
  const rounds = Number(process.argv[2] ?? 30);
  process.stdout.write(`${renderTable(await measureCustomers(rounds))}\n`);
}
