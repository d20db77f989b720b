import type { IncomingMessage } from "node:http";
import { isJsonContentType } from "@modelcontextprotocol/server";
import { JsonScan } from "./json-scan.ts";
import { MAX_BODY_BYTES } from "./limits.ts";

/** The JSON of a request's body, or the answer that refuses it. */
export type JsonBody = { value: unknown } | { refusal: Response };

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const SERVER_ERROR = -32_000;

/**
 * Reads the JSON of a request's body, measured before it is parsed.
 *
 * @returns `undefined` where the body is no JSON and is left unread.
 */
export async function readJsonBody(request: IncomingMessage): Promise<JsonBody | undefined> {
  const { method = "GET", headers } = request;
  if (method === "GET" || method === "HEAD") return undefined;
  if (!isJsonContentType(headers["content-type"] ?? null)) return undefined;
  if (Number(headers["content-length"]) > MAX_BODY_BYTES) return tooLarge();
  const scan = new JsonScan();
  const pieces: Buffer[] = [];
  let bytes = 0;
  let problem: string | undefined;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.byteLength;
    if (bytes > MAX_BODY_BYTES) return tooLarge();
    // The rest is read and dropped: a client that is still sending would not see the answer.
    problem ??= scan.push(piece);
    if (problem === undefined) pieces.push(piece);
  }
  if (problem !== undefined)
    return refuse(400, INVALID_REQUEST, `Bad Request: the body's JSON has ${problem}`);
  try {
    return { value: JSON.parse(new TextDecoder().decode(Buffer.concat(pieces))) };
  } catch {
    return refuse(400, PARSE_ERROR, "Parse error: Invalid JSON");
  }
}

function tooLarge(): JsonBody {
  const message = `Payload Too Large: Request body must not exceed ${MAX_BODY_BYTES} bytes`;
  return refuse(413, SERVER_ERROR, message, { connection: "close" });
}

function refuse(
  status: number,
  code: number,
  message: string,
  headers: Record<string, string> = {},
): JsonBody {
  const answer = { jsonrpc: "2.0", error: { code, message }, id: null };
  return { refusal: Response.json(answer, { status, headers }) };
}
