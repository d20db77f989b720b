import { endOfJson } from "@cem/core";
import { isJsonContentType } from "@modelcontextprotocol/server";
import type { MiddlewareHandler } from "hono";
import { MAX_BODY_BYTES, MAX_JSON_DEPTH, MAX_JSON_NAME_BYTES, MAX_JSON_VALUES } from "../limits.ts";
import { rpcRefusal } from "./checks.ts";
import type { HttpEnv } from "../exchange.ts";

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const SERVER_ERROR = -32_000;

/** Reads the JSON of a request's body, which is measured before it is parsed. Other bodies are not read. */
export const readJsonBody: MiddlewareHandler<HttpEnv> = readJsonBodyOr(rpcRefusal);

/** The same with a different format of refusals. */
export function readJsonBodyOr(refuse: typeof rpcRefusal): MiddlewareHandler<HttpEnv> {
  return async ({ req, env, set }, next) => {
    const isRead = req.method === "GET" || req.method === "HEAD";
    if (isRead || !isJsonContentType(req.header("content-type") ?? null)) return next();
    if (Number(req.header("content-length")) > MAX_BODY_BYTES) return tooLarge(refuse);
    const encoding = req.header("content-encoding") ?? "identity";
    if (encoding.toLowerCase() !== "identity") {
      const message =
        "Unsupported Media Type: Content-Encoding must be identity, so send the body uncompressed";
      return refuse(415, SERVER_ERROR, message, { "accept-encoding": "identity", connection: "close" });
    }
    const pieces: Buffer[] = [];
    let bytes = 0;
    for await (const piece of env.incoming as AsyncIterable<Buffer>) {
      bytes += piece.byteLength;
      if (bytes > MAX_BODY_BYTES) return tooLarge(refuse);
      pieces.push(piece);
    }
    // Some clients send a content type without a body.
    if (bytes === 0 && req.method !== "POST") return next();
    try {
      set("body", parseMeasured(Buffer.concat(pieces)));
    } catch (error) {
      return error instanceof RangeError
        ? refuse(400, INVALID_REQUEST, `Bad Request: the body's JSON has ${error.message}`)
        : refuse(400, PARSE_ERROR, "Parse error: Invalid JSON");
    }
    return next();
  };
}

function tooLarge(refuse: typeof rpcRefusal): Response {
  const message = `Payload Too Large: Request body must not exceed ${MAX_BODY_BYTES} bytes`;
  return refuse(413, SERVER_ERROR, message, { connection: "close" });
}

/**
 * Parses JSON after checking its limits: parsing and validation take time in proportion to values and levels, and block all
 * other requests.
 *
 * @throws RangeError with the exceeded limit, as a part of a sentence; SyntaxError for invalid JSON.
 */
export function parseMeasured(json: Uint8Array): unknown {
  endOfJson(json, 0, { values: MAX_JSON_VALUES, levels: MAX_JSON_DEPTH, nameBytes: MAX_JSON_NAME_BYTES });
  return JSON.parse(new TextDecoder().decode(json));
}
