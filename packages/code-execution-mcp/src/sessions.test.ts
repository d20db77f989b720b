import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { CodeGenerator, GenerateRequest, SessionRecord } from "@cem/core";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { createAgent } from "./index.ts";
import type { AgentOptions } from "./index.ts";

const serversDir = fileURLToPath(new URL("../../../servers", import.meta.url));
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "cem-sessions-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});

function agentOf(more: AgentOptions = {}, state: object = {}) {
  const workspaceDir = path.join(folder, "workspace");
  const config = {
    execution: {
      workspaceDir,
      serversDir,
      skillsDir: path.join(folder, "skills"),
      typeCheck: "off" as const,
      state,
    },
    optimizations: { toolCache: false },
  };
  return createAgent({ configFile: false, config, oneRun: true, ...more });
}
const log = (name = "session_001") =>
  JSON.parse(readFileSync(path.join(folder, "workspace/sessions", `${name}.json`), "utf8")) as SessionRecord;

describe("sessions of an agent", () => {
  it("keep runs of tasks and of code, checkpoints, and what failed", async () => {
    const agent = agentOf();
    await agent.executeTask("Calculate 5 + 3");
    const noted = await agent.checkpoint({ context: { next: "multiply" } });
    expect(noted).toMatchObject({ step: 1, last_task: "task_001", context: { next: "multiply" } });
    await agent.executeCode('throw new Error("no")');
    await agent.executeCode("return 7", { session: "other" });
    await agent.dispose();
    expect(log()).toMatchObject({
      tasks: [
        { description: "Calculate 5 + 3", result: 8 },
        { error: expect.stringMatching(/^CODE_THREW: .*no$/) as string },
      ],
      checkpoint: { step: 1 },
    });
    expect(log("session_002").tasks).toMatchObject([{ code: "return 7", result: 7 }]);
  });

  it("tell a model in few words what earlier tasks did, where a task goes on with them", async () => {
    const requests: GenerateRequest[] = [];
    const generator: CodeGenerator = {
      specificationVersion: "v1",
      async generate(request) {
        requests.push(request);
        return { status: "generated", code: "return 1", origin: "rules", uses: [] };
      },
    };
    const first = agentOf({ generator });
    await first.executeTask("Sum up the report");
    await first.executeTask("Do something else");
    await first.executeTask("Continue from step 2", { context: "own" });
    await first.dispose();
    const second = agentOf({ generator, resume: "last" });
    await second.executeTask("Write it down");
    await second.dispose();
    const contexts = requests.map(({ context }) => context);
    expect(contexts.slice(0, 2)).toEqual([undefined, undefined]);
    expect(contexts[2]).toMatch(
      /^Earlier tasks of this session [^]*1\. Sum up the report => 1\n[^]*\n\nown$/u,
    );
    expect(contexts[3]).toContain("3. Continue from step 2 => 1");
    expect(contexts[3]?.length).toBeLessThan(400);
    expect(log().tasks).toHaveLength(4);
  });

  it("go on where they were left off, by rules, in this process and in a later one", async () => {
    const first = agentOf();
    await expect(first.executeTask("Continue where we left off")).resolves.toMatchObject({
      error: { code: "CODE_THREW", message: expect.stringContaining("no earlier progress") as string },
    });
    await first.executeTask("Calculate 5 + 3");
    await first.executeTask("Calculate 2 * 3");
    await first.executeTask("Please save the progress so far, then continue.");
    expect(await first.executeTask("Continue where we left off")).toMatchObject({
      value: { step: 3, earlier: [{ result: 8 }, { result: 6 }] },
    });
    expect(await first.executeTask("Continue from step 2")).toMatchObject({
      value: { step: 2, earlier: [{ result: 8 }] },
    });
    await first.dispose();
    // A process that goes on with no session finds what was saved.
    const second = agentOf();
    expect(await second.executeTask("Continue where we left off")).toMatchObject({
      value: { step: 3, earlier: [{ result: 8 }, { result: 6 }] },
    });
    await second.dispose();
  });

  it("are not kept where auto_save or state is switched off", async () => {
    for (const state of [{ autoSave: false }, { enabled: false }]) {
      const agent = agentOf({}, state);
      expect(await agent.executeCode("return 1")).toMatchObject({ status: "success" });
      await expect(agent.checkpoint()).rejects.toMatchObject({ code: "SESSIONS_DISABLED" });
      await agent.dispose();
    }
    expect(existsSync(path.join(folder, "workspace/sessions"))).toBe(false);
  });

  it("can be read by code, and are not needed where they are not there to resume", async () => {
    const agent = agentOf();
    await agent.executeTask("Calculate 5 + 3");
    await agent.checkpoint();
    const code = `import { readFile } from "node:fs/promises";
      return JSON.parse(await readFile("/workspace/sessions/current_session.json", "utf8")).tasks[0].result;`;
    expect(await agent.executeCode(code)).toMatchObject({ value: 8 });
    await agent.dispose();
    const lost = agentOf({ resume: "session_099" });
    await expect(lost.executeTask("Calculate 1 + 1")).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    await lost.dispose();
  });
});
