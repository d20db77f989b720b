import { toErrorInfo, withoutValues } from "@cem/core";
import type { Redactor } from "@cem/core";
import { ProtocolError } from "@modelcontextprotocol/server";
import type { CallToolResult, ContentBlock, McpServer, ServerContext } from "@modelcontextprotocol/server";
import { reportFault } from "./exchange.ts";
import { toldAnyway } from "./told-anyway.ts";
import { sessionOf } from "./tools/server-tool.ts";
import type { HostOf, ToolAnswer } from "./tools/server-tool.ts";

/** The request of a client that something is the answer to. */
interface AnsweredRequest {
  server: McpServer;
  /** Whether the connection is still there. */
  isConnected: boolean;
  context: ServerContext;
}

/** Redacts personal data and secrets in answers, and forgets those of a connection that closes. */
export function createAnswerRedaction(ownRedactor: Redactor, hostOf: HostOf) {
  /** The sessions whose values are forgotten when their connection closes. */
  const sessions = new Map<McpServer, { session: string | undefined; redactor: Redactor | undefined }>();

  /** That of the request's owner; where the owner is unknown or can't be served, the server's own. */
  async function redactorOf(context: ServerContext): Promise<Redactor | undefined> {
    try {
      return (await hostOf(context)).redactor;
    } catch {
      return ownRedactor;
    }
  }

  /** Notes that a connection was shown tokens of its session, and returns it with the redactor that they are of. */
  async function note({ server, isConnected, context }: AnsweredRequest) {
    const redactor = await redactorOf(context);
    const { session } = sessionOf(context);
    // Without a session of its own a connection may be that of one call.
    if (context.sessionId !== undefined && isConnected) sessions.set(server, { session, redactor });
    return { session, redactor };
  }

  return {
    note,
    async redact(answer: ToolAnswer, request: AnsweredRequest): Promise<ToolAnswer> {
      const { session, redactor } = await note(request);
      // Questions come from runs, whose redactor has seen them.
      if (redactor === undefined || !("content" in answer)) return answer;
      const { words, isAll } = toldAnyway(answer);
      // Where the store is away, its answer must not wait for the store once more.
      if (isAll === true) return redactor.tokenize(answer, { session });
      try {
        return await redactAnswer(answer as CallToolResult, redactor, session);
      } catch (error) {
        reportFault(error);
        const { code } = toErrorInfo(error);
        const text = `${words} The answer can't be shown: what has to be hidden in it can't be looked up now (${code}). The server's log has the reason.`;
        return { isError: true, content: [{ type: "text", text: redactor.tokenize(text, { session }) }] };
      }
    },
    /** An exception of a tool as a client may read it. */
    async redactFailure(error: unknown, request: AnsweredRequest): Promise<unknown> {
      const { session, redactor } = await note(request);
      if (redactor === undefined) return error;
      if (!(error instanceof ProtocolError)) return withoutValues(error, redactor, { session });
      const { code, message, data } = error;
      const shown = redactor.tokenize({ message, data }, { session });
      return shown.message === message && shown.data === data
        ? error
        : new ProtocolError(code, shown.message, shown.data);
    },
    forget(server: McpServer): void {
      const known = sessions.get(server);
      sessions.delete(server);
      known?.redactor?.endSession(known.session).catch(() => {});
    },
  };
}

/** Puts tokens in the place of values in what a tool answers to a model, files of text among it. */
async function redactAnswer(
  answer: CallToolResult,
  redactor: Redactor,
  session: string | undefined,
): Promise<CallToolResult> {
  await redactor.restore?.(session);
  await redactor.recognize?.(answer, { session });
  const { content, ...rest } = answer;
  const redacted = {
    ...redactor.tokenize(rest, { session }),
    content: await Promise.all(content.map((block) => redactBlock(block, redactor, session))),
  };
  if (redactor.restore !== undefined) await redactor.persist?.(session);
  return redacted;
}

async function redactBlock(
  block: ContentBlock,
  redactor: Redactor,
  session: string | undefined,
): Promise<ContentBlock> {
  const { text, ...rest } = { text: undefined, ...block };
  const shown = redactor.tokenize(rest, { session }) as ContentBlock;
  if (text === undefined) return shown;
  // JSON is looked at by its keys, so that the text says the same as the structured content.
  const written = redactor.tokenizeFile?.(text, { session }) ?? redactor.tokenize(text, { session });
  return { ...shown, text: await written } as ContentBlock;
}
