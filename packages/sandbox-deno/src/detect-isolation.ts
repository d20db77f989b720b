import { CemError, type IsolationLevel } from "@cem/core";
import { connectGuest, requireLevel } from "@cem/sandbox/provider-kit";
import { findBubblewrap } from "./bubblewrap.ts";
import type { BackendProbe, GuestPlan, IsolationBackend } from "./guest-plan.ts";
import { permissionsOnly } from "./permissions.ts";
import { findSandboxExec } from "./sandbox-exec.ts";
import { startGuest } from "./start-guest.ts";
import { findUnshare } from "./unshare.ts";

/** An isolation backend by name, or `auto` for the strongest that works on this host. */
export type IsolationChoice = "auto" | IsolationBackend["name"];

const FINDERS: Record<Exclude<IsolationChoice, "auto">, () => BackendProbe> = {
  bubblewrap: findBubblewrap,
  unshare: findUnshare,
  "sandbox-exec": findSandboxExec,
  permissions: () => ({ ok: true, backend: permissionsOnly() }),
};
const STRONGEST_FIRST: readonly IsolationBackend["name"][] =
  process.platform === "darwin" ? ["sandbox-exec", "permissions"] : ["bubblewrap", "unshare", "permissions"];

/** The isolation backend that works on this host. */
export type DetectedIsolation = Awaited<ReturnType<typeof detectIsolation>>;

/**
 * Finds the backends whose programs are installed, strongest first, and why the others are missing. Only a booted guest
 * proves that one works.
 */
export function findCandidates(choice: IsolationChoice) {
  const backends: IsolationBackend[] = [];
  const notes: string[] = [];
  for (const name of choice === "auto" ? STRONGEST_FIRST : [choice]) {
    const found = FINDERS[name]();
    if (found.ok) backends.push(found.backend);
    else notes.push(`${name}: ${found.reason}`);
  }
  return { backends, notes };
}

/**
 * Boots a guest in each candidate, strongest first, and returns the first that works.
 *
 * @throws CemError `SANDBOX_UNAVAILABLE` when none does, with the reason for each in `details.problems`.
 */
export async function detectIsolation(
  { backends, notes }: ReturnType<typeof findCandidates>,
  planFor: (backend: IsolationBackend) => GuestPlan,
) {
  const problems = [...notes];
  for (const backend of backends) {
    const plan = planFor(backend);
    try {
      const { guest, version } = await connectGuest(startGuest(backend, plan));
      guest.kill();
      return { backend, notes: problems, version };
    } catch (error) {
      if (!CemError.isInstance(error)) throw error;
      problems.push(`${backend.name}: ${error.message}`);
    }
  }
  throw new CemError("SANDBOX_UNAVAILABLE", `No Deno sandbox starts on this host (${problems.join("; ")}).`, {
    details: { problems },
  });
}

/** How to get stronger isolation on this platform, up to the wanted level. */
export function isolationHint(wanted?: IsolationLevel): string {
  if (wanted === "microvm") return "Use a microVM sandbox (execution.sandbox_type: microsandbox).";
  if (process.platform !== "linux") return "Use a microVM sandbox, or run on Linux with bubblewrap.";
  return "Install bubblewrap (apt install bubblewrap, dnf install bubblewrap) and allow user namespaces, or use a microVM sandbox.";
}

/** Checks that a backend reaches the wanted level. `notes`: why stronger backends don't work. */
export function requireIsolation(
  backend: IsolationBackend,
  wanted: IsolationLevel | undefined,
  notes: readonly string[],
): void {
  const why = notes.length > 0 ? `Tried: ${notes.join("; ")}. ` : "";
  const advice = why + isolationHint(wanted);
  const reached = `the Deno sandbox reaches ${backend.level} here`;
  requireLevel(wanted, backend, { reached, notes, advice });
}
