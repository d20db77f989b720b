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

describe("cem sessions", () => {
  it("lists none, with how to begin one, and says what is missing", async () => {
    expect((await cem("sessions")).stdout).toContain("No session is logged here yet.");
    expect(await cem("sessions", "show")).toMatchObject({ code: 2 });
    const none = await cem("sessions", "show", "7");
    expect(none.code).toBe(1);
    expect(none.stderr).toContain("See which there are with  cem sessions");
  });

  it("goes on with the work of an earlier process, and tells what was done", async () => {
    expect(await cem("run", "Calculate 5 + 3")).toMatchObject({ code: 0 });
    expect(json("sessions/session_001.json")).toMatchObject({
      ended_at: expect.any(String) as string,
      tasks: [{ task_id: "task_001", description: "Calculate 5 + 3", result: 8, error: null }],
    });
    expect(
      await cem("sessions", "resume", "last", "Save current progress to state.json and continue"),
    ).toMatchObject({ code: 0 });
    expect(json("state.json")).toMatchObject({
      step: 1,
      progress: { session: "session_001", tasks: [{ task: "Calculate 5 + 3", result: 8 }] },
    });
    const continued = await cem("sessions", "resume", "1", "Continue from step 2", "--json");
    expect(JSON.parse(continued.stdout)).toMatchObject({
      status: "success",
      origin: "rules",
      value: { step: 2, earlier: [{ task: "Calculate 5 + 3", result: 8 }] },
    });
    expect((await cem("sessions")).stdout).toMatch(
      /session_001 {2}[-\d: ]+, 3 tasks\n {4}Continue from step 2/u,
    );
    expect((await cem("sessions", "show", "last")).stdout).toMatch(/task_001 +Calculate 5 \+ 3\n +8\n/u);
    const shown = JSON.parse((await cem("sessions", "show", "1", "--json")).stdout) as { session: unknown };
    expect(shown.session).toMatchObject({
      session_id: "session_001",
      state_files: ["/workspace/state.json"],
    });
  });
});
