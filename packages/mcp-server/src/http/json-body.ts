import { isJsonContentType } from "@modelcontextprotocol/server";
import type { MiddlewareHandler } from "hono";
import {
  MAX_BODY_BYTES,
  MAX_JSON_DEPTH,
  MAX_JSON_NAME_BYTES,
  MAX_JSON_NUMBER_BYTES,
  MAX_JSON_VALUES,
} from "../limits.ts";
import { rpcRefusal } from "./checks.ts";
import type { HttpEnv } from "../exchange.ts";

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const SERVER_ERROR = -32_000;

/** Reads the JSON of a request's body, measured before it is parsed. Another body is left unread. */
export const readJsonBody: MiddlewareHandler<HttpEnv> = async (context, next) => {
  const { req, env } = context;
  const isRead = req.method === "GET" || req.method === "HEAD";
  if (isRead || !isJsonContentType(req.header("content-type") ?? null)) return next();
  if (Number(req.header("content-length")) > MAX_BODY_BYTES) return tooLarge();
  const scan = new JsonScan();
  const pieces: Buffer[] = [];
  let bytes = 0;
  let problem: string | undefined;
  for await (const piece of env.incoming as AsyncIterable<Buffer>) {
    bytes += piece.byteLength;
    if (bytes > MAX_BODY_BYTES) return tooLarge();
    // The rest is read and dropped: a client that is still sending would not see the answer.
    problem ??= scan.push(piece);
    if (problem === undefined) pieces.push(piece);
  }
  if (problem !== undefined)
    return rpcRefusal(400, INVALID_REQUEST, `Bad Request: the body's JSON has ${problem}`);
  try {
    context.set("body", JSON.parse(new TextDecoder().decode(Buffer.concat(pieces))));
  } catch {
    return rpcRefusal(400, PARSE_ERROR, "Parse error: Invalid JSON");
  }
  return next();
};

function tooLarge(): Response {
  const message = `Payload Too Large: Request body must not exceed ${MAX_BODY_BYTES} bytes`;
  return rpcRefusal(413, SERVER_ERROR, message, { connection: "close" });
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const SPACE = 0x20;

/**
 * Measures JSON as it arrives, before it is parsed: parsing and checking a body takes as long as it has values, levels and
 * digits, and holds up everybody meanwhile. Text that is no JSON is measured too, and left to the parser.
 */
export class JsonScan {
  #values = 1;
  #depth = 0;
  #inText = false;
  #isEscaped = false;
  /** Bytes of the text or the number that is being read, or was read last. */
  #length = 0;

  /** Reads on. @returns what is too large, as a part of a sentence; `undefined` where nothing is. */
  push(piece: Uint8Array): string | undefined {
    for (let at = 0; at < piece.length; at++) {
      if (this.#inText) {
        at = this.#readText(piece, at);
        continue;
      }
      const problem = this.#readMark(piece[at] ?? SPACE);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  /** Skips to the end of a text, since most of a large body is in one. @returns where its last byte here is. */
  #readText(piece: Uint8Array, from: number): number {
    let at = from;
    if (this.#isEscaped) at++;
    this.#isEscaped = false;
    for (; at < piece.length; at++) {
      const byte = piece[at];
      if (byte === QUOTE) {
        this.#inText = false;
        break;
      }
      if (byte === BACKSLASH) at++;
    }
    this.#isEscaped = at > piece.length;
    const last = Math.min(at, piece.length - 1);
    this.#length += last - from + 1;
    return last;
  }

  #readMark(byte: number): string | undefined {
    switch (byte) {
      case QUOTE:
        this.#inText = true;
        this.#length = 0;
        return undefined;
      case COLON:
        if (this.#length <= MAX_JSON_NAME_BYTES) return undefined;
        return `a name of ${this.#length} bytes, and ${MAX_JSON_NAME_BYTES} are the most`;
      case OPEN_BRACKET:
      case OPEN_BRACE:
        this.#depth++;
        if (this.#depth > MAX_JSON_DEPTH) return `more than ${MAX_JSON_DEPTH} levels`;
        return this.#count();
      case COMMA:
        return this.#count();
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        this.#depth--;
        this.#length = 0;
        return undefined;
      default:
        if (byte <= SPACE) return undefined;
        this.#length++;
        if (this.#length <= MAX_JSON_NUMBER_BYTES) return undefined;
        return `a number of more than ${MAX_JSON_NUMBER_BYTES} digits`;
    }
  }

  #count(): string | undefined {
    this.#length = 0;
    this.#values++;
    return this.#values > MAX_JSON_VALUES ? `more than ${MAX_JSON_VALUES} values` : undefined;
  }
}
