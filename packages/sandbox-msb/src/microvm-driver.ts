import type { Mount, NetworkPolicy } from "@cem/core";
import type { MachineCommand } from "@cem/sandbox/provider-kit";

/** Properties of a microVM to create. */
export interface MicrovmSpec {
  /** Unique on this host. */
  name: string;
  /** Name from `prepareImage`. */
  image: string;
  cpus: number;
  /** Memory of the whole machine, in MiB. */
  memoryMb: number;
  /** Folders of the host to mount. */
  mounts: readonly Mount[];
  network: NetworkPolicy;
  /** Lifetime in seconds, after which the machine ends by itself, even without its host. */
  maxSeconds: number;
  labels: Readonly<Record<string, string>>;
}

/** Output or end of a program in a microVM. */
export type MicrovmEvent =
  | { kind: "stdout" | "stderr"; data: Uint8Array }
  /** `code` is -1 when a signal ended it. */
  | { kind: "exited"; code: number };

/** A program running in a microVM. */
export interface MicrovmProcess {
  /** Resolves with the next event; `undefined` when the machine is gone. */
  next(): Promise<MicrovmEvent | undefined>;
  /** Writes to its stdin. */
  write(bytes: Uint8Array): Promise<void>;
}

/** A booted machine. */
export interface Microvm {
  readonly name: string;
  /** The process on this host that runs the machine, if known. */
  readonly pid: number | undefined;
  /** Bytes written by its program, where no process on this host can be measured. */
  readonly writtenBytes?: number | undefined;
  /** Starts a program, as an unprivileged user. */
  exec(command: MachineCommand): Promise<MicrovmProcess>;
  /** Kills the machine and removes its files. Further calls do nothing. */
  kill(): Promise<void>;
}

/** A machine known to the driver, running or not. */
export interface KnownMicrovm {
  name: string;
  labels: Readonly<Record<string, string>>;
}
