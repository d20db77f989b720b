import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { hash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { isTemporaryFile } from "@cem/core/files";
import { scopeStore } from "@cem/store";
import { expect, it, onTestFinished } from "vitest";
import { describeWith } from "../../../../vitest.tools.ts";
import { createRedisStore } from "../../../store/src/redis/redis-store.ts";
import { startRedis } from "../../../store/test/redis-server.ts";
import { contentOf } from "../../test/sync/machine-process.ts";
import { createStoreBlobs } from "./blobs.ts";
import { createSharedCopy } from "./shared-copy.ts";
import { collectGarbage } from "./synced-workspace.ts";

const KILLS = { long: 10, all: 100 }[process.env["CEM_TESTS"] ?? ""] ?? 2;
const SCRIPT = path.join(import.meta.dirname, "../../test/sync/machine-process.ts");
/** A push takes so long here. Machines are killed at any moment of one, and now and then after it. */
const MAX_PUSH_MS = 40;

/** A machine that is killed and started again. */
class Machine {
  readonly home: string;
  readonly name: string;
  readonly #url: string;
  #process: ChildProcess | undefined;
  #events: unknown[][] = [];
  #heard: () => void = () => {};
  runs = 0;
  /** The runs whose files were on its disk. */
  readonly wrote: number[] = [];
  readonly remarks: string[] = [];

  constructor(root: string, name: string, url: string) {
    this.home = path.join(root, name);
    this.name = name;
    this.#url = url;
  }

  async start(): Promise<void> {
    const args = ["--conditions=@cem/source", SCRIPT, this.home, this.name, this.#url];
    const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
    this.#process = child;
    this.#events = [];
    createInterface(child.stdout).on("line", (line) => {
      const event = JSON.parse(line) as unknown[];
      if (event[0] === "wrote") this.wrote.push(Number(event[1]));
      if (event[0] === "done") this.remarks.push(...(event[2] as string[]));
      this.#events.push(event);
      this.#heard();
    });
    child.once("exit", () => this.#heard());
    await this.hear("ready");
  }

  async hear(event: string): Promise<void> {
    while (!this.#events.some(([name]) => name === event)) {
      if (this.#process?.exitCode !== null) throw new Error(`${this.name} has ended by itself.`);
      await new Promise<void>((resolve) => (this.#heard = resolve));
    }
    this.#events = this.#events.filter(([name]) => name !== event);
  }

  say(...command: unknown[]): void {
    this.#events = [];
    this.#process?.stdin?.write(`${JSON.stringify(command)}\n`);
  }

  async run(): Promise<void> {
    this.say("run", (this.runs += 1));
    await this.hear("done");
  }

  async fetch(): Promise<void> {
    this.say("fetch", 0);
    await this.hear("done");
  }

  /** Begins a run, and is killed when its files are on the disk. */
  async runAndDie(): Promise<void> {
    this.say("run", (this.runs += 1));
    await this.hear("wrote");
    await sleep(Math.random() * MAX_PUSH_MS);
    await this.kill();
  }

  async kill(): Promise<void> {
    if (this.#process === undefined || this.#process.exitCode !== null) return;
    // By then its last output has been read.
    const ended = once(this.#process, "close");
    this.#process.kill("SIGKILL");
    await ended;
  }

  files(): Record<string, Buffer> {
    const folder = path.join(this.home, "workspace");
    const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
      (one) => one.isFile() && !isTemporaryFile(one.name),
    );
    const places = found.map((one) => path.join(one.parentPath, one.name)).toSorted();
    return Object.fromEntries(places.map((place) => [path.relative(folder, place), readFileSync(place)]));
  }
}

/** Buffers of some megabytes are compared byte by byte, which takes minutes. */
function digestsOf(files: Record<string, Buffer>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([file, content]) => [file, hash("sha256", content)]));
}

describeWith("redis-server")("machines that are killed", () => {
  it(`has every file whole after a machine was killed ${KILLS} times in mid-push`, async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const root = mkdtempSync(path.join(os.tmpdir(), "killed-"));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    const [killed, other, late] = ["killed", "other", "late"].map(
      (name) => new Machine(root, name, redis.url),
    ) as [Machine, Machine, Machine];
    for (const machine of [killed, other, late]) onTestFinished(() => machine.kill());
    await Promise.all([killed.start(), other.start(), late.start()]);
    for (let kills = 0; kills < KILLS; kills += 1) {
      const until = { isDead: false };
      const goOn = async (): Promise<void> => {
        while (!until.isDead) await other.run();
      };
      const others = goOn();
      await killed.runAndDie();
      until.isDead = true;
      await others;
      await killed.start();
      if (kills % 2 === 0) await killed.run();
    }
    // Both at once, from the same files.
    await killed.run();
    await other.fetch();
    await killed.fetch();
    await Promise.all([killed.run(), other.run()]);
    for (const machine of [killed, other, late, killed, other, late]) await machine.fetch();

    const files = late.files();
    expect(digestsOf(killed.files())).toEqual(digestsOf(files));
    expect(digestsOf(other.files())).toEqual(digestsOf(files));
    const own = [killed, other].flatMap(({ name, wrote }) =>
      wrote.map((run) => [`runs/${name}-${run}.bin`, contentOf(name, run)] as const),
    );
    const missing = own
      .filter(([file, content]) => files[file]?.equals(content) !== true)
      .map(([file]) => file);
    expect(missing).toEqual([]);
    // Nobody else's files, and none twice: each was written by one machine only.
    expect(Object.keys(files).filter((file) => file.startsWith("runs/"))).toHaveLength(own.length);
    expect(JSON.parse(files["state.json"]?.toString() ?? "")).toEqual({
      killed: killed.runs,
      other: other.runs,
    });
    const texts = Object.keys(files)
      .filter((file) => file.startsWith("both"))
      .map((file) => String(files[file]));
    expect(texts).toEqual(expect.arrayContaining([`killed ${killed.runs}`, `other ${other.runs}`]));
    expect(new Set(texts).size).toBe(texts.length);
    for (const text of texts) expect(text).toMatch(/^(?:killed|other) \d+$/);

    // Pieces that the killed ones had sent are removed in the end.
    const store = createRedisStore({ url: redis.url });
    onTestFinished(() => store.close());
    const scope = scopeStore(store, "files", "one");
    const limits = { maxFiles: 10_000, maxBytes: 1024 ** 3 };
    const shared = createSharedCopy({
      store: scope,
      blobs: createStoreBlobs(scope),
      roots: new Set(["workspace"]),
      limits,
    });
    for (let turn = 0; turn < 3; turn += 1) {
      await scope.removeAll(["marked", "rest"]);
      await scope.removeAll(["marked", "short-rest"]);
      await collectGarbage(scope, shared, 60_000);
    }
    const { head } = await shared.readHead();
    const listed = head === undefined ? new Map() : await shared.readFiles(head);
    const used = new Set([
      ...(head?.manifest ?? []),
      ...[...listed.values()].flatMap(({ pieces }) => pieces),
    ]);
    const kept: string[] = [];
    for await (const name of shared.blobs.names()) kept.push(name);
    expect(new Set(kept)).toEqual(used);
  }, 3_600_000);
});
