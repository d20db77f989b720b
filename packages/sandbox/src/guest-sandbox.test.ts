import type { RunRequest, ToolCall } from "@cem/core";
import { afterEach, describe, expect, it } from "vitest";
import { FairGate } from "./fair-gate.ts";
import { createGuestSandbox, type GuestSandbox } from "./guest-sandbox.ts";
import { startScriptedGuest } from "./testing.ts";

const isolation = { level: "permissions", sandbox: "scripted", mechanisms: ["none"] } as const;
const made: GuestSandbox[] = [];

function sandboxOf(behave: string): GuestSandbox {
  const sandbox = createGuestSandbox({
    isolation,
    gate: new FairGate(4),
    standby: 0,
    startGuest: () => startScriptedGuest(behave),
  });
  made.push(sandbox);
  return sandbox;
}

function run(behave: string, request: Partial<RunRequest> = {}) {
  return sandboxOf(behave).run({ code: "", ...request });
}

const calls: ToolCall[] = [];
const invoker = {
  specificationVersion: "v1" as const,
  async invoke(call: ToolCall) {
    calls.push(call);
    return { ok: true as const, value: 1 };
  },
};

describe("createGuestSandbox, with a guest that knows its secret and lies", () => {
  afterEach(async () => {
    calls.length = 0;
    await Promise.all(made.splice(0).map((sandbox) => sandbox.dispose()));
  });

  it("takes an honest guest's result", async () => {
    const outcome = await run(
      `raw("text "); send({ type: "stderr", text: "error" }); send({ type: "done", value: [1] });`,
    );
    expect(outcome).toMatchObject({ status: "completed", value: [1], output: "text error", isolation });
  });

  it.each([
    ["something that is not JSON", `frame("{")`],
    ["an unknown message", `send({ type: "grant", all: true })`],
    ["a message without its parts", `send({ type: "call", id: 1 })`],
    ["a name of the wrong type", `send({ type: "call", id: 1, server: {}, tool: [], args: 1 })`],
    ["a name without end", `send({ type: "call", id: 1, server: "x".repeat(1000), tool: "t", args: 1 })`],
    ["a negative id", `send({ type: "call", id: -1, server: "s", tool: "t", args: 1 })`],
    ["100,000 levels", `frame('{"type":"done","value":' + "[".repeat(1e5) + "]".repeat(1e5) + "}")`],
    ["a second greeting", `send({ type: "ready", version: "1" })`],
    ["a length that is none", `raw(mark + "abc,1;{}")`],
    ["a length without end", `raw(mark + "9".repeat(50))`],
    ["a piece that is too long", `raw(mark + "99999,1;" + "x".repeat(99999))`],
  ])("ends the run at %s", async (_, behave) => {
    expect(await run(behave, { invoker })).toMatchObject({ status: "killed", reason: "protocol" });
    expect(calls).toEqual([]);
  });

  it("ends the run at a call id that was used before", async () => {
    const call = `send({ type: "call", id: 7, server: "s", tool: "t", args: {} });`;
    const outcome = await run(`${call} ${call}`, { invoker });
    expect(outcome).toMatchObject({
      status: "killed",
      reason: "protocol",
      message: expect.stringContaining("id 7"),
    });
    expect(calls).toHaveLength(1);
  });

  it("ends the run at more calls at once, or in all, than allowed", async () => {
    const many = `for (let id = 1; id <= 9; id++) send({ type: "call", id, server: "s", tool: "t", args: {} });`;
    const slow = { ...invoker, invoke: () => new Promise<never>(() => {}) };
    const atOnce = await run(many, { invoker: slow, limits: { callsInFlight: 3 } });
    expect(atOnce).toMatchObject({ status: "killed", reason: "protocol" });
    const inAll = await run(many, { invoker, limits: { calls: 5 } });
    expect(inAll).toMatchObject({ status: "killed", reason: "call-limit" });
    expect(inAll.toolCalls.length).toBeLessThanOrEqual(5);
  });

  it("ends the run at a message without end, in little memory", async () => {
    const before = process.memoryUsage().rss;
    const behave = `const piece = "x".repeat(4000); const put = () => { while (raw(mark + "4000,0;" + piece)); process.stdout.once("drain", put); }; put();`;
    const outcome = await run(behave, { limits: { payloadBytes: 1_000_000 } });
    expect(outcome).toMatchObject({ status: "killed", reason: "payload-limit" });
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
  });

  it("believes no count of calls but its own", async () => {
    const trace = `send({ type: "trace", server: "s", tool: "t", ms: 1, ok: true, characters: 1e15, sample: "1" });`;
    const outcome = await run(`for (let i = 0; i < 20; i++) ${trace}`, { limits: { calls: 10 } });
    expect(outcome).toMatchObject({ status: "killed", reason: "call-limit" });
    expect(outcome.toolCalls).toHaveLength(10);
  });

  it("hears nothing after the end", async () => {
    const outcome = await run(
      `send({ type: "done", value: 1 }); send({ type: "done", value: 2 }); raw("late");`,
    );
    expect(outcome).toMatchObject({ status: "completed", value: 1, output: "" });
  });

  it("keeps keys that are names of Object's own as data", async () => {
    const behave = `frame('{"type":"done","value":{"__proto__":{"polluted":1}},"__proto__":{"polluted":1}}')`;
    const outcome = await run(behave);
    expect(outcome.status).toBe("completed");
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it("tells a guest that crashes, ends itself, or never starts", async () => {
    expect(await run(`process.kill(process.pid, "SIGSEGV")`)).toMatchObject({
      status: "killed",
      reason: "crashed",
    });
    expect(await run(`process.kill(process.pid, "SIGKILL")`)).toMatchObject({
      status: "killed",
      reason: "crashed",
    });
    expect(await run("process.exit(3)")).toMatchObject({ status: "failed", error: { name: "ExitError" } });
    expect(await run(`console.error("memory allocation of 99 bytes failed"); process.abort()`)).toMatchObject(
      {
        status: "out-of-memory",
      },
    );
    const dead = createGuestSandbox({
      isolation,
      gate: new FairGate(1),
      standby: 1,
      startGuest: () => {
        const guest = startScriptedGuest("");
        guest.kill();
        return guest;
      },
    });
    made.push(dead);
    const outcome = await dead.run({ code: "" });
    expect(outcome).toMatchObject({
      status: "killed",
      reason: "crashed",
      message: expect.stringContaining("at its start"),
    });
  });

  it("holds back calls while the guest doesn't read its results", async () => {
    let invoked = 0;
    const large = {
      specificationVersion: "v1" as const,
      async invoke() {
        invoked += 1;
        return { ok: true as const, value: "x".repeat(900_000) };
      },
    };
    const behave = `process.stdin.pause(); setInterval(() => {}, 1000);
for (let id = 1; id <= 60; id++) { send({ type: "call", id, server: "s", tool: "t", args: {} }); await new Promise((r) => setTimeout(r, 5)); }`;
    const limits = { payloadBytes: 1_000_000, timeoutMs: 1_500, callsInFlight: 64 };
    expect(await run(behave, { invoker: large, limits })).toMatchObject({ status: "timed-out" });
    expect(invoked).toBeLessThan(6);
  });
});
