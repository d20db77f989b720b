import { CemError } from "@cem/core";
import { FrameReader } from "./frame-reader.ts";
import { readGuestMessage, type GuestMessage } from "./guest-messages.ts";
import type { Guest } from "./guest.ts";
import { encodeHostMessage } from "./host-messages.ts";

/** How long a guest may take to start, unless told otherwise. */
export const START_TIMEOUT_MS = 15_000;
const STDERR_KEPT_BYTES = 4_096;

/** Who listens to a guest while its program runs. */
export interface GuestListener {
  onMessage(message: GuestMessage, bytes: number): void;
  onText(stream: "stdout" | "stderr", bytes: Buffer): void;
  onViolation(message: string, kind: "protocol" | "size"): void;
}

/** A guest whose frames are read, from its first byte on. */
export class ConnectedGuest {
  readonly guest: Guest;
  /** The runtime's version, as the guest says. */
  version = "";
  /** Bytes that came from the guest so far. */
  receivedBytes = 0;
  readonly #reader: FrameReader;
  #listener: GuestListener | undefined;
  #stderr: Buffer = Buffer.alloc(0);

  constructor(guest: Guest) {
    this.guest = guest;
    this.#reader = new FrameReader({
      token: guest.token,
      onFrame: (frame) => this.#receive(frame),
      onText: (bytes) => this.#listener?.onText("stdout", bytes),
      onViolation: (message, kind) => this.#listener?.onViolation(message, kind),
    });
    guest.stdout.on("data", (chunk: Buffer) => {
      this.receivedBytes += chunk.length;
      this.#reader.push(chunk);
    });
    guest.stderr.on("data", (chunk: Buffer) => {
      this.receivedBytes += chunk.length;
      this.#stderr = Buffer.concat([this.#stderr, chunk]).subarray(-STDERR_KEPT_BYTES);
      this.#listener?.onText("stderr", chunk);
    });
    // The guest may go at any moment; what it left unread is no error.
    guest.stdin.on("error", () => {});
    guest.stdout.on("error", () => {});
    guest.stderr.on("error", () => {});
    void guest.exited.then(() => this.#reader.end());
  }

  /** The last that its stderr said: where the runtime says why it died. */
  get stderrTail(): string {
    return this.#stderr.toString("utf8");
  }

  /** Hands everything from here on to a listener; `undefined` to nobody. */
  listen(listener: GuestListener | undefined, maxFrameBytes = 0): void {
    this.#listener = listener;
    this.#reader.maxFrameBytes = maxFrameBytes;
  }

  #receive(frame: Buffer): void {
    const listener = this.#listener;
    if (listener === undefined) return;
    const read = readGuestMessage(frame);
    if (read.ok) listener.onMessage(read.message, frame.length);
    else listener.onViolation(read.problem, "protocol");
  }
}

/**
 * Waits until a guest says that it is ready.
 *
 * @throws CemError `GUEST_START_FAILED` with what the guest's stderr said.
 */
export async function connectGuest(
  guest: Guest,
  timeoutMs: number = START_TIMEOUT_MS,
): Promise<ConnectedGuest> {
  const connected = new ConnectedGuest(guest);
  const failure = await awaitReady(connected, timeoutMs, "at its start");
  if (failure === undefined) return connected;
  guest.kill();
  const said = connected.stderrTail.trim();
  throw new CemError("GUEST_START_FAILED", `The guest ${failure}.${said === "" ? "" : ` It said: ${said}`}`, {
    details: { stderr: said },
  });
}

/**
 * Asks a guest that has no run whether it is as it was before its first.
 *
 * @returns why it isn't; `undefined` when it answered as it should within the time.
 */
export function checkHealth(
  connected: ConnectedGuest,
  timeoutMs: number,
  when: string,
): Promise<string | undefined> {
  const answer = awaitReady(connected, timeoutMs, when);
  connected.guest.stdin.write(encodeHostMessage({ type: "ping" }));
  return answer;
}

/** Waits until a guest says that it is ready; gives why it didn't. */
async function awaitReady(
  connected: ConnectedGuest,
  timeoutMs: number,
  when: string,
): Promise<string | undefined> {
  const failure = await new Promise<string | undefined>((resolve) => {
    const timer = setTimeout(() => resolve(`was not ready within ${timeoutMs} ms`), timeoutMs);
    const settle = (problem: string | undefined) => {
      clearTimeout(timer);
      resolve(problem);
    };
    void connected.guest.exited.then(({ code, signal }) =>
      settle(`ended ${when} (${signal ?? `exit code ${code}`})`),
    );
    connected.listen(
      {
        onMessage(message) {
          if (message.type !== "ready") return settle("spoke before it was ready");
          connected.version = message.version;
          settle(undefined);
        },
        onText: () => {},
        onViolation: (problem) => settle(`sent ${problem} ${when}`),
      },
      64 * 1024,
    );
  });
  connected.listen(undefined);
  return failure;
}
