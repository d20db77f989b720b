import { chmodSync, existsSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import type { Server, Socket } from "node:net";
import { CemError, toErrorInfo } from "@cem/core";
import type { ApprovalAnswer, ElicitAnswer, ExecuteOptions } from "@cem/core";
import { messagesOf, send } from "./messages.ts";
import type { AskedQuestion, ClientMessage, WarmStatus } from "./messages.ts";
import type { PrewarmedAgents } from "./prewarmed-agents.ts";
import { makeSocketFolder } from "./warm-folder.ts";
import { performWork } from "./messages.ts";

/** Settings of a {@link WarmServer}. */
export interface WarmServerSettings {
  socket: string;
  /** Those in which the agents were made. */
  cacheKey: string;
  prewarmed: PrewarmedAgents;
  idleMs: number;
}

/** Serves commands over a socket, each with an agent of its own that was made ready before. */
export class WarmServer {
  readonly #settings: WarmServerSettings;
  readonly #server: Server;
  readonly #ended = Promise.withResolvers<void>();
  readonly #working = new Set<Promise<void>>();
  #idle: NodeJS.Timeout | undefined;
  #served = 0;
  #declined = 0;

  constructor(settings: WarmServerSettings) {
    this.#settings = settings;
    this.#server = createServer((socket) => {
      socket.on("error", () => {});
      const working = this.#serve(socket)
        .catch(() => {})
        .finally(() => {
          socket.end();
          this.#working.delete(working);
          this.#waitIdle();
        });
      this.#working.add(working);
      clearTimeout(this.#idle);
    });
  }

  /** Resolves when it has ended: because it was idle, or on request. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** @throws Error when another process listens already. */
  async listen(): Promise<void> {
    const { socket } = this.#settings;
    makeSocketFolder(socket);
    // Nobody has answered on it, or this process would not have been started.
    if (existsSync(socket)) rmSync(socket);
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(socket, resolve);
    });
    chmodSync(socket, 0o600);
    this.#waitIdle();
  }

  /** Ends it, after the commands under way. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    this.#server.close();
    rmSync(this.#settings.socket, { force: true });
    await Promise.allSettled(this.#working);
    await this.#settings.prewarmed.dispose();
    this.#ended.resolve();
  }

  #waitIdle(): void {
    clearTimeout(this.#idle);
    if (this.#working.size > 0) return;
    this.#idle = setTimeout(() => void this.close(), this.#settings.idleMs);
  }

  async #serve(socket: Socket): Promise<void> {
    const messages = messagesOf<ClientMessage>(socket);
    const { value: first } = (await messages.next()) as { value: ClientMessage | undefined };
    if (first?.type === "status") send(socket, { type: "status", status: this.#status() });
    else if (first?.type === "stop") setImmediate(() => void this.close());
    else if (first?.type === "work") await this.#work(first, messages, socket);
  }

  async #work(
    { work, cacheKey, mode, typeCheck, shows, asks }: Extract<ClientMessage, { type: "work" }>,
    messages: AsyncGenerator<ClientMessage>,
    socket: Socket,
  ): Promise<void> {
    const { prewarmed } = this.#settings;
    const agent = cacheKey === this.#settings.cacheKey ? await prewarmed.take() : undefined;
    if (agent === undefined) {
      this.#declined += 1;
      send(socket, { type: "declined" });
      void prewarmed.fill();
      return;
    }
    this.#served += 1;
    send(socket, { type: "accepted" });
    const gone = new AbortController();
    socket.once("close", () => gone.abort(new Error("The command has ended.")));
    const questions = new OpenQuestions(socket);
    void questions.readAnswers(messages);
    const options: ExecuteOptions = {
      signal: gone.signal,
      mode,
      typeCheck,
      ...(shows && { onEvent: (event) => send(socket, { type: "event", event }) }),
      ...(asks && {
        onApprove: ({ signal, ...request }) =>
          questions.ask<ApprovalAnswer>({ kind: "approve", request }, signal),
        onElicit: ({ signal, ...request }) =>
          questions.ask<ElicitAnswer>({ kind: "elicit", request }, signal),
      }),
    };
    try {
      send(socket, { type: "result", result: await performWork(agent, work, options) });
    } catch (error) {
      send(socket, { type: "error", error: toErrorInfo(error), isOwn: CemError.isInstance(error) });
    } finally {
      void prewarmed.fill();
      // Its log and its servers end with the command, as they would in a process of its own.
      await agent.dispose();
    }
  }

  #status(): WarmStatus {
    const { prewarmed, idleMs } = this.#settings;
    return {
      pid: process.pid,
      folder: process.cwd(),
      ready: prewarmed.ready,
      served: this.#served,
      declined: this.#declined,
      idleSeconds: idleMs / 1_000,
    };
  }
}

/** Questions that wait for the command's answer. */
class OpenQuestions {
  readonly #socket: Socket;
  readonly #open = new Map<number, (answer: ApprovalAnswer | ElicitAnswer) => void>();
  #last = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Passes answers on, until the command has ended. */
  async readAnswers(messages: AsyncGenerator<ClientMessage>): Promise<void> {
    try {
      for await (const message of messages) {
        if (message.type === "answer") this.#open.get(message.id)?.(message.answer);
      }
    } catch {
      // The command is gone, which ends the run.
    }
  }

  ask<Answer extends ApprovalAnswer | ElicitAnswer>(
    question: AskedQuestion,
    signal: AbortSignal,
  ): Promise<Answer> {
    const id = (this.#last += 1);
    return new Promise<Answer>((resolve, reject) => {
      this.#open.set(id, (answer) => resolve(answer as Answer));
      const withdraw = (): void => {
        send(this.#socket, { type: "withdrawn", id });
        reject(signal.reason as Error);
      };
      signal.addEventListener("abort", withdraw, { once: true });
      send(this.#socket, { type: "ask", id, ...question });
    }).finally(() => this.#open.delete(id));
  }
}
