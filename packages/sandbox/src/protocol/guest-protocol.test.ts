import type { RunRequest, ToolCall } from "@cem/core";
import { afterEach, describe, expect, it } from "vitest";
import { FairGate } from "@cem/core";
import { createGuestSandbox, type GuestSandbox, type GuestSandboxSettings } from "../guests/guest-sandbox.ts";
import { ScriptedGuest, type GuestScript } from "../testing/scripted-guest.ts";

const isolation = { level: "permissions", sandbox: "scripted", mechanisms: ["none"] } as const;
const CALL = { type: "call", id: 1, server: "s", tool: "t", args: {} } as const;
const TRACE = { type: "trace", server: "s", tool: "t", ms: 1, ok: true, characters: 1, sample: "1" } as const;
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

describe("createGuestSandbox with a guest that knows its token and breaks the protocol", () => {
  it.each<[string, GuestScript]>([
    ["something that is not JSON", (guest) => guest.frame("{")],
    ["an unknown message", (guest) => guest.send({ type: "grant", all: true })],
    ["a message without its members", (guest) => guest.send({ type: "call", id: 1 })],
    ["a name of the wrong type", (guest) => guest.send({ ...CALL, server: {} })],
    ["a name that is too long", (guest) => guest.send({ ...CALL, server: "x".repeat(257) })],
    ["a negative id", (guest) => guest.send({ ...CALL, id: -1 })],
    [
      "100,000 levels",
      (guest) => guest.frame(`{"type":"done","value":${"[".repeat(1e5)}${"]".repeat(1e5)}}`),
    ],
    ["a member that the protocol lacks", (guest) => guest.send({ type: "stderr", text: "", x: [[], []] })],
    ["a report that says where it is from", (guest) => guest.send({ ...TRACE, place: "host" })],
    ["two words on one thing", (guest) => [1, 2].forEach(() => guest.send({ type: "single-use" }))],
    ["two values", (guest) => [1, 2].forEach((value) => guest.send({ type: "returned", value }))],
    ["a second greeting", (guest) => guest.send({ type: "ready", version: "1" })],
    ["a length that is not a number", (guest) => void guest.raw(`${guest.mark}abc,1;{}`)],
    ["a length without end", (guest) => void guest.raw(guest.mark + "9".repeat(50))],
    ["pieces of nothing", (guest) => void guest.raw(`${guest.mark}0,0;`)],
    ["pieces of hardly anything", (guest) => void guest.raw(`${guest.mark}100,0;${"x".repeat(100)}`)],
    ["a piece that is too long", (guest) => void guest.raw(`${guest.mark}99999,1;${"x".repeat(99_999)}`)],
  ])("ends the run at %s", async (_, script) => {
    const outcome = await run(script, { invoker });
    expect(outcome).toMatchObject({
      status: "killed",
      reason: "protocol",
      message: expect.stringMatching(/^The guest sent .+\.$/),
    });
    expect(calls).toEqual([]);
  });

  it("ends the run at a call id that was used before", async () => {
    const outcome = await run(
      (guest) => {
        guest.send({ ...CALL, id: 7 });
        guest.send({ ...CALL, id: 7 });
      },
      { invoker },
    );
    expect(outcome).toMatchObject({
      status: "killed",
      reason: "protocol",
      message: expect.stringContaining("id 7"),
    });
    expect(calls).toHaveLength(1);
  });

  it("ends the run at more calls at once, or in all, than allowed", async () => {
    const many: GuestScript = (guest) => {
      for (let id = 1; id <= 9; id += 1) guest.send({ ...CALL, id });
    };
    const slow = { ...invoker, invoke: () => new Promise<never>(() => {}) };
    const atOnce = await run(many, { invoker: slow, limits: { callsInFlight: 3 } });
    expect(atOnce).toMatchObject({ status: "killed", reason: "protocol" });
    const inAll = await run(many, { invoker, limits: { calls: 5 } });
    expect(inAll).toMatchObject({ status: "killed", reason: "call-limit" });
    expect(inAll.toolCalls.length).toBeLessThanOrEqual(5);
  });

  it.each([
    ["The program's value", { type: "limit", of: "value" }],
    ["A tool's argument", { ...CALL, args: "x".repeat(3_000) }],
    ["The program's value", { type: "done", value: "x".repeat(3_000) }],
  ])("ends the run when %s is too large", async (what, message) => {
    const limits = { payloadBytes: 1_000 };
    const outcome = await run((guest) => guest.send(message), { invoker, limits });
    expect(outcome).toMatchObject({
      status: "killed",
      reason: "payload-limit",
      message: `${what} is larger than 1000 bytes.`,
    });
    expect(calls).toEqual([]);
  });

  it("ends the run at a message without end, in little memory", async () => {
    const before = process.memoryUsage().rss;
    const outcome = await run(
      (guest) => {
        const text = `${guest.mark}4000,0;${"x".repeat(4_000)}`;
        const put = () => {
          while (guest.raw(text));
          if (guest.alive) guest.stdout.once("drain", put);
        };
        put();
      },
      { limits: { payloadBytes: 1_000_000 } },
    );
    expect(outcome).toMatchObject({ status: "killed", reason: "payload-limit" });
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
  });

  it("ends the run at a flood of output", async () => {
    const outcome = await run(
      (guest) => {
        const put = () => {
          while (guest.raw("x".repeat(1_000_000)));
          if (guest.alive) guest.stdout.once("drain", put);
        };
        put();
      },
      { limits: { outputBytes: 10 } },
    );
    expect(outcome).toMatchObject({ status: "killed", reason: "output-flood", output: "xxxxxxxxxx" });
  });

  it("believes no count of calls but its own", async () => {
    const trace = { type: "trace", server: "s", tool: "t", ms: 1, ok: true, characters: 1e15, sample: "1" };
    const outcome = await run(
      (guest) => {
        for (let count = 0; count < 20; count += 1) guest.send(trace);
      },
      { limits: { calls: 10 } },
    );
    expect(outcome).toMatchObject({ status: "killed", reason: "call-limit" });
    expect(outcome.toolCalls).toHaveLength(10);
  });

  it("records what a program with the runtime reports as the guest's word", async () => {
    const trace = { type: "trace", server: "s", tool: "t", ms: 1, ok: true, characters: 1, sample: "1" };
    const error = { name: "SyntaxError", message: "x", stack: "" };
    const outcome = await open((guest) => {
      guest.send({ type: "single-use" });
      guest.send(CALL);
      guest.send(trace);
      setImmediate(() => guest.send({ type: "failed", kind: "syntax", error }));
    }).run({ code: "0", invoker });
    // Not that nothing was run.
    expect(outcome).toMatchObject({ status: "failed", kind: "exception" });
    const [reported, made] = outcome.toolCalls.toSorted((one) => (one.place === "guest" ? -1 : 1));
    expect(reported).toMatchObject({ tool: "t", place: "guest" });
    expect(made).not.toHaveProperty("place");
  });

  it("ignores everything after the end", async () => {
    const outcome = await run((guest) => {
      guest.send({ type: "done", value: 1 });
      guest.send({ type: "done", value: 2 });
      guest.raw("late");
    });
    expect(outcome).toMatchObject({ status: "completed", value: 1, output: "" });
  });

  it("keeps members named like Object's own as data", async () => {
    const outcome = await run((guest) => guest.frame('{"type":"done","value":{"__proto__":{"polluted":1}}}'));
    expect(outcome.status).toBe("completed");
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
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
    const outcome = await run(
      async (guest) => {
        guest.reads = false;
        for (let id = 1; id <= 20; id += 1) {
          guest.send({ ...CALL, id });
          await new Promise((resolve) => setImmediate(resolve));
        }
        guest.send({ type: "done" });
      },
      { invoker: large, limits: { payloadBytes: 1_000_000, callsInFlight: 64 } },
    );
    expect(outcome).toMatchObject({ status: "completed" });
    expect(invoked).toBe(2);
  });
});
