import { randomBytes } from "node:crypto";
import { Duplex, PassThrough, type Writable } from "node:stream";
import { type Guest, type GuestExit, type GuestUsage } from "@cem/sandbox";
import { encodeHostMessage, readUsage } from "@cem/sandbox/provider-kit";
import type { Microvm, MicrovmCommand, MicrovmProcess } from "./microvm-driver.ts";

/** What the kernel and the runtime take of a machine before the program has anything. */
export const MACHINE_OVERHEAD_MB = 192;

const TOKEN_BYTES = 16;
/** Input is handed to the machine in pieces: it copies each whole. */
const PIECE_BYTES = 64 * 1024;

/**
 * Starts the runner in a machine that has booted, and makes a guest of both: with the one the other ends.
 * `reuse`: it may have more than one run.
 */
export async function startMicrovmGuest(
  machine: Microvm,
  reuse: boolean,
  command: MicrovmCommand,
): Promise<Guest> {
  try {
    return new MicrovmGuest(machine, await machine.exec(command), reuse);
  } catch (error) {
    await machine.kill().catch(() => {});
    throw error;
  }
}

class MicrovmGuest implements Guest {
  readonly token: string = randomBytes(TOKEN_BYTES).toString("hex");
  readonly stdin: Writable;
  readonly stdout = new PassThrough();
  readonly stderr = new PassThrough();
  readonly exited: Promise<GuestExit>;
  readonly #machine: Microvm;
  #alive = true;
  #killed = false;

  constructor(machine: Microvm, runner: MicrovmProcess, reuse: boolean) {
    this.#machine = machine;
    this.stdin = inputOf(runner);
    this.exited = this.#follow(runner);
    this.stdin.write(encodeHostMessage({ type: "init", token: this.token, reuse }));
  }

  get alive(): boolean {
    return this.#alive && !this.#killed;
  }

  usage(): GuestUsage | undefined {
    const { pid, writtenBytes } = this.#machine;
    if (writtenBytes !== undefined) return { memoryBytes: 0, writtenBytes };
    const usage = pid === undefined ? undefined : readUsage(pid);
    // Its memory is bounded by the machine's own; what the process holds is the machine's, not the program's.
    return usage === undefined ? undefined : { memoryBytes: 0, writtenBytes: usage.writtenBytes };
  }

  kill(): void {
    if (this.#killed) return;
    this.#killed = true;
    void this.#machine.kill().catch(() => {});
  }

  async #follow(runner: MicrovmProcess): Promise<GuestExit> {
    const exit = await this.#pump(runner).catch(() => undefined);
    this.#alive = false;
    this.stdout.end();
    this.stderr.end();
    const wasKilled = this.#killed;
    this.kill();
    await this.#machine.kill().catch(() => {});
    if (exit === undefined || wasKilled)
      return { code: null, signal: wasKilled ? "SIGKILL" : "the machine has gone" };
    // A signal that did not come from here, in a machine that lives on: its kernel had no memory left.
    if (exit === -1 || exit === 137) return { code: null, signal: "SIGKILL", outOfMemory: true };
    return { code: exit, signal: null };
  }

  /** Hands on what the runner says, no faster than it is read, until it ends; its exit code. */
  async #pump(runner: MicrovmProcess): Promise<number | undefined> {
    for (;;) {
      const event = await runner.next();
      if (event === undefined) return undefined;
      if (event.kind === "exited") return event.code;
      const stream = event.kind === "stdout" ? this.stdout : this.stderr;
      if (stream.write(event.data)) continue;
      await new Promise<void>((resolve) => {
        stream.once("drain", resolve);
      });
    }
  }
}

function inputOf(runner: MicrovmProcess): Writable {
  return Duplex.from(async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) await writePieces(runner, Buffer.from(chunk));
  });
}

async function writePieces(runner: MicrovmProcess, bytes: Buffer): Promise<void> {
  for (let offset = 0; offset < bytes.length; offset += PIECE_BYTES) {
    await runner.write(bytes.subarray(offset, offset + PIECE_BYTES));
  }
}
