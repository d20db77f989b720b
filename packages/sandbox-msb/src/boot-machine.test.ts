import { describe, expect, it } from "vitest";
import { bootMachine } from "./machines.ts";
import type { Microvm, MicrovmSpec } from "./microvm-guest.ts";
import { ProcessMachine } from "./testing/process-machine.ts";

const SPEC: MicrovmSpec = {
  name: "one",
  image: "image",
  memoryMb: 64,
  mounts: [],
  network: "none",
  maxSeconds: 1,
  labels: {},
};

describe("bootMachine", () => {
  it("gives the machine that boots in time", async () => {
    const machine = new ProcessMachine();
    const removed: string[] = [];
    const driver = { create: async () => machine, remove: async (name: string) => void removed.push(name) };
    expect(await bootMachine(driver, SPEC, 60_000)).toBe(machine);
    expect([machine.killed, removed]).toEqual([0, []]);
  });

  it("removes a machine that is late, and kills it when it boots all the same", async () => {
    const machine = new ProcessMachine();
    const boot = Promise.withResolvers<Microvm>();
    const removed: string[] = [];
    const driver = {
      create: () => boot.promise,
      remove: async (name: string) => {
        removed.push(name);
        throw new Error("not there yet");
      },
    };
    await expect(bootMachine(driver, SPEC, 5)).rejects.toMatchObject({
      code: "GUEST_START_FAILED",
      details: { timeoutMs: 5 },
    });
    expect([machine.killed, removed]).toEqual([0, ["one"]]);
    boot.resolve(machine);
    await expect.poll(() => machine.killed).toBe(1);
  });

  it("fails as the driver does", async () => {
    const driver = { create: () => Promise.reject(new Error("no such image")), remove: async () => {} };
    await expect(bootMachine(driver, SPEC, 60_000)).rejects.toThrow("no such image");
  });
});
