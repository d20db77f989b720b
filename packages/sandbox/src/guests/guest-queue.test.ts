import { afterEach, describe, expect, it } from "vitest";
import { FairGate, type ToolInvoker } from "@cem/core";
import type { Guest } from "./guest.ts";
import { createGuestSandbox, type GuestSandbox, type GuestSandboxSettings } from "./guest-sandbox.ts";
import { ScriptedGuest, type GuestScript } from "../testing/scripted-guest.ts";

const isolation = { level: "permissions", sandbox: "scripted", mechanisms: ["none"] } as const;
const CALL = { type: "call", id: 1, server: "s", tool: "t", args: {} };
const done: GuestScript = (guest) => guest.send({ type: "done", value: guest.id });

describe("the queue of a sandbox", () => {
  const made: GuestSandbox[] = [];
  afterEach(async () => {
    await Promise.all(made.splice(0).map((sandbox) => sandbox.dispose()));
  });

  const open = (onRun: GuestScript, more: Partial<GuestSandboxSettings> = {}): GuestSandbox => {
    const startGuest = () => new ScriptedGuest(onRun);
    const sandbox = createGuestSandbox({ isolation, gate: new FairGate(8), standby: 1, startGuest, ...more });
    made.push(sandbox);
    return sandbox;
  };

  describe("the queue", () => {
    it("refuses a run that waited too long, with the number of others that wait", async () => {
      const sandbox = open(() => {}, { gate: new FairGate(1), queueTimeoutMs: 20 });
      const abort = new AbortController();
      const endless = sandbox.run({ code: "", signal: abort.signal });
      expect(await sandbox.run({ code: "" })).toMatchObject({
        status: "refused",
        code: "SANDBOX_BUSY",
        message: "No guest was free within 20 ms; 0 more runs wait.",
      });
      abort.abort();
      expect(await endless).toMatchObject({ status: "killed", reason: "aborted" });
    });

    it("ends a queued run that is aborted", async () => {
      const sandbox = open(() => {}, { gate: new FairGate(1), queueTimeoutMs: 60_000 });
      const endless = sandbox.run({ code: "" });
      await expect.poll(() => sandbox.stats().running).toBe(1);
      const abort = new AbortController();
      const queued = sandbox.run({ code: "", signal: abort.signal });
      await expect.poll(() => sandbox.stats().waiting).toBe(1);
      abort.abort();
      expect(await queued).toMatchObject({ status: "killed", reason: "aborted" });
      expect(sandbox.stats().waiting).toBe(0);
      await sandbox.dispose();
      expect(await endless).toMatchObject({ status: "killed", reason: "disposed" });
    });

    it.each<
      [string, (run: { abort: AbortController; sandbox: GuestSandbox; guest: Guest | undefined }) => unknown]
    >([
      ["is aborted", ({ abort }) => abort.abort()],
      ["is disposed of", ({ sandbox }) => sandbox.dispose()],
      ["loses its guest", ({ guest }) => guest?.kill()],
    ])("lends the slot of a run that waits for a person until it %s", async (_, end) => {
      const gate = new FairGate(1, 1);
      const asked = Promise.withResolvers<void>();
      const abort = new AbortController();
      let guest: Guest | undefined;
      const sandbox = open((started) => (guest = started).send(CALL), { gate, standby: 0 });
      const invoker: ToolInvoker = {
        specificationVersion: "v1",
        invoke(_call, { onWaiting }) {
          onWaiting?.(true);
          asked.resolve();
          return new Promise(() => {});
        },
      };
      const run = sandbox.run({ code: "", invoker, signal: abort.signal });
      await asked.promise;
      expect(await open(done, { gate }).run({ code: "" })).toMatchObject({ status: "completed" });
      await end({ abort, sandbox, guest });
      expect(await run).not.toMatchObject({ status: "completed" });
      expect(gate.tryEnter({ session: "a" })).toBeTypeOf("function");
      expect(gate.tryEnter({ session: "b" })).toBeUndefined();
    });

    it("lets sessions take turns, however busy one is", async () => {
      const sandbox = open(done, { gate: new FairGate(1) });
      const order: string[] = [];
      const note = async (session: string) => {
        await sandbox.run({ code: "", session });
        order.push(session);
      };
      await Promise.all([...Array.from({ length: 6 }, () => note("busy")), note("calm")]);
      expect(order.indexOf("calm")).toBeLessThan(3);
    });
  });
});
