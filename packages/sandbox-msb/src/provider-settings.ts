import type { SandboxProvider, SandboxSpec } from "@cem/core";
import type { GuestSandbox, SandboxReuse } from "@cem/sandbox";

/** Settings of `createMicrosandboxProvider`. All are optional. */
export interface MicrosandboxSettings {
  /**
   * OCI reference, or absolute path of an archive (docker save, OCI layout), a folder or a disk image. All it needs is
   * a C library (glibc).
   *
   * @defaultValue An image built from this host's C library.
   */
  image?: string | undefined;
  /**
   * Processors of each machine.
   *
   * @defaultValue 1
   */
  cpus?: number | undefined;
  /**
   * Folder for machines, images and logs, which only this user can read.
   *
   * @defaultValue `~/.cache/cem/microsandbox`
   */
  home?: string | undefined;
  /**
   * Absolute path of a Deno 2.9 binary for Linux.
   *
   * @defaultValue The binary that npm installed.
   */
  denoPath?: string | undefined;
  /**
   * Timeout for a machine's boot, in milliseconds.
   *
   * @defaultValue 30,000
   */
  bootTimeoutMs?: number | undefined;
  /**
   * Concurrent runs over all sandboxes of this provider; further runs are queued.
   *
   * @defaultValue The number of processors, at least 2.
   */
  maxConcurrentRuns?: number | undefined;
  /**
   * Number of booted machines that each sandbox keeps ready.
   *
   * @defaultValue 2
   */
  standby?: number | undefined;
  /**
   * Upper bound of ready machines, which grow by one with each run that finds none ready.
   *
   * @defaultValue Four times `standby`.
   */
  maxStandby?: number | undefined;
  /**
   * Guests that wait for the next run of their session; beyond it the one that has waited longest ends.
   *
   * @defaultValue 16
   */
  keptGuests?: number | undefined;
  /**
   * Idle time after which a sandbox kills its ready and kept machines, in milliseconds.
   *
   * @defaultValue 300,000
   */
  idleMs?: number | undefined;
  /**
   * `session`: runs of the same session may share a machine, one after another.
   *
   * @defaultValue `none`
   */
  reuse?: SandboxReuse | undefined;
  /** Timeout for a run's wait in the queue, in milliseconds. Absent: no timeout. */
  queueTimeoutMs?: number | undefined;
}

/** A provider whose sandboxes tell their stats and can be drained. */
export interface MicrosandboxProvider extends SandboxProvider {
  create(spec: SandboxSpec, options?: { signal?: AbortSignal | undefined }): Promise<GuestSandbox>;
}
