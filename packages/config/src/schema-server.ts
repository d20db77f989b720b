import * as z from "zod";
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
    "Address that http and sse listen on. Addresses that other machines can reach need auth_token or auth_issuer.",
  ),
  port: setting(
    z.int().min(0).max(MAX_PORT).default(3_000),
    "Port that http and sse listen on. 0: any that is free.",
  ),
  yieldAfter: setting(
    z.number().min(0.1).max(MAX_SECONDS).default(45),
    "Seconds after which a call returns the id of its run, which continues.",
  ),
  shutdownGrace: setting(
    z.number().min(0).max(MAX_SECONDS).default(10),
    "Seconds that pending calls have to finish when the server is stopped.",
  ),
  publicUrl: setting(
    httpUrl.optional(),
    "URL of the server for clients, where it differs from the address. It is the resource in OAuth.",
  ),
  allowedHosts: setting(
    z.array(text).default([]),
    "Host names allowed in the Host header, besides loopback and those of host and public_url.",
  ),
  allowedOrigins: setting(
    z.array(text).default([]),
    "Host names allowed in the Origin header, besides loopback.",
  ),
  authToken: setting(
    secretText.optional(),
    "Bearer token that clients must send. Better set in the environment.",
    {
      secret: true,
    },
  ),
  authIssuer: setting(httpUrl.optional(), "OAuth: issuer of the access tokens."),
  authAudience: setting(
    text.optional(),
    "OAuth: audience that tokens must have. Default: the server's public URL.",
  ),
  authJwksUrl: setting(
    httpUrl.optional(),
    "OAuth: URL of the issuer's key set. Default: from the issuer's metadata.",
  ),
  authScopes: setting(z.array(text).default([]), "OAuth: scopes that a token must have."),
};
