import type { Report } from "./review/collect.ts";
import type { Values } from "./review/values.ts";

/** Secrets with an unmistakable format. Each pattern begins with fixed text and is bounded, so that it takes linear time. */
const SECRET_FORMATS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["an AWS access key", /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/],
  ["a GitHub token", /\bgh[pousr]_[A-Za-z0-9]{36,255}\b|\bgithub_pat_\w{22,255}/],
  ["a GitLab token", /\bglpat-[\w-]{20,64}/],
  ["a key of a model's API", /\bsk-(?:ant-|proj-|svcacct-|or-)?(?=[\w-]{0,256}\d)[\w-]{32,256}/],
  ["a Slack token", /\bxox[abeoprs]-\d[\w-]{18,255}/],
  ["a Slack webhook", /\bhooks\.slack\.com\/services\/T\w{6,14}\/B\w{6,14}\/\w{16,32}/],
  ["a Google API key", /\bAIza[\w-]{35}\b/],
  ["a Stripe key", /\b[rs]k_live_[A-Za-z0-9]{16,255}/],
  ["an npm token", /\bnpm_[A-Za-z0-9]{36}\b/],
  ["a private key", /-----BEGIN (?:[A-Z]{2,10} ){0,2}PRIVATE KEY-----\s{0,4}(?:\\n)?[\w+/=]{16}/],
  ["a signed token", /\beyJ[\w-]{10,512}\.eyJ[\w-]{10,4096}\.[\w-]{16,1024}/],
  [
    "a password in a URL",
    /\b[a-z][a-z0-9+.-]{1,30}:\/\/[^\s:@/"'`<>{}$]{1,64}:(?!\*|x{3,}@|password@|pass@|secret@|PASSWORD@)[^\s:@/"'`<>{}$]{3,128}@[\w.-]/,
  ],
];

/** The kind of secret in a text. */
export function findSecret(text: string): string | undefined {
  if (text.length < 12) return undefined;
  return SECRET_FORMATS.find(([, pattern]) => pattern.test(text))?.[0];
}

/** Reports secrets hard-coded in the program, even in parts. The message does not repeat them. */
export function checkSecrets(values: Values, report: Report): void {
  const kinds = new Map<string, string | undefined>();
  for (const { node, text } of values.knownTexts()) {
    if (!kinds.has(text)) kinds.set(text, findSecret(text));
    const kind = kinds.get(text);
    if (kind === undefined) continue;
    report.add(node, {
      rule: "secret-in-code",
      severity: "warning",
      message: `A text in the code looks like ${kind}.`,
      hint: "Leave it to the server that needs it, or to its environment.",
    });
  }
}
