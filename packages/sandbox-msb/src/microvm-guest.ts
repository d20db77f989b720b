import { once } from "node:events";
import { Duplex, PassThrough, type Writable } from "node:stream";
import type { Guest, GuestUsage } from "@cem/sandbox";
import { createMachineGuest, createUsageReader } from "@cem/sandbox/provider-kit";
import type { GuestInit, MachineCommand } from "@cem/sandbox/provider-kit";
import type { Mount, NetworkPolicy } from "@cem/core";

export interface MicrovmSpec {
  name: string;
  /** Name from `prepareImage`. */
  image: string;
  /** Memory of the whole machine, in MiB. */
  memoryMb: number;
  mounts: readonly Mount[];
  network: NetworkPolicy;
  /** Lifetime in seconds, after which the machine ends by itself, even without its host. */
  maxSeconds: number;
  labels: Readonly<Record<string, string>>;
}

export type MicrovmEvent =
  | { kind: "stdout" | "stderr"; data: Uint8Array }
  /** `code` is -1 when a signal ended it. */
  | { kind: "exited"; code: number };

export interface MicrovmProcess {
  /** Resolves with the next event; `undefined` when the machine is gone. */
  next(): Promise<MicrovmEvent | undefined>;
  write(bytes: Uint8Array): Promise<void>;
}

export interface Microvm {
  readonly name: string;
  /** The process on this host that runs the machine, if known. */
  readonly pid: number | undefined;
  /** Bytes written by its program, when no process on this host can be measured. */
  readonly writtenBytes?: number | undefined;
  /** Starts a program, as an unprivileged user. */
  exec(command: MachineCommand): Promise<MicrovmProcess>;
  /** Kills the machine and removes its files. Further calls do nothing. */
  kill(): Promise<void>;
}

/** Memory of a machine for its kernel and runtime, beyond the program's limit, in MiB. */
export const MACHINE_OVERHEAD_MB = 192;

/** Input is written in pieces of this size, since each is copied as a whole. */
const PIECE_BYTES = 64 * 1024;

/** Starts the guest runner in a machine. The guest and its machine end together, also where the start fails. */
export async function startMicrovmGuest(machine: Microvm, init: GuestInit, command: MachineCommand) {
  try {
    return guestIn(machine, await machine.exec(command), init);
  } catch (error) {
    await machine.kill().catch(() => {});
    throw error;
  }
}

function guestIn(machine: Microvm, runner: MicrovmProcess, init: GuestInit): Guest {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  let measure: (() => GuestUsage | undefined) | undefined;
  const end = (): Promise<void> => machine.kill().catch(() => {});

  /** Forwards the runner's output with backpressure until it ends; resolves with its exit code. */
  async function pump(): Promise<number | undefined> {
    for (;;) {
      const event = await runner.next();
      if (event === undefined) return undefined;
      if (event.kind === "exited") return event.code;
      const stream = event.kind === "stdout" ? stdout : stderr;
      if (!stream.write(event.data)) await once(stream, "drain");
    }
  }

  return createMachineGuest(
    {
      kind: "machine",
      stdin: inputOf(runner),
      stdout,
      stderr,
      exitCode: pump().catch(() => undefined),
      kill: () => void end(),
      end,
      usage() {
        const { pid, writtenBytes } = machine;
        if (writtenBytes !== undefined) return { memoryBytes: 0, processorMs: 0, writtenBytes };
        const usage = pid === undefined ? undefined : (measure ??= createUsageReader(pid))();
        // The machine's own size bounds its memory; the process's memory is the machine's, not the program's.
        return usage && { ...usage, memoryBytes: 0 };
      },
    },
    init,
  );
}

function inputOf(runner: MicrovmProcess): Writable {
  return Duplex.from(async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) {
      const bytes = Buffer.from(chunk);
      for (let offset = 0; offset < bytes.length; offset += PIECE_BYTES)
        await runner.write(bytes.subarray(offset, offset + PIECE_BYTES));
    }
  });
}
