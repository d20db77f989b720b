import type { RunRequest, ToolCall } from "@cem/core";
import { afterEach, describe, expect, it } from "vitest";
import { FairGate } from "@cem/core";
import { createGuestSandbox, type GuestSandbox, type GuestSandboxSettings } from "./guest-sandbox.ts";
import type { GuestUsage } from "./guest.ts";
import { ScriptedGuest, type GuestScript } from "../testing/scripted-guest.ts";

const isolation = { level: "permissions", sandbox: "scripted", mechanisms: ["none"] } as const;
const made: GuestSandbox[] = [];

function open(onRun: GuestScript, more: Partial<GuestSandboxSettings> = {}): GuestSandbox {
  const startGuest = () => new ScriptedGuest(onRun);
  const sandbox = createGuestSandbox({ isolation, gate: new FairGate(4), standby: 0, startGuest, ...more });
  made.push(sandbox);
  return sandbox;
}

function run(onRun: GuestScript, request: Partial<RunRequest> = {}) {
  return open(onRun).run({ code: "", ...request });
}

const calls: ToolCall[] = [];
const invoker = {
  specificationVersion: "v1" as const,
  async invoke(call: ToolCall) {
    calls.push(call);
    return { ok: true as const, value: 1 };
  },
};

afterEach(async () => {
  calls.length = 0;
  await Promise.all(made.splice(0).map((sandbox) => sandbox.dispose()));
});

describe("createGuestSandbox", () => {
  it("gives the value, the output and the calls of a run", async () => {
    const outcome = await run(
      (guest) => {
        guest.raw("text ");
        guest.send({ type: "stderr", text: "error" });
        guest.send({ type: "trace", server: "s", tool: "u", ms: 2, ok: true, characters: 9, sample: "[1" });
        guest.send({ type: "done", value: [1] });
      },
      { invoker },
    );
    expect(outcome).toMatchObject({
      status: "completed",
      value: [1],
      output: "text error",
      outputDroppedBytes: 0,
      isolation,
      toolCalls: [{ server: "s", tool: "u", ms: 2, ok: true, result: "[1" }],
      toolResults: [{ characters: 9, sample: "[1" }],
    });
    expect(outcome.durationMs).toBeGreaterThan(0);
  });

  it("gives a guest no program before it may run", async () => {
    const decision = Promise.withResolvers<boolean>();
    let runs = 0;
    const sandbox = open((guest) => {
      runs += 1;
      guest.send({ type: "done" });
    });
    const outcome = sandbox.run({ code: "return 1;", mayRun: decision.promise });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(runs).toBe(0);
    decision.resolve(false);
    expect(await outcome).toMatchObject({ status: "killed", reason: "aborted" });
    expect(runs).toBe(0);
  });

  it("sends the compiled program with its limits, the run's before the sandbox's", async () => {
    let sent: unknown;
    const script: GuestScript = (guest, message) => {
      sent = message;
      guest.send({ type: "done" });
    };
    const sandbox = open(script, { limits: { callsInFlight: 2, payloadBytes: 5_000 } });
    await sandbox.run({ code: "export default 1;", limits: { payloadBytes: 3_000 } });
    expect(sent).toEqual({
      type: "run",
      source: expect.stringContaining("1"),
      callsInFlight: 2,
      payloadBytes: 3_000,
    });
  });

  it("ends the guest of a program that has the runtime in reach, by what the guest says", async () => {
    const script: GuestScript = (guest, message) => {
      if (message.source.includes("module")) guest.send({ type: "single-use" });
      guest.send({ type: "done" });
    };
    const sandbox = open(script, { defaultSession: "one" });
    const kept: number[] = [];
    for (const code of ["1", `import "../module.ts"`, "1", "2"]) {
      await sandbox.run({ code });
      await new Promise((resolve) => setTimeout(resolve, 5));
      kept.push(sandbox.stats().kept);
    }
    expect(kept).toEqual([1, 0, 1, 1]);
  });

  it("starts no guest for a program with a syntax error", async () => {
    const sandbox = open(() => {});
    const outcome = await sandbox.run({ code: "const = 1;" });
    expect(outcome).toMatchObject({ status: "failed", kind: "syntax", error: { name: "SyntaxError" } });
    expect(outcome).toMatchObject({ output: "", toolCalls: [], toolResults: [], isolation });
    expect(sandbox.stats()).toMatchObject({ started: 0, misses: 0 });
  });

  it("takes no word of a guest that a program which has called a tool was not run", async () => {
    const error = { name: "SyntaxError", message: "Unexpected token", stack: "" };
    const call = { type: "call", id: 1, server: "s", tool: "t", args: {} };
    const trace = { type: "trace", server: "s", tool: "u", ms: 2, ok: true, characters: 0, sample: "" };
    for (const [sent, kind] of [
      [[], "syntax"],
      [[call], "exception"],
      [[trace], "exception"],
    ] as const) {
      const outcome = await run(
        (guest) => {
          for (const message of sent) guest.send(message);
          guest.send({ type: "failed", kind: "syntax", error });
        },
        { invoker },
      );
      expect(outcome).toMatchObject({ status: "failed", kind, toolCalls: { length: sent.length } });
    }
  });

  it("makes the workspace check's refusal the outcome", async () => {
    const refusal = { code: "WORKSPACE_LINK_REFUSED", message: "A link leads out." };
    const sandbox = open(() => {}, { checkWorkspace: async () => refusal });
    expect(await sandbox.run({ code: "" })).toMatchObject({ status: "refused", ...refusal });
    expect(sandbox.stats()).toMatchObject({ running: 0, started: 0 });
  });

  it("tells the line of an exception", async () => {
    const error = { name: "TypeError", message: "no", stack: "TypeError: no\n    at blob:program:3:3" };
    const outcome = await run((guest) => guest.send({ type: "failed", kind: "exception", error }));
    expect(outcome).toMatchObject({
      status: "failed",
      kind: "exception",
      error: { name: "TypeError", message: "no", line: 3, column: 3 },
    });
  });

  it("takes an allocation failure for memory that ran out", async () => {
    const error = { name: "RangeError", message: "Array buffer allocation failed", stack: "" };
    const outcome = await run((guest) => guest.send({ type: "failed", kind: "exception", error }), {
      limits: { memoryMb: 77 },
    });
    expect(outcome).toMatchObject({ status: "out-of-memory", limitMb: 77 });
  });

  it("ends a run at its timeout, and when it is aborted before or during it", async () => {
    expect(await run(() => {}, { limits: { timeoutMs: 10 } })).toMatchObject({
      status: "timed-out",
      limitMs: 10,
    });
    const early = await run(() => {}, { signal: AbortSignal.abort() });
    expect(early).toMatchObject({
      status: "killed",
      reason: "aborted",
      message: "The run was aborted before it started.",
    });
    const abort = new AbortController();
    const late = await run(() => abort.abort(), { signal: abort.signal });
    expect(late).toMatchObject({ status: "killed", reason: "aborted", message: "The run was aborted." });
  });

  it("bounds memory and writes by the guest's usage, not counting its output and what it wrote before", async () => {
    const MIB = 1024 * 1024;
    const measured = (usages: Omit<GuestUsage, "processorMs">[]) => {
      class MeasuredGuest extends ScriptedGuest {
        usage() {
          const usage = usages.length > 1 ? usages.shift() : usages[0];
          return usage && { ...usage, processorMs: 0 };
        }
      }
      const startGuest = () => new MeasuredGuest(() => {});
      return open(() => {}, { startGuest }).run({
        code: "",
        limits: { memoryMb: 10, writeMb: 1, timeoutMs: 200 },
      });
    };
    const before = { memoryBytes: 0, writtenBytes: 50 * MIB };
    expect(await measured([before, { memoryBytes: 10 * MIB + 1, writtenBytes: 50 * MIB }])).toMatchObject({
      status: "out-of-memory",
    });
    expect(await measured([before, { memoryBytes: 0, writtenBytes: 51 * MIB + 1 }])).toMatchObject({
      status: "killed",
      reason: "write-limit",
    });
    expect(await measured([before, { memoryBytes: 10 * MIB, writtenBytes: 51 * MIB }])).toMatchObject({
      status: "timed-out",
    });
  });

  it.each([
    ["empty output", { type: "stderr", text: "" }, "output-flood"],
    ["reports of its work", { type: "unawaited", isStopped: false, work: [] }, "protocol"],
    ["words on its realm", { type: "single-use" }, "protocol"],
    [
      "calls",
      { type: "trace", server: "s", tool: "t", ms: 0, ok: true, characters: 0, sample: "" },
      "call-limit",
    ],
    ["readiness", { type: "ready", version: "1" }, "protocol"],
  ])("ends a guest that knows its token and floods the host with %s", async (_, message, reason) => {
    const outcome = await run(async (guest) => {
      const text = JSON.stringify(message);
      const flood = `${guest.mark}${Buffer.byteLength(text)},1;${text}`.repeat(1_000);
      for (let sent = 0; guest.alive && sent < 2_000; sent += 1) {
        guest.raw(flood);
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    expect(outcome).toMatchObject({ status: "killed", reason });
  });

  it("classifies a guest's exit", async () => {
    const exits: [Parameters<ScriptedGuest["exit"]>[0], object][] = [
      [{ signal: "SIGSEGV" }, { status: "killed", reason: "crashed" }],
      [{ signal: "SIGKILL" }, { status: "killed", reason: "crashed" }],
      [{ signal: "SIGKILL", outOfMemory: true }, { status: "out-of-memory" }],
      [{ code: 3 }, { status: "failed", error: { name: "ExitError" } }],
    ];
    for (const [exit, outcome] of exits)
      expect(await run((guest) => guest.exit(exit))).toMatchObject(outcome);
    const aborted = await run((guest) => {
      guest.stderr.write("memory allocation of 99 bytes failed");
      guest.exit({ signal: "SIGABRT" });
    });
    expect(aborted).toMatchObject({ status: "out-of-memory" });
  });

  it("tells a guest that exits at its start", async () => {
    const startGuest = () => {
      class DeadGuest extends ScriptedGuest {
        override send(): void {}
      }
      const dead = new DeadGuest(() => {});
      dead.stderr.write("no such binary\n");
      dead.exit({ code: 127 });
      return dead;
    };
    expect(await open(() => {}, { startGuest }).run({ code: "" })).toMatchObject({
      status: "killed",
      reason: "crashed",
      message: "The guest ended at its start (exit code 127). Its stderr: no such binary",
    });
  });
});
