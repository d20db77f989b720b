import { withoutValues } from "@cem/core";
import type { Redactor } from "@cem/core";
import { ProtocolError } from "@modelcontextprotocol/server";
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";

/** Puts tokens in the place of values in what a tool answers to a model, files of text among it. */
export async function redactAnswer(
  answer: CallToolResult,
  redactor: Redactor,
  session: string,
): Promise<CallToolResult> {
  await redactor.restore?.(session);
  await redactor.recognize?.(answer, { session });
  const { content, ...rest } = answer;
  const redacted = {
    ...redactor.tokenize(rest, { session }),
    content: content.map((block) => redactBlock(block, redactor, session)),
  };
  if (redactor.restore !== undefined) await redactor.persist?.(session);
  return redacted;
}

/** An exception of a tool as a client may read it. */
export async function redactFailure(error: unknown, redactor: Redactor, session: string): Promise<unknown> {
  if (!(error instanceof ProtocolError)) return withoutValues(error, redactor, { session });
  const { code, message, data } = error;
  const shown = redactor.tokenize({ message, data }, { session });
  return shown.message === message && shown.data === data
    ? error
    : new ProtocolError(code, shown.message, shown.data);
}

function redactBlock(block: ContentBlock, redactor: Redactor, session: string): ContentBlock {
  const { text, ...rest } = { text: undefined, ...block };
  const shown = redactor.tokenize(rest, { session }) as ContentBlock;
  return text === undefined
    ? shown
    : ({ ...shown, text: redactText(text, redactor, session) } as ContentBlock);
}

/** JSON is looked at by its keys, so that the text says the same as the structured content. */
function redactText(text: string, redactor: Redactor, session: string): string {
  if (/^\s*[[{]/.test(text)) {
    try {
      const data: unknown = JSON.parse(text);
      const shown = redactor.tokenize(data, { session });
      return shown === data ? text : JSON.stringify(shown);
    } catch {
      // Text that only begins like JSON.
    }
  }
  return redactor.tokenize(text, { session });
}
