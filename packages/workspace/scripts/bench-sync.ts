import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Store, WorkspaceSync } from "@cem/core";
import { createFolderStore, scopeStore } from "@cem/store";
import { temporaryFolder } from "../../../scripts/temporary-folder.ts";
import { isInstalled } from "../../../vitest.tools.ts";
import { createRedisStore } from "../../store/src/redis/redis-store.ts";
import { startRedis } from "../../store/test/redis-server.ts";
import { createStoreBlobs } from "../src/sync/blobs.ts";
import type { BlobStore } from "../src/sync/blobs.ts";
import { createS3Blobs, parseS3Url } from "../src/sync/s3-blobs.ts";
import type { S3Place } from "../src/sync/s3-blobs.ts";
import { createWorkspaceSync } from "../src/sync/synced-workspace.ts";
import { S3_KEY, startS3 } from "../test/sync/s3-server.ts";

// The cost of a shared workspace for a run, side by side with one that is not shared: `npm run bench:files`.

const ROUNDS = Number(process.argv[2] ?? 15);
const FILES = 1_000;
const LARGE_BYTES = 50 * 1024 * 1024;
const LIMITS = { maxFiles: 100_000, maxBytes: 10 * 1024 ** 3 };

interface Backend {
  name: string;
  store: Store;
  blobs: (scope: Store, name: string) => BlobStore;
}

const root = temporaryFolder("cem-bench-files");
const [redis, s3] = [isInstalled("redis-server") ? await startRedis() : undefined, await startS3()];
const backends: Backend[] = [
  {
    name: "folder",
    store: createFolderStore({ folder: path.join(root, "shared") }),
    blobs: createStoreBlobs,
  },
];
if (redis !== undefined) {
  const store = createRedisStore({ url: redis.url });
  const place = parseS3Url(s3.url, {}) as S3Place;
  backends.push({ name: "redis", store, blobs: createStoreBlobs });
  backends.push({
    name: "redis + S3",
    store,
    blobs: (_, name) => createS3Blobs({ place, credentials: S3_KEY }, name),
  });
}

let made = 0;
function open(backend: Backend, workspace: string): { folder: string; sync: WorkspaceSync } {
  made += 1;
  const home = path.join(root, `machine-${made}`);
  const name = `${backend.name.replaceAll(/\W/g, "")}-${workspace}`;
  const store = scopeStore(backend.store, "files", name);
  const folder = path.join(home, "workspace");
  const roots = [{ name: "workspace", folder }];
  const blobs = backend.blobs(store, name);
  const sync = createWorkspaceSync({
    store,
    blobs,
    roots,
    limits: LIMITS,
    recordFile: path.join(home, "record.json"),
  });
  return { folder, sync };
}

async function ms(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

async function fill(folder: string, files: number): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (let at = 0; at < files; at += 1) {
    const place = path.join(folder, `folder-${at % 10}`);
    await mkdir(place, { recursive: true });
    await writeFile(
      path.join(place, `file-${at}.json`),
      JSON.stringify({ at, text: randomBytes(400).toString("hex") }),
    );
  }
}

const rows: { case: string; backend: string; plain: number; shared: number }[] = [];

/** The same work without and with it, in turns. */
async function compare(
  name: string,
  backend: Backend,
  rounds: number,
  { sync, work }: { sync: WorkspaceSync; work: () => Promise<void> },
): Promise<void> {
  const [plain, shared]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    plain.push(await ms(work));
    shared.push(await ms(() => sync.during(work)));
  }
  rows.push({ case: name, backend: backend.name, plain: median(plain), shared: median(shared) });
}

for (const backend of backends) {
  const nothing = async (): Promise<void> => {};
  const small = open(backend, "small");
  let count = 0;
  const change = async (): Promise<void> =>
    writeFile(path.join(small.folder, "state.json"), `{"n":${(count += 1)}}`);
  await small.sync.during(async () => fill(small.folder, 10));
  await small.sync.during(nothing);
  await compare("10 files, unchanged", backend, ROUNDS * 4, { sync: small.sync, work: nothing });
  await compare("10 files, 1 changed", backend, ROUNDS * 2, { sync: small.sync, work: change });

  const many = open(backend, "many");
  const filled = await ms(() => fill(many.folder, FILES));
  rows.push({
    case: `${FILES} files, new`,
    backend: backend.name,
    plain: filled,
    shared: filled + (await ms(() => many.sync.during(nothing))),
  });
  await many.sync.during(nothing);
  await compare(`${FILES} files, unchanged`, backend, ROUNDS, { sync: many.sync, work: nothing });
  await compare(`${FILES} files, 1 changed`, backend, ROUNDS, {
    sync: many.sync,
    work: async () => writeFile(path.join(many.folder, "folder-1/file-1.json"), `{"n":${(count += 1)}}`),
  });
  const other = open(backend, "many");
  const fetched = await ms(() => other.sync.fetch());
  rows.push({ case: `${FILES} files, fetched anew`, backend: backend.name, plain: filled, shared: fetched });

  const large = open(backend, "large");
  await mkdir(large.folder, { recursive: true });
  const bytes = randomBytes(LARGE_BYTES);
  const writeLarge = async (): Promise<void> => {
    bytes[count % LARGE_BYTES] = (count += 1) % 256;
    await writeFile(path.join(large.folder, "large.bin"), bytes);
  };
  const written = await ms(writeLarge);
  rows.push({
    case: "50 MB, new",
    backend: backend.name,
    plain: written,
    shared: written + (await ms(() => large.sync.during(nothing))),
  });
  await compare("50 MB, a few bytes changed", backend, 3, { sync: large.sync, work: writeLarge });
  const again = open(backend, "large");
  rows.push({
    case: "50 MB, fetched anew",
    backend: backend.name,
    plain: written,
    shared: await ms(() => again.sync.fetch()),
  });
  for (const { sync } of [small, many, other, large, again]) await sync.close();
}

const table = [
  "| case | shared in | without, ms | with, ms | added, ms | ratio |",
  "| --- | --- | --: | --: | --: | --: |",
];
for (const { case: name, backend, plain, shared } of rows) {
  const ratio = plain < 0.05 ? "–" : (shared / plain).toFixed(1);
  const times = [plain, shared, shared - plain].map((time) => time.toFixed(2)).join(" | ");
  table.push(`| ${name} | ${backend} | ${times} | ${ratio} |`);
}
process.stdout.write(`${table.join("\n")}\n`);
for (const { store } of backends) await store.close().catch(() => {});
await redis?.stop();
await s3.stop();
