import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { CemError } from "@cem/core";
import type { Cluster } from "./cluster.ts";
import { readyPod, rfc3339, type SandboxResource } from "./guest-pod.ts";

const NAME_BYTES = 6;
const RENEWED_AFTER = 1 / 3;
const POLL_MS = 200;
/** How long to wait for a sandbox's end. Its lease ends it in any case. */
const END_TIMEOUT_MS = 60_000;
const MAX_LABEL = 63;
/** A label's value begins and ends with a letter or digit. */
const LABEL = /[\da-z](?:[\w.-]*[\da-z])?/i;

export function guestLabels(): Record<string, string> {
  const name = hostname().slice(0, MAX_LABEL);
  const [host = "host"] = LABEL.exec(name.replaceAll(/[^\w.-]/g, "")) ?? [];
  return {
    "app.kubernetes.io/component": "guest",
    "app.kubernetes.io/managed-by": "code-execution-mcp",
    "cem/host": host,
  };
}

export function newGuestName(): string {
  return `cem-guest-${randomBytes(NAME_BYTES).toString("hex")}`;
}

/** The sandboxes of one process: created, waited for, renewed while they live, removed. */
export function createGuestSandboxes(cluster: Cluster, leaseMs: number) {
  const living = new Set<string>();
  let renewing: NodeJS.Timeout | undefined;
  const leaseEnd = (): Date => new Date(Date.now() + leaseMs);

  async function renew(): Promise<void> {
    const until = rfc3339(leaseEnd());
    await Promise.allSettled([...living].map((name) => cluster.renew(name, until)));
  }

  /** Removes a sandbox and waits until its pod is gone. Never rejects: a sandbox that can't be removed ends with its lease. */
  async function end(name: string): Promise<void> {
    living.delete(name);
    if (living.size === 0) {
      clearInterval(renewing);
      renewing = undefined;
    }
    try {
      await cluster.remove(name);
      await until(name, END_TIMEOUT_MS, (found) => (found === undefined ? name : undefined));
    } catch {
      // The cluster can't be reached, or no longer accepts this process's credentials.
    }
  }

  /** Polls a sandbox until it yields a value; `undefined` on timeout. */
  async function until<Value>(
    name: string,
    timeoutMs: number,
    read: (found: SandboxResource | undefined) => Value | undefined,
  ): Promise<Value | undefined> {
    const signal = AbortSignal.timeout(timeoutMs);
    while (!signal.aborted) {
      const value = read(await cluster.find(name));
      if (value !== undefined) return value;
      await sleep(POLL_MS, undefined, { signal }).catch(() => {});
    }
    return undefined;
  }

  async function notReady(name: string, timeoutMs: number): Promise<CemError> {
    const found = await cluster.find(name).catch(() => undefined);
    const pod = await cluster.pod(name).catch(() => undefined);
    const waiting = pod?.status?.containerStatuses?.map(({ state }) => state?.waiting).find(Boolean);
    const unscheduled = pod?.status?.conditions?.find(({ status }) => status === "False");
    const condition = found?.status?.conditions?.find(({ type }) => type === "Ready");
    const said = [waiting, unscheduled, condition]
      .filter((one) => one !== undefined)
      .map(({ reason, message }) => [reason, message].filter(Boolean).join(": "))
      .find((text) => text !== "");
    return new CemError(
      "GUEST_START_FAILED",
      `The pod of the Sandbox ${name} was not ready within ${timeoutMs} ms: ${said ?? "no controller has taken it up; is agent-sandbox running?"}`,
      { details: { sandbox: name, timeoutMs, reason: said } },
    );
  }

  return {
    leaseEnd,
    end,
    /** Creates a sandbox and resolves with its pod's name when that is ready. @throws CemError `GUEST_START_FAILED`. */
    async start(resource: SandboxResource, timeoutMs: number): Promise<string> {
      const name = resource.metadata.name ?? "";
      await cluster.create(resource);
      living.add(name);
      renewing ??= setInterval(() => void renew(), leaseMs * RENEWED_AFTER).unref();
      try {
        const pod = await until(name, timeoutMs, (found) => {
          if (found !== undefined) return readyPod(found);
          throw new CemError("GUEST_START_FAILED", `The Sandbox ${name} was deleted.`);
        });
        if (pod !== undefined) return pod;
        throw await notReady(name, timeoutMs);
      } catch (error) {
        await end(name);
        throw error;
      }
    },
  };
}
