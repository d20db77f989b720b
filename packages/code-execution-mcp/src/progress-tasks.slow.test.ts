import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Agent } from "@cem/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createAgent } from "./index.ts";
import type { AgentOptions } from "./index.ts";

const serversDir = fileURLToPath(new URL("../../../servers", import.meta.url));
const SAVE = "Save current progress to state.json and continue";

const agents: Agent[] = [];
let folder: string;
const file = (): string => path.join(folder, "workspace/state.json");
const kept = async (): Promise<unknown> => JSON.parse(await readFile(file(), "utf8")) as unknown;
const before = (text: string): Promise<void> => writeFile(file(), text);

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "cem-progress-"));
  await mkdir(path.join(folder, "workspace"));
});
afterEach(async () => {
  await Promise.all(agents.splice(0).map((agent) => agent.dispose()));
  await rm(folder, { recursive: true, force: true });
});

function open(options: AgentOptions = {}) {
  const agent = createAgent({
    configFile: false,
    oneRun: true,
    config: {
      execution: {
        workspaceDir: path.join(folder, "workspace"),
        serversDir,
        skillsDir: path.join(folder, "skills"),
        typeCheck: "off",
      },
      optimizations: { toolCache: false },
    },
    ...options,
  });
  agents.push(agent);
  return agent;
}

describe("saving progress", () => {
  it("keeps what is in the file, also a counter of its own", async () => {
    const agent = open();
    await before('{"step": 7, "note": null}');
    await agent.executeTask("Calculate 5 + 3");
    // The compiler accepts the program, too.
    expect(await agent.executeTask(SAVE, { typeCheck: "before" })).toMatchObject({ error: null });
    const progress = { step: 1, tasks: [{ task: "Calculate 5 + 3", result: 8 }] };
    expect(await kept()).toMatchObject({ step: 7, note: null, progress });
  });

  it("fills an empty file, and leaves one that is no JSON", async () => {
    const agent = open();
    await before("");
    expect(await agent.executeTask(SAVE)).toMatchObject({ error: null });
    expect(await kept()).toMatchObject({ step: 0 });
    await before("not JSON");
    expect(await agent.executeTask(SAVE)).toMatchObject({ error: { code: "CODE_THREW" } });
    expect(await readFile(file(), "utf8")).toBe("not JSON");
  });

  it("names the kind of a value that an earlier process knew", async () => {
    const first = open();
    await first.executeCode('return { email: "ada@example.com" };');
    await first.executeTask(SAVE);
    expect(await kept()).toMatchObject({ progress: { tasks: [{ result: { email: "ada@example.com" } }] } });
    await first.dispose();
    await rm(file());
    expect(await open({ resume: "last" }).executeTask(SAVE)).toMatchObject({ error: null });
    expect(await kept()).toMatchObject({ progress: { tasks: [{ result: { email: "[EMAIL]" } }] } });
  });
});
