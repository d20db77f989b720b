import { describe, expect, it } from "vitest";
import { checkHealth, connectGuest } from "./connected-guest.ts";
import { ScriptedGuest } from "../testing/scripted-guest.ts";

const tick = () => new Promise((resolve) => setImmediate(resolve));

/** A guest that says nothing at its start. */
class QuietGuest extends ScriptedGuest {
  constructor() {
    super(
      () => {},
      () => {},
    );
    this.stdout.read();
  }
}

describe("connectGuest", () => {
  it("resolves with the guest and its version", async () => {
    const guest = new ScriptedGuest(() => {});
    const connected = await connectGuest(guest);
    expect([connected.guest, connected.version]).toEqual([guest, "1"]);
    guest.send({ type: "ready", version: "2" });
    await tick();
    expect(connected.version).toBe("1");
  });

  it("fails with the end of the guest's stderr, and kills the guest", async () => {
    const guest = new QuietGuest();
    guest.stderr.write("x".repeat(5_000));
    guest.stderr.write("no such binary\n");
    const failure: unknown = await connectGuest(guest, 5).catch((error: unknown) => error);
    const stderr = expect.stringMatching(/^x+no such binary$/);
    expect(failure).toMatchObject({ code: "GUEST_START_FAILED", details: { stderr } });
    expect((failure as { details: { stderr: string } }).details.stderr).toHaveLength(4_095);
    expect((failure as Error).message).toMatch(/^The guest was not ready within 5 ms\. Its stderr: x/);
    expect(guest.alive).toBe(false);
  });

  it.each<[string, (guest: ScriptedGuest) => void]>([
    ["The guest sent a message before it was ready.", (guest) => guest.send({ type: "done" })],
    ["The guest sent a message that is not JSON at its start.", (guest) => guest.frame("{")],
    [
      "The guest sent a message of more than 65536 bytes at its start.",
      (guest) => guest.frame("x".repeat(70_000)),
    ],
    ["The guest ended at its start (exit code 3).", (guest) => guest.exit({ code: 3 })],
    ["The guest ended at its start (SIGSEGV).", (guest) => guest.exit({ signal: "SIGSEGV" })],
  ])("fails with: %s", async (message, behave) => {
    const guest = new QuietGuest();
    const connecting = connectGuest(guest);
    behave(guest);
    await expect(connecting).rejects.toMatchObject({ code: "GUEST_START_FAILED", message });
  });
});

describe("ConnectedGuest", () => {
  it("counts what it receives, and passes text and messages to the listener only", async () => {
    const guest = new ScriptedGuest(() => {});
    const connected = await connectGuest(guest);
    const before = connected.receivedBytes;
    guest.raw("lost");
    await tick();
    const heard: unknown[] = [];
    connected.listen(
      {
        onMessage: (message, bytes) => heard.push([message.type, bytes]),
        onText: (stream, bytes) => heard.push([stream, bytes.toString()]),
        onViolation: (problem, kind) => heard.push([problem, kind]),
        onExit: ({ code }) => heard.push(["exit", code]),
      },
      20,
    );
    guest.raw("out");
    guest.stderr.write("err");
    guest.send({ type: "done" });
    guest.send({ type: "done", value: 1 });
    await tick();
    expect(heard).toEqual(
      expect.arrayContaining([
        ["stdout", "out"],
        ["stderr", "err"],
        ["done", 15],
        ["a message of more than 20 bytes", "size"],
      ]),
    );
    expect(heard).toHaveLength(4);
    expect(connected.receivedBytes).toBeGreaterThan(before + 10);
    expect(connected.stderrTail).toBe("err");
  });
});

describe("checkHealth", () => {
  it("resolves with nothing for a guest that answers, and with the reason for another", async () => {
    const healthy = await connectGuest(new ScriptedGuest(() => {}));
    expect(await checkHealth(healthy, 1_000)).toBeUndefined();
    const silent = await connectGuest(
      new ScriptedGuest(
        () => {},
        () => {},
      ),
    );
    expect(await checkHealth(silent, 5)).toBe("was not ready within 5 ms");
    const leaving = await connectGuest(
      new ScriptedGuest(
        () => {},
        (guest) => guest.exit({ code: 0 }),
      ),
    );
    expect(await checkHealth(leaving, 1_000)).toBe("ended while idle (exit code 0)");
  });
});
