import { randomBytes } from "node:crypto";
import type { Writable } from "node:stream";
import { encodeHostMessage, type InitMessage } from "../protocol/host-messages.ts";
import type { Guest, GuestExit } from "./guest.ts";

const TOKEN_BYTES = 16;
/** Exit codes of a process that was killed by a signal. */
const KILLED_CODES = new Set([-1, 137]);

/** The settings that a guest gets at its start: its files, host tools and use. */
export type GuestInit = Omit<InitMessage, "type" | "token">;

/** A started guest runner. */
export interface GuestRunner extends Omit<Guest, "token" | "alive"> {
  hasEnded: () => boolean;
}

/** Makes a started guest runner a guest: gives it its token, in the `init` message. */
export function createGuest({ hasEnded, ...runner }: GuestRunner, init: GuestInit): Guest {
  const token = randomBytes(TOKEN_BYTES).toString("hex");
  let isKilled = false;
  runner.stdin.write(encodeHostMessage({ type: "init", token, ...init }));
  return {
    ...runner,
    token,
    get alive() {
      return !isKilled && !hasEnded();
    },
    kill() {
      isKilled = true;
      runner.kill();
    },
  };
}

/** A guest runner in a machine or pod, which ends with it. */
export interface MachineRunner extends Pick<Guest, "stdin" | "usage"> {
  kind: "machine" | "pod";
  stdout: Writable & Guest["stdout"];
  stderr: Writable & Guest["stderr"];
  /** The runner's exit code, -1 for a signal; `undefined` when the machine was killed or is gone. */
  exitCode: Promise<number | undefined>;
  /** Makes `exitCode` resolve. */
  kill(): void;
  /** Ends the machine; resolves when no program runs in it. Never rejects. */
  end: () => Promise<void>;
}

/** Makes a guest of a guest runner in a machine or pod. */
export function createMachineGuest(machine: MachineRunner, init: GuestInit): Guest {
  const { kind, exitCode, end, ...streams } = machine;
  const { stdout, stderr } = streams;
  let hasEnded = false;
  let isKilled = false;

  async function follow(): Promise<GuestExit> {
    const code = await exitCode;
    hasEnded = true;
    const wasKilled = isKilled;
    await end();
    stdout.end();
    stderr.end();
    if (wasKilled || code === undefined)
      return { code: null, signal: wasKilled ? "SIGKILL" : `the ${kind} has gone` };
    // A signal from within a machine that is still running: its memory ran out.
    if (KILLED_CODES.has(code)) return { code: null, signal: "SIGKILL", outOfMemory: true };
    return { code, signal: null };
  }

  function kill(): void {
    isKilled = true;
    machine.kill();
  }
  return createGuest({ ...streams, exited: follow(), hasEnded: () => hasEnded, kill }, init);
}
