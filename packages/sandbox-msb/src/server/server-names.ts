import { createHash, randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { processIdentity } from "../machine-process.ts";
import type { SandboxName, ServerRpc } from "./server-rpc.ts";

/** All machines of this project on a server. */
const NAMESPACE = "cem";
const HOST_CHARACTERS = 8;
const NAME_BYTES = 5;
const OWN_NAME = /^cem-([0-9a-f]+)-(\d+(?:-\d+)?)-[0-9a-f]+$/;

/** This host, among those that may share a server. */
function hostMark(): string {
  return createHash("sha256").update(hostname()).digest("hex").slice(0, HOST_CHARACTERS);
}

/** A name that says whose it is: the server keeps no labels. */
export function newServerSandbox(): SandboxName {
  const owner = processIdentity(process.pid) ?? String(process.pid);
  const unique = randomBytes(NAME_BYTES).toString("hex");
  return { namespace: NAMESPACE, sandbox: `cem-${hostMark()}-${owner}-${unique}` };
}

/** Stops machines whose process on this host has gone, and no others. Gives how many there were. */
export async function sweepServer(rpc: ServerRpc): Promise<number> {
  // Before the first machine there is no namespace, which the server answers with an error.
  const names = await rpc.running(NAMESPACE).catch(() => []);
  let stopped = 0;
  for (const sandbox of names) {
    const [, host, owner = ""] = OWN_NAME.exec(sandbox) ?? [];
    if (host !== hostMark() || processIdentity(Number.parseInt(owner, 10)) === owner) continue;
    await rpc.stop({ namespace: NAMESPACE, sandbox }).then(
      () => (stopped += 1),
      // Another process sweeps as well.
      () => {},
    );
  }
  return stopped;
}

/**
 * Asks the server for something that takes the key and changes nothing.
 *
 * @throws CemError `SANDBOX_SERVER_UNREACHABLE` or `SANDBOX_SERVER_REFUSED`.
 */
export async function checkServer(rpc: ServerRpc, signal?: AbortSignal): Promise<void> {
  await rpc.health(signal);
  await rpc.checkKey(NAMESPACE);
}
