import type { IsolationLevel } from "@cem/core";
import type { GuestPlan } from "./guest-plan.ts";

/** How to start one guest. */
export interface SpawnPlan {
  file: string;
  args: string[];
  /** All of the guest's environment. */
  env: Record<string, string>;
  cwd: string;
  /** A file to open for reading as file descriptor 3. */
  descriptorFile?: string | undefined;
  /** A folder of this guest's own, to remove when it has ended. */
  ownFolder?: string | undefined;
  /** Guest folders and where they really are, where the guest has no view of its own. */
  paths?: Record<string, string> | undefined;
}

/** One way of holding a guest. */
export interface IsolationBackend {
  readonly name: "bubblewrap" | "unshare" | "permissions";
  readonly level: IsolationLevel;
  /** What holds the guest, for people. */
  readonly mechanisms: readonly string[];
  plan(plan: GuestPlan): SpawnPlan;
}

/** A backend, or why this host can't have it. */
export type BackendProbe = { ok: true; backend: IsolationBackend } | { ok: false; reason: string };
