import { isUtf8 } from "node:buffer";
import { MAX_ATTACHMENT_BYTES } from "@cem/tool-files/answers";
import { CemError, type Redactor, type ResultStore } from "@cem/core";
import type { CallToolResult } from "@modelcontextprotocol/server";
import { DEFAULT_PAGE_BYTES, MAX_PAGE_BYTES } from "../limits.ts";
import { adoptRun, followRun } from "./follow-run.ts";
import { blockOf } from "./run-answer.ts";
import { answerValue, declareTool, sessionOf, text, type ToolHost } from "./server-tool.ts";

type ResultPage = Awaited<ReturnType<ResultStore["read"]>>;

interface ReadResultInput {
  handle: string;
  offset?: number | undefined;
  limit?: number | undefined;
  end?: boolean | undefined;
}

/** Number of bytes read beyond a page to complete a value at its boundary. */
const MAX_VALUE_BYTES = 8_192;
const BYTES = { type: "integer", minimum: 0 } as const;

const readResult = declareTool<ReadResultInput>({
  name: "read_result",
  title: "Read a result",
  profiles: ["full", "code"],
  description:
    "Read a large result by its handle's path (offset, limit in bytes), or wait for a run by its id; `end` stops it.",
  input: {
    type: "object",
    properties: { handle: text, offset: BYTES, limit: BYTES, end: { type: "boolean" } },
    required: ["handle"],
  },
  output: { type: "object" },
  annotations: { destructiveHint: false, openWorldHint: false },
  async handle(input, host, context) {
    const { handle, end = false } = input;
    if (!handle.startsWith("run-")) return readPage(input, host, sessionOf(context).session);
    adoptRun(host, handle, context);
    return followRun(host, context, async (waiter) =>
      end
        ? { state: "finished", result: await host.runs.end(handle, waiter.owner) }
        : host.runs.wait(handle, waiter),
    );
  },
});

export const RESULT_TOOLS = [readResult];

async function readPage(
  { handle, offset = 0, limit }: ReadResultInput,
  { results, redactor }: ToolHost,
  session: string | undefined,
): Promise<CallToolResult> {
  if (results === undefined) {
    const message = "This server keeps no results. The id of a run begins with run-.";
    throw new CemError("RESULT_NOT_FOUND", message);
  }
  const bytes = Math.min(Math.max(limit ?? DEFAULT_PAGE_BYTES, 1), MAX_PAGE_BYTES);
  const read = (from: number, most: number) => results.read(handle, { offset: from, limit: most });
  const page = await read(offset, bytes);
  if (isText(page)) {
    const shown = textPage(page);
    return answerValue(redactor ? await redactPage(page, shown, read, { redactor, session }) : shown);
  }
  const type = kindOf(page.mimeType);
  const whole =
    type !== "resource" && limit === undefined && offset === 0 && page.size <= MAX_ATTACHMENT_BYTES;
  const shown = whole ? await read(0, MAX_ATTACHMENT_BYTES) : page;
  const { mimeType, bytes: shownBytes, size } = shown;
  const answer = answerValue(position(shown, shownBytes.length));
  // A part of an image can't be displayed as an image.
  const shownType = shownBytes.length < size ? "resource" : type;
  answer.content.push(blockOf({ type: shownType, mimeType, bytes: shownBytes, uri: `file://${handle}` }));
  return answer;
}

/** Replaces values by tokens in a page. A value that crosses its boundary is shown, as its token, where it begins. */
async function redactPage(
  page: ResultPage,
  shown: TextPage,
  read: (offset: number, limit: number) => Promise<ResultPage>,
  { redactor, session }: { redactor: Redactor; session: string | undefined },
): Promise<TextPage> {
  const from = Math.max(0, page.offset - MAX_VALUE_BYTES);
  const end = page.offset + Buffer.byteLength(shown.text);
  const [before, after] = await Promise.all([
    page.offset === 0 ? undefined : read(from, page.offset - from),
    end >= page.size ? undefined : read(end, MAX_VALUE_BYTES),
  ]);
  const head = new TextDecoder().decode(before?.bytes);
  const text = head + shown.text + new TextDecoder().decode(after?.bytes);
  await redactor.recognize?.(text, { session });
  const range = { start: head.length, end: head.length + shown.text.length };
  return { ...shown, text: redactor.tokenizePart(text, range, { session }) };
}

type TextPage = ReturnType<typeof textPage>;

/** A page of complete characters. A character that crosses the page's end belongs to the next page. */
function textPage(page: ResultPage) {
  const { bytes } = page;
  const isLast = page.offset + bytes.length >= page.size;
  const end = (isLast ? undefined : endOfCharacters(bytes)) ?? bytes.length;
  return {
    text: new TextDecoder().decode(bytes.subarray(0, end)),
    ...position(page, end),
    note: noteOn(page, end),
  };
}

/** The end of the last complete character in a page. `undefined` if it is not text. */
function endOfCharacters(bytes: Uint8Array): number | undefined {
  const start = Math.max(
    0, // Of a page within one character there is no beginning.
    bytes.findIndex((byte) => (byte & 0xc0) !== 0x80),
  );
  const ends = [0, 1, 2, 3].map((cut) => bytes.length - cut).filter((end) => end > start);
  return ends.find((one) => isUtf8(bytes.subarray(start, one)));
}

/** Explains the units of a partial text, and that its JSON is incomplete. */
function noteOn({ offset, size, mimeType }: ResultPage, length: number): string | undefined {
  if (offset === 0 && length >= size) return undefined;
  const part = `Bytes ${offset} to ${offset + length} of ${size}; offset and limit count bytes.`;
  if (!/[/+]json(?:;|$)/.test(mimeType)) return part;
  return `${part} This is a part of a JSON text, cut anywhere. To take items or fields, read the file in code: JSON.parse(await Deno.readTextFile(handle)).`;
}

function position({ offset, size }: ResultPage, length: number) {
  const next = offset + length;
  return { offset, size, next_offset: next < size ? next : undefined };
}

/** Decided by its type or, if that is inconclusive (`application/x-ndjson`, `application/octet-stream`), by its characters. */
function isText({ mimeType, bytes }: ResultPage): boolean {
  if (/^text\/|[/+](?:json|xml|yaml|javascript|typescript)(?:;|$)/.test(mimeType)) return true;
  return kindOf(mimeType) === "resource" && !bytes.includes(0) && endOfCharacters(bytes) !== undefined;
}

function kindOf(mimeType: string): "image" | "audio" | "resource" {
  if (mimeType.startsWith("image/")) return "image";
  return mimeType.startsWith("audio/") ? "audio" : "resource";
}
