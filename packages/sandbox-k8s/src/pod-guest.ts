import { PassThrough, Transform } from "node:stream";
import type { Guest } from "@cem/sandbox";
import { createMachineGuest, type GuestInit } from "@cem/sandbox/provider-kit";
import type { V1Status } from "@kubernetes/client-node";
import type { Cluster, ExecConnection } from "./cluster.ts";

/** Input is sent in messages of at most this size. */
const PIECE_BYTES = 32 * 1024;

export interface ReadySandbox {
  pod: string;
  container: string;
  /** Ends the sandbox; resolves when its pod is gone from the cluster. */
  end(): Promise<void>;
}

/** Starts the guest runner in a sandbox. The guest and its sandbox end together. */
export async function startPodGuest(
  cluster: Cluster,
  sandbox: ReadySandbox,
  command: string[],
  init: GuestInit,
): Promise<Guest> {
  const { pod, container } = sandbox;
  const stdin = inPieces();
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const { promise: exitCode, resolve: end } = Promise.withResolvers<number | undefined>();
  const onStatus = (status: V1Status): void => end(exitCodeOf(status));
  let connection: ExecConnection;
  try {
    connection = await cluster.exec({ pod, container, command, stdin, stdout, stderr, onStatus });
  } catch (error) {
    await sandbox.end();
    throw error;
  }
  const gone = (): void => end(undefined);
  connection.addEventListener("close", gone);
  connection.addEventListener("error", gone);
  return createMachineGuest(
    {
      kind: "pod",
      stdin,
      stdout,
      stderr,
      exitCode,
      kill: gone,
      async end() {
        // The pod may take a while to end; until then, the program could still write.
        await sandbox.end();
        connection.close();
      },
    },
    init,
  );
}

/** The exit code in the final status of a command; `undefined` when it has none. */
function exitCodeOf({ status, details }: V1Status): number | undefined {
  if (status === "Success") return 0;
  const cause = details?.causes?.find(({ reason }) => reason === "ExitCode");
  const code = Number(cause?.message);
  return cause === undefined || !Number.isInteger(code) ? undefined : code;
}

function inPieces(): Transform {
  return new Transform({
    transform(chunk: Buffer, _, done) {
      for (let offset = 0; offset < chunk.length; offset += PIECE_BYTES)
        this.push(chunk.subarray(offset, offset + PIECE_BYTES));
      done();
    },
  });
}
