import type { IsolationLevel } from "@cem/core";
import type { GuestInit, GuestPlan } from "./guest-plan.ts";

/** The command that starts one guest. */
export interface SpawnPlan {
  file: string;
  args: string[];
  /** The guest's complete environment. */
  env: Record<string, string>;
  cwd: string;
  /** A file to open for reading as file descriptor 3. */
  descriptorFile?: string | undefined;
  /** A folder of this guest alone, removed after its end. */
  ownFolder?: string | undefined;
  /** The backend's part of the guest's `init` message. */
  init: GuestInit;
}

/** One way to isolate a guest from the host. */
export interface IsolationBackend {
  readonly name: "bubblewrap" | "unshare" | "sandbox-exec" | "permissions";
  readonly level: IsolationLevel;
  /** The mechanisms in force, for display. */
  readonly mechanisms: readonly string[];
  /** Builds the command for one guest. */
  plan(plan: GuestPlan): SpawnPlan;
}

/** A backend, or the reason why this host can't use it. */
export type BackendProbe = { ok: true; backend: IsolationBackend } | { ok: false; reason: string };
