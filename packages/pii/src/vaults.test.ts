import { spawnSync } from "node:child_process";
import { hash, randomBytes } from "node:crypto";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import type { Redactor } from "@cem/core";
import { createFolderStore, sealStore } from "@cem/store";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createRedactor } from "./index.ts";
import { countOlderKeys, createSharedVaults, createVaultFiles, removeOldVaults } from "./vaults.ts";

const KEY = randomBytes(32).toString("hex");

function newFolder(): string {
  return path.join(mkdtempSync(path.join(os.tmpdir(), "cem-vault-")), "vaults");
}

describe("createVaultFiles", () => {
  it("keeps values for the next process, encrypted and for their owner only", async () => {
    const folder = newFolder();
    const first = createRedactor({ store: createVaultFiles({ folder, key: KEY }) });
    const token = first.tokenize("ada@example.com", { session: "s" });
    await first.persist?.("s");
    const [name = ""] = readdirSync(folder);
    const file = path.join(folder, name);
    expect(readFileSync(file, "latin1")).not.toContain("ada");
    expect([statSync(file).mode & 0o777, statSync(folder).mode & 0o777]).toEqual([0o600, 0o700]);
    const next = createRedactor({ store: createVaultFiles({ folder, key: KEY }) });
    expect(await next.detokenize(token, target)).toBe("ada@example.com");
    await next.endSession("s");
    expect(readdirSync(folder)).toEqual([]);
  });

  it("refuses another key, a changed file and the file of another session", async () => {
    const folder = newFolder();
    const redactor = createRedactor({ store: createVaultFiles({ folder, key: KEY }) });
    for (const session of ["s", "t"]) redactor.tokenize(`${session}@example.com`, { session });
    await redactor.dispose();
    const files = createVaultFiles({ folder, key: KEY });
    const other = createVaultFiles({ folder, key: randomBytes(32).toString("base64") });
    expect(() => other.load("s")).toThrow(expect.objectContaining({ code: "VAULT_UNREADABLE" }));
    const [one = "", two = ""] = readdirSync(folder).map((name) => path.join(folder, name));
    const [bytes, swapped] = [readFileSync(one), readFileSync(two)];
    writeFileSync(one, swapped);
    writeFileSync(two, bytes);
    expect(() => files.load("s")).toThrow(expect.objectContaining({ code: "VAULT_UNREADABLE" }));
    bytes[40] = (bytes[40] ?? 0) ^ 1;
    writeFileSync(one, bytes);
    expect(() => files.load("s")).toThrow(expect.objectContaining({ code: "VAULT_UNREADABLE" }));
    for (const file of [one, two]) {
      rmSync(file);
      mkdirSync(file);
    }
    expect(() => files.load("s")).toThrow(expect.objectContaining({ code: "VAULT_UNREADABLE" }));
  });

  it("opens what an older key encrypted as long as it is named, and says which files need it", async () => {
    const folder = newFolder();
    const newer = `${randomBytes(32).toString("base64")}, ${KEY}`;
    const openWith = (key: string) => createRedactor({ store: createVaultFiles({ folder, key }) });
    const first = openWith(KEY);
    const token = first.tokenize("ada@example.com", { session: "s" });
    await first.dispose();
    expect([countOlderKeys(folder, KEY), countOlderKeys(folder, newer)]).toEqual([0, 1]);
    const next = openWith(newer);
    expect(await next.detokenize(token, target)).toBe("ada@example.com");
    next.tokenize("eve@example.com", { session: "s" });
    await next.dispose();
    expect(countOlderKeys(folder, newer)).toBe(0);
    expect(() => countOlderKeys(folder, KEY)).toThrow(expect.objectContaining({ code: "VAULT_UNREADABLE" }));
  });

  it("lets files go that did not change for 30 days, and nothing else", async () => {
    const folder = newFolder();
    removeOldVaults(folder);
    const files = createVaultFiles({ folder, key: KEY });
    for (const session of ["old", "new"]) await files.save(session, { version: 1, entries: [] });
    writeFileSync(path.join(folder, "notes.txt"), "");
    const old = Date.now() / 1_000 - 31 * 86_400;
    for (const name of [`${hash("sha256", "old")}.vault`, "notes.txt"])
      utimesSync(path.join(folder, name), old, old);
    removeOldVaults(folder);
    expect(readdirSync(folder).toSorted()).toEqual(
      [`${hash("sha256", "new")}.vault`, "notes.txt"].toSorted(),
    );
  });

  it.runIf(process.platform !== "win32")("names no folder of the host where a disk takes no more", () => {
    const program = `
      const { createVaultFiles } = await import("@cem/pii/vaults");
      const files = createVaultFiles({ folder: ${JSON.stringify(newFolder())}, key: "${KEY}" });
      await files.save("s", { version: 1, entries: [] }).catch(({ code, message }) => console.log(code, message));
    `;
    const node = [process.execPath, "--conditions=@cem/source", "--input-type=module", "-e", program];
    const command = ["-c", `ulimit -f 0; exec "$0" "$@"`, ...node];
    const { stdout } = spawnSync("sh", command, { cwd: import.meta.dirname, encoding: "utf8" });
    expect(stdout).toMatch(
      /^DISK_FULL The file of a session's values can't be written: the disk of the values /,
    );
  });

  it.each([undefined, "short", `${KEY},`, "00".repeat(31)])("refuses the key %s", (key) => {
    expect(() => createVaultFiles({ folder: newFolder(), key })).toThrow(
      expect.objectContaining({ code: "VAULT_KEY_INVALID" }),
    );
  });
});

const keys = [{ id: "a", key: Buffer.alloc(32, 1) }];
const target = { server: "mail", tool: "send", session: "s" };
const scope = { session: "s" };

let folder: string;
const closings: (() => Promise<void>)[] = [];

/** A machine with a connection to the store of its own. */
function machine(keyOf = async (session: string) => ["vaults", session] as const): Redactor {
  const store = sealStore(createFolderStore({ folder }), keys);
  closings.push(() => store.close());
  return createRedactor({ shared: createSharedVaults({ store, keyOf }) });
}

describe("createSharedVaults", () => {
  beforeEach(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), "cem-shared-vaults-"));
  });
  afterEach(async () => {
    await Promise.all(closings.splice(0).map((close) => close()));
    rmSync(folder, { recursive: true, force: true });
  });

  it("gives a value one token on all machines, encrypted", async () => {
    const [one, two] = [machine(), machine()];
    const token = one.tokenize("ada@example.com", scope);
    await one.persist?.("s");
    expect(readFileSync(path.join(folder, "store.db"), "latin1")).not.toContain("ada@");
    await two.restore?.("s");
    expect(two.tokenize("ada@example.com", scope)).toBe(token);
    expect(two.reveal(token, scope)).toBe("ada@example.com");
  });

  it("knows a token that another machine made during a run, and none of another session", async () => {
    const [one, two] = [machine(), machine()];
    await two.restore?.("s");
    const token = one.tokenize("ada@example.com", scope);
    await one.persist?.("s");
    expect(await two.detokenize(token, target)).toBe("ada@example.com");
    await expect(two.detokenize(token, { ...target, session: "t" })).rejects.toMatchObject({
      code: "TOKEN_UNKNOWN",
    });
  });

  it("keeps all that several machines add at the same time, and agrees on one token", async () => {
    const machines = Array.from({ length: 6 }, () => machine());
    const texts = await Promise.all(
      machines.map(async (one, at) => {
        const text = one.tokenize(`ada@example.com host${at}@example.com`, scope);
        await one.persist?.("s");
        return text;
      }),
    );
    const next = machine();
    for (const [at, text] of texts.entries())
      expect(await next.detokenize(text, target)).toBe(`ada@example.com host${at}@example.com`);
    await Promise.all([next, ...machines].map(async (one) => one.restore?.("s")));
    const tokens = [next, ...machines].map((one) => one.tokenize("ada@example.com", scope));
    expect(new Set(tokens).size).toBe(1);
  });

  it("keeps tokens of a number that were made at the same time", async () => {
    const [first, one, two, next] = [machine(), machine(), machine(), machine()];
    const card = 4111111111111111;
    first.keep(card, "CREDIT_CARD", scope);
    await first.persist?.("s");
    await Promise.all([one, two].map(async (each) => each.restore?.("s")));
    const tokens = [one, two].map((each) => each.tokenize({ card }, scope).card);
    expect(tokens[0]).not.toBe(tokens[1]);
    await Promise.all([one, two].map(async (each) => each.persist?.("s")));
    await next.restore?.("s");
    for (const token of tokens) expect(await next.detokenize({ to: token }, target)).toEqual({ to: card });
    expect(next.tokenize({ card }, scope).card).toBe(Math.min(...tokens));
  });

  it("writes nothing where nothing is new, and keeps a session beyond its end on one machine", async () => {
    const [one, two] = [machine(), machine()];
    const token = one.tokenize("ada@example.com", scope);
    await one.persist?.("s");
    const store = sealStore(createFolderStore({ folder }), keys);
    closings.push(() => store.close());
    const before = (await store.read(["vaults", "s"]))?.version;
    one.tokenize("ada@example.com", scope);
    await one.persist?.("s");
    expect((await store.read(["vaults", "s"]))?.version).toBe(before);
    await one.endSession("s");
    expect(await two.detokenize(token, target)).toBe("ada@example.com");
  });

  it("keeps nothing of a session without a place", async () => {
    const one = machine(async () => undefined as never);
    one.tokenize("ada@example.com", scope);
    await one.persist?.("s");
    const store = sealStore(createFolderStore({ folder }), keys);
    closings.push(() => store.close());
    expect(await store.list([])).toEqual([]);
  });

  it("says when what is kept is no vault", async () => {
    const store = sealStore(createFolderStore({ folder }), keys);
    closings.push(() => store.close());
    await store.write(["vaults", "s"], Buffer.from("[]"));
    await expect(machine().restore?.("s")).rejects.toMatchObject({ code: "VAULT_UNREADABLE" });
  });
});
