import { randomBytes } from "node:crypto";
import { PassThrough, Transform } from "node:stream";
import type { Guest, GuestExit } from "@cem/sandbox";
import { encodeHostMessage, type GuestInit } from "@cem/sandbox/provider-kit";
import type { V1Status } from "@kubernetes/client-node";
import type { Cluster, ExecConnection } from "./cluster.ts";

const TOKEN_BYTES = 16;
/** Input is sent in messages of at most this size. */
const PIECE_BYTES = 32 * 1024;
const KILLED_EXIT_CODE = 137;

/** A ready sandbox of the cluster. */
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
  const token = randomBytes(TOKEN_BYTES).toString("hex");
  const stdin = inPieces();
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const ended = Promise.withResolvers<V1Status | undefined>();
  let hasEnded = false;
  let isKilled = false;

  async function follow(connection: ExecConnection): Promise<GuestExit> {
    const status = await ended.promise;
    hasEnded = true;
    const wasKilled = isKilled;
    // The pod may take a while to end; until then, the program could still write.
    await sandbox.end();
    connection.close();
    stdout.end();
    stderr.end();
    const code = wasKilled || status === undefined ? undefined : exitCodeOf(status);
    if (code === undefined) return { code: null, signal: wasKilled ? "SIGKILL" : "the pod has gone" };
    // A signal from within a pod that is still running: its memory limit was reached.
    if (code === KILLED_EXIT_CODE) return { code: null, signal: "SIGKILL", outOfMemory: true };
    return { code, signal: null };
  }

  stdin.write(encodeHostMessage({ type: "init", token, ...init }));
  const { pod, container } = sandbox;
  const onStatus = (status: V1Status): void => ended.resolve(status);
  let connection: ExecConnection;
  try {
    connection = await cluster.exec({ pod, container, command, stdin, stdout, stderr, onStatus });
  } catch (error) {
    await sandbox.end();
    throw error;
  }
  const onGone = (): void => ended.resolve(undefined);
  connection.addEventListener("close", onGone);
  connection.addEventListener("error", onGone);
  return {
    token,
    stdin,
    stdout,
    stderr,
    exited: follow(connection),
    get alive() {
      return !hasEnded && !isKilled;
    },
    kill() {
      isKilled = true;
      ended.resolve(undefined);
    },
  };
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
