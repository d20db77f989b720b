import { isIPv4, isIPv6 } from "node:net";
import * as z from "zod/mini";
import { DEFAULT_RUN_LIMITS } from "@cem/core";
import { choice, flag, number, setting, text, whole, withDefault } from "./setting.ts";

const MAX_EXECUTION_TIME_SECONDS = 86_400;
const MAX_MEMORY_MB = 1_048_576;
/** No guest starts with less. */
const LEAST_MEMORY_MB = 32;
const HOST_NAME =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*\.?$/i;

function isNetwork(value: string): boolean {
  if (isIPv6(value)) return true;
  const parts = /^(?:\[(?<v6>[^\]]*)\]|(?<name>[^:[\]]+))(?::(?<port>\d{1,5}))?$/.exec(value)?.groups;
  if (parts === undefined) return false;
  const port = parts["port"] === undefined ? 1 : Number(parts["port"]);
  const host =
    parts["v6"] === undefined
      ? isIPv4(parts["name"] ?? "") || isHostName(parts["name"] ?? "")
      : isIPv6(parts["v6"]);
  return host && port >= 1 && port <= 65_535;
}

/** Whether a text is a host name. One whose last label is a number would be a mistyped IPv4 address. */
function isHostName(name: string): boolean {
  return HOST_NAME.test(name) && !/(?:^|\.)\d+\.?$/.test(name);
}

const network = z
  .string()
  .check(z.refine(isNetwork, "is not a host or host:port, such as api.example.com or 10.1.2.3:8080"));

export const guardrailSettings = {
  enabled: setting(flag(true), "Whether code is reviewed before it runs."),
  strictMode: setting(flag(false), "Refuse code on warnings too, not only on errors."),
  contentFiltering: setting(flag(true), "Filter unwanted content.", {
    pending: "no content filter yet",
  }),
  securityChecks: setting(
    flag(true),
    "Warn about dangerous code: code made from text, and members of the runtime that start processes or load libraries.",
  ),
  privacyProtection: setting(
    flag(true),
    "Keep values of persons and secrets from the model. False has the effect of pii_detection: false.",
  ),
  piiDetection: setting(
    flag(true),
    "Find values of persons and secrets in what leaves for the model or a file, and put tokens in their place.",
  ),
  tokenization: setting(
    flag(true),
    "Replace what is found by tokens. False has the effect of pii_detection: false.",
  ),
  rateLimiting: setting(flag(true), "Limit how often tools are called.", {
    pending: "no rate limiter yet",
  }),
  maxExecutionTime: setting(
    withDefault(number(0.1, MAX_EXECUTION_TIME_SECONDS), DEFAULT_RUN_LIMITS.timeoutMs / 1000),
    "Timeout of one run, in seconds.",
  ),
  maxMemoryMb: setting(
    withDefault(whole(LEAST_MEMORY_MB, MAX_MEMORY_MB), DEFAULT_RUN_LIMITS.memoryMb),
    "Maximum memory of the guest, in MiB.",
  ),
  allowedNetworks: setting(
    withDefault(z.array(network), []),
    "Hosts the guest may reach when execution.allow_network_access is true, as host or host:port. Empty: any host.",
  ),
  changedTools: setting(
    choice(["hold", "allow"], "hold"),
    "Handling of a tool whose MCP server changed its definition. hold: it can't be called until it is accepted with cem generate --accept. allow: it stays callable.",
  ),
  blockedPatterns: setting(
    withDefault(z.array(text), []),
    "Code that matches one of these patterns is refused.",
  ),
};

const optionalSettings = Object.fromEntries(
  Object.entries(guardrailSettings).map(([name, { def }]) => [name, z.optional(def.innerType)]),
);

export type GuardrailSettings = z.output<z.ZodMiniObject<typeof guardrailSettings>>;

/** Guardrails of one workflow or step: any of the settings, without defaults. */
export const guardrailOverrides = z.strictObject(optionalSettings) as unknown as z.ZodMiniType<
  Partial<GuardrailSettings>
>;
