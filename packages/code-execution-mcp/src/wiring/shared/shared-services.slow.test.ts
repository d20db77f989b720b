import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Store } from "@cem/core";
import { hintFor } from "@cem/core/errors";
import { parseSealingKeys, sealStore } from "@cem/store";
import { createPostgresStore } from "@cem/store/postgres";
import { createRedisStore } from "@cem/store/redis";
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { describeWith } from "../../../../../vitest.tools.ts";
import { freePort } from "../../../../store/test/free-port.ts";
import { startPostgres } from "../../../../store/test/postgres-server.ts";
import { startRedis } from "../../../../store/test/redis-server.ts";
import { S3_KEY, startS3 } from "../../../../workspace/test/sync/s3-server.ts";
import type { S3Server } from "../../../../workspace/test/sync/s3-server.ts";
import { openProject } from "../open-project.ts";
import type { Project } from "../project.ts";
import { inspectServices } from "./inspect-services.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const ADMIN = fileURLToPath(new URL("../../admin.ts", import.meta.url));
const [FIRST = "", SECOND = ""] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString("base64"));

let s3: S3Server;
beforeAll(async () => {
  s3 = await startS3();
  vi.stubEnv("AWS_ACCESS_KEY_ID", S3_KEY.accessKeyId);
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", S3_KEY.secretAccessKey);
});
afterAll(() => s3.stop());

/** The project of a machine with folders of its own. */
async function machine(store: Record<string, string>, customer?: string): Promise<Project> {
  const cwd = mkdtempSync(path.join(os.tmpdir(), "cem-services-"));
  const project = await openProject({ cwd, configFile: false, config: { store }, customer });
  onTestFinished(() => project[Symbol.asyncDispose]());
  return project;
}

describeWith("postgresql")("what the doctor says of services that machines share", () => {
  let server: { url: string; stop(): Promise<void> };
  let store: Store;
  beforeAll(async () => {
    server = await startPostgres();
    store = createPostgresStore({ url: server.url });
  });
  afterAll(async () => {
    await store.close();
    await server.stop();
  });

  const reportOf = async (name: string, settings: Record<string, string>) => {
    const found = await inspectServices(await machine({ url: server.url, ...settings }), []);
    const { problem, risks } = found.find((one) => one.name === name) ?? {};
    return { problem: problem && `${problem.code} ${problem.message} ${hintFor(problem)}`, risks };
  };

  it("is that the storage of files can be used, or what is wrong with it", async () => {
    for (const files of ["store", s3.url])
      expect(await reportOf("files", { files })).toEqual({ problem: undefined, risks: [] });
    expect(await store.list(["files"])).toEqual([]);
    const noBucket = s3.url.replace("cem-files", "cem-nothing");
    const silent = `s3://cem-files/x?endpoint=http://127.0.0.1:${await freePort()}`;
    expect((await reportOf("files", { files: noBucket })).problem).toMatch(
      /FILES_UNAVAILABLE .*cem-nothing/u,
    );
    expect((await reportOf("files", { files: silent })).problem).toMatch(/ECONNREFUSED.*store\.files/u);
    vi.stubEnv("AWS_ACCESS_KEY_ID", "");
    onTestFinished(() => void vi.stubEnv("AWS_ACCESS_KEY_ID", S3_KEY.accessKeyId));
    expect((await reportOf("files", { files: s3.url })).problem).toMatch(/needs AWS_ACCESS_KEY_ID/u);
  });

  it("is whether the keys open what is there", async () => {
    // The write above without keys would count as a use of the store for a minute.
    await store.remove(["store"]);
    const first = `first:${FIRST}`;
    await sealStore(store, parseSealingKeys(first)).write(["v"], Buffer.from("sealed"));
    expect(await reportOf("store", { keys: first })).toEqual({ problem: undefined, risks: [] });
    expect((await reportOf("store", { keys: `second:${SECOND},${first}` })).risks).toEqual([
      "1 values are sealed with the older key first: keep it in store.keys",
    ]);
    for (const keys of [{ keys: `second:${SECOND}` }, {}])
      expect((await reportOf("store", keys)).problem).toMatch(
        /^STORE_SEALED v can't be opened: its key is first\. .*CEM_STORE_KEYS/u,
      );
    await store.write(["v"], Buffer.from("in clear"));
    expect(await reportOf("store", {})).toEqual({ problem: undefined, risks: [] });
    expect((await reportOf("store", { keys: first })).problem).toMatch(/it is not sealed.*an empty one/u);
  });
});

describeWith("redis-server")("a deletion of a customer that is killed", () => {
  it("is finished by the machine that the customer comes to next, in the bucket, too", async () => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    const store = createRedisStore({ url: server.url });
    onTestFinished(() => store.close());
    const shared = { url: server.url, files: s3.url };
    const one = await machine(shared, "ada");
    const sync = await one.sync?.get();
    await sync?.during(async () =>
      writeFileSync(path.join(one.config.execution.workspaceDir, "keep.txt"), "secret"),
    );
    await sync?.close();
    const options = JSON.stringify({ cwd: one.folder, configFile: false, config: { store: shared } });
    const deleting = `import { deleteCustomer } from ${JSON.stringify(ADMIN)}; await deleteCustomer("ada", ${options});`;
    const command = ["--conditions=@cem/source", "--input-type=module", "-e", deleting];
    const child = spawn(process.execPath, command, { stdio: "inherit" });
    const gone = once(child, "exit");
    // Both are written, and it waits for the other machines to notice.
    await expect.poll(() => store.list(["deleted"]), { timeout: 60_000 }).toHaveLength(1);
    child.kill("SIGKILL");
    await gone;
    const [, held] = await store.list(["deleting"]);
    await expect(machine(shared, "ada")).rejects.toMatchObject({ code: "OWNER_GONE" });
    // It expires.
    await store.remove(held ?? []);
    const two = await machine(shared, "ada");
    await (await two.sync?.get())?.fetch();
    expect(readdirSync(two.config.execution.workspaceDir)).toEqual([]);
    expect(await store.list(["deleting"])).toEqual([]);
  });
});
