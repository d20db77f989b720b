import { isObject } from "@cem/core";
import { escapeInvisible } from "./safe-text.ts";
import type { RawToolDefinition } from "./tool-definition.ts";

const MAX_CHARACTERS = 256 * 1024;
const MAX_FINDINGS = 20;

/** A text in a definition that a person should review before a model reads it. */
export interface DescriptionFinding extends TextFinding {
  /** The path in the definition, such as `inputSchema.properties.note.description`. */
  place: string;
}

/**
 * Inspects every text of a definition (descriptions, parameter names, defaults, values) for signs of prompt injection
 * or hidden content. English only. A finding is a reason for review, not a proof, and no finding proves nothing.
 *
 * @returns at most about 20 findings.
 */
export function inspectDescription(definition: RawToolDefinition): DescriptionFinding[] {
  const findings = new Map<string, DescriptionFinding>();
  for (const { place, text } of textsOf(definition)) {
    for (const finding of findSuspiciousText(text)) {
      const key = `${finding.rule} ${finding.excerpt}`;
      if (!findings.has(key)) findings.set(key, { ...finding, place });
    }
    if (findings.size >= MAX_FINDINGS) break;
  }
  return [...findings.values()];
}

function* textsOf(definition: RawToolDefinition): Generator<{ place: string; text: string }> {
  const seen = new Set<unknown>();
  const pending: { place: string; value: unknown }[] = [{ place: "", value: definition }];
  let characters = 0;
  for (let next = pending.pop(); next !== undefined && characters < MAX_CHARACTERS; next = pending.pop()) {
    const { place, value } = next;
    if (typeof value === "string") {
      characters += value.length;
      yield { place, text: value.slice(0, MAX_CHARACTERS) };
    } else if (typeof value === "object" && value !== null && !seen.has(value)) {
      seen.add(value);
      for (const [key, entry] of Object.entries(value).toReversed()) {
        pending.push({ place: place === "" ? key : `${place}.${key}`, value: entry });
        if (isObject(value)) pending.push({ place, value: key });
      }
    }
  }
}

/** A sign of prompt injection or hidden content in a text. */
export interface TextFinding {
  /** The stable name of the rule, such as `hidden-text`. */
  rule: string;
  message: string;
  /** The match and the text around it, with invisible characters written as `<U+200B>`. */
  excerpt: string;
}

/** Rules for the unchanged text. */
const FORM_RULES = [
  {
    rule: "hidden-text",
    message: "Contains invisible characters that a model reads.",
    // Tags, direction overrides, invisible operators and fillers, and runs of zero-width characters.
    pattern:
      /[\u{E0100}-\u{E01EF}]|[\u{E0000}-\u{E007F}\u202D\u202E\u2061-\u2064\u206A-\u206F\u115F\u1160\u3164\uFFA0]|[\u200B-\u200F\u202A-\u202C\u2060\u2066-\u2069\uFEFF\u180E]{4,}|[A-Za-z][\u200B\u200E\u200F\u2060\u2066-\u2069\u00AD][A-Za-z]/u,
  },
  {
    rule: "control-characters",
    message: "Contains control characters or terminal escape sequences.",
    pattern: /(?![\s\u0085])\p{Cc}/u,
  },
  {
    rule: "html-comment",
    message: "Contains an HTML comment, which is not shown where the text is rendered.",
    pattern: /<!--(?=(?:(?!<!--)[\s\S]){0,2000}\w{3})/,
  },
  {
    rule: "encoded-text",
    message: "Contains a long run of encoded text that a reader can't check.",
    pattern:
      /(?<![\w+/=:;,])(?=[\w+/]*[A-Z])(?=[\w+/]*[a-z])(?=[\w+/]*\d)[A-Za-z0-9+/]{160,}={0,2}(?![\w+/])/,
  },
  {
    rule: "off-screen-text",
    message: "Moves text out of sight with a long run of white space.",
    pattern: /\S[ \t\u00A0\u3000]{120,}\S|\S[ \t]*(?:\r?\n[ \t]*){25,}\S/,
  },
];

const INSTRUCTIONS = "(?:instructions?|prompts?|rules?|guidelines?|directives?|guardrails?|system messages?)";
const SECRETS =
  "(?:api[ _-]?keys?|access[ _-]?tokens?|passwords?|credentials|secrets|private[ _-]?keys?|ssh[ _-]?keys?|" +
  "environment variables|env(?:ironment)? vars?|cookies|system[ _-]?prompt|(?:chat|conversation|message) history|" +
  "(?:entire|full|whole|complete|previous) conversation|(?:all )?(?:previous|prior) messages)";
const SECRET_FILES =
  String.raw`(?:~\/\.ssh|\.ssh\/|\bid_(?:rsa|ed25519|ecdsa)\b|\.aws\/credentials|\/etc\/(?:passwd|shadow)|\.netrc|\.git-credentials|` +
  String.raw`\.kube\/config|\.cursor\/mcp\.json|claude_desktop_config\.json|\.env\b|wallet\.dat)`;

/** Rules for the text without invisible characters and on one line. */
const ORDER_RULES = [
  {
    rule: "overrides-instructions",
    message: "Tells the reader to ignore its instructions.",
    pattern: new RegExp(
      String.raw`\b(?:ignore|disregard|forget|override|bypass|discard)\s+(?:\w+\s+){0,3}` +
        String.raw`(?:previous|prior|above|preceding|earlier|existing|original|system|safety|other|your)\s+(?:\w+\s+){0,2}${INSTRUCTIONS}\b` +
        String.raw`|\b(?:ignore|disregard|forget)\s+(?:everything|all|what)\s+(?:you|above|before|previous|prior|came)\b` +
        String.raw`|\byou are now (?:in |a |an |the )?\w+ ?mode\b|\b(?:new|updated|real) instructions?\s*:|\bsystem override\b`,
      "i",
    ),
  },
  {
    rule: "hides-from-user",
    message: "Tells the reader to keep something from the user.",
    pattern:
      /\b(?:do not|don['’]?t|never|must not|should not|avoid|without)\s+(?:\w{1,30}\s{1,5}){0,2}(?:tell(?:ing)?|mention(?:ing)?|inform(?:ing)?|notify(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)|alert(?:ing)?|let(?:ting)?)\s+(?:\w{1,30}\s{1,5}){0,4}(?:user|human|person)\b(?!['’]s)|\bkeep (?:this|it) (?:secret|hidden|confidential)\b|\bwithout (?:the )?user['’]?s? (?:knowing|knowledge|noticing)\b|\b(?:silently|secretly|covertly|quietly)\s+(?:\w+\s+)?(?:read|send|copy|forward|include|collect|call|log|upload|add|append)\b/i,
  },
  {
    rule: "poses-as-system",
    message: "Imitates a system message or the markup of a conversation.",
    pattern:
      /<\s*(?:\/\s*)?(?:system|secret|hidden|admin|im_start|instructions?|important)\s*>|<\|(?:im_start|im_end|system|endoftext)\|>|\[\/?INST\]|<<SYS>>|\[SYSTEM\]|(?<!#)#{2,}\s*system\s*:/i,
  },
  {
    rule: "reads-secrets",
    message: "Tells the reader to read a file that holds secrets.",
    pattern: new RegExp(
      String.raw`\b(?:read|open|cat|access|fetch|load|retrieve|contents? of|include|get|pass)\b[^.!?]{0,60}${SECRET_FILES}` +
        String.raw`(?=[\s\S]{0,200}\b(?:pass|send|include|as|into?|to|param|argument|field|first|before)\b)` +
        String.raw`|\b(?:read|open|load|fetch|get)\b[^!?]{0,120}\band\s+(?:then\s+)?(?:pass|send|include|append|attach|put|forward|supply|provide)\s+(?:all |back )?(?:its|their|the (?:file['’]?s?|full|whole|entire))\s+(?:full |whole |entire )?contents?\b`,
      "i",
    ),
  },
  {
    rule: "sends-data",
    message: "Tells the reader to send secrets or the conversation elsewhere.",
    pattern: new RegExp(
      String.raw`\b(?:send|forward|upload|transmit|exfiltrate|leak|append|attach|include|pass|put|copy)\s+(?:\w+\s+){0,4}?(?:the |your |all |any |user['’]?s? )*` +
        String.raw`${SECRETS}\b[^.!?]{0,60}?\b(?:to|in|into|as|with|via)\b\s+(?:\w+\s+){0,3}(?:https?:|\S+@\S+|url|server|endpoint|webhook|parameter|argument|field|` +
        String.raw`side ?note|notes?|context|metadata|attacker|email)`,
      "i",
    ),
  },
  {
    rule: "takes-over-tools",
    message: "Tells the reader to call this tool before or instead of other tools.",
    pattern:
      /\b(?:before|prior to|after)\s+(?:(?:using|calling|invoking|running|executing)\s+)?(?:any|every|all|each)\s+(?:of the\s+)?(?:other\s+)?tools?\b|\binstead of (?:using )?(?:any|every|all) other tools?\b|\b(?:when(?:ever)?|if)\s+(?:the\s+)?\w{1,60}[_.-][\w.-]{1,60}\s+(?:tool\s+|server\s+)?is\s+(?:available|present|called|used|invoked)\b(?=[,;]?\s+(?:you|always|also|first|set|change|send|add|instead|make|the (?:recipient|destination|amount))\b)|\b(?:do not|don['’]?t|never)\s+(?:use|call|invoke)\s+(?:any|the)\s+other\s+(?:tools?|servers?)\b/i,
  },
  {
    rule: "runs-commands",
    message: "Tells the reader to run a command that accesses the network.",
    pattern:
      /\b(?:run|execute|type|enter|also|then|first|must)\b[^.!?]{0,60}\b(?:curl|wget|nc|ncat|bash -c|sh -c|powershell|iex)\s+(?:\S{0,100}|[^.!?]{0,80})(?:https?:|\||\$\(|\/dev\/tcp)/i,
  },
];

/** Applies all rules to a text. At most one finding for each rule. */
export function findSuspiciousText(text: string): TextFinding[] {
  const read = text
    .replaceAll(/[\p{Cf}\p{DI}]/gu, "")
    .normalize("NFKC")
    .replaceAll(/[\s*`]+/g, " ");
  return [...findBy(FORM_RULES, text), ...findBy(ORDER_RULES, read)];
}

function findBy(rules: typeof FORM_RULES, text: string): TextFinding[] {
  return rules.flatMap(({ rule, message, pattern }) => {
    const match = pattern.exec(text);
    return match === null ? [] : [{ rule, message, excerpt: excerptOf(text, match.index, match[0].length) }];
  });
}

export function excerptOf(text: string, start: number, length: number): string {
  const from = Math.max(0, start - 40);
  const to = Math.min(text.length, start + Math.min(length, 200) + 60);
  const excerpt = escapeInvisible(text.slice(from, to).toWellFormed()).replaceAll(/\s+/g, " ");
  return `${from > 0 ? "…" : ""}${excerpt}${to < text.length ? "…" : ""}`;
}
