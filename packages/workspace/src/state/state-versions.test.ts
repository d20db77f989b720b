import { spawn } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { temporaryWorkspace } from "../../test/temporary-workspace.ts";
import { createStateStore } from "../index.ts";

/** `pnpm test:kills` for a longer proof. */
const KILLS = process.env["CEM_TESTS"] === "all" ? 200 : 2;
const MODULE = JSON.stringify(fileURLToPath(new URL("../index.ts", import.meta.url)));

function startNode(script: string) {
  return spawn(process.execPath, ["--conditions=@cem/source", "--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

describe("versions of state", () => {
  it("refuse a save that is based on another one, also when guest code wrote it", async () => {
    const { workspaceDir } = temporaryWorkspace();
    const store = createStateStore({ workspaceDir });
    const { version } = await store.read();
    const first = await store.save({ step: 1 }, undefined, { version });
    await expect(store.save({ step: 9 }, undefined, { version })).rejects.toMatchObject({
      code: "STATE_CONFLICT",
      details: { file: "/workspace/state.json", expected: "", found: first.version },
    });
    writeFileSync(path.join(workspaceDir, "state.json"), '{"step":2}');
    await expect(store.save({ step: 9 }, undefined, first)).rejects.toMatchObject({ code: "STATE_CONFLICT" });
    const now = await store.read();
    await store.save({ step: 3 }, undefined, now);
    expect(await store.read()).toMatchObject({ data: { step: 3 } });
  });

  it("lose nothing where processes count up together", async () => {
    const { workspaceDir } = temporaryWorkspace();
    const script = `import { createStateStore } from ${MODULE};
      const store = createStateStore({ workspaceDir: ${JSON.stringify(workspaceDir)} });
      for (let done = 0; done < 20; ) {
        const { data, version } = await store.read();
        try { await store.save({ count: (data.count ?? 0) + 1 }, undefined, { version }); done += 1; }
        catch (error) { if (error.code !== "STATE_CONFLICT") throw error; }
      }`;
    const ends = [1, 2, 3].map(() => new Promise((resolve) => startNode(script).once("exit", resolve)));
    expect(await Promise.all(ends)).toEqual([0, 0, 0]);
    expect(await createStateStore({ workspaceDir }).read()).toMatchObject({ data: { count: 60 } });
    expect(readdirSync(workspaceDir)).toEqual(["state.json"]);
  });

  it(
    "stay whole over kills at any moment, and go on at once",
    async () => {
      const { workspaceDir } = temporaryWorkspace();
      const script = `import { createStateStore } from ${MODULE};
      const store = createStateStore({ workspaceDir: ${JSON.stringify(workspaceDir)} });
      process.stdout.write("ready");
      for (let n = 0; ; n += 1) { const { version } = await store.read(); await store.save({ n, text: "x".repeat(50_000), end: n }, undefined, { version }); }`;
      const store = createStateStore({ workspaceDir });
      for (let round = 0; round < KILLS; round += 1) {
        const writer = startNode(script);
        await new Promise((resolve) => writer.stdout.once("data", resolve));
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 40));
        const gone = new Promise((resolve) => writer.once("exit", resolve));
        writer.kill("SIGKILL");
        await gone;
        const { data, version } = await store.read();
        const { n, end, text } = data as { n?: number; end?: number; text?: string };
        expect(n).toBe(end);
        expect(text?.length ?? 50_000).toBe(50_000);
        await store.save(data, undefined, { version });
      }
      await createStateStore({ workspaceDir }).save(0);
      expect(readdirSync(workspaceDir)).toEqual(["state.json"]);
    },
    KILLS * 2_000 + 20_000,
  );
});
