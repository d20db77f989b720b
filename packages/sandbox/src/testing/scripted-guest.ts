import { randomBytes } from "node:crypto";
import { PassThrough, Writable } from "node:stream";
import type { Guest, GuestExit } from "../guests/guest.ts";
import type { RunMessage } from "../protocol/host-messages.ts";

let started = 0;

/** Behavior of a scripted guest when the host starts a program, or checks its health. */
export type GuestScript = (guest: ScriptedGuest, run: RunMessage) => void | Promise<void>;

/** A guest within this process that sends whatever its script says. It knows its token, so it can break every rule. */
export class ScriptedGuest implements Guest {
  readonly id: number = (started += 1);
  readonly token: string = randomBytes(16).toString("hex");
  readonly mark: string = `\0cem:${this.token}:`;
  readonly stdin: Writable;
  readonly stdout: PassThrough = new PassThrough();
  readonly stderr: PassThrough = new PassThrough();
  /** Results of calls from the host. */
  readonly received: unknown[] = [];
  readonly exited: Promise<GuestExit>;
  alive = true;
  referenced = true;
  /** A guest that doesn't read leaves the host's writes unflushed. */
  reads = true;
  readonly #exit: PromiseWithResolvers<GuestExit> = Promise.withResolvers<GuestExit>();
  #rest = "";

  constructor(onRun: GuestScript, onPing: GuestScript = sendReady) {
    this.exited = this.#exit.promise;
    this.stdin = new Writable({
      write: (chunk: Buffer, _, flushed) => {
        if (!this.reads) return;
        this.#take(chunk, { onRun, onPing });
        flushed();
      },
    });
    // As a real guest does once it has its token.
    this.send({ type: "ready", version: "1" });
  }

  send(message: unknown): void {
    this.frame(JSON.stringify(message));
  }

  frame(json: string): void {
    for (let at = 0; at < json.length || at === 0; at += 4_000) {
      const piece = json.slice(at, at + 4_000);
      this.raw(`${this.mark}${Buffer.byteLength(piece)},${at + 4_000 >= json.length ? 1 : 0};${piece}`);
    }
  }

  /** Writes to stdout; false when the host has to read first. */
  raw(text: string): boolean {
    return this.alive && this.stdout.write(text);
  }

  exit(exit: Partial<GuestExit>): void {
    if (!this.alive) return;
    this.alive = false;
    this.stdout.end();
    this.stderr.end();
    setImmediate(() => this.#exit.resolve({ code: null, signal: null, ...exit }));
  }

  kill(): void {
    this.exit({ signal: "SIGKILL" });
  }

  ref(): void {
    this.referenced = true;
  }

  unref(): void {
    this.referenced = false;
  }

  #take(chunk: Buffer, { onRun, onPing }: Record<string, GuestScript>): void {
    const lines = (this.#rest + chunk.toString()).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      const message = JSON.parse(line) as RunMessage | { type: "ping" } | { type: "result" };
      if (message.type !== "run" && message.type !== "ping") this.received.push(message);
      else if (!this.alive) continue;
      else if (message.type === "ping") void onPing?.(this, message as never);
      else void onRun?.(this, message);
    }
  }
}

function sendReady(guest: ScriptedGuest): void {
  guest.send({ type: "ready", version: "1" });
}
