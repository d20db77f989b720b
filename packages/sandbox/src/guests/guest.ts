import type { Readable, Writable } from "node:stream";

/** How a guest ended. */
export interface GuestExit {
  /** Exit code; `null` when a signal ended it. */
  code: number | null;
  /** The signal that ended it; `null` when it exited by itself. */
  signal: string | null;
  /** Whether it is known to have run out of memory. */
  outOfMemory?: boolean | undefined;
}

/** A guest's current resource usage. */
export interface GuestUsage {
  /** Unshared memory of all its processes, in bytes. */
  memoryBytes: number;
  /** Processor time of all its processes since they started, in milliseconds. */
  processorMs: number;
  /** Bytes written since it started, to files and to its output together. */
  writtenBytes: number;
}

/** A started guest: a process or a machine with the guest runner in it, and the byte streams to it. */
export interface Guest {
  /** The secret that marks its messages, sent to it in the `init` message. */
  readonly token: string;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when it has ended and its streams are drained. Never rejects. */
  readonly exited: Promise<GuestExit>;
  /** False once it has ended. */
  readonly alive: boolean;
  /** Its resource usage. Absent or `undefined` where the host can't measure it. */
  usage?(): GuestUsage | undefined;
  /** Keeps the host's process alive for this guest, as `ChildProcess.ref` does. */
  ref?(): void;
  /** Lets the host's process exit while this guest is idle. */
  unref?(): void;
  /** Kills it at once. Further calls do nothing. */
  kill(): void;
}
