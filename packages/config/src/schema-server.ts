import { z } from "zod";
import { secretText, setting, text } from "./setting.ts";

const MAX_PORT = 65_535;
const MAX_SECONDS = 3_600;
const httpUrl = z.string().regex(/^https?:\/\/[^\s/]+/, "is not a URL that begins with http:// or https://");

/** Settings of `cem serve` and the server image. */
export const serverSettings = {
  profile: setting(
    z.enum(["full", "code", "original"]).default("full"),
    "Which tools clients see. full: all. code: execute_code, search_tools and read_result. original: the seven of the original.",
  ),
  host: setting(
    text.default("127.0.0.1"),
    "Address that http and sse listen on. Others than this machine's own need auth_token or auth_issuer.",
  ),
  port: setting(
    z.int().min(0).max(MAX_PORT).default(3_000),
    "Port that http and sse listen on. 0: any that is free.",
  ),
  yieldAfter: setting(
    z.number().min(0.1).max(MAX_SECONDS).default(45),
    "Seconds after which a call answers with the id of its run, which goes on.",
  ),
  shutdownGrace: setting(
    z.number().min(0).max(MAX_SECONDS).default(10),
    "Seconds that calls under way have to finish when the server is stopped.",
  ),
  publicUrl: setting(
    httpUrl.optional(),
    "URL that clients reach the server by, where that is not its own address. Names the resource in OAuth.",
  ),
  allowedHosts: setting(
    z.array(text).default([]),
    "Host names that requests may be addressed to, beside this machine's own and those of host and public_url.",
  ),
  allowedOrigins: setting(
    z.array(text).default([]),
    "Host names of web pages that may send requests, beside this machine's own.",
  ),
  authToken: setting(
    secretText.optional(),
    "Token that clients have to send. Better kept in the environment.",
    {
      secret: true,
    },
  ),
  authIssuer: setting(httpUrl.optional(), "OAuth: who issues the tokens that clients send."),
  authAudience: setting(
    text.optional(),
    "OAuth: whom the tokens have to be for. Default: the server's public URL.",
  ),
  authJwksUrl: setting(
    httpUrl.optional(),
    "OAuth: where the issuer's keys are. Default: as the issuer's metadata says.",
  ),
  authScopes: setting(z.array(text).default([]), "OAuth: scopes a token has to have."),
};
