import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { countFolder } from "./folder-census.ts";
import { createWorkspaceQuota, type WorkspaceQuota } from "./workspace-quota.ts";

const MIB = 1024 * 1024;
let folder = "";
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "cem-quota-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function makeEntries(count: number, prefix = "entry"): void {
  for (let index = 0; index < count; index += 1) mkdirSync(join(folder, `${prefix}-${index}`));
}

const DEPTH = 14;
/** Makes a folder by whose path no system call reaches it: one deep folder is moved into another. */
function makeDeep(): void {
  const [one, other] = ["x", "y"].map((top) =>
    join(folder, top, ...Array<string>(DEPTH - 1).fill("d".repeat(250))),
  );
  for (const deep of [one, other]) mkdirSync(deep as string, { recursive: true });
  renameSync(join(folder, "y"), join(one as string, "y"));
}

describe("countFolder", () => {
  const whole = { sizes: true, maxEntries: Infinity, isStopped: () => false };

  it("counts files, folders and links, and their space, and follows no link", async () => {
    makeEntries(3);
    writeFileSync(join(folder, "entry-0/big.bin"), Buffer.alloc(2 * MIB, 1));
    symlinkSync("/usr", join(folder, "entry-1/usr"));
    const usage = await countFolder(folder, whole);
    expect(usage.entries).toBe(5);
    expect(usage.bytes).toBeGreaterThanOrEqual(2 * MIB);
    expect(usage.bytes).toBeLessThan(3 * MIB);
    expect(await countFolder(folder, { ...whole, sizes: false })).toEqual({ entries: 5, bytes: 0 });
  });

  it("opens folders that a program has shut, the top as well", async () => {
    for (const closed of [join(folder, "closed"), folder]) {
      mkdirSync(join(closed, "within"), { recursive: true });
      chmodSync(closed, 0o310);
    }
    expect((await countFolder(folder, whole)).entries).toBe(3);
    // Root lists them as they are.
    const mode = process.getuid?.() === 0 ? 0o310 : 0o710;
    for (const closed of [folder, join(folder, "closed")]) expect(statSync(closed).mode & 0o777).toBe(mode);
  });

  it("moves a folder whose path is too long to the top, and follows no link to it", async () => {
    makeDeep();
    symlinkSync("/usr", join(folder, "usr"));
    const { entries, moved } = await countFolder(folder, whole);
    expect(entries).toBe(2 * DEPTH + 1);
    expect(moved).toMatch(/[/]moved-[0-9a-f]{8}$/);
    expect(await countFolder(folder, whole)).toMatchObject({ entries, bytes: expect.any(Number) });
    expect((await countFolder(folder, whole)).moved).toBeUndefined();
  });

  it("moves one as well where the workspace is a link", async () => {
    makeDeep();
    const link = `${folder}-link`;
    symlinkSync(folder, link);
    onTestFinished(() => rmSync(link));
    const { entries, moved } = await countFolder(link, whole);
    expect(entries).toBe(2 * DEPTH);
    expect(moved).toContain(`${link}/moved-`);
  });

  it("ends at the limit", async () => {
    makeEntries(50);
    for (let index = 0; index < 50; index += 1) mkdirSync(join(folder, `entry-${index}/below`));
    const { entries } = await countFolder(folder, { ...whole, maxEntries: 10 });
    expect(entries).toBe(50);
  });
});

describe("WorkspaceQuota", () => {
  const quotaOf = (workspaceMb: number, workspaceEntries: number): WorkspaceQuota => {
    const quota = createWorkspaceQuota({ workspaceDir: folder, quota: { workspaceMb, workspaceEntries } });
    if (quota === undefined) throw new Error("There has to be a quota.");
    onTestFinished(() => quota.dispose());
    return quota;
  };

  it("ends a run that adds too many entries, and says how many there are", async () => {
    const quota = quotaOf(100, 20);
    expect(await quota.check()).toBeUndefined();
    const exceeded = new Promise<string>((resolve) => quota.watch(resolve));
    makeEntries(21);
    expect(await exceeded).toBe("The workspace holds 21 files and folders; its quota is 20.");
  });

  it("ends a run that writes too much", async () => {
    const quota = quotaOf(4, 100);
    await quota.check();
    const exceeded = new Promise<string>((resolve) => quota.watch(resolve));
    writeFileSync(join(folder, "big.bin"), Buffer.alloc(5 * MIB, 1));
    quota.noteWritten(5 * MIB);
    expect(await exceeded).toMatch(/^The workspace holds 5|6 MiB; its quota is 4 MiB\.$/);
  });

  it("looks at sizes again in time when a run writes during a count", async () => {
    // The first count takes 10 ms, and no time passes after it.
    const clock = vi.spyOn(performance, "now").mockReturnValueOnce(0).mockReturnValue(10);
    onTestFinished(() => clock.mockRestore());
    const quota = quotaOf(4, 100);
    const first = quota.check();
    quota.noteWritten(5 * MIB);
    await first;
    const exceeded = new Promise<string>((resolve) => quota.watch(resolve));
    writeFileSync(join(folder, "big.bin"), Buffer.alloc(5 * MIB, 1));
    expect(await exceeded).toMatch(/its quota is 4 MiB\.$/);
  });

  it("ends a run that makes a path too long, and refuses none after it", async () => {
    const quota = quotaOf(100, 100);
    await quota.check();
    const ended = new Promise<string>((resolve) => quota.watch(resolve));
    makeDeep();
    expect(await ended).toMatch(
      /^The path of a folder in the workspace was too long, so it is now [/]workspace[/]moved-[0-9a-f]{8}\.$/,
    );
    expect(await quota.check()).toBeUndefined();
  });

  it("lets a run delete what is above the quota, but add nothing", async () => {
    // The rest after a count is as long as the count times ten: by a clock that stands, it is the shortest on a busy machine, too.
    const clock = vi.spyOn(performance, "now").mockReturnValue(0);
    onTestFinished(() => clock.mockRestore());
    makeEntries(30);
    const quota = quotaOf(100, 20);
    // The first count may take longer than a run waits for it.
    await expect.poll(() => quota.check()).toBeDefined();
    for (let index = 0; index < 9; index += 1) rmSync(join(folder, `entry-${index}`), { recursive: true });
    await expect.poll(() => quota.check()).toBeUndefined();
    const messages: string[] = [];
    const end = quota.watch((message) => messages.push(message));
    await sleep(150);
    expect(messages).toEqual([]);
    makeEntries(1, "more");
    await expect.poll(() => messages.length).toBeGreaterThan(0);
    end();
  });

  it("refuses a run far above the quota until there is room again", async () => {
    makeEntries(30);
    const quota = quotaOf(100, 20);
    await expect
      .poll(() => quota.check())
      .toEqual({
        code: "WORKSPACE_FULL",
        message: "The workspace holds at least 30 files and folders; its quota is 20. Nothing was run.",
      });
    for (let index = 0; index < 15; index += 1) rmSync(join(folder, `entry-${index}`), { recursive: true });
    await expect.poll(() => quota.check()).toBeUndefined();
  });

  it("answers at once after the first time, and counts no more when nothing runs", async () => {
    const quota = quotaOf(100, 20);
    await expect.poll(() => quota.check() instanceof Promise).toBe(false);
    let counted = 0;
    for (let round = 0; round < 10_000; round += 1) {
      if (quota.check() !== undefined) counted += 1;
      quota.watch(() => {})();
    }
    // On a machine that stands still for a while, what is known grows old.
    expect(counted).toBeLessThan(100);
  });
});
