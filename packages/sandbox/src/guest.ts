import type { Readable, Writable } from "node:stream";

/** How a guest ended. */
export interface GuestExit {
  /** Exit code, where it ended by itself. */
  code: number | null;
  /** The signal that ended it, where one did. */
  signal: string | null;
  /** True where it is known that memory ran out. */
  outOfMemory?: boolean | undefined;
}

/** What a guest uses right now. */
export interface GuestUsage {
  /** Memory of all its processes that is not shared with others, in bytes. */
  memoryBytes: number;
  /** What it wrote since it started, to files and to its output together, in bytes. */
  writtenBytes: number;
}

/** One guest that has booted, and will run one program: a duplex byte channel and a way to end it. */
export interface Guest {
  /** The secret that its frames carry. */
  readonly token: string;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when it has ended and its streams are drained. */
  readonly exited: Promise<GuestExit>;
  /** False once it has ended. */
  readonly alive: boolean;
  /** What it uses; absent where the host can't tell. */
  usage?(): GuestUsage | undefined;
  /** Whether it keeps the host's process alive; guests that wait for a run don't. */
  ref?(): void;
  unref?(): void;
  /** Ends it at once. Safe to call twice. */
  kill(): void;
}
