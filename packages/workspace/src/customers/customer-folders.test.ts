import { mkdir, mkdtemp, readdir, rename, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  createCustomerFolders,
  customerIdOf,
  customerIdOfClaim,
  requireCustomerId,
} from "./customer-folders.ts";

let root: string;
beforeEach(async () => {
  root = path.join(await mkdtemp(path.join(os.tmpdir(), "cem-customers-")), "workspaces");
});
afterEach(() => rm(path.dirname(root), { recursive: true, force: true }));

describe("a customer's id", () => {
  it.each(["user_12345", "a", "0", "ada-lovelace", "x".repeat(64)])("may be %j", (id) => {
    expect(requireCustomerId(id)).toBe(id);
  });

  it.each([
    "",
    ".",
    "..",
    "../a",
    "a/b",
    "a\\b",
    "a.",
    ".a",
    "-a",
    "a-",
    "a b",
    "a\0",
    "ад",
    "ａ",
    "con",
    "nul",
    "com1",
    "x".repeat(65),
    "id-0123456789abcdef0123456789abcdef",
    "ada-id-0123456789abcdef0123456789abcdef",
    "a\n",
    "%2e%2e",
    "~",
    5,
    undefined,
    ["a"],
  ])("can't be %j", (id) => {
    expect(() => requireCustomerId(id)).toThrowError(expect.objectContaining({ code: "CUSTOMER_INVALID" }));
  });

  it.each(["Ada", "X".repeat(64), "A-1_B"])(
    "may be %j, apart from others that differ in case alone",
    async (id) => {
      const ids = [id, id.toLowerCase(), `${id.slice(0, 1).toLowerCase()}${id.slice(1)}`];
      const names = new Set(ids.map(requireCustomerId));
      expect([...names].map((name) => name.toLowerCase())).toEqual([...names]);
      expect(names.size).toBe(new Set(ids).size);
      const folders = createCustomerFolders(root);
      for (const name of names) await folders.open(name);
      expect(new Set(await folders.list())).toEqual(names);
      expect((await folders.usage(id)).id).toBe(requireCustomerId(id));
      await folders.remove(id);
      expect(await folders.list()).toHaveLength(names.size - 1);
      expect(() => requireCustomerId(requireCustomerId(id))).toThrow("can't be a customer's id");
    },
  );

  it.each(["Acme", "acme corp", "auth0|42", "a@example.com", "acme"])(
    "of a claim of a token is known by the claim: %j",
    async (claim) => {
      const folders = createCustomerFolders(root, { areClaims: true });
      const id = customerIdOfClaim(claim);
      await folders.open(id);
      expect([(await folders.usage(claim)).id, (await folders.usage(id)).id]).toEqual([id, id]);
      await folders.remove(claim);
      expect(await folders.list()).not.toContain(id);
    },
  );

  it("is another one for every identity, however its parts are cut", () => {
    const identities = [
      ["i", "a/b", "c"],
      ["i", "a", "b/c"],
      ["i", "ab", "c"],
      ["i", "", "abc"],
      ["i", "a"],
    ];
    expect(new Set(identities.map(customerIdOf)).size).toBe(identities.length);
    expect(customerIdOf(["i", "a"])).toMatch(/^id-[0-9a-f]{32}$/u);
  });
});

describe("the folders of customers", () => {
  it("are made when one is first opened, for the owner only", async () => {
    const folders = createCustomerFolders(root);
    const { home, workspaceDir } = await folders.open("user_1");
    expect(home).toBe(path.join(root, "user_1"));
    for (const folder of [home, workspaceDir]) expect((await stat(folder)).mode & 0o777).toBe(0o700);
    await folders.open(customerIdOf(["x"]));
    expect(await folders.list()).toEqual([customerIdOf(["x"]), "user_1"]);
  });

  it("are counted without following links", async () => {
    const folders = createCustomerFolders(root);
    const { workspaceDir } = await folders.open("user_1");
    await mkdir(path.join(workspaceDir, "a"));
    await writeFile(path.join(workspaceDir, "a/b.txt"), "12345");
    await symlink("/usr", path.join(workspaceDir, "usr"));
    const usage = await folders.usage("user_1");
    expect(usage).toMatchObject({ id: "user_1", entries: 6 });
    expect(usage.bytes).toBeLessThan(500);
  });

  it("that were not used for some days are named", async () => {
    const folders = createCustomerFolders(root);
    const { home } = await folders.open("old");
    await folders.open("new");
    const before = new Date(Date.now() - 31 * 86_400_000);
    await utimes(home, before, before);
    expect(await folders.inactive(30)).toEqual(["old"]);
    await folders.open("old");
    expect(await folders.inactive(30)).toEqual([]);
  });

  it("of a removal that was cut off are removed with the next", async () => {
    const folders = createCustomerFolders(root);
    await folders.open("gone");
    await mkdir(path.join(root, ".leaving-other-1/workspace"), { recursive: true });
    await folders.remove("gone");
    expect(await readdir(root)).toEqual([]);
  });

  it("are counted and removed whatever a program made of them, and keep no other", async () => {
    const folders = createCustomerFolders(root);
    const { workspaceDir } = await folders.open("hostile");
    const down = `${"d".repeat(250)}/`.repeat(14);
    for (const top of ["a", "b"]) await mkdir(path.join(workspaceDir, top, down), { recursive: true });
    await rename(path.join(workspaceDir, "b"), path.join(workspaceDir, "a", down, "b"));
    expect(await folders.usage("hostile")).toMatchObject({ id: "hostile" });
    await rename(path.join(root, "hostile"), path.join(root, ".leaving-hostile-1"));
    await folders.open("other");
    await folders.remove("other");
    expect(await readdir(root)).toEqual([]);
  });

  it("are removed with everything in them, and nothing else", async () => {
    const folders = createCustomerFolders(root);
    const { workspaceDir } = await folders.open("gone");
    await folders.open("stays");
    await symlink(path.join(root, "stays"), path.join(workspaceDir, "link"));
    await folders.remove("gone");
    expect(await readdir(root)).toEqual(["stays"]);
    expect(await readdir(path.join(root, "stays"))).toContain("workspace");
    for (const id of ["gone", "..", "stays/workspace", ""]) {
      await expect(folders.remove(id)).rejects.toMatchObject({ code: "CUSTOMER_NOT_FOUND" });
      await expect(folders.usage(id)).rejects.toMatchObject({ code: "CUSTOMER_NOT_FOUND" });
    }
  });
});
