import { once } from "node:events";
import type { Socket } from "node:net";
import { StringDecoder } from "node:string_decoder";
import type {
  Agent,
  AgentEvent,
  ApprovalAnswer,
  ApprovalRequest,
  ElicitAnswer,
  ElicitRequest,
  ErrorInfo,
  ExecuteOptions,
  TaskResult,
  TypeCheckMode,
} from "@cem/core";
import { callProgram } from "./call-program.ts";

/** Messages from a command to the warm process. */
export type ClientMessage =
  | {
      type: "work";
      work: Work;
      /** All that it depends on besides: where these differ, another process has to do it. */
      cacheKey: string;
      mode: ExecuteOptions["mode"];
      typeCheck: TypeCheckMode | undefined;
      /** Whether it shows events. */
      shows: boolean;
      /** Whether somebody can be asked. */
      asks: boolean;
    }
  | { type: "answer"; id: number; answer: ApprovalAnswer | ElicitAnswer }
  | { type: "status" }
  | { type: "stop" };

/** A question of a tool, or for an approval, without what can't be sent. */
export type AskedQuestion =
  | { kind: "approve"; request: Omit<ApprovalRequest, "signal"> }
  | { kind: "elicit"; request: Omit<ElicitRequest, "signal"> };

/** Messages from the warm process to a command. */
export type ServerMessage =
  /** The command is to do its work itself. Nothing was run. */
  | { type: "declined" }
  /** The work begins: from here on nobody else may do it. */
  | { type: "accepted" }
  | { type: "event"; event: AgentEvent }
  | ({ type: "ask"; id: number } & AskedQuestion)
  /** The question is no longer open. */
  | { type: "withdrawn"; id: number }
  | { type: "result"; result: TaskResult }
  | { type: "error"; error: ErrorInfo; isOwn: boolean }
  | { type: "status"; status: WarmStatus };

/** The status of a warm process. */
export interface WarmStatus {
  pid: number;
  folder: string;
  /** Agents that are ready. */
  ready: number;
  /** Commands served so far. */
  served: number;
  /** Commands that had to do their work themselves. */
  declined: number;
  /** Seconds without a command after which it ends. */
  idleSeconds: number;
}

/** Sends one message, a line of JSON. */
export function send(socket: Socket, message: ClientMessage | ServerMessage): void {
  if (!socket.destroyed) socket.write(`${JSON.stringify(message)}\n`);
}

/** The messages that come, until either side has ended. */
export async function* messagesOf<Message>(socket: Socket): AsyncGenerator<Message> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  try {
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      const lines = (rest + decoder.write(chunk)).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) yield JSON.parse(line) as Message;
    }
  } catch (error) {
    // A socket that is closed before its end has no more messages.
    if (!socket.destroyed) throw error;
  }
}

/** Resolves when a socket is connected; rejects when it can't be. */
export async function connected(socket: Socket): Promise<void> {
  await once(socket, "connect");
}

/** The work of a command: a task, code or one call. */
export type Work =
  | { kind: "task"; task: string }
  | { kind: "code"; code: string }
  | { kind: "call"; target: string; args: readonly string[] };

/**
 * Has an agent do it.
 *
 * @throws CemError `USAGE`, `SERVER_NOT_FOUND` or `TOOL_NOT_FOUND` for a call that can't be made.
 */
export async function performWork(agent: Agent, work: Work, options: ExecuteOptions): Promise<TaskResult> {
  switch (work.kind) {
    case "task":
      return agent.executeTask(work.task, options);
    case "code":
      return agent.executeCode(work.code, options);
    case "call": {
      const catalog = await agent.discoverTools({ signal: options.signal });
      return agent.executeCode(callProgram(work.target, work.args, catalog), options);
    }
  }
}
