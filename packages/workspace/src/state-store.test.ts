import { execFileSync, spawn } from "node:child_process";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, it } from "vitest";
import { createStateStore } from "./index.ts";

let workspaceDir = "";
let outside = "";

beforeEach(() => {
  const root = mkdtempSync(path.join(os.tmpdir(), "cem-state-"));
  workspaceDir = path.join(root, "workspace");
  outside = path.join(root, "outside");
  mkdirSync(workspaceDir);
  mkdirSync(outside);
});

const store = () => createStateStore({ workspaceDir });
const inWorkspace = (name: string) => path.join(workspaceDir, name);

describe("createStateStore", () => {
  describe("read", () => {
    it("tells that nothing was saved yet", async () => {
      expect(await store().read()).toEqual({ exists: false, data: {} });
      expect(await store().read("a/b/c.json")).toEqual({ exists: false, data: {} });
    });

    it("reads what guest code wrote", async () => {
      writeFileSync(inWorkspace("state.json"), '{"count": 3}');
      expect(await store().read()).toEqual({ exists: true, data: { count: 3 } });
    });

    it("names a broken file, and leaves it", async () => {
      writeFileSync(inWorkspace("state.json"), '{"count": ');
      await expect(store().read()).rejects.toMatchObject({
        code: "STATE_UNREADABLE",
        message: expect.stringContaining("/workspace/state.json is not valid JSON"),
      });
      expect(readFileSync(inWorkspace("state.json"), "utf8")).toBe('{"count": ');
    });

    it("refuses a file that is too large", async () => {
      writeFileSync(inWorkspace("state.json"), `"${"x".repeat(100)}"`);
      const small = createStateStore({ workspaceDir, maxBytes: 64 });
      await expect(small.read()).rejects.toMatchObject({
        code: "STATE_TOO_LARGE",
        details: { bytes: 102, limitBytes: 64 },
      });
    });

    it("does not wait at a pipe that guest code made", async () => {
      execFileSync("mkfifo", [inWorkspace("state.json")]);
      await expect(store().read()).rejects.toMatchObject({ code: "STATE_PATH_INVALID" });
    });
  });

  describe("save", () => {
    it("writes the file that the guest sees, and makes its folders", async () => {
      expect(await store().save({ a: [1, null] }, "notes/today.json")).toEqual({
        file: "/workspace/notes/today.json",
      });
      expect(JSON.parse(readFileSync(inWorkspace("notes/today.json"), "utf8"))).toEqual({ a: [1, null] });
      expect(await store().read("/workspace/notes/today.json")).toMatchObject({ exists: true });
    });

    it("has a default file that can be set", async () => {
      await createStateStore({ workspaceDir, stateFile: "mine.json" }).save(1);
      expect(readdirSync(workspaceDir)).toEqual(["mine.json"]);
    });

    it("moves a broken file aside before it writes", async () => {
      writeFileSync(inWorkspace("state.json"), "{oops");
      await store().save({ ok: true });
      const [aside = "", ...rest] = readdirSync(workspaceDir).toSorted();
      expect(rest).toEqual(["state.json"]);
      expect(aside).toMatch(/^state\.broken-[0-9a-f]{8}\.json$/);
      expect(readFileSync(inWorkspace(aside), "utf8")).toBe("{oops");
    });

    it("refuses data that is too large, and keeps what was there", async () => {
      const small = createStateStore({ workspaceDir, maxBytes: 64 });
      await small.save("old");
      await expect(small.save("x".repeat(100))).rejects.toMatchObject({ code: "STATE_TOO_LARGE" });
      expect(await small.read()).toEqual({ exists: true, data: "old" });
    });

    it("keeps the order of saves that are asked for at once, and leaves no other file", async () => {
      const one = store();
      await Promise.all(Array.from({ length: 50 }, (_, index) => one.save({ index })));
      expect(await one.read()).toEqual({ exists: true, data: { index: 49 } });
      expect(readdirSync(workspaceDir)).toEqual(["state.json"]);
    });

    it("is never seen half written by another process, nor when its own is killed", async () => {
      const large = "x".repeat(200_000);
      const script = `
        import { createStateStore } from ${JSON.stringify(fileURLToPath(new URL("index.ts", import.meta.url)))};
        const store = createStateStore({ workspaceDir: ${JSON.stringify(workspaceDir)} });
        for (let n = 0; ; n += 1) {
          await store.save({ n, pid: process.pid, text: "x".repeat(200_000) });
          if (n === 0) process.stdout.write("saved");
        }`;
      const writers = [1, 2].map(() =>
        spawn(process.execPath, ["--conditions=@cem/source", "--input-type=module", "-e", script]),
      );
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

    it.each([
      "/etc/passwd.json",
      "../outside/x.json",
      "a/../../x.json",
      "a//x.json",
      "./x.json",
      "",
      ".json",
      "x.txt",
      "x.json/",
      "..\\x.json",
      "c:x.json",
      "x\0.json",
      "/workspace/../x.json",
      `${"a".repeat(300)}.json`,
      `${"a/".repeat(600)}x.json`,
    ])("refuses %j", async (file) => {
      await expect(call(file)).rejects.toMatchObject({ code: "STATE_PATH_INVALID" });
    });

    it("follows no link that guest code planted: a folder of the path", async () => {
      symlinkSync(outside, inWorkspace("notes"));
      writeFileSync(path.join(outside, "today.json"), '"secret"');
      await expect(call("notes/today.json")).rejects.toMatchObject({ code: "STATE_PATH_INVALID" });
      expect(readFileSync(path.join(outside, "today.json"), "utf8")).toBe('"secret"');
    });

    it("follows no link that guest code planted: the file", async () => {
      const secret = path.join(outside, "secret.json");
      writeFileSync(secret, '"secret"');
      symlinkSync(secret, inWorkspace("state.json"));
      await expect(call("state.json")).rejects.toMatchObject({ code: "STATE_PATH_INVALID" });
      expect(readFileSync(secret, "utf8")).toBe('"secret"');
      expect(lstatSync(inWorkspace("state.json")).isSymbolicLink()).toBe(true);
    });

    it("says so when a folder has the file's name", async () => {
      mkdirSync(inWorkspace("state.json"));
      await expect(call("state.json")).rejects.toMatchObject({ code: "STATE_PATH_INVALID" });
    });
  });
});
