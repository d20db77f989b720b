import { readFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { runCem, SAMPLES, temporaryFolder } from "./testing/run-cem.ts";
import type { Ended } from "./testing/run-cem.ts";

let cwd: string;
beforeAll(() => {
  cwd = temporaryFolder();
});

const [servers = "", serversDir = ""] = SAMPLES;
const cem = (...args: string[]): Promise<Ended> => runCem([...args, servers, serversDir], { cwd });
const json = (name: string) =>
  JSON.parse(readFileSync(path.join(cwd, "workspace", name), "utf8")) as Record<string, unknown>;

describe("cem run --resume", () => {
  it("says that there is no such session, and runs nothing", async () => {
    const none = await cem("run", "--resume", "7", "Continue from step 2");
    expect(none.code).toBe(1);
    expect(none.stderr.replaceAll(/\s+/gu, " ")).toMatch(/There is no session "7"\. .*or last/u);
  });

  it("goes on with the work of an earlier process", async () => {
    expect(await cem("run", "Calculate 5 + 3")).toMatchObject({ code: 0 });
    expect(json("sessions/session_001.json")).toMatchObject({
      ended_at: expect.any(String) as string,
      tasks: [{ task_id: "task_001", description: "Calculate 5 + 3", result: 8, error: null }],
    });
    const saved = await cem("run", "--resume", "last", "Save current progress to state.json and continue");
    expect(saved).toMatchObject({ code: 0 });
    expect(json("state.json")).toMatchObject({
      step: 1,
      progress: { session: "session_001", tasks: [{ task: "Calculate 5 + 3", result: 8 }] },
    });
    const continued = await cem("run", "--resume", "1", "Continue from step 2", "--json");
    expect(JSON.parse(continued.stdout)).toMatchObject({
      status: "success",
      origin: "rules",
      value: { step: 2, earlier: [{ task: "Calculate 5 + 3", result: 8 }] },
    });
  });
});
