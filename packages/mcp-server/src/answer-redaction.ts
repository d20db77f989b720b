import type { Redactor } from "@cem/core";
import type {
  CallToolResult,
  InputRequiredResult,
  McpServer,
  ServerContext,
} from "@modelcontextprotocol/server";
import { sessionOf } from "./server-tool.ts";
import type { HostOf } from "./server-tool.ts";

type Answer = CallToolResult | InputRequiredResult;

/** The request of a client that something is the answer to. */
interface AnsweredRequest {
  server: McpServer;
  /** Whether the connection is still there. */
  isConnected: boolean;
  context: ServerContext;
}

/** Keeps values of persons and secrets from answers, and forgets those of a connection that closes. */
export class AnswerRedaction {
  readonly #redactor: Redactor;
  readonly #hostOf: HostOf;
  /** The sessions whose values are forgotten when their connection closes. */
  readonly #sessions = new Map<McpServer, { session: string; redactor: Redactor | undefined }>();

  constructor(redactor: Redactor, hostOf: HostOf) {
    this.#redactor = redactor;
    this.#hostOf = hostOf;
  }

  async redact(answer: Answer, request: AnsweredRequest): Promise<Answer> {
    const redactor = await this.note(request);
    // Questions come from runs, whose redactor has seen them.
    if (redactor === undefined || !("content" in answer)) return answer;
    const { redactAnswer } = await import("./redact-answer.ts");
    return redactAnswer(answer as CallToolResult, redactor, sessionOf(request.context).session);
  }

  async redactFailure(error: unknown, request: AnsweredRequest): Promise<unknown> {
    const redactor = await this.note(request);
    if (redactor === undefined) return error;
    const { redactFailure } = await import("./redact-answer.ts");
    return redactFailure(error, redactor, sessionOf(request.context).session);
  }

  /** Notes that a connection was shown tokens of its session, and returns the redactor that they are of. */
  async note({ server, isConnected, context }: AnsweredRequest): Promise<Redactor | undefined> {
    const redactor = await this.#redactorOf(context);
    const { session } = sessionOf(context);
    // Without a session of its own a connection may be that of one call.
    if (context.sessionId !== undefined && isConnected) this.#sessions.set(server, { session, redactor });
    return redactor;
  }

  forget(server: McpServer): void {
    const known = this.#sessions.get(server);
    if (known === undefined) return;
    this.#sessions.delete(server);
    known.redactor?.endSession(known.session).catch(() => {});
  }

  /** That of the request's customer; where the customer can't be told or served, that of nobody in particular. */
  async #redactorOf(context: ServerContext): Promise<Redactor | undefined> {
    try {
      return (await this.#hostOf(context)).redactor;
    } catch {
      return this.#redactor;
    }
  }
}
