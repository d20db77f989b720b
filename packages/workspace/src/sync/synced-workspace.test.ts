import { cp, lstat, mkdir, readdir, readFile, rm, symlink, truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Store } from "@cem/core";
import { createFolderStore, scopeStore } from "@cem/store";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Machines } from "../../test/sync/machines.ts";
import { createStoreBlobs } from "./blobs.ts";
import type { BlobStore } from "./blobs.ts";
import { createLocalRecord } from "./common-state.ts";
import { createSharedCopy } from "./shared-copy.ts";
import { collectGarbage, deleteSharedWorkspace } from "./synced-workspace.ts";

let machines: Machines;

beforeEach(async () => {
  machines = await Machines.open();
});

afterEach(async () => {
  await machines.close();
});

/** A store that counts its calls. */
function counting(store: Store): { store: Store; counts: Record<string, number> } {
  const counts: Record<string, number> = {};
  const proxy = new Proxy(store, {
    get(target, name: keyof Store) {
      const member = target[name];
      if (typeof member !== "function") return member;
      return (...args: unknown[]) => {
        counts[name] = (counts[name] ?? 0) + 1;
        return (member as (...all: unknown[]) => unknown).apply(target, args);
      };
    },
  });
  return { store: proxy, counts };
}

describe("a workspace on two machines", () => {
  it("gives what one run wrote to the next run on the other", async () => {
    const [one, two] = [machines.machine("one"), machines.machine("two")];
    await one.sync.during(async () => {
      await one.write("state.json", '{"step":1}');
      await one.write("deep/er/file.bin", "x".repeat(3_000_000));
      await one.write("empty.txt", "");
    });
    const { result, remarks } = await two.sync.during(() => two.files());
    expect(Object.keys(result)).toEqual(["deep/er/file.bin", "empty.txt", "state.json"]);
    expect(result["deep/er/file.bin"]).toHaveLength(3_000_000);
    expect(remarks).toEqual([]);
    await two.sync.during(async () => {
      await two.remove("deep");
      await two.write("state.json", '{"step":2}');
    });
    await one.sync.fetch();
    expect(await one.files()).toEqual({ "empty.txt": "", "state.json": '{"step":2}' });
    await expect(lstat(path.join(one.home, "workspace/deep"))).rejects.toThrow("ENOENT");
  });

  it("puts back what a run wrote that failed, and passes on why", async () => {
    const [one, two] = [machines.machine("one"), machines.machine("two")];
    const failing = one.sync.during(async () => {
      await one.write("half.txt", "done");
      throw new Error("timed out");
    });
    await expect(failing).rejects.toThrow("timed out");
    await two.sync.fetch();
    expect(await two.files()).toEqual({ "half.txt": "done" });
  });

  it("reads one value before and nothing after a run that changes nothing, and writes nothing", async () => {
    const { store, counts } = counting(machines.scope());
    const one = machines.machine("one", { store });
    await one.sync.during(() => one.write("a.txt", "a"));
    // Work in the background reads and writes too.
    await one.sync.close();
    for (const name of Object.keys(counts)) counts[name] = 0;
    await one.sync.during(async () => {});
    expect(counts).toMatchObject({ read: 1, write: 0, list: 0 });
  });

  it("puts the log of a run's session a moment later, if that is all that was changed, and all of it at the end", async () => {
    const { store, counts } = counting(machines.scope());
    const [one, two] = [machines.machine("one", { store }), machines.machine("two")];
    await one.sync.during(() => one.write("a.txt", "a"));
    await one.sync.close();
    counts["write"] = 0;
    await one.sync.during(() => one.write("sessions/session_001.json", "{}"), { logsFollow: true });
    expect(counts["write"]).toBe(0);
    await expect
      .poll(async () => (await two.sync.fetch(), Object.keys(await two.files())), { timeout: 10_000 })
      .toEqual(["a.txt", "sessions/session_001.json"]);
    await one.sync.during(() => one.write("sessions/session_002.json", "{}"), { logsFollow: true });
    await one.sync.put();
    await two.sync.fetch();
    expect(Object.keys(await two.files())).toContain("sessions/session_002.json");
  });

  it("sends only what is new", async () => {
    const { store, counts } = counting(machines.scope());
    const one = machines.machine("one", { store });
    await one.sync.during(async () => {
      for (let at = 0; at < 20; at += 1) await one.write(`${at}.txt`, `text ${at}`);
      await one.write("long.log", "a".repeat(2_500_000));
    });
    await one.sync.close();
    counts["write"] = 0;
    await one.sync.during(async () => {
      await one.write("3.txt", "other");
      // Its last piece changes.
      await one.write("long.log", `${"a".repeat(2_500_000)}b`);
      // Known already.
      await one.write("copy.txt", "text 4");
    });
    // A small piece, a large one, the list of the files, and the head.
    expect(counts["write"]).toBe(4);
  });

  it("keeps what each of two runs at once wrote", async () => {
    const [one, two] = [machines.machine("one"), machines.machine("two")];
    await one.sync.during(() => one.write("both.txt", "0"));
    await two.sync.fetch();
    await Promise.all([
      one.sync.during(() => one.write("one.txt", "1")),
      two.sync.during(() => two.write("two.txt", "2")),
    ]);
    await Promise.all([one.sync.fetch(), two.sync.fetch()]);
    for (const machine of [one, two])
      expect(await machine.files()).toEqual({ "both.txt": "0", "one.txt": "1", "two.txt": "2" });
  });

  it("merges a state file of which both changed other keys", async () => {
    const [one, two] = [machines.machine("one"), machines.machine("two")];
    await one.sync.during(() => one.write("state.json", '{"a":1,"b":1}'));
    await two.sync.fetch();
    await one.sync.during(async () => {
      await one.write("state.json", '{"a":2,"b":1}');
      await two.sync.during(() => two.write("state.json", '{"a":1,"b":2}'));
    });
    await two.sync.fetch();
    for (const machine of [one, two])
      expect(JSON.parse((await machine.files())["state.json"] ?? "")).toEqual({ a: 2, b: 2 });
  });

  it.each([
    ["a text", "notes.md", "zero", "mine", "theirs"],
    ["a state of which both changed one key", "state.json", '{"a":0}', '{"a":1}', '{"a":2}'],
    ["a state that is none", "state.json", '{"a":0}', "{", '{"a":2}'],
  ])("keeps both of %s, and says so", async (_, file, before, mine, theirs) => {
    const [one, two] = [machines.machine("one"), machines.machine("two")];
    await one.sync.during(() => one.write(file, before));
    await two.sync.fetch();
    const { remarks } = await one.sync.during(async () => {
      await one.write(file, mine);
      await two.sync.during(() => two.write(file, theirs));
    });
    await two.sync.fetch();
    const files = await one.files();
    expect(await two.files()).toEqual(files);
    const beside = Object.keys(files).find((name) => name !== file) ?? "";
    expect(files).toEqual({ [file]: theirs, [beside]: mine });
    expect(beside).toMatch(/\.conflict-[\w-]{12}\.\w+$/);
    expect(remarks).toEqual([
      `Two runs changed /workspace/${file} at the same time. Both are kept: one there, one as /workspace/${beside}.`,
    ]);
  });

  it("keeps a change of what the other deleted, whoever was first", async () => {
    const [one, two] = [machines.machine("one"), machines.machine("two")];
    await one.sync.during(async () => {
      await one.write("a.txt", "a");
      await one.write("b.txt", "b");
    });
    await two.sync.fetch();
    const { remarks } = await one.sync.during(async () => {
      await one.remove("a.txt");
      await one.write("b.txt", "b2");
      await two.sync.during(async () => {
        await two.write("a.txt", "a2");
        await two.remove("b.txt");
      });
    });
    await two.sync.fetch();
    expect(await one.files()).toEqual({ "a.txt": "a2", "b.txt": "b2" });
    expect(await two.files()).toEqual(await one.files());
    expect(remarks).toHaveLength(2);
  });

  it("keeps a file and a folder of one name", async () => {
    const [one, two] = [machines.machine("one"), machines.machine("two")];
    await Promise.all([one.sync.fetch(), two.sync.fetch()]);
    await one.sync.during(async () => {
      await one.write("data", "a file");
      await two.sync.during(() => two.write("data/in.txt", "in a folder"));
    });
    await two.sync.fetch();
    expect(Object.values(await one.files())).toEqual(["a file", "in a folder"]);
    expect(await two.files()).toEqual(await one.files());
  });

  it("takes a folder that was lost on one machine for lost, not for emptied", async () => {
    const [one, two] = [machines.machine("one"), machines.machine("two")];
    await one.sync.during(() => one.write("a.txt", "a"));
    await rm(path.join(one.home, "workspace"), { recursive: true });
    // Else the new folder may get the number of the one that went.
    await mkdir(path.join(one.home, "other"));
    await one.sync.during(async () => {});
    await two.sync.fetch();
    expect(await two.files()).toEqual({ "a.txt": "a" });
    expect(await one.files()).toEqual({ "a.txt": "a" });
  });

  it("removes folders that another machine removed as a whole, and all there is", async () => {
    const [one, two] = [machines.machine("one"), machines.machine("two")];
    await one.sync.during(async () => {
      for (const file of ["a.txt", "data/b.txt", "data/deep/c.txt", "data/deep/er/d.txt"])
        await one.write(file, file);
    });
    await two.sync.fetch();
    await two.sync.during(() => two.remove("data"));
    await one.sync.fetch();
    expect(await one.files()).toEqual({ "a.txt": "a.txt" });
    expect(await readdir(path.join(one.home, "workspace"))).toEqual(["a.txt"]);
    // Emptied, not lost: the folder itself is the same.
    await one.sync.during(() => one.remove("a.txt"));
    await two.sync.fetch();
    expect(await two.files()).toEqual({});
    await two.sync.during(() => two.write("data", "now a file"));
    await one.sync.fetch();
    expect(await one.files()).toEqual({ data: "now a file" });
  });

  it("sees a change of the same size and time of change", async () => {
    const [one, two] = [machines.machine("one"), machines.machine("two")];
    for (let count = 0; count < 20; count += 1)
      await one.sync.during(() => one.write("n.txt", String(count % 10)));
    await two.sync.fetch();
    expect(await two.files()).toEqual({ "n.txt": "9" });
  });
});

it("keeps what a machine without a record has when another one is faster", async () => {
  const one = machines.machine("one");
  const store = machines.scope();
  let isFirst = true;
  const slow = new Proxy(store, {
    get: (target, name: keyof Store) =>
      name !== "write"
        ? target[name]
        : async (...args: Parameters<Store["write"]>) => {
            const [key] = args;
            if (key.at(-1) === "head" && isFirst) {
              isFirst = false;
              await one.sync.during(() => one.write("a.txt", "a"));
            }
            return target.write(...args);
          },
  });
  await one.sync.during(() => one.write("b.txt", "b"));
  const two = machines.machine("two", { store: slow });
  await two.write("mine.txt", "mine");
  const { remarks } = await two.sync.during(async () => {});
  expect(isFirst).toBe(false);
  expect(remarks).toEqual([]);
  expect(await two.files()).toEqual({ "a.txt": "a", "b.txt": "b", "mine.txt": "mine" });
});

describe("a store that was set back", () => {
  it.each([0, 2])("keeps the newer files with the earlier ones, after %i runs elsewhere", async (between) => {
    const before = machines.machine("one");
    await before.sync.during(() => before.write("plan.txt", "v1"));
    const replica = path.join(machines.folder, "replica");
    await cp(path.join(machines.folder, "shared"), replica, { recursive: true });
    for (const version of ["v2", "v3"]) await before.sync.during(() => before.write("plan.txt", version));
    await before.sync.during(() => before.write("thesis.txt", "long"));
    await before.sync.close();
    const store = scopeStore(createFolderStore({ folder: replica }), "files", "one");
    const [one, two] = [machines.machine("one", { store }), machines.machine("two", { store })];
    for (let at = 0; at < between; at += 1) await two.sync.during(() => two.write("other.txt", String(at)));
    const { remarks } = await one.sync.during(async () => {});
    expect(remarks).toEqual([expect.stringContaining("was set back"), expect.stringContaining("/plan.txt")]);
    await two.sync.fetch();
    const files = await two.files();
    expect(files).toMatchObject({ "plan.txt": "v1", "thesis.txt": "long" });
    expect(Object.values(files)).toContain("v3");
    expect(await one.files()).toEqual(files);
    expect((await one.sync.during(async () => {})).remarks).toEqual([]);
  });
});

describe("hostile code", () => {
  it("can't have links followed or shared", async () => {
    const [one, two] = [machines.machine("one"), machines.machine("two")];
    const outside = path.join(machines.folder, "outside");
    await mkdir(outside);
    await writeFile(path.join(outside, "secret.txt"), "secret");
    await one.sync.during(async () => {
      await one.write("a.txt", "a");
      await symlink(outside, path.join(one.home, "workspace/folder"));
      await symlink(path.join(outside, "secret.txt"), path.join(one.home, "workspace/file.txt"));
    });
    await two.sync.during(async () => {
      await two.write("folder/b.txt", "b");
      await two.write("file.txt", "c");
    });
    await one.sync.fetch();
    expect(await two.files()).toEqual({ "a.txt": "a", "file.txt": "c", "folder/b.txt": "b" });
    expect(await one.files()).toEqual(await two.files());
    expect(await readFile(path.join(outside, "secret.txt"), "utf8")).toBe("secret");
    await expect(lstat(path.join(outside, "b.txt"))).rejects.toThrow("ENOENT");
  });

  it("can't share more than may be in a workspace", async () => {
    const limits = { maxFiles: 10, maxBytes: 1_000 };
    const one = machines.machine("one", { limits });
    const many = await one.sync.during(async () => {
      for (let at = 0; at < 11; at += 1) await one.write(`${at}`, "");
    });
    expect(many.remarks[0]).toContain("11 files");
    for (let at = 0; at < 11; at += 1) await one.remove(`${at}`);
    const large = await one.sync.during(() => one.write("large", "x".repeat(1_001)));
    expect(large.remarks[0]).toContain("at most 10 files with 1000 bytes");
  });
});

describe("deleting", () => {
  it("drops the copies of all machines, and what a run there still writes", async () => {
    const [one, two] = [machines.machine("one"), machines.machine("two")];
    const store = machines.scope();
    await one.sync.during(() => one.write("a.txt", "a"));
    await two.sync.fetch();
    const { remarks } = await two.sync.during(async () => {
      await two.write("late.txt", "late");
      expect(await deleteSharedWorkspace({ store, blobs: createStoreBlobs(store) })).toBe(true);
    });
    expect(remarks[0]).toContain("was deleted meanwhile");
    expect(await two.files()).toEqual({});
    await one.sync.fetch();
    expect(await one.files()).toEqual({});
    expect(await store.list(["pieces"])).toEqual([]);
    // Whoever comes again begins anew.
    await one.sync.during(() => one.write("new.txt", "new"));
    await two.sync.fetch();
    expect(await two.files()).toEqual({ "new.txt": "new" });
  });
});

describe("a workspace that is deleted while a machine sends files", () => {
  it.each([
    { from: "pieces", ends: "at once" },
    { from: "pieces", ends: "later" },
    { from: "head", ends: "at once" },
  ])(
    "has nothing left of what comes after the deletion: from the $from on, where it ends $ends",
    async (part) => {
      const store = machines.scope();
      const end = async () => {
        await deleteSharedWorkspace({ store, blobs: createStoreBlobs(store) });
        await machines.store.removeAll(["files"]);
      };
      let isThere = true;
      const slow: Promise<void>[] = [];
      const late: Store = {
        ...store,
        async write(key, ...value) {
          // Pieces of several files are under way.
          if (key[0] === "pieces") slow.push(sleep(20 * (slow.length % 16)));
          const line = slow.at(-1);
          if (key[0] === part.from && slow.length > 10 && isThere) {
            isThere = false;
            if (part.ends === "at once") await end();
          }
          await line;
          return store.write(key, ...value);
        },
      };
      const one = machines.machine("one", { store: late, isThere: async () => isThere });
      if (part.from === "pieces") await one.sync.during(() => one.write("first.txt", "1"));
      const { remarks } = await one.sync.during(async () => {
        for (let at = 0; at < 20; at += 1) await one.write(`${at}.bin`, String(at).repeat(1_500_000));
      });
      if (part.ends === "later") await end();
      expect(remarks).toEqual([expect.stringContaining("was deleted meanwhile")]);
      await one.sync.close();
      await Promise.all(slow);
      expect(await store.list([])).toEqual([]);
    },
  );

  it("keeps what was sent where only the folder of a machine is gone", async () => {
    const store = machines.scope();
    let isThere = true;
    const late: Store = {
      ...store,
      async write(key, ...value) {
        isThere &&= key[0] !== "head";
        return store.write(key, ...value);
      },
    };
    await machines.machine("one").sync.during(() => machines.machine("one").write("a.txt", "a"));
    const two = machines.machine("two", { store: late, isThere: async () => isThere });
    await two.sync.during(() => two.write("b.txt", "b"));
    await two.sync.close();
    const three = machines.machine("three");
    await three.sync.fetch();
    expect(await three.files()).toEqual({ "a.txt": "a", "b.txt": "b" });
  });
});

describe("a workspace whose files are in another place than before", () => {
  const elsewhere = (): BlobStore => ({ ...createStoreBlobs(machines.scope("other")), place: "s3://other" });

  it.each(["this version", "an earlier one"])(
    "is refused whole, and whole when it is set back: %s",
    async (by) => {
      const store = machines.scope();
      const one = machines.machine("one");
      await one.sync.during(() => one.write("a.txt", "a"));
      await one.sync.close();
      const { value = Buffer.of(), version = "" } = (await store.read(["head"])) ?? {};
      const { place, ...head } = JSON.parse(Buffer.from(value).toString()) as Record<string, unknown>;
      expect(place).toBe("store");
      const written = by === "this version" ? { place, ...head } : head;
      await store.write(["head"], Buffer.from(JSON.stringify(written)), { version });
      const refused = {
        code: "FILES_UNAVAILABLE",
        message: expect.stringContaining("under another store.files (CEM_STORE_FILES). Set it back"),
      };
      // The one has a copy to which it would only add, the other has none.
      for (const name of ["one", "two"]) {
        const moved = machines.machine(name, { blobs: elsewhere() });
        const run = moved.sync.during(() => moved.write("b.txt", "b"));
        await expect(run).rejects.toMatchObject(refused);
      }
      expect(await machines.scope("other").list([])).toEqual([]);
      const three = machines.machine("three");
      await three.sync.during(() => three.write("c.txt", "c"));
      expect(await three.files()).toEqual({ "a.txt": "a", "c.txt": "c" });
    },
  );

  it("goes on where all of it was copied to", async () => {
    const one = machines.machine("one");
    await one.sync.during(() => one.write("a.txt", "a"));
    await one.sync.close();
    const [from, to] = [createStoreBlobs(machines.scope()), elsewhere()];
    for await (const name of from.names()) await to.write(name, (await from.read(name)) ?? Buffer.of());
    const two = machines.machine("two", { blobs: to });
    await two.sync.during(() => two.write("b.txt", "b"));
    expect(await two.files()).toEqual({ "a.txt": "a", "b.txt": "b" });
    await expect(machines.machine("one").sync.fetch()).rejects.toMatchObject({ code: "FILES_UNAVAILABLE" });
  });
});

describe("pieces that no file has", () => {
  it("are removed later, and those that are used stay", async () => {
    const store = machines.scope();
    const one = machines.machine("one", { garbageRestMs: 1 });
    await createStoreBlobs(store).write(
      `${"a".repeat(43)}.${"b".repeat(12)}`,
      Buffer.from("of a killed worker"),
    );
    for (let count = 0; count < 6; count += 1) {
      await one.sync.during(() => one.write("n.txt", `number ${count}`));
      await one.sync.close();
    }
    // The manifest, its file, and what the last run replaced.
    expect((await store.list(["pieces"])).length).toBeLessThanOrEqual(6);
    const two = machines.machine("two");
    await two.sync.fetch();
    expect(await two.files()).toEqual({ "n.txt": "number 5" });
  });

  it("do not wait for a day once they are more than the workspace may hold", async () => {
    const store = machines.scope();
    const limits = { maxFiles: 10, maxBytes: 100_000 };
    const roots = new Set(["workspace"]);
    const shared = createSharedCopy({ store, blobs: createStoreBlobs(store), limits, roots });
    const collectMinutesLater = async () => {
      await store.remove(["marked", "short-rest"]);
      return collectGarbage(store, shared, 86_400_000);
    };
    const one = machines.machine("one", { limits });
    const write = async (text: string) => {
      await one.sync.during(() => one.write("n.bin", text.repeat(40_000)));
      await one.sync.close();
    };
    for (const text of ["1", "2", "3"]) await write(text);
    expect([await collectMinutesLater(), await collectMinutesLater()]).toEqual([0, 0]);
    await write("4");
    // First they are marked.
    expect([await collectMinutesLater(), await collectMinutesLater()]).toEqual([0, 6]);
    expect(await store.list(["pieces"])).toHaveLength(2);
    await write("5");
    expect([await collectMinutesLater(), await collectMinutesLater()]).toEqual([0, 0]);
    const two = machines.machine("two");
    await two.sync.fetch();
    expect(await two.files()).toEqual({ "n.bin": "5".repeat(40_000) });
  });
});

describe("the record of what was shared", () => {
  it("holds as it was before a line that was cut off, and does not grow without end", async () => {
    const file = path.join(machines.folder, "record.json");
    const state = (version: string) => ({ head: undefined, version, files: new Map(), roots: {} });
    const versions = async () => (await createLocalRecord(file).read()).map(({ version }) => version);
    const record = createLocalRecord(file);
    await record.write([state("1")]);
    await record.write([state("2"), state("1")]);
    expect(await versions()).toEqual(["2", "1"]);
    await record.write([state("2")]);
    await truncate(file, (await lstat(file)).size - 5);
    expect(await versions()).toEqual(["2", "1"]);
    const next = createLocalRecord(file);
    await next.read();
    for (let version = 3; version < 4_000; version += 1) await next.write([state(String(version))]);
    expect(await versions()).toEqual(["3999"]);
    expect((await lstat(file)).size).toBeLessThan(262_144);
  });
});
