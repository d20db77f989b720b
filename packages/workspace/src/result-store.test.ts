import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createResultStore } from "./result-store.ts";

let root: string;
let workspaceDir: string;

beforeEach(async () => {
  root = await mkdtemp(path.join(os.tmpdir(), "cem-results-"));
  workspaceDir = path.join(root, "workspace");
  await mkdir(workspaceDir);
});
afterEach(() => rm(root, { recursive: true, force: true }));

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
    });

    it.each(["../../escape.txt", "/etc/passwd", "a\0b", "..", "", `${"long".repeat(100)}.json`, ".hidden"])(
      "takes %j for no more than a name",
      async (suggested) => {
        const store = createResultStore({ workspaceDir });
        const kept = await store.write(text("x"), "text/plain", suggested);
        expect(await readdir(path.join(workspaceDir, "results"))).toEqual([path.basename(kept.path)]);
        expect((await store.read(kept.path)).size).toBe(1);
        expect(await readdir(root)).toEqual(["workspace"]);
      },
    );

    it("refuses a results folder that is a link", async () => {
      await mkdir(path.join(root, "outside"));
      await symlink("../outside", path.join(workspaceDir, "results"));
      const store = createResultStore({ workspaceDir });
      await expect(store.write(text("x"), "text/plain", "a.txt")).rejects.toMatchObject({
        code: "RESULTS_UNUSABLE",
      });
      expect(await readdir(path.join(root, "outside"))).toEqual([]);
    });

    it("removes its oldest results beyond what it may keep", async () => {
      const store = createResultStore({ workspaceDir, maxKeptBytes: 10 });
      const first = await store.write(text("12345"), "text/plain", "a.txt");
      await store.write(text("12345"), "text/plain", "b.txt");
      await expect(store.read(first.path)).resolves.toMatchObject({ size: 5 });
      const large = await store.write(text("123456789"), "text/plain", "c.txt");
      await expect(store.read(first.path)).rejects.toMatchObject({ code: "RESULT_NOT_FOUND" });
      await expect(store.read(large.path)).resolves.toMatchObject({ size: 9 });
    });
  });

  describe("read", () => {
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
      // Another process knows the type by the name.
      expect(await createResultStore({ workspaceDir }).read(kept)).toMatchObject({ mimeType: "text/plain" });
    });

    it("follows no link that was put in a result's place", async () => {
      const store = createResultStore({ workspaceDir });
      const { path: kept } = await store.write(text("mine"), "text/plain", "a.txt");
      await writeFile(path.join(root, "secret"), "secret");
      await rm(path.join(root, kept));
      await symlink("../../secret", path.join(root, kept));
      await expect(store.read(kept)).rejects.toMatchObject({ code: "RESULT_NOT_FOUND" });
    });

    it.each(["/etc/passwd", "/workspace/results/../state.json", "/workspace/state.json", "results/a", ""])(
      "knows no result %j",
      async (unknown) => {
        await writeFile(path.join(workspaceDir, "state.json"), "{}");
        const store = createResultStore({ workspaceDir });
        await expect(store.read(unknown)).rejects.toMatchObject({ code: "RESULT_NOT_FOUND" });
      },
    );
  });
});
