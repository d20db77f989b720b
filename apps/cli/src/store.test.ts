import path from "node:path";
import { createFolderStore, parseSealingKeys, sealStore } from "@cem/store";
import { describe, expect, it } from "vitest";
import { runCem, temporaryFolder } from "./testing/run-cem.ts";

const key = (name: string, byte: number): string => `${name}:${Buffer.alloc(32, byte).toString("base64")}`;

describe("cem store reseal", () => {
  it("seals all with the first key, so that the old one can be left out", async () => {
    const cwd = temporaryFolder();
    const folder = path.join(cwd, "shared");
    const store = createFolderStore({ folder });
    await sealStore(store, parseSealingKeys(key("old", 1))).write(["a"], Buffer.from("1"));
    const env = { CEM_STORE_URL: folder, CEM_STORE_KEYS: `${key("new", 2)},${key("old", 1)}` };
    expect(await runCem(["store", "reseal", "--json"], { cwd, env })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/"key":\s*"new",\s*"resealed":\s*1/u),
    });
    const found = await sealStore(store, parseSealingKeys(key("new", 2))).read(["a"]);
    expect(Buffer.from(found?.value ?? []).toString()).toBe("1");
    await store.close();
  });

  it("says what is missing", async () => {
    const cwd = temporaryFolder();
    const without = await runCem(["store", "reseal"], { cwd });
    expect(without).toMatchObject({ code: 2, stderr: expect.stringContaining("CEM_STORE_URL") });
    const env = { CEM_STORE_URL: "postgres://127.0.0.1:1/cem" };
    const unsealed = await runCem(["store", "reseal"], { cwd, env });
    expect(unsealed).toMatchObject({ code: 2, stderr: expect.stringContaining("CEM_STORE_KEYS") });
    const away = await runCem(["store", "reseal"], { cwd, env: { ...env, CEM_STORE_KEYS: key("a", 1) } });
    expect(away).toMatchObject({ code: 1, stderr: expect.stringContaining("apt install postgresql") });
  });
});
