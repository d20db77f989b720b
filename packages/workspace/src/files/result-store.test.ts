import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryWorkspace } from "../../test/temporary-workspace.ts";
import { createResultStore } from "./result-store.ts";

let root: string;
let workspaceDir: string;

let outside: string;

beforeEach(() => {
  ({ root, workspaceDir, outside } = temporaryWorkspace());
});

const text = (value: string): Uint8Array => Buffer.from(value);

describe("createResultStore", () => {
  describe("write", () => {
    it("keeps bytes as a file that the guest sees", async () => {
      const store = createResultStore({ workspaceDir });
      const kept = await store.write(text("hello"), "text/plain", "greeting.txt");
      expect(kept).toEqual({
        path: expect.stringMatching(/^\/workspace\/results\/[0-9a-f]{12}-greeting\.txt$/),
        size: 5,
      });
      const file = path.join(root, kept.path);
      expect(await readFile(file, "utf8")).toBe("hello");
      // It may hold values of persons: nobody else on the machine reads it.
      expect((await stat(file)).mode & 0o777).toBe(0o600);
    });

    it.each([
      ["Report 1 (final).pdf", "Report-1-final-.pdf"],
      ["..-.hidden.txt", "hidden.txt"],
      ["../../x/ä.png", "x-.png"],
      ["名.txt", "result.txt"],
      ["", "result"],
      ["...", "result"],
      [`a${".".repeat(99)}b.txt`, "b.txt"],
      [`${"n".repeat(120)}.txt`, `${"n".repeat(96)}.txt`],
    ])("makes of %j the name %j", async (suggested, name) => {
      const kept = await createResultStore({ workspaceDir }).write(text("x"), "text/plain", suggested);
      expect(path.basename(kept.path).slice(13)).toBe(name);
    });

    it.each(["../../escape.txt", "/etc/passwd", "a\0b", "..", "", `${"long".repeat(100)}.json`, ".hidden"])(
      "takes %j for no more than a name",
      async (suggested) => {
        const store = createResultStore({ workspaceDir });
        const kept = await store.write(text("x"), "text/plain", suggested);
        expect(await readdir(path.join(workspaceDir, "results"))).toEqual([path.basename(kept.path)]);
        expect((await store.read(kept.path)).size).toBe(1);
        expect(await readdir(root)).toEqual(["outside", "workspace"]);
      },
    );

    it("refuses a results folder that is a link, to write and to read", async () => {
      await symlink("../outside", path.join(workspaceDir, "results"));
      await writeFile(path.join(outside, "0123456789ab-a.txt"), "secret");
      const store = createResultStore({ workspaceDir });
      const refusal = {
        code: "RESULTS_UNUSABLE",
        message: `Results can't be stored: "results" in the workspace is a link or a file, not a folder.`,
        details: { workspaceDir },
        cause: expect.any(Error),
      };
      await expect(store.write(text("x"), "text/plain", "a.txt")).rejects.toMatchObject(refusal);
      await expect(store.read("/workspace/results/0123456789ab-a.txt")).rejects.toMatchObject(refusal);
      expect(await readdir(outside)).toEqual(["0123456789ab-a.txt"]);
    });

    it("needs a workspace that exists", async () => {
      const store = createResultStore({ workspaceDir: path.join(root, "none") });
      await expect(store.write(text("x"), "text/plain", "a.txt")).rejects.toMatchObject({ code: "ENOENT" });
    });

    it("keeps 2 GiB by default, and always the newest result", async () => {
      const roomy = createResultStore({ workspaceDir });
      const first = await roomy.write(text("1".repeat(2_000_000)), "text/plain", "a.txt");
      await roomy.write(text("2"), "text/plain", "b.txt");
      await expect(roomy.read(first.path)).resolves.toMatchObject({ size: 2_000_000 });
      const tiny = createResultStore({ workspaceDir, maxKeptBytes: 1 });
      const large = await tiny.write(text("123"), "text/plain", "c.txt");
      await expect(tiny.read(large.path)).resolves.toMatchObject({ size: 3 });
    });

    it("makes room when guest code removed a result itself", async () => {
      const store = createResultStore({ workspaceDir, maxKeptBytes: 1 });
      const first = await store.write(text("1"), "text/plain", "a.txt");
      await rm(path.join(root, first.path));
      const second = await store.write(text("2"), "text/plain", "b.txt");
      await store.write(text("3"), "text/plain", "c.txt");
      await expect(store.read(second.path)).rejects.toMatchObject({ code: "RESULT_NOT_FOUND" });
    });

    it("leaves no descriptor open", async () => {
      const store = createResultStore({ workspaceDir });
      const before = readdirSync("/proc/self/fd").length;
      for (let round = 0; round < 20; round += 1) {
        const { path: kept } = await store.write(text("x"), "text/plain", "a.txt");
        await store.read(kept);
      }
      expect(readdirSync("/proc/self/fd").length).toBeLessThan(before + 10);
    });

    it("removes its oldest results beyond what it may keep", async () => {
      const store = createResultStore({ workspaceDir, maxKeptBytes: 10 });
      const first = await store.write(text("12345"), "text/plain", "a.txt");
      await store.write(text("12345"), "text/plain", "b.txt");
      await expect(store.read(first.path)).resolves.toMatchObject({ size: 5 });
      const large = await store.write(text("123456789"), "text/plain", "c.txt");
      await expect(store.read(first.path)).rejects.toMatchObject({ code: "RESULT_NOT_FOUND" });
      await expect(store.read(large.path)).resolves.toMatchObject({ size: 9 });
      const small = await store.write(text("1"), "text/plain", "d.txt");
      await expect(store.read(large.path)).resolves.toMatchObject({ size: 9 });
      await expect(store.read(small.path)).resolves.toMatchObject({ size: 1 });
    });
  });

  describe("read", () => {
    it.each([
      { offset: -1 },
      { offset: 1.5 },
      { limit: -4 },
      { limit: Number.NaN },
      { offset: "1" as never },
    ])("refuses %j", async (range) => {
      const store = createResultStore({ workspaceDir });
      const { path: kept } = await store.write(text("0123456789"), "text/plain", "digits.txt");
      await expect(store.read(kept, range)).rejects.toMatchObject({ code: "OPTION_INVALID" });
    });

    it("gives pieces, with the type and the whole size", async () => {
      const store = createResultStore({ workspaceDir });
      const { path: kept } = await store.write(text("0123456789"), "text/x-digits", "digits.txt");
      const page = await store.read(kept, { offset: 4, limit: 3 });
      expect({ ...page, bytes: Buffer.from(page.bytes).toString() }).toEqual({
        bytes: "456",
        mimeType: "text/x-digits",
        offset: 4,
        size: 10,
      });
      expect((await store.read(kept, { offset: 50 })).bytes).toHaveLength(0);
      expect(await store.read(kept)).toMatchObject({ offset: 0, bytes: { length: 10 } });
      expect(Buffer.from((await store.read(kept, { offset: 8, limit: 5 })).bytes).toString()).toBe("89");
      // Another process knows the type from the name.
      expect(await createResultStore({ workspaceDir }).read(kept)).toMatchObject({ mimeType: "text/plain" });
    });

    it("reads a mebibyte when no limit is given", async () => {
      const store = createResultStore({ workspaceDir });
      const { path: kept } = await store.write(Buffer.alloc(1_048_577, 7), "application/x", "big");
      const page = await store.read(kept);
      expect(page.bytes).toHaveLength(1_048_576);
      expect(page.size).toBe(1_048_577);
    });

    it.each([
      ["a.csv", "text/csv"],
      ["a.gif", "image/gif"],
      ["a.html", "text/html"],
      ["a.jpg", "image/jpeg"],
      ["a.json", "application/json"],
      ["a.md", "text/markdown"],
      ["a.mp3", "audio/mpeg"],
      ["a.pdf", "application/pdf"],
      ["a.b.png", "image/png"],
      ["a.svg", "image/svg+xml"],
      ["a.txt", "text/plain"],
      ["a.wav", "audio/wav"],
      ["a.webp", "image/webp"],
      ["a.unknown", "application/octet-stream"],
      ["png", "application/octet-stream"],
    ])("tells the type of %s that another process wrote: %s", async (name, mimeType) => {
      const { path: kept } = await createResultStore({ workspaceDir }).write(text("x"), "x/y", name);
      expect(await createResultStore({ workspaceDir }).read(kept)).toMatchObject({ mimeType });
    });

    it("creates nothing, and finds nothing where nothing was kept", async () => {
      const store = createResultStore({ workspaceDir });
      const unknown = "/workspace/results/0123456789ab-a.txt";
      await expect(store.read(unknown)).rejects.toMatchObject({
        code: "RESULT_NOT_FOUND",
        message: `There is no result "${unknown}". Paths of results begin with /workspace/results/.`,
        details: { path: unknown },
      });
      expect(await readdir(workspaceDir)).toEqual([]);
    });

    it("shows only the beginning of a long path", async () => {
      const reading = createResultStore({ workspaceDir }).read("x".repeat(5_000));
      await expect(reading).rejects.toMatchObject({ details: { path: "x".repeat(200) } });
      await expect(reading).rejects.toThrow(/^.{250,290}$/);
    });

    it("keeps the type of each result", async () => {
      const store = createResultStore({ workspaceDir });
      const first = await store.write(text("1"), "x/first", "a.txt");
      const second = await store.write(text("2"), "x/second", "a.txt");
      expect(await store.read(first.path)).toMatchObject({ mimeType: "x/first" });
      expect(await store.read(second.path)).toMatchObject({ mimeType: "x/second" });
    });

    it.each(["linked/0123456789ab-a.txt", "0123456789ab-a/secret.txt"])(
      "follows no folder below its own: %s",
      async (below) => {
        await writeFile(path.join(outside, path.basename(below)), "secret");
        await mkdir(path.join(workspaceDir, "results"));
        await symlink("../../outside", path.join(workspaceDir, "results", path.dirname(below)));
        const reading = createResultStore({ workspaceDir }).read(`/workspace/results/${below}`);
        await expect(reading).rejects.toMatchObject({ code: "RESULT_NOT_FOUND" });
      },
    );

    it.each(["folder", "pipe"])("does not read a %s in a result's place", async (kind) => {
      const store = createResultStore({ workspaceDir });
      const { path: kept } = await store.write(text("mine"), "text/plain", "a.txt");
      await rm(path.join(root, kept));
      if (kind === "folder") await mkdir(path.join(root, kept));
      else execFileSync("mkfifo", [path.join(root, kept)]);
      await expect(store.read(kept)).rejects.toMatchObject({ code: "RESULT_NOT_FOUND" });
    });

    it("follows no link that was put in a result's place", async () => {
      const store = createResultStore({ workspaceDir });
      const { path: kept } = await store.write(text("mine"), "text/plain", "a.txt");
      await writeFile(path.join(root, "secret"), "secret");
      await rm(path.join(root, kept));
      await symlink("../../secret", path.join(root, kept));
      await expect(store.read(kept)).rejects.toMatchObject({ code: "RESULT_NOT_FOUND" });
    });

    it.each([
      "/etc/passwd",
      "/workspace/results/../state.json",
      "/workspace/results/x/0123456789ab-a",
      "/workspace/results/0123456789ab-a/../../state.json",
      "/workspace/state.json",
      "results/a",
      "",
    ])("knows no result %j", async (unknown) => {
      await writeFile(path.join(workspaceDir, "state.json"), "{}");
      await mkdir(path.join(workspaceDir, "results"));
      const store = createResultStore({ workspaceDir });
      await expect(store.read(unknown)).rejects.toMatchObject({ code: "RESULT_NOT_FOUND" });
    });
  });
});
