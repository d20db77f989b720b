import type { Mount, NetworkPolicy } from "@cem/core";
import type { GuestRuntime } from "./guest-runtime.ts";
import type { PreparedImage } from "./image.ts";

/** What a microVM is made of. */
export interface MicrovmSpec {
  /** Unique on this host. */
  name: string;
  /** As `prepareImage` gave it. */
  image: string;
  cpus: number;
  /** Memory of the whole machine, in MiB. */
  memoryMb: number;
  /** Folders of the host, and where the machine sees them. */
  mounts: readonly Mount[];
  network: NetworkPolicy;
  /** The machine ends by itself after so long, in seconds, whatever becomes of its host. */
  maxSeconds: number;
  labels: Readonly<Record<string, string>>;
}

/** A program to start in a microVM, as the user that is not root. */
export interface MicrovmCommand {
  file: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Largest file it may write, in bytes. */
  fileBytes: number;
}

export type MicrovmEvent =
  | { kind: "stdout" | "stderr"; data: Uint8Array }
  /** `code` is -1 where a signal ended it. */
  | { kind: "exited"; code: number };

/** A program that runs in a microVM: its output as events, its input as bytes. */
export interface MicrovmProcess {
  /** The next event; `undefined` when the machine has gone. */
  next(): Promise<MicrovmEvent | undefined>;
  write(bytes: Uint8Array): Promise<void>;
}

/** A machine that has booted. */
export interface Microvm {
  readonly name: string;
  /** The process on this host that is the machine, where there is one. */
  readonly pid: number | undefined;
  /** What its program has written, in bytes, where there is no process that tells. */
  readonly writtenBytes?: number | undefined;
  exec(command: MicrovmCommand): Promise<MicrovmProcess>;
  /** Ends the machine at once and removes what is kept of it. Safe to call twice. */
  kill(): Promise<void>;
}

/** A machine that the driver knows of, running or not. */
export interface KnownMicrovm {
  name: string;
  labels: Readonly<Record<string, string>>;
}

/** One way to have microVMs. */
export interface MicrovmDriver {
  readonly version: string;
  /** Gets an image ready; `undefined` for one of the driver's own. */
  prepareImage(image: string | undefined, runtime: GuestRuntime): Promise<PreparedImage>;
  create(spec: MicrovmSpec): Promise<Microvm>;
  list(label: string, value: string): Promise<KnownMicrovm[]>;
  remove(name: string): Promise<void>;
}
