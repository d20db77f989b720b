import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { replaceFile } from "@cem/core/files";
import { scopeStore } from "@cem/store";
import { createRedisStore } from "../../../store/src/redis/redis-store.ts";
import { createStoreBlobs } from "../../src/sync/blobs.ts";
import { createWorkspaceSync } from "../../src/sync/synced-workspace.ts";

// A machine as a process of its own, which carries out runs until it is told to stop: `machine-process.ts HOME NAME REDIS_URL`.

const SIZES = [0, 10, 3_000, 30_000, 1_500_000];

/** The content of a run's own file, which anybody can check by its name. */
export function contentOf(name: string, run: number): Buffer {
  const seed = createHash("sha256").update(`${name} ${run}`).digest("hex");
  const size = SIZES[run % SIZES.length] ?? 0;
  return Buffer.from(seed.repeat(Math.ceil(size / seed.length))).subarray(0, size);
}

if (import.meta.main) {
  const [home = "", name = "", url = ""] = process.argv.slice(2);
  const store = createRedisStore({ url });
  const scope = scopeStore(store, "files", "one");
  const folder = path.join(home, "workspace");
  const sync = createWorkspaceSync({
    store: scope,
    blobs: createStoreBlobs(scope),
    roots: [{ name: "workspace", folder }],
    recordFile: path.join(home, "record.json"),
    limits: { maxFiles: 10_000, maxBytes: 1024 ** 3 },
    // So that sweeping meets pushes under way.
    garbageRestMs: 1,
  });
  const tell = (event: string, ...more: unknown[]): void => {
    process.stdout.write(`${JSON.stringify([event, ...more])}\n`);
  };
  /** Adds a file of the run's own, sets the machine's member of the state, and replaces a text that all replace. */
  const work = async (run: number): Promise<void> => {
    await replaceFile(path.join(folder, "runs", `${name}-${run}.bin`), contentOf(name, run));
    const file = path.join(folder, "state.json");
    const state = JSON.parse(await readFile(file, "utf8").catch(() => "{}")) as object;
    await replaceFile(file, JSON.stringify({ ...state, [name]: run }));
    await replaceFile(path.join(folder, "both.txt"), `${name} ${run}`);
    tell("wrote", run);
  };
  tell("ready");
  for await (const line of createInterface(process.stdin)) {
    const [command, run] = JSON.parse(line) as [string, number];
    if (command === "stop") break;
    const { remarks } =
      command === "run" ? await sync.during(() => work(run)) : { remarks: await sync.fetch() };
    tell("done", run, remarks);
  }
  await sync.close();
  await store.close();
  process.stdin.destroy();
}
