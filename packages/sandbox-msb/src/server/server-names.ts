import { createHash, randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { processIdentity } from "../machine-process.ts";
import type { SandboxName, ServerRpc } from "./server-rpc.ts";

/** The namespace of this package's machines on a server. */
const NAMESPACE = "cem";
const HOST_CHARACTERS = 8;
const NAME_BYTES = 5;
const OWN_NAME = /^cem-([0-9a-f]+)-(\d+(?:-\d+)?)-[0-9a-f]+$/;

/** Identifies this host among those that share a server. */
function hostMark(): string {
  return createHash("sha256").update(hostname()).digest("hex").slice(0, HOST_CHARACTERS);
}

/** A new machine name, which contains its owner, since the server keeps no labels. */
export function newServerSandbox(): SandboxName {
  const owner = processIdentity(process.pid) ?? String(process.pid);
  const unique = randomBytes(NAME_BYTES).toString("hex");
  return { namespace: NAMESPACE, sandbox: `cem-${hostMark()}-${owner}-${unique}` };
}

/** Stops the machines of processes on this host that no longer run, and no others. Resolves with their number. */
export async function sweepServer(rpc: ServerRpc): Promise<number> {
  // The server answers with an error until the namespace has its first machine.
  const names = await rpc.running(NAMESPACE).catch(() => []);
  let stopped = 0;
  for (const sandbox of names) {
    const [, host, owner = ""] = OWN_NAME.exec(sandbox) ?? [];
    if (host !== hostMark() || processIdentity(Number.parseInt(owner, 10)) === owner) continue;
    await rpc.stop({ namespace: NAMESPACE, sandbox }).then(
      () => (stopped += 1),
      // Another process stops it too.
      () => {},
    );
  }
  return stopped;
}

/**
 * Checks that the server answers and accepts the key, without changing anything.
 *
 * @throws CemError `SANDBOX_SERVER_UNREACHABLE` or `SANDBOX_SERVER_REFUSED`.
 */
export async function checkServer(rpc: ServerRpc, signal?: AbortSignal): Promise<void> {
  await rpc.health(signal);
  await rpc.checkKey(NAMESPACE);
}
