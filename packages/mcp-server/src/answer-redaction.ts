import { toErrorInfo, withoutValues, type Redactor } from "@cem/core";
import { ProtocolError } from "@modelcontextprotocol/server";
import type { CallToolResult, ContentBlock, McpServer, ServerContext } from "@modelcontextprotocol/server";
import { reportFault } from "./exchange.ts";
import { SAFE_WORDS, sessionOf, type HostOf, type ToolAnswer } from "./tools/server-tool.ts";

interface AnsweredRequest {
  server: McpServer;
  /** Whether the connection is still open. */
  isConnected: boolean;
  context: ServerContext;
}

/** Redacts personal data and secrets in answers, and forgets them when their connection closes. */
export function createAnswerRedaction(ownRedactor: Redactor, hostOf: HostOf) {
  /** The sessions whose values are forgotten when their connection closes. */
  const sessions = new Map<McpServer, { session: string | undefined; redactor: Redactor | undefined }>();

  /** Notes that a connection was shown tokens of its session. Returns the session and its redactor. */
  async function note({ server, isConnected, context }: AnsweredRequest) {
    const opening = (async () => (await hostOf(context)).redactor)();
    // The owner may be unknown, or can't be served.
    const redactor = await opening.catch(() => ownRedactor);
    const { session } = sessionOf(context);
    // A connection without a session may serve only one call.
    if (context.sessionId !== undefined && isConnected) sessions.set(server, { session, redactor });
    return { session, redactor };
  }

  return {
    note,
    async redact(answer: ToolAnswer, request: AnsweredRequest): Promise<ToolAnswer> {
      const { session, redactor } = await note(request);
      // Questions come from runs, which have already redacted them.
      if (redactor === undefined || !("content" in answer)) return answer;
      const { [SAFE_WORDS]: words, content } = answer as CallToolResult & ToolAnswer;
      const [first] = content;
      // If the store is unreachable, the answer must not wait for it again.
      if (words !== undefined && first?.type === "text" && first.text === words)
        return redactor.tokenize(answer, { session });
      try {
        return await redactAnswer(answer as CallToolResult, redactor, session);
      } catch (error) {
        reportFault(error);
        const { code } = toErrorInfo(error);
        const text = `${words ?? "The call was made."} The answer can't be shown: what has to be hidden in it can't be looked up now (${code}). The server's log has the reason.`;
        return { isError: true, content: [{ type: "text", text: redactor.tokenize(text, { session }) }] };
      }
    },
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

/** Replaces values by tokens in a tool's answer to a model, including text files. */
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
  // JSON is redacted by its keys, so that the text is consistent with the structured content.
  const written = redactor.tokenizeFile?.(text, { session }) ?? redactor.tokenize(text, { session });
  return { ...shown, text: await written } as ContentBlock;
}
