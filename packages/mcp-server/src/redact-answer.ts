import type { Redactor } from "@cem/core";
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";

/** Answers of these describe tools, not what tools returned. */
const CATALOG_TOOLS: ReadonlySet<string> = new Set([
  "search_tools",
  "list_available_tools",
  "list_servers",
  "get_server_tools",
]);
const TEXT_TYPE = /^text\/|[/+](?:json|xml|yaml|javascript|csv)(?:;|$)/;

/** Puts tokens in the place of values in what a tool answers to a model, files of text among it. */
export async function redactAnswer(
  tool: string,
  answer: CallToolResult,
  redactor: Redactor,
  session: string,
): Promise<CallToolResult> {
  if (CATALOG_TOOLS.has(tool)) return answer;
  await redactor.restore?.(session);
  await redactor.recognize?.(answer, { session });
  const { content, structuredContent, ...rest } = answer;
  const shown = redactor.tokenize({ structuredContent, rest }, { session });
  const redacted = {
    ...(shown.rest as CallToolResult),
    content: content.map((block) => redactBlock(block, redactor, session)),
    ...(structuredContent === undefined ? {} : { structuredContent: shown.structuredContent }),
  };
  if (redactor.restore !== undefined) await redactor.persist?.(session);
  return redacted;
}

function redactBlock(block: ContentBlock, redactor: Redactor, session: string): ContentBlock {
  switch (block.type) {
    case "text":
      return { ...block, text: redactText(block.text, redactor, session) };
    case "resource": {
      const { resource } = block;
      if (!("blob" in resource) || !TEXT_TYPE.test(resource.mimeType ?? ""))
        return redactor.tokenize(block, { session });
      const text = Buffer.from(resource.blob, "base64").toString("utf8");
      const blob = Buffer.from(redactText(text, redactor, session)).toString("base64");
      return { ...block, resource: { ...resource, blob } };
    }
    case "image":
    case "audio":
      return block;
    default:
      return redactor.tokenize(block, { session });
  }
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
