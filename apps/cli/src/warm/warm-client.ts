import { existsSync } from "node:fs";
import { createConnection } from "node:net";
import type { Socket } from "node:net";
import { CemError } from "@cem/core";
import type { ApprovalAnswer, Approve, Elicit, ElicitAnswer, ExecuteOptions, TaskResult } from "@cem/core";
import type { SharedOptions } from "../command/options.ts";
import { connected, messagesOf, send } from "./messages.ts";
import type { AskedQuestion, ServerMessage } from "./messages.ts";
import { agentSettingsOf, cacheKeyOf, socketPath } from "./warm-folder.ts";
import type { Work } from "./messages.ts";

/** How a command's questions are asked. */
export interface Asking {
  onApprove: Approve | undefined;
  onElicit: Elicit | undefined;
}

/**
 * Has a process that is kept warm do a command's work.
 *
 * @returns `undefined` where there is none, or it declines: nothing was run then.
 * @throws what the work throws.
 */
export async function doWarm(
  work: Work,
  options: SharedOptions,
  execute: ExecuteOptions,
  asking: () => Asking,
): Promise<TaskResult | undefined> {
  if (!isEligible(options)) return undefined;
  const socket = await connectTo(options);
  if (socket === undefined) return undefined;
  const stop = (): void => void socket.destroy();
  execute.signal?.addEventListener("abort", stop);
  try {
    const { onApprove, onElicit } = asking();
    const { mode, typeCheck, onEvent } = execute;
    send(socket, {
      type: "work",
      work,
      cacheKey: cacheKeyOf(agentSettingsOf(options)),
      mode,
      typeCheck,
      shows: onEvent !== undefined,
      asks: onApprove !== undefined,
    });
    return await follow(socket, onEvent, { onApprove, onElicit }, execute.signal);
  } finally {
    execute.signal?.removeEventListener("abort", stop);
    socket.destroy();
  }
}

/** Recordings, plans and logs need an agent of their own. */
function isEligible({ verbose, record, replay, dryRun, plan }: SharedOptions): boolean {
  return !verbose && dryRun !== true && [record, replay, plan].every((file) => file === undefined);
}

/** Connects to the process that is kept warm for what the options say. `undefined`: there is none. */
export async function connectTo(options: SharedOptions): Promise<Socket | undefined> {
  const file = socketPath(agentSettingsOf(options));
  if (file === undefined || !existsSync(file)) return undefined;
  const socket = createConnection(file);
  try {
    await connected(socket);
    socket.on("error", () => {});
    return socket;
  } catch {
    // It was killed, or is about to end.
    return undefined;
  }
}

async function follow(
  socket: Socket,
  onEvent: ExecuteOptions["onEvent"],
  asking: Asking,
  signal: AbortSignal | undefined,
): Promise<TaskResult | undefined> {
  const open = new Map<number, AbortController>();
  let hasBegun = false;
  try {
    for await (const message of messagesOf<ServerMessage>(socket)) {
      if (message.type === "declined") return undefined;
      hasBegun ||= message.type === "accepted";
      if (message.type === "event") onEvent?.(message.event);
      else if (message.type === "result") return message.result;
      else if (message.type === "error") throw errorOf(message);
      else if (message.type === "withdrawn") open.get(message.id)?.abort();
      else if (message.type === "ask") {
        const asked = new AbortController();
        const { id } = message;
        open.set(id, asked);
        void ask(message, asking, asked.signal).then((answer) =>
          send(socket, { type: "answer", id, answer }),
        );
      }
    }
  } finally {
    for (const asked of open.values()) asked.abort();
  }
  signal?.throwIfAborted();
  if (!hasBegun) return undefined;
  throw new CemError("ABORTED", "The process that is kept warm has ended while it ran this command.");
}

async function ask(
  { kind, request }: AskedQuestion,
  { onApprove, onElicit }: Asking,
  signal: AbortSignal,
): Promise<ApprovalAnswer | ElicitAnswer> {
  try {
    if (kind === "approve") return (await onApprove?.({ ...request, signal })) ?? "no";
    const question = { ...request, signal } as Parameters<Elicit>[0];
    return (await onElicit?.(question)) ?? { action: "cancel" };
  } catch {
    return kind === "approve" ? "no" : { action: "cancel" };
  }
}

function errorOf({ error, isOwn }: Extract<ServerMessage, { type: "error" }>): Error {
  const { code, message, details } = error;
  return isOwn ? new CemError(code, message, { details }) : new Error(message);
}
