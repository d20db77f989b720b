import * as z from "zod/mini";
import { isIPv4, isIPv6 } from "node:net";
import { DEFAULT_RUN_LIMITS } from "@cem/core";
import { nearest } from "@cem/core/text";
import { oneOf, unionOf, withAll } from "./risk.ts";
import {
  choice,
  described,
  flag,
  harmless,
  limit,
  number,
  setting,
  text,
  whole,
  withDefault,
} from "./setting.ts";

const MAX_EXECUTION_TIME_SECONDS = 86_400;
const MAX_MEMORY_MB = 1_048_576;
/** The least memory that a guest starts with. */
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

/** Whether a text is a host name. A text whose last label is a number would be a mistyped IPv4 address. */
function isHostName(name: string): boolean {
  return HOST_NAME.test(name) && !/(?:^|\.)\d+\.?$/.test(name);
}

const network = z
  .string()
  .check(z.refine(isNetwork, "is not a host or host:port, such as api.example.com or 10.1.2.3:8080"));

const MAX_COUNT = 1_000_000_000;
const toolPatterns = z.array(text);
const KINDS_OF_APPROVAL = ["destructive", "writes"];
/** Checked because a mistyped kind would match nothing and let everything through. */
const approvalPattern = text.check(
  z.refine(
    (value) =>
      KINDS_OF_APPROVAL.includes(value) ||
      /[.*!]/.test(value) ||
      nearest(value, KINDS_OF_APPROVAL).length === 0,
    "is neither destructive nor writes. A server of that name is written as <name>.*",
  ),
);
const toolsOfRule = described(toolPatterns, "Tools it is for, such as weather.*.");

const rateLimit = z.strictObject({
  tools: toolsOfRule,
  calls: described(whole(1, MAX_COUNT), "Most calls of each tool in that time."),
  per: described(number(0.001, MAX_EXECUTION_TIME_SECONDS), "The time, in seconds."),
  by: described(
    choice(["session", "all"], "session"),
    "session: each has calls of its own. all: they share them.",
  ),
});

const egressRule = z.strictObject({
  tools: toolsOfRule,
  hosts: described(
    toolPatterns,
    "Hosts and domains of e-mail addresses, such as *.example.com. Empty: none.",
  ),
});

/** A protection, which an untrusted folder may only switch on. */
function protection(description: string) {
  return setting(flag(true), description, { isStricter: oneOf(true) });
}

export const guardrailSettings = {
  enabled: setting(
    flag(true),
    "Whether code is reviewed before it runs, and calls are checked, limited and approved. allowed_tools and blocked_tools hold in any case.",
    { variables: ["GUARDRAILS_ENABLED"], isStricter: oneOf(true) },
  ),
  strictMode: setting(flag(false), "Refuse code on warnings too, not only on errors.", {
    variables: ["GUARDRAILS_STRICT_MODE"],
    isStricter: oneOf(true),
  }),
  contentFiltering: protection(
    "Refuse calls with unwanted content in their arguments: commands that destroy a machine or open it to others. Mark results that pose as instructions to a model.",
  ),
  securityChecks: protection(
    "Refuse code that is made from text (eval, Function), warn of secrets that are written in it, and refuse calls with control characters or secrets in their arguments.",
  ),
  privacyProtection: protection(
    "Keep personal data and secrets from the model. False has the effect of pii_detection: false.",
  ),
  piiDetection: protection(
    "Find personal data and secrets in what leaves for the model or a file, and put tokens in their place.",
  ),
  tokenization: protection("Replace what is found by tokens. False has the effect of pii_detection: false."),
  rateLimiting: protection("Whether guardrails.rate_limits holds."),
  rateLimits: harmless(
    withDefault(z.array(rateLimit), []),
    "How often tools may be called: {tools, calls, per}. All limits that name a tool hold. Calls are counted over all machines where store.url names a store, else by each server, worker and agent of a program. A customer's count outlives the customer.",
  ),
  allowedTools: harmless(withDefault(toolPatterns, ["*"]), "Tools that code may call, such as weather.*."),
  blockedTools: harmless(withDefault(toolPatterns, []), "Tools that code may not call, with precedence."),
  approvals: setting(
    withDefault(z.array(approvalPattern), ["destructive"]),
    "Tools whose calls a person has to approve. destructive: those that their server annotates so, or, where it says only that they change something, whose names do (delete, remove, reset, clean). writes: all that are not annotated as read-only. ! before a pattern: none of these. No answer is no. Where it is not set, tools that are files in servers/ need no approval, since the sandbox holds what they do.",
    { isStricter: withAll, strictPart: unionOf },
  ),
  readTools: setting(
    withDefault(toolPatterns, []),
    "Tools that change nothing although their server does not annotate them so. A dry run calls them.",
  ),
  egress: harmless(
    withDefault(z.array(egressRule), []),
    "Where arguments of tools may point: {tools, hosts}. Tools without a rule may point anywhere but to a cloud's metadata service.",
  ),
  maxExecutionTime: limit(
    withDefault(number(0.1, MAX_EXECUTION_TIME_SECONDS), DEFAULT_RUN_LIMITS.timeoutMs / 1000),
    "Timeout of one run, in seconds.",
    ["MAX_EXECUTION_TIME", "AGENT_EXECUTION_TIMEOUT"],
  ),
  maxMemoryMb: limit(
    withDefault(whole(LEAST_MEMORY_MB, MAX_MEMORY_MB), DEFAULT_RUN_LIMITS.memoryMb),
    "Maximum memory of the guest, in MiB.",
    ["MAX_MEMORY_MB"],
  ),
  allowedNetworks: setting(
    withDefault(z.array(network), []),
    "Hosts the guest may reach when execution.allow_network_access is true, as host or host:port. Empty: any host.",
  ),
  changedTools: setting(
    choice(["hold", "allow"], "hold"),
    "Handling of a tool whose MCP server changed its definition. hold: it can't be called until it is accepted with cem generate --accept. allow: it stays callable.",
    { isStricter: oneOf("hold") },
  ),
  blockedPatterns: harmless(
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
