import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { createFolderStore } from "@cem/store";
import { expect, it, onTestFinished } from "vitest";
import { openCustomerHosts } from "../customers/customer-hosts.ts";
import { openProject } from "../open-project.ts";

const MS_PER_DAY = 86_400_000;
const END_OF_TIME = 10 ** 14;

it("removes records and values of customers who don't come back, once the newest are too old", async () => {
  const cwd = mkdtempSync(path.join(os.tmpdir(), "cem-tidy-"));
  const config = { runs: { maxDays: 10 }, customers: { idle: 1 } };
  const project = await openProject({ cwd, configFile: false, config });
  onTestFinished(() => project[Symbol.asyncDispose]());
  const wroteDaysAgo = async (customer: string, days: number): Promise<string> => {
    const folder = path.join(cwd, "workspaces", customer, "runs");
    const store = createFolderStore({ folder, durability: "process" });
    // As versions wrote it that let nothing expire.
    const time = String(END_OF_TIME - (Date.now() - days * MS_PER_DAY));
    await store.write(["records", time, "a", "3"], Buffer.from("{}\n"));
    await store.close();
    const then = new Date(Date.now() - days * MS_PER_DAY);
    for (const name of readdirSync(folder)) utimesSync(path.join(folder, name), then, then);
    return folder;
  };
  const [gone, kept] = [await wroteDaysAgo("gone", 40), await wroteDaysAgo("kept", 9)];
  const before = readFileSync(path.join(kept, "store.db"));
  const [old, young] = [40, 9].map((days) => {
    const vault = path.join(cwd, "workspaces", "gone", "vault", `${days}.vault`);
    mkdirSync(path.dirname(vault), { recursive: true });
    writeFileSync(vault, "");
    const then = new Date(Date.now() - days * MS_PER_DAY);
    utimesSync(vault, then, then);
    return vault;
  });
  const hosts = await openCustomerHosts(
    project,
    {},
    {
      openAgent: () => {
        throw new Error("Nobody came.");
      },
    },
  );
  onTestFinished(() => hosts.dispose());
  const recordsIn = async (folder: string): Promise<number> => {
    const store = createFolderStore({ folder });
    return (await store.list(["records"]).finally(() => void store.close())).length;
  };
  // To open it changes it, so that nobody else does meanwhile.
  const changedMs = (): number => statSync(path.join(gone, "store.db")).mtimeMs;
  await expect.poll(changedMs, { timeout: 20_000 }).toBeGreaterThan(Date.now() - MS_PER_DAY);
  expect(await recordsIn(gone)).toBe(0);
  expect(readFileSync(path.join(kept, "store.db")).equals(before)).toBe(true);
  expect(await recordsIn(kept)).toBe(1);
  expect([old, young].map((vault = "") => existsSync(vault))).toEqual([false, true]);
});
