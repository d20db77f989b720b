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
  /** Ends the sandbox; resolves when the cluster has no pod of it any more. */
  end(): Promise<void>;
}

/** Starts the guest runner in a sandbox. The guest and its sandbox end together. */
export async function startPodGuest(
  cluster: Cluster,
  sandbox: ReadySandbox,
  command: string[],
  init: GuestInit,
): Promise<Guest> {
  const guest = new PodGuest(sandbox, init);
  try {
    await guest.start(cluster, command);
    return guest;
  } catch (error) {
    await sandbox.end();
    throw error;
  }
}

class PodGuest implements Guest {
  readonly token: string = randomBytes(TOKEN_BYTES).toString("hex");
  readonly stdin: Transform = inPieces();
  readonly stdout: PassThrough = new PassThrough();
  readonly stderr: PassThrough = new PassThrough();
  readonly exited: Promise<GuestExit>;
  readonly #sandbox: ReadySandbox;
  readonly #ended: PromiseWithResolvers<V1Status | undefined> = Promise.withResolvers();
  #connection: ExecConnection | undefined;
  #alive = true;
  #killed = false;

  constructor(sandbox: ReadySandbox, init: GuestInit) {
    this.#sandbox = sandbox;
    this.exited = this.#follow();
    this.stdin.write(encodeHostMessage({ type: "init", token: this.token, ...init }));
  }

  async start(cluster: Cluster, command: string[]): Promise<void> {
    const { pod, container } = this.#sandbox;
    const { stdin, stdout, stderr } = this;
    const onStatus = (status: V1Status) => this.#ended.resolve(status);
    const connection = await cluster.exec({ pod, container, command, stdin, stdout, stderr, onStatus });
    this.#connection = connection;
    const onGone = () => this.#ended.resolve(undefined);
    connection.addEventListener("close", onGone);
    connection.addEventListener("error", onGone);
  }

  get alive(): boolean {
    return this.#alive && !this.#killed;
  }

  kill(): void {
    if (this.#killed) return;
    this.#killed = true;
    this.#ended.resolve(undefined);
  }

  async #follow(): Promise<GuestExit> {
    const status = await this.#ended.promise;
    this.#alive = false;
    const wasKilled = this.#killed;
    // The pod may be gone only after a while: until then the program could still write.
    await this.#sandbox.end();
    this.#connection?.close();
    this.stdout.end();
    this.stderr.end();
    const code = wasKilled || status === undefined ? undefined : exitCodeOf(status);
    if (code === undefined) return { code: null, signal: wasKilled ? "SIGKILL" : "the pod has gone" };
    // A signal from within a pod that still runs: its memory limit was reached.
    if (code === KILLED_EXIT_CODE) return { code: null, signal: "SIGKILL", outOfMemory: true };
    return { code, signal: null };
  }
}

/** The exit code that the end of a command tells; `undefined` where it tells none. */
function exitCodeOf({ status, details }: V1Status): number | undefined {
  if (status === "Success") return 0;
  const cause = details?.causes?.find(({ reason }) => reason === "ExitCode");
  const code = Number(cause?.message);
  return cause === undefined || !Number.isInteger(code) ? undefined : code;
}

function inPieces(): Transform {
  return new Transform({
    transform(chunk: Buffer, _, done) {
      for (let offset = 0; offset < chunk.length; offset += PIECE_BYTES) {
        this.push(chunk.subarray(offset, offset + PIECE_BYTES));
      }
      done();
    },
  });
}
