import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createRedactor } from "./index.ts";
import { createVaultFiles } from "./vault-file.ts";

const KEY = randomBytes(32).toString("hex");
const target = { server: "mail", tool: "send", session: "s" };

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

  it.each([undefined, "short", "00".repeat(31)])("refuses the key %s", (key) => {
    expect(() => createVaultFiles({ folder: newFolder(), key })).toThrow(
      expect.objectContaining({ code: "VAULT_KEY_INVALID" }),
    );
  });
});
