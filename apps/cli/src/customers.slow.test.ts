import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createFolderStore, scopeStore } from "@cem/store";
import { beforeAll, describe, expect, it } from "vitest";
import { runCem, SAMPLES, temporaryFolder } from "./testing/run-cem.ts";
import type { Ended } from "./testing/run-cem.ts";

let cwd: string;
beforeAll(() => {
  cwd = temporaryFolder();
  writeFileSync(
    path.join(cwd, "write.ts"),
    'await Deno.writeTextFile("/workspace/notes.txt", "12345"); return 1;',
  );
});
const cem = (...args: string[]): Promise<Ended> => runCem([...args, ...SAMPLES], { cwd });
const home = (id: string): string => path.join(cwd, "workspaces", id);

describe("cem customers", () => {
  it("lists none before there is one", async () => {
    expect((await cem("customers")).stdout).toContain("0 customers.");
  });

  it("lists those that ran something, with what they have on disk", async () => {
    for (const id of ["ada", "bob"]) {
      expect(await cem("exec", "write.ts", "--customer", id)).toMatchObject({ code: 0 });
    }
    expect(readdirSync(path.join(home("ada"), "workspace"))).toContain("notes.txt");
    expect((await cem("customers")).stdout).toMatch(/ada[^]*bob[^]*2 customers\./u);
    const { stdout } = await cem("customers", "usage", "ada", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ customers: [{ id: "ada", bytes: expect.any(Number) }] });
  });

  it("lists the first of many, and all of them as JSON", async () => {
    const many = temporaryFolder();
    for (let at = 0; at < 22; at += 1)
      mkdirSync(path.join(many, "workspaces", `c${at}`), { recursive: true });
    const list = (...args: string[]): Promise<Ended> =>
      runCem(["customers", ...args, ...SAMPLES], { cwd: many });
    expect((await list()).stdout).toMatch(/c0[^]*… 2 more rows[^]*22 customers\./u);
    expect(JSON.parse((await list("--json")).stdout).customers).toHaveLength(22);
  });

  it("removes those that were long not used, after it said which", async () => {
    const before = new Date(Date.now() - 40 * 86_400_000);
    utimesSync(home("bob"), before, before);
    expect((await cem("customers", "clean", "--inactive", "30d", "--dry-run")).stdout).toContain(
      "1 removable customer",
    );
    expect(existsSync(home("bob"))).toBe(true);
    expect(await cem("customers", "clean", "--inactive", "30d")).toMatchObject({ code: 1 });
    expect((await cem("customers", "clean", "--inactive", "30d", "--yes")).stdout).toContain(
      "1 customer removed",
    );
    expect(readdirSync(path.join(cwd, "workspaces"))).toEqual(["ada"]);
  });

  it("deletes one, and leaves nothing", async () => {
    expect(await cem("customers", "delete", "ada")).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("--yes"),
    });
    expect(await cem("customers", "delete", "ada", "--yes")).toMatchObject({ code: 0 });
    expect(readdirSync(path.join(cwd, "workspaces"))).toEqual([]);
  });

  it("deletes what machines share of one, and their copies", async () => {
    const shared = temporaryFolder();
    const env = { CEM_STORE_URL: shared, CEM_STORE_FILES: "store" };
    const code = `const file = "/workspace/notes.txt";
      const before = await Deno.readTextFile(file).catch(() => "nothing");
      await Deno.writeTextFile(file, "hers");
      return before;`;
    const [one, two] = [temporaryFolder(), temporaryFolder()];
    const on = (machine: string, ...args: string[]): Promise<Ended> =>
      runCem([...args, ...SAMPLES], { cwd: machine, env, input: code });
    expect((await on(one, "exec", "-", "--customer", "ada")).stdout).toContain("nothing");
    expect((await on(two, "exec", "-", "--customer", "ada")).stdout).toContain("hers");
    const piecesOf = async (id: string): Promise<unknown[]> => {
      const store = createFolderStore({ folder: shared });
      const pieces = await scopeStore(store, "files", "customers", id).list(["pieces"]);
      await store.close();
      return pieces;
    };
    expect(await piecesOf("ada")).not.toEqual([]);
    expect(await on(one, "customers", "delete", "ada", "--yes")).toMatchObject({ code: 0 });
    expect(await piecesOf("ada")).toEqual([]);
    for (const machine of [two, one])
      expect((await on(machine, "exec", "-", "--customer", "ada")).stdout).toContain(
        machine === two ? "nothing" : "hers",
      );
  });

  it("shows what was used of quotas, which hold from one command to the next", async () => {
    const own = temporaryFolder();
    const quotas = "customers:\n  quotas:\n    - { per: day, runs: 1, seconds: 60 }\n";
    writeFileSync(path.join(own, "config.yaml"), quotas);
    writeFileSync(path.join(own, "one.ts"), "return 1;");
    const run = (...args: string[]): Promise<Ended> => runCem([...args, ...SAMPLES], { cwd: own });
    expect(await run("exec", "one.ts", "--customer", "ada")).toMatchObject({ code: 0 });
    const refused = await run("exec", "one.ts", "--customer", "ada");
    expect(refused.code).not.toBe(0);
    expect(`${refused.stdout}${refused.stderr}`.replaceAll(/\s+/gu, " ")).toContain(
      "1 of 1 runs per day are used up",
    );
    const { stdout } = await run("customers", "usage", "ada");
    expect(stdout).toMatch(/ada\s+day\s+1 of 1\s+\d+\.\d of 60\s+in 24 h/u);
    const json = await run("customers", "usage", "ada", "--json");
    expect(JSON.parse(json.stdout)).toMatchObject({ customers: [{ quotas: [{ per: "day", runs: 1 }] }] });
  });

  it.each([
    [["customers", "usage", "nobody"], 1, "There is no customer"],
    [["customers", "delete", "../x", "--yes"], 1, "There is no customer"],
    [["customers", "usage"], 2, "needs a customer's id"],
    [["customers", "clean"], 2, "needs --inactive"],
    [["customers", "clean", "--inactive", "soon"], 2, "number of days"],
    [["run", "--customer", "../x", "Calculate 5 + 3"], 2, "can't be a customer's id"],
  ])("refuses %j", async (args, code, message) => {
    const ended = await cem(...args);
    expect(ended.code).toBe(code);
    expect(ended.stderr.replaceAll(/\s+/gu, " ")).toContain(message);
  });
});
