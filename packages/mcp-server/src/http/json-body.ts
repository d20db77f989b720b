import { isJsonContentType } from "@modelcontextprotocol/server";
import type { MiddlewareHandler } from "hono";
import { MAX_BODY_BYTES, MAX_JSON_DEPTH, MAX_JSON_NAME_BYTES, MAX_JSON_VALUES } from "../limits.ts";
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
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of env.incoming as AsyncIterable<Buffer>) {
    bytes += piece.byteLength;
    if (bytes > MAX_BODY_BYTES) return tooLarge();
    pieces.push(piece);
  }
  const body = Buffer.concat(pieces);
  const problem = tooMuchIn(body);
  if (problem !== undefined)
    return rpcRefusal(400, INVALID_REQUEST, `Bad Request: the body's JSON has ${problem}`);
  try {
    context.set("body", JSON.parse(new TextDecoder().decode(body)));
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

/**
 * Measures JSON before it is parsed: parsing and checking a body takes as long as it has values and levels, and holds up
 * everybody meanwhile. Text that is no JSON is measured too, and left to the parser.
 *
 * @returns what is too large, as a part of a sentence; `undefined` where nothing is.
 */
export function tooMuchIn(json: Buffer): string | undefined {
  let values = 1;
  let depth = 0;
  let textBytes = 0;
  for (let at = 0; at < json.length; at++) {
    switch (json[at]) {
      case QUOTE: {
        const end = endOfText(json, at + 1);
        textBytes = end - at;
        at = end;
        break;
      }
      case COLON:
        if (textBytes > MAX_JSON_NAME_BYTES)
          return `a name of ${textBytes} bytes, and ${MAX_JSON_NAME_BYTES} are the most`;
        break;
      case OPEN_BRACKET:
      case OPEN_BRACE:
        values++;
        depth++;
        if (depth > MAX_JSON_DEPTH) return `more than ${MAX_JSON_DEPTH} levels`;
        break;
      case COMMA:
        values++;
        break;
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        depth--;
        break;
      default:
    }
    if (values > MAX_JSON_VALUES) return `more than ${MAX_JSON_VALUES} values`;
  }
  return undefined;
}

/** Where the quote stands that ends a text. */
function endOfText(json: Buffer, from: number): number {
  for (let end = json.indexOf(QUOTE, from); end !== -1; end = json.indexOf(QUOTE, end + 1)) {
    let backslashes = 0;
    while (end - backslashes > from && json[end - backslashes - 1] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return json.length;
}
