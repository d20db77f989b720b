import { execFileSync, spawn } from "node:child_process";
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { temporaryWorkspace } from "../../test/temporary-workspace.ts";
import { createStateStore } from "../index.ts";

let workspaceDir = "";
let outside = "";

beforeEach(() => {
  ({ workspaceDir, outside } = temporaryWorkspace());
});

const store = () => createStateStore({ workspaceDir });
const inWorkspace = (name: string) => path.join(workspaceDir, name);

describe("createStateStore", () => {
  describe("read", () => {
    it("tells that nothing was saved yet", async () => {
      expect(await store().read()).toEqual({ exists: false, data: {}, version: "" });
      expect(await store().read("a/b/c.json")).toEqual({ exists: false, data: {}, version: "" });
      expect(readdirSync(workspaceDir)).toEqual([]);
    });

    it("finds nothing where there is no workspace yet", async () => {
      rmSync(workspaceDir, { recursive: true });
      expect(await store().read()).toEqual({ exists: false, data: {}, version: "" });
    });

    it("rejects a workspace that is a file", async () => {
      const own = createStateStore({ workspaceDir: inWorkspace("file") });
      writeFileSync(inWorkspace("file"), "");
      await expect(own.read()).rejects.toMatchObject({ code: "ENOTDIR" });
    });

    it("reads what guest code wrote", async () => {
      writeFileSync(inWorkspace("state.json"), '{"count": 3}');
      expect(await store().read()).toMatchObject({ exists: true, data: { count: 3 } });
    });

    it("names a broken file, and leaves it", async () => {
      writeFileSync(inWorkspace("state.json"), '{"count": ');
      await expect(store().read()).rejects.toMatchObject({
        code: "STATE_UNREADABLE",
        message: expect.stringMatching(
          /^\/workspace\/state\.json is not valid JSON: .*JSON.*\. The file is unchanged; saving new state renames it first\.$/,
        ),
        details: { file: "/workspace/state.json", reason: expect.stringContaining("JSON") },
      });
      expect(readFileSync(inWorkspace("state.json"), "utf8")).toBe('{"count": ');
    });

    it("refuses a file that is too large", async () => {
      writeFileSync(inWorkspace("state.json"), `"${"x".repeat(100)}"`);
      const small = createStateStore({ workspaceDir, maxBytes: 64 });
      await expect(small.read()).rejects.toMatchObject({
        code: "STATE_TOO_LARGE",
        message:
          "/workspace/state.json has 102 bytes; the limit is 64. Large data belongs in separate files in /workspace.",
        details: { file: "/workspace/state.json", bytes: 102, limitBytes: 64 },
      });
    });

    it("reads a file that is just as large as the limit", async () => {
      writeFileSync(inWorkspace("state.json"), `"${"x".repeat(62)}"`);
      await expect(createStateStore({ workspaceDir, maxBytes: 64 }).read()).resolves.toMatchObject({
        exists: true,
      });
    });

    it("does not read after its signal is aborted", async () => {
      const signal = AbortSignal.abort();
      await expect(store().read("state.json", { signal })).rejects.toMatchObject({ name: "AbortError" });
    });

    it("stops reading when its signal is aborted", async () => {
      writeFileSync(inWorkspace("state.json"), JSON.stringify("x".repeat(1_000_000)));
      const cancel = new AbortController();
      const reading = store().read("state.json", { signal: cancel.signal });
      cancel.abort();
      await expect(reading).rejects.toMatchObject({ name: "AbortError" });
    });

    it("does not wait at a pipe that guest code made", async () => {
      execFileSync("mkfifo", [inWorkspace("state.json")]);
      await expect(store().read()).rejects.toMatchObject({
        code: "STATE_PATH_INVALID",
        details: { reason: "it is not a regular file" },
      });
    });
  });

  describe("save", () => {
    it("writes the file that the guest sees, and makes its folders", async () => {
      expect(await store().save({ a: [1, null] }, "notes/today.json")).toMatchObject({
        file: "/workspace/notes/today.json",
      });
      expect(JSON.parse(readFileSync(inWorkspace("notes/today.json"), "utf8"))).toEqual({ a: [1, null] });
      expect(await store().read("/workspace/notes/today.json")).toMatchObject({ exists: true });
    });

    it("has a default file that can be set", async () => {
      await createStateStore({ workspaceDir, stateFile: "mine.json" }).save(1);
      expect(readdirSync(workspaceDir)).toEqual(["mine.json"]);
    });

    it("renames a broken file before it writes", async () => {
      writeFileSync(inWorkspace("progress.json"), "{oops");
      await store().save({ ok: true }, "progress.json");
      const [aside = "", ...rest] = readdirSync(workspaceDir).toSorted();
      expect(rest).toEqual(["progress.json"]);
      expect(aside).toMatch(/^progress\.broken-[0-9a-f]{8}\.json$/);
      expect(readFileSync(inWorkspace(aside), "utf8")).toBe("{oops");
    });

    it("needs a workspace that exists", async () => {
      rmSync(workspaceDir, { recursive: true });
      await expect(store().save(1)).rejects.toMatchObject({ code: "ENOENT" });
    });

    it("renames a file that is too large to read before it writes", async () => {
      writeFileSync(inWorkspace("state.json"), "x".repeat(100));
      const small = createStateStore({ workspaceDir, maxBytes: 64 });
      await small.save(1);
      expect(await small.read()).toMatchObject({ exists: true, data: 1 });
      expect(readdirSync(workspaceDir)).toHaveLength(2);
    });

    it("does not write after its signal is aborted", async () => {
      const signal = AbortSignal.abort();
      await expect(store().save(1, "state.json", { signal })).rejects.toMatchObject({ name: "AbortError" });
      expect(readdirSync(workspaceDir)).toEqual([]);
    });

    it("does not write when its signal is aborted while it waits for an earlier save", async () => {
      const one = store();
      const cancel = new AbortController();
      const first = one.save("first");
      const second = one.save("second", "state.json", { signal: cancel.signal });
      cancel.abort();
      await expect(second).rejects.toMatchObject({ name: "AbortError" });
      await first;
      expect(await one.read()).toMatchObject({ exists: true, data: "first" });
    });

    it("saves after an earlier save failed", async () => {
      const one = store();
      const failed = one.save(1, "x.json/y.json");
      writeFileSync(inWorkspace("x.json"), "");
      await expect(failed).rejects.toMatchObject({ code: "STATE_PATH_INVALID" });
      rmSync(inWorkspace("x.json"));
      await one.save(2, "x.json/y.json");
      expect(await one.read("x.json/y.json")).toMatchObject({ exists: true, data: 2 });
    });

    it("refuses data that is too large, and keeps what was there", async () => {
      const small = createStateStore({ workspaceDir, maxBytes: 64 });
      await small.save("x".repeat(61)); // 64 bytes with its quotes and line break
      await small.save("old");
      await expect(small.save("x".repeat(100))).rejects.toMatchObject({ code: "STATE_TOO_LARGE" });
      expect(await small.read()).toMatchObject({ exists: true, data: "old" });
    });

    it("keeps the order of saves that are asked for at once, and leaves no other file", async () => {
      const one = store();
      await Promise.all(Array.from({ length: 50 }, (_, index) => one.save({ index })));
      expect(await one.read()).toMatchObject({ exists: true, data: { index: 49 } });
      expect(readdirSync(workspaceDir)).toEqual(["state.json"]);
    });

    it("is never seen half written by another process, nor when its own is killed", async () => {
      const large = "x".repeat(200_000);
      const script = `
        import { createStateStore } from ${JSON.stringify(fileURLToPath(new URL("../index.ts", import.meta.url)))};
        const store = createStateStore({ workspaceDir: ${JSON.stringify(workspaceDir)} });
        for (let n = 0; ; n += 1) {
          await store.save({ n, pid: process.pid, text: "x".repeat(200_000) });
          if (n === 0) process.stdout.write("saved");
        }`;
      const writers = [1, 2].map(() =>
        spawn(process.execPath, ["--conditions=@cem/source", "--input-type=module", "-e", script]),
      );
      onTestFinished(() => {
        for (const writer of writers) writer.kill("SIGKILL");
      });
      await Promise.all(
        writers.map((writer) => new Promise((resolve) => writer.stdout.once("data", resolve))),
      );
      const seen = new Set<unknown>();
      const reader = store();
      for (let count = 0; count < 60; count += 1) {
        if (count === 40) for (const writer of writers) writer.kill("SIGKILL");
        const { data } = await reader.read();
        expect(data).toMatchObject({ text: large });
        seen.add((data as { n: number }).n);
      }
      expect(seen.size).toBeGreaterThan(1);
    });
  });

  describe.each(["read", "save"] as const)("paths, at %s", (method) => {
    const call = (file: string) => (method === "read" ? store().read(file) : store().save({}, file));

    it.each(["/etc/passwd.json", "../outside/x.json", "a/../../x.json", "x.txt"])(
      "refuses %j",
      async (file) => {
        await expect(call(file)).rejects.toMatchObject({ code: "STATE_PATH_INVALID" });
      },
    );

    it("follows no link that guest code created: a folder of the path", async () => {
      symlinkSync(outside, inWorkspace("notes"));
      writeFileSync(path.join(outside, "today.json"), '"secret"');
      await expect(call("notes/today.json")).rejects.toMatchObject({
        code: "STATE_PATH_INVALID",
        details: { file: "/workspace/notes/today.json", reason: "a folder on its path is a link or a file" },
      });
      expect(readFileSync(path.join(outside, "today.json"), "utf8")).toBe('"secret"');
    });

    it("follows no link that guest code created: the file", async () => {
      const secret = path.join(outside, "secret.json");
      writeFileSync(secret, '"secret"');
      symlinkSync(secret, inWorkspace("state.json"));
      await expect(call("state.json")).rejects.toMatchObject({
        code: "STATE_PATH_INVALID",
        details: { reason: "it is a link" },
      });
      expect(readFileSync(secret, "utf8")).toBe('"secret"');
      expect(lstatSync(inWorkspace("state.json")).isSymbolicLink()).toBe(true);
    });

    it("says so when a folder has the file's name", async () => {
      mkdirSync(inWorkspace("state.json"));
      await expect(call("state.json")).rejects.toMatchObject({ code: "STATE_PATH_INVALID" });
    });
  });
});
