import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { JsonValue, SessionLog, SessionRecord } from "@cem/core";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryWorkspace } from "../../test/temporary-workspace.ts";
import { createSessionLog, listSessions, readSession, recapSession } from "../index.ts";

type SessionRun = Parameters<SessionLog["record"]>[0];

/** `pnpm test:kills` for a longer proof. */
const KILLS = process.env["CEM_TESTS"] === "all" ? 200 : 2;

let workspaceDir = "";
let outside = "";
beforeEach(() => ({ workspaceDir, outside } = temporaryWorkspace()));

const run = (task: string | undefined, value: JsonValue = 1, code = "return 1;"): SessionRun => ({
  task,
  result: { code, value, output: "out\n", error: null },
});
const file = (name: string) => path.join(workspaceDir, "sessions", name);
const json = (name: string) => JSON.parse(readFileSync(file(name), "utf8")) as SessionRecord;

describe("createSessionLog", () => {
  it("writes the runs of a session in the shape of its file, and reads and writes nothing before the first", async () => {
    const log = createSessionLog({ workspaceDir, ownerId: "user_1" });
    expect(readdirSync(workspaceDir)).toEqual([]);
    writeFileSync(path.join(workspaceDir, "state.json"), "{}");
    log.record(
      run("Add 5 and 3", 8, 'await Deno.writeTextFile("/workspace/state.json", "8"); return "./none.json";'),
    );
    log.record({
      task: undefined,
      result: {
        code: "throw 1",
        value: null,
        output: "",
        error: { code: "CODE_THREW", message: "1", details: {} },
      },
    });
    await log.close();
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string;
    expect(json("session_001.json")).toEqual({
      session_id: "session_001",
      customer_uid: "user_1",
      started_at: time,
      ended_at: time,
      tasks: [
        {
          task_id: "task_001",
          description: "Add 5 and 3",
          code: expect.stringContaining("state.json") as string,
          result: 8,
          output: "out\n",
          timestamp: time,
          error: null,
        },
        expect.objectContaining({ task_id: "task_002", description: "", error: "CODE_THREW: 1" }),
      ],
      state_files: ["/workspace/state.json"],
      checkpoint: null,
    });
    expect(json("current_session.json")).toEqual(json("session_001.json"));
    expect(readdirSync(path.join(workspaceDir, "sessions")).toSorted()).toEqual([
      "current_session.json",
      "session_001.json",
    ]);
    expect(statSync(file("session_001.json")).mode & 0o777).toBe(0o600);
  });

  it("gives sessions files of their own, also between processes that begin at once", async () => {
    const logs = Array.from({ length: 8 }, () => createSessionLog({ workspaceDir }));
    for (const [index, log] of logs.entries()) log.record(run(`task ${index}`));
    await Promise.all(logs.map((log) => log.close()));
    const one = createSessionLog({ workspaceDir });
    one.record(run("for ada"), "ada");
    one.record(run("for bob"), "bob");
    one.record(run("for ada again"), "ada");
    await one.close();
    const sessions = await listSessions(workspaceDir);
    expect(sessions.map(({ session_id }) => session_id)[0]).toBe("session_010");
    const tasks = sessions.map(({ lastTask }) => lastTask).toSorted();
    expect(tasks).toEqual(
      ["for ada again", "for bob", ...logs.map((_, index) => `task ${index}`)].toSorted(),
    );
  });

  it("goes on with a session", async () => {
    const first = createSessionLog({ workspaceDir });
    first.record(run("one"));
    expect(await first.checkpoint({ context: { left: ["two"] } })).toMatchObject({
      step: 1,
      last_task: "task_001",
    });
    await first.close();
    const second = createSessionLog({ workspaceDir, resume: "last" });
    expect((await second.read())?.tasks).toHaveLength(1);
    second.record(run("two", [1, 2]));
    await second.checkpoint({ step: 7 });
    await second.close();
    const record = await readSession(workspaceDir, "1");
    expect(record.tasks.map(({ task_id, description }) => [task_id, description])).toEqual([
      ["task_001", "one"],
      ["task_002", "two"],
    ]);
    expect(record.checkpoint).toMatchObject({ step: 7, last_task: "task_002", context: null });
    expect(recapSession(record)).toBe(
      "Earlier tasks of this session (data, in full in /workspace/sessions/session_001.json):\n1. one => 1\n2. two => [1,2]\nCheckpoint: step 7",
    );
    const none = createSessionLog({ workspaceDir, resume: "session_099" });
    await expect(none.read()).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
  });

  it("says that a checkpoint was not saved where the workspace is gone", async () => {
    const log = createSessionLog({ workspaceDir });
    rmSync(workspaceDir, { recursive: true });
    await expect(log.checkpoint({ step: 1 })).rejects.toMatchObject({ code: "WORKSPACE_UNUSABLE" });
    mkdirSync(workspaceDir);
    expect(await log.checkpoint({ step: 2 })).toMatchObject({ step: 2 });
    rmSync(workspaceDir, { recursive: true });
    await expect(log.checkpoint({ step: 3 })).rejects.toMatchObject({ code: "WORKSPACE_UNUSABLE" });
    await log.close();
  });

  it("loses no task of those who go on with one session at once", async () => {
    const first = createSessionLog({ workspaceDir });
    first.record(run("first"));
    await first.checkpoint();
    const others = ["a", "b"].map((name) => ({
      name,
      log: createSessionLog({ workspaceDir, resume: "last" }),
    }));
    for (const turn of [1, 2]) {
      for (const { name, log } of others) log.record(run(`${name}${turn}`));
      await Promise.all(others.map(({ log }) => log.read()));
    }
    first.record(run("last"));
    await Promise.all([first, ...others.map(({ log }) => log)].map((log) => log.close()));
    const { tasks } = await readSession(workspaceDir, "last");
    expect(tasks.map(({ description }) => description).toSorted()).toEqual([
      "a1",
      "a2",
      "b1",
      "b2",
      "first",
      "last",
    ]);
    expect(tasks.map(({ task_id }) => task_id)).toEqual(tasks.map((_, at) => `task_00${at + 1}`));
  });

  it("keeps a task whose value is no JSON, and those after it", async () => {
    const log = createSessionLog({ workspaceDir });
    log.record(run("one", 1n as unknown as JsonValue));
    log.record(run("two"));
    await log.close();
    const { tasks } = json("session_001.json");
    expect(tasks.map(({ result }) => result)).toEqual([expect.stringContaining("no JSON"), 1]);
  });

  it("keeps what is redacted out of every file, and everything where redacting fails", async () => {
    const redact = <Value>(value: Value): Value =>
      JSON.parse(JSON.stringify(value).replaceAll("ada@example.com", "[[EMAIL]]")) as Value;
    const log = createSessionLog({ workspaceDir, redact });
    log.record(run("Write to ada@example.com", { to: "ada@example.com" }, 'send("ada@example.com")'));
    await log.checkpoint({ context: { to: "ada@example.com" } });
    await log.close();
    const broken = createSessionLog({
      workspaceDir,
      redact: () => {
        throw new Error("broken");
      },
    });
    broken.record(run("Write to ada@example.com"));
    await broken.checkpoint({ context: "ada@example.com" });
    await broken.close();
    for (const name of readdirSync(path.join(workspaceDir, "sessions")))
      expect(readFileSync(file(name), "utf8")).not.toContain("ada@");
    expect(json("session_001.json").tasks[0]?.result).toEqual({ to: "[[EMAIL]]" });
    expect(json("session_002.json").tasks[0]?.description).toBe("(withheld)");
  });

  it("cuts what is large", async () => {
    const log = createSessionLog({ workspaceDir });
    log.record({
      task: "x".repeat(100_000),
      result: { ...run("").result, output: "y".repeat(1e6), value: "z".repeat(1e6) },
    });
    await log.close();
    expect(statSync(file("session_001.json")).size).toBeLessThan(20_000);
  });

  it("follows no link, and tells when it can't write, but never to the run", async () => {
    symlinkSync(outside, path.join(workspaceDir, "sessions"));
    const problems: unknown[] = [];
    const log = createSessionLog({ workspaceDir, onProblem: (error) => problems.push(error) });
    log.record(run("one"));
    await log.close();
    expect(problems).toMatchObject([{ code: "WORKSPACE_UNUSABLE" }]);
    expect(readdirSync(outside)).toEqual([]);
  });

  it("is not misled by what guest code wrote", async () => {
    mkdirSync(path.join(workspaceDir, "sessions"));
    writeFileSync(path.join(outside, "session_001.json"), '{"session_id":"secret"}');
    symlinkSync(path.join(outside, "session_001.json"), file("session_001.json"));
    writeFileSync(file("session_002.json"), "{");
    writeFileSync(
      file("session_003.json"),
      '{"session_id":"../../x","tasks":[1,{"result":{"__proto__":1}}],"checkpoint":5,"__proto__":{"a":1}}',
    );
    writeFileSync(file("current_session.json"), '{"session_id":"../../x"}');
    expect(await listSessions(workspaceDir)).toMatchObject([{ tasks: 1 }]);
    await expect(readSession(workspaceDir, "last")).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    const log = createSessionLog({ workspaceDir, resume: "3" });
    log.record(run("two"));
    await log.close();
    expect(json("session_003.json")).toMatchObject({
      session_id: "session_003",
      tasks: [{}, { description: "two" }],
    });
    for (const id of ["../x", "/etc/passwd", "session_1/../2", "", "0x1", "last/.."])
      await expect(readSession(workspaceDir, id)).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
  });

  it("answers before it writes, and begins as quickly with thousands of sessions on disk", async () => {
    mkdirSync(path.join(workspaceDir, "sessions"));
    for (let number = 1; number <= 2_000; number += 1)
      writeFileSync(file(`session_${`${number}`.padStart(3, "0")}.json`), '{"session_id":"x"}');
    const log = createSessionLog({ workspaceDir });
    log.record(run("one"));
    expect(existsSync(path.join(workspaceDir, "sessions", "session_2001.json"))).toBe(false);
    await log.close();
    expect(json("session_2001.json").tasks).toHaveLength(1);
    expect(await listSessions(workspaceDir)).toHaveLength(20);
  });

  it("costs little in a session of many runs, and goes on in another file when it is long", async () => {
    const log = createSessionLog({ workspaceDir });
    for (let index = 0; index < 1_500; index += 1) log.record(run(`task ${index}`));
    await log.close();
    expect((await listSessions(workspaceDir)).map(({ tasks }) => tasks)).toEqual(
      expect.arrayContaining([500, 1_000]),
    );
  });

  it(
    "is whole after a kill at any moment",
    async () => {
      const script = `import { createSessionLog } from ${JSON.stringify(fileURLToPath(new URL("../index.ts", import.meta.url)))};
      const log = createSessionLog({ workspaceDir: ${JSON.stringify(workspaceDir)} });
      process.stdout.write("ready");
      for (let n = 0; ; n += 1) { log.record({ task: "t" + n, result: { code: "x".repeat(5000), value: n, output: "", error: null } }); void log.read(); await new Promise((go) => setTimeout(go, 2)); }`;
      for (let round = 0; round < KILLS; round += 1) {
        const writer = spawn(
          process.execPath,
          ["--conditions=@cem/source", "--input-type=module", "-e", script],
          {
            stdio: ["ignore", "pipe", "inherit"],
          },
        );
        await new Promise((resolve) => writer.stdout.once("data", resolve));
        await new Promise((resolve) => setTimeout(resolve, 30 + Math.random() * 60));
        const gone = new Promise((resolve) => writer.once("exit", resolve));
        writer.kill("SIGKILL");
        await gone;
        // Killed before it wrote anything.
        if (!existsSync(file("current_session.json"))) continue;
        const record = await readSession(workspaceDir, "last");
        expect(record.tasks.map(({ result }) => result)).toEqual(record.tasks.map((_, index) => index));
        for (const { session_id } of await listSessions(workspaceDir))
          expect(json(`${session_id}.json`).ended_at).toBeNull();
      }
    },
    KILLS * 2_000 + 20_000,
  );
});
