import * as z from "zod/mini";
import { oneOf } from "./risk.ts";
import {
  addressRange,
  choice,
  flag,
  harmless,
  httpUrl,
  number,
  secretText,
  setting,
  text,
  whole,
  withDefault,
} from "./setting.ts";

const MAX_PORT = 65_535;
const MAX_SECONDS = 3_600;

export const serverSettings = {
  profile: harmless(
    choice(["full", "code", "original"], "full"),
    "Which tools clients see. full: all. code: execute_code, search_tools and read_result. original: the seven of the original.",
  ),
  expose: setting(
    withDefault(z.array(z.enum(["resources", "prompts"])), []),
    "What clients see of mcp_servers besides tools, under the servers' names: resources, prompts. Listing them starts the servers.",
  ),
  host: setting(
    withDefault(text, "127.0.0.1"),
    "Address that http and sse listen on. Addresses that other machines can reach need auth_token or auth_issuer.",
    { variables: ["CEM_SERVER_HOST"], isStricter: oneOf("127.0.0.1", "localhost", "::1") },
  ),
  port: setting(
    withDefault(whole(0, MAX_PORT), 3_000),
    "Port that http and sse listen on. 0: any that is free.",
    { variables: ["CEM_SERVER_PORT"] },
  ),
  yieldAfter: harmless(
    withDefault(number(0.1, MAX_SECONDS), 45),
    "Seconds after which a call returns the id of its run, which continues.",
  ),
  shutdownGrace: harmless(
    withDefault(number(0, MAX_SECONDS), 10),
    "Seconds that pending calls have to finish when the server is stopped.",
  ),
  console: harmless(
    flag(true),
    "Over http: the console for people at /console, and the REST API below /api/v1 that it uses.",
  ),
  clientTrace: harmless(
    choice(["auto", "join", "link"], "auto"),
    "With an OpenTelemetry SDK: spans go on in the trace that a client names (join), or in one of their own that links to it (link). auto: link where there are customers, else join.",
  ),
  publicUrl: setting(
    z.optional(httpUrl),
    "URL of the server for clients, where it differs from the address. It is the resource in OAuth.",
  ),
  trustedProxies: setting(
    withDefault(z.array(addressRange), []),
    "Addresses and ranges of proxies, such as 10.0.0.0/8: clients behind them are told apart by X-Forwarded-For or Forwarded.",
  ),
  allowedHosts: setting(
    withDefault(z.array(text), []),
    "Host names allowed in the Host header, besides loopback and those of host and public_url.",
  ),
  allowedOrigins: setting(
    withDefault(z.array(text), []),
    "Host names allowed in the Origin header, besides loopback.",
  ),
  authToken: setting(
    z.optional(secretText),
    "Bearer token that clients must send. Better set in the environment.",
    { variables: ["CEM_SERVER_TOKEN"] },
  ),
  authIssuer: setting(z.optional(httpUrl), "OAuth: issuer of the access tokens."),
  authAudience: setting(
    z.optional(text),
    "OAuth: audience that tokens must have. Default: the server's public URL.",
  ),
  authJwksUrl: setting(
    z.optional(httpUrl),
    "OAuth: URL of the issuer's key set. Default: from the issuer's metadata.",
  ),
  sharedWorkspace: setting(
    flag(false),
    "OAuth: all clients share one workspace, with its files, state and results. Without it each client is a customer with a workspace of its own.",
    { isStricter: oneOf(false) },
  ),
  authScopes: harmless(withDefault(z.array(text), []), "OAuth: scopes that a token must have."),
};
