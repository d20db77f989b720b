import type { RunOutcome, RunRequest } from "@cem/core";
import { createGuestSandbox, FairGate, type GuestSandbox } from "@cem/sandbox";
import { afterEach, describe, expect, it } from "vitest";
import { startMicrovmGuest } from "./microvm-guest.ts";
import { ProcessMachine } from "./testing/process-machine.ts";

const isolation = { level: "microvm", sandbox: "microsandbox", mechanisms: ["none"] } as const;

/** A runner that greets, and then does what it is told to. */
const runner = (behave: string) => `
let mark = "";
const send = (message) => { const json = JSON.stringify(message); process.stdout.write(mark + Buffer.byteLength(json) + ",1;" + json); };
let rest = "";
process.stdin.on("data", (chunk) => {
  rest += chunk;
  const lines = rest.split("\\n");
  rest = lines.pop();
  for (const line of lines) {
    const message = JSON.parse(line);
    if (message.type === "init") { mark = "\\0cem:" + message.token + ":"; send({ type: "ready", version: "1" }); }
    else if (message.type === "run") { ${behave} }
  }
});`;

describe("startMicrovmGuest", () => {
  let machine = new ProcessMachine();
  let sandbox: GuestSandbox | undefined;
  afterEach(() => sandbox?.dispose());

  function run(behave: string, request: Partial<RunRequest> = {}): Promise<RunOutcome> {
    machine = new ProcessMachine();
    sandbox = createGuestSandbox({
      isolation,
      gate: new FairGate(1),
      standby: 0,
      startGuest: () =>
        startMicrovmGuest(
          machine,
          {},
          {
            file: process.execPath,
            args: ["-e", runner(behave)],
            cwd: "/",
            env: {},
            fileBytes: 1,
          },
        ),
    });
    return sandbox.run({ code: "", ...request });
  }

  it("carries a run over the program's input and output, and ends the machine after it", async () => {
    const outcome = await run(`process.stdout.write("text "); send({ type: "done", value: [1] });`);
    expect(outcome).toMatchObject({ status: "completed", value: [1], output: "text " });
    expect(machine.killed).toBeGreaterThan(0);
  });

  it("carries what is larger than a piece", async () => {
    const code = `export default ${JSON.stringify("x".repeat(200_000))}`;
    const outcome = await run(`send({ type: "done", value: message.source.length });`, { code });
    expect((outcome as { value: number }).value).toBeGreaterThan(200_000);
  });

  it.each([
    [
      "a signal of the machine's kernel as memory that ran out",
      `process.kill(process.pid, "SIGKILL")`,
      "out-of-memory",
    ],
    ["an exit code as an error", `process.exit(3)`, "failed"],
    ["a machine that has gone as a crash", `process.kill(process.pid, "SIGTERM")`, "killed"],
  ])("tells %s", async (_, behave, status) => {
    expect(await run(behave)).toMatchObject({ status });
    expect(machine.killed).toBeGreaterThan(0);
  });

  it("ends the machine whose program can't be started", async () => {
    machine = new ProcessMachine();
    machine.exec = () => Promise.reject(new Error("no such program"));
    const command = { file: "x", args: [], cwd: "/", env: {}, fileBytes: 1 };
    await expect(startMicrovmGuest(machine, {}, command)).rejects.toThrow("no such program");
    expect(machine.killed).toBe(1);
  });
});
