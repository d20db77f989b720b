import { readdir } from "node:fs/promises";
import path from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { leaveLock } from "../../fixtures/leave-lock.ts";
import { temporaryFolder } from "../../fixtures/temporary-folder.ts";
import { withFolderLock } from "./server-folder.ts";

let folder = "";
beforeEach(async () => {
  folder = await temporaryFolder();
});

describe("withFolderLock", () => {
  it("holds the lock while the action runs, and gives its result", async () => {
    const inside = await withFolderLock(folder, undefined, () => readdir(folder));
    expect(inside).toEqual([".cem-writing"]);
    expect(await readdir(folder)).toEqual([]);
  });

  it("gives the lock back when the action fails", async () => {
    const failure = withFolderLock(folder, undefined, () => Promise.reject(new Error("no")));
    await expect(failure).rejects.toThrow("no");
    expect(await readdir(folder)).toEqual([]);
  });

  it("lets one action run at a time", async () => {
    let running = 0;
    const results = await Promise.all(
      [1, 2, 3].map((number) =>
        withFolderLock(folder, undefined, async () => {
          running += 1;
          await readdir(folder);
          const together = running;
          running -= 1;
          return [number, together];
        }),
      ),
    );
    expect(results).toEqual([
      [1, 1],
      [2, 1],
      [3, 1],
    ]);
  });

  it("takes a lock over at once whose process has ended", async () => {
    leaveLock(folder);
    expect(await withFolderLock(folder, undefined, async () => "done")).toBe("done");
    expect(await readdir(folder)).toEqual([]);
  });

  it("waits for another until it is told to stop", async () => {
    const held = Promise.withResolvers<string>();
    const first = withFolderLock(folder, undefined, () => held.promise);
    const waiting = withFolderLock(folder, AbortSignal.timeout(120), async () => "done");
    await expect(waiting).rejects.toThrow(/abort/i);
    held.resolve("done");
    expect(await first).toBe("done");
  });

  it("does not run the action when it was told to stop before", async () => {
    let ran = false;
    const stopped = withFolderLock(folder, AbortSignal.abort(), async () => (ran = true));
    await expect(stopped).rejects.toMatchObject({ name: "AbortError" });
    expect(ran).toBe(false);
    expect(await readdir(folder)).toEqual([]);
  });

  it("says that the folder can't be written", async () => {
    const nowhere = withFolderLock(path.join(folder, "none"), undefined, async () => "done");
    await expect(nowhere).rejects.toMatchObject({ code: "ENOENT" });
  });
});
