import type { GuestProviderSettings } from "@cem/sandbox";

/** Settings of `createMicrosandboxProvider`. All are optional. */
export interface MicrosandboxSettings extends GuestProviderSettings {
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
}
