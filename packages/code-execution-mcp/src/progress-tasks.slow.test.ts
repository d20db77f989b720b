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
  it("keeps what is in the file, also its counter", async () => {
    const agent = open();
    await before('{"step": 7, "customers": {"ada": [1, 2]}, "note": null}');
    // The compiler accepts the program, too.
    expect(await agent.executeTask(SAVE, { typeCheck: "before" })).toMatchObject({ error: null });
    expect(await kept()).toMatchObject({
      step: 7,
      customers: { ada: [1, 2] },
      note: null,
      progress: { step: 7 },
    });
    await agent.executeTask("Calculate 5 + 3");
    await agent.executeTask(SAVE);
    await agent.executeTask("Save the progress");
    expect(await kept()).toMatchObject({
      step: 8,
      customers: { ada: [1, 2] },
      progress: { step: 8, tasks: [{ result: 8 }] },
    });
  });

  it("goes on with that of earlier sessions", async () => {
    for (const sum of ["1 + 1", "2 + 2", "3 + 3"]) {
      const agent = open();
      await agent.executeTask(`Calculate ${sum}`);
      await agent.executeTask(SAVE);
      await agent.dispose();
    }
    expect(await kept()).toMatchObject({
      step: 3,
      progress: {
        session: "session_003",
        tasks: [{ result: 6 }],
        earlier: [
          { session: "session_001", tasks: [{ result: 2 }] },
          { session: "session_002", tasks: [{ result: 4 }] },
        ],
      },
    });
    const next = await open().executeTask("Resume from the last checkpoint");
    expect(next.value).toMatchObject({ step: 4, earlier: [{ result: 2 }, { result: 4 }, { result: 6 }] });
    expect(await kept()).toMatchObject({ step: 4, progress: { step: 3 } });
  });

  it("leaves alone what others keep under the same names", async () => {
    await before('{"step": "review", "progress": 0.5}');
    const agent = open();
    await agent.executeTask("Calculate 5 + 3");
    await agent.executeTask(SAVE);
    expect(await kept()).toMatchObject({
      step: "review",
      progress: 0.5,
      session_progress: { step: 1, tasks: [{ result: 8 }] },
    });
    expect(await agent.executeTask("Continue where we left off")).toMatchObject({ value: { step: 2 } });
    expect(await kept()).toMatchObject({ step: "review", progress: 0.5 });
  });

  it.each([
    ["a list", "[1, 2]", "holds a list"],
    ["a number", "7", "holds a single value"],
    ["no JSON", '{"step": 7,', "can't be read as JSON"],
    [
      "a number of many digits",
      '{"id": 12345678901234567890}',
      "id is 12345678901234567890, which would lose",
    ],
    [
      "progress of another kind twice",
      '{"progress": [], "session_progress": {}}',
      "progress and session_progress",
    ],
  ])("leaves a file that holds %s as it is, and says so", async (_what, text, message) => {
    await before(text);
    const { error } = await open().executeTask(SAVE);
    expect(error?.message).toContain(message);
    expect(error?.message).toContain("It was left as it is");
    expect(await readFile(file(), "utf8")).toBe(text);
  });

  it("fills an empty file", async () => {
    await before("\n");
    expect(await open().executeTask(SAVE)).toMatchObject({ error: null });
    expect(await kept()).toMatchObject({ step: 0 });
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

describe("continuing", () => {
  it("lowers no counter", async () => {
    await before('{"step": 7, "left": ["eve"]}');
    const agent = open();
    await agent.executeTask("Calculate 5 + 3");
    expect(await agent.executeTask("Continue where we left off")).toMatchObject({ value: { step: 8 } });
    expect(await kept()).toEqual({ step: 8, left: ["eve"] });
    await before("[1, 2]");
    expect((await agent.executeTask("Continue from step 2")).error?.message).toContain("holds a list");
    expect(await kept()).toEqual([1, 2]);
  });
});
