import { spawn, spawnSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { expect, it, onTestFinished, vi } from "vitest";
import { createFolderStore, parseSealingKeys, scopeStore, sealStore } from "./index.ts";
import { describeStoreContract } from "./testing/contract.ts";

function temporary(): string {
  return mkdtempSync(path.join(os.tmpdir(), "store-"));
}

describeStoreContract("a folder", async () => {
  const folder = temporary();
  return {
    open: () => createFolderStore({ folder }),
    reset: async () => rmSync(folder, { recursive: true, force: true }),
  };
});

describeStoreContract("a scope of a folder", async () => {
  const folder = temporary();
  return {
    open: () => {
      const store = createFolderStore({ folder });
      return { ...scopeStore(store, "customers", "ada"), close: () => store.close() };
    },
    reset: async () => rmSync(folder, { recursive: true, force: true }),
  };
});

describeStoreContract("a sealed folder", async () => {
  const folder = temporary();
  const keys = parseSealingKeys(`one:${Buffer.alloc(32, 1).toString("base64")}`);
  return {
    open: () => sealStore(createFolderStore({ folder }), keys),
    reset: async () => rmSync(folder, { recursive: true, force: true }),
  };
});

it("lets only its owner read it", async () => {
  const folder = path.join(temporary(), "made");
  await using store = closing(createFolderStore({ folder }));
  await store.write(["a"], new Uint8Array(1));
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(folder)) expect(statSync(path.join(folder, name)).mode & 0o077).toBe(0);
});

it("loses nothing that it answered for when its process is killed", async () => {
  const folder = temporary();
  const script = path.join(folder, "write.ts");
  const index = pathToFileURL(path.join(import.meta.dirname, "index.ts")).href;
  writeFileSync(
    script,
    `import { createFolderStore } from ${JSON.stringify(index)};
const store = createFolderStore({ folder: ${JSON.stringify(folder)} });
const written = (await store.list(["log"])).length;
for (let at = written; ; at += 1) {
  await store.write(["log", String(at)], new Uint8Array(1000));
  console.log(at + 1);
}`,
  );
  for (let round = 0; round < 3; round += 1) {
    const writer = spawn(process.execPath, ["--conditions=@cem/source", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let answered = 0;
    for await (const chunk of writer.stdout.setEncoding("utf8")) {
      answered = Number(String(chunk).trim().split("\n").at(-1));
      if (answered > (round + 1) * 20) writer.kill("SIGKILL");
    }
    await using store = closing(createFolderStore({ folder }));
    expect((await store.list(["log"])).length).toBeGreaterThanOrEqual(answered);
  }
});

it("removes values that expired from time to time, not only when it is opened", async () => {
  vi.useFakeTimers({ toFake: ["performance", "Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const folder = temporary();
  await using store = closing(createFolderStore({ folder }));
  for (const at of ["a", "b", "c"]) await store.write([at], new Uint8Array([1]), { expiresInMs: 1_000 });
  vi.advanceTimersByTime(3_600_000);
  await store.write(["kept"], new Uint8Array([1]));
  using database = new DatabaseSync(path.join(folder, "store.db"), { readOnly: true });
  expect(database.prepare("select count(*) as count from cem_values").get()).toEqual({ count: 1 });
  // A sweep that reads each value would stop the process for seconds in a large store.
  const plan = database.prepare("explain query plan delete from cem_values where expires_at <= 1").all();
  expect(plan).toMatchObject([{ detail: expect.stringContaining("USING INDEX cem_expiry") }]);
});

it("says what is wrong with a file that is none of its own, and with one of a newer version", async () => {
  const folder = temporary();
  writeFileSync(path.join(folder, "store.db"), "no database, but long enough to be looked at".repeat(50));
  await expect(createFolderStore({ folder }).read(["a"])).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    message: expect.stringContaining(folder) as string,
  });
  const newer = temporary();
  const database = new DatabaseSync(path.join(newer, "store.db"));
  database.exec("pragma user_version = 99");
  database.close();
  await expect(createFolderStore({ folder: newer }).read(["a"])).rejects.toThrow(/newer version \(99/);
});

it("moves a damaged file aside and begins anew where somebody is told, once for all processes", async () => {
  const folder = temporary();
  const moved: string[] = [];
  const open = () => createFolderStore({ folder, onDamaged: (movedTo) => void moved.push(movedTo) });
  writeFileSync(path.join(folder, "store.db"), "no database, but long enough to be looked at".repeat(50));
  await using one = closing(open());
  await using other = closing(open());
  await one.write(["a"], new Uint8Array([1]));
  expect(await other.read(["a"])).toMatchObject({ value: new Uint8Array([1]) });
  expect(moved).toHaveLength(1);
  expect(readFileSync(moved[0] ?? "", "utf8")).toMatch(/^no database/u);
});

it("does the same with a folder in place of the file", async () => {
  const folder = temporary();
  const moved: string[] = [];
  mkdirSync(path.join(folder, "store.db"));
  await using store = closing(
    createFolderStore({ folder, onDamaged: (movedTo) => void moved.push(movedTo) }),
  );
  await store.write(["a"], new Uint8Array([1]));
  expect(moved).toHaveLength(1);
});

it("does the same with an empty file, and with a log that is none, whose database stays", async () => {
  const folder = temporary();
  const file = path.join(folder, "store.db");
  const moved: string[] = [];
  const open = () => createFolderStore({ folder, onDamaged: (movedTo) => void moved.push(movedTo) });
  {
    await using store = closing(open());
    await store.write(["a"], new Uint8Array([1]));
  }
  writeFileSync(`${file}-wal`, "garbage".repeat(5_000));
  {
    await using store = closing(open());
    expect(await store.read(["a"])).toMatchObject({ value: new Uint8Array([1]) });
  }
  expect(moved).toEqual([expect.stringContaining("store.db-wal.damaged-")]);
  expect(readFileSync(moved[0] ?? "", "utf8")).toMatch(/^garbage/u);
  writeFileSync(file, "");
  await expect(createFolderStore({ folder }).read(["a"])).rejects.toThrow("it is empty");
  await using store = closing(open());
  expect(await store.read(["a"])).toBeUndefined();
  expect(moved).toHaveLength(2);
});

it.each([
  ["whole", (log: Buffer) => log, 0],
  ["cut at its end, as by a crash", (log: Buffer) => log.subarray(0, -100), 0],
  ["with a byte changed in its middle", (log: Buffer) => log.fill(log[5_000] === 1 ? 2 : 1, 5_000, 5_001), 1],
  ["with a changed beginning", (log: Buffer) => log.fill(9, 16, 20), 1],
  ["overwritten after its beginning", (log: Buffer) => log.fill(0xa5, 32), 1],
  ["cut within its beginning", (log: Buffer) => log.subarray(0, 20), 1],
])("tells of the changes that a log loses: %s", async (_, change, told) => {
  const folder = temporary();
  const left = temporary();
  const file = path.join(folder, "store.db");
  const moved: string[] = [];
  {
    await using store = closing(createFolderStore({ folder }));
    for (let at = 0; at < 4; at += 1) await store.write([String(at)], new Uint8Array(100).fill(at + 3));
    // As a process that is killed leaves it.
    copyFileSync(file, path.join(left, "store.db"));
    writeFileSync(path.join(left, "store.db-wal"), change(readFileSync(`${file}-wal`)));
  }
  for (let time = 0; time < 2; time += 1) {
    await using store = closing(
      createFolderStore({ folder: left, onDamaged: (movedTo) => void moved.push(movedTo) }),
    );
    await store.write(["new"], new Uint8Array([1]));
    expect(moved).toHaveLength(told);
  }
});

const ON_OWN_DISK = 'mount -t tmpfs -o size=1m tmpfs "$1" && shift && exec "$@"';
const canMount =
  spawnSync("unshare", ["--mount", "sh", "-c", "mount -t tmpfs tmpfs /mnt"], { stdio: "ignore" }).status ===
  0;

it.runIf(canMount)("says that the disk is full, and goes on once there is room", () => {
  const folder = temporary();
  const index = pathToFileURL(path.join(import.meta.dirname, "index.ts")).href;
  const program = `import { rmSync, writeFileSync } from "node:fs";
import { createFolderStore } from ${JSON.stringify(index)};
process.chdir(${JSON.stringify(folder)});
const store = createFolderStore({ folder: "." });
await store.write(["a"], Buffer.from("kept"));
writeFileSync("filler", new Uint8Array(600_000));
const refused = await store.write(["b"], new Uint8Array(600_000)).catch(({ message, details }) => [message, details.problem]);
rmSync("filler");
await store.write(["c"], new Uint8Array(1_000));
console.log(JSON.stringify([refused, (await store.list([])).join(), String(Buffer.from((await store.read(["a"])).value))]));`;
  const node = [process.execPath, "--conditions=@cem/source", "--input-type=module", "-e", program];
  const done = spawnSync("unshare", ["--mount", "sh", "-c", ON_OWN_DISK, "sh", folder, ...node], {
    encoding: "utf8",
  });
  expect(JSON.parse(done.stdout || done.stderr)).toEqual([
    [expect.stringContaining("database or disk is full"), "full"],
    "a,c",
    "kept",
  ]);
});

it("moves a database of something else aside", async () => {
  const folder = temporary();
  const file = path.join(folder, "store.db");
  const moved: string[] = [];
  for (const version of [0, 1, 2]) {
    const database = new DatabaseSync(file);
    database.exec(`create table notes (text); pragma user_version = ${version}`);
    database.close();
    await using store = closing(
      createFolderStore({ folder, onDamaged: (movedTo) => void moved.push(movedTo) }),
    );
    await store.write(["a"], new Uint8Array([1]));
    expect(moved).toHaveLength(version + 1);
    await store.close();
    rmSync(file);
  }
});

function closing(store: ReturnType<typeof createFolderStore>) {
  return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() });
}
