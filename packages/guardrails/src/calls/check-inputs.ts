import { CemError, isObject, isPrototypeKey, withoutPrototypeKeys, type JsonValue } from "@cem/core";
import { findSecret } from "../secrets.ts";
import type { CallGuard, GuardedCall } from "./guarded-call.ts";

/**
 * Filters content.
 *
 * @returns the unwanted content in the text, as a noun phrase, or `undefined`.
 */
export type ContentFilter = (text: string, call: { server: string; tool: string }) => string | undefined;

const START = String.raw`^\s*(?:(?:sudo|exec|nohup|env|time)\s+)*(?:(?:ba|z|da)?sh\s+-\w*c\s+["']?)?`;

/** Each pattern matches a text that is the command, not one that mentions it. */
const COMMANDS: readonly { what: string; pattern: RegExp }[] = [
  {
    what: "a command that deletes a whole file system",
    pattern: new RegExp(
      `${START}rm\\s+(?:-{1,2}[\\w-]+\\s+)*(?:-{1,2}[\\w-]+\\s+)(?:/|~|/\\*|\\$HOME)\\s*(?:$|[;&|"'])`,
    ),
  },
  {
    what: "a command that overwrites a disk",
    pattern: new RegExp(
      `${START}(?:dd\\s[^\\n]{0,200}\\bof=/dev/(?:sd|hd|nvme|vd|disk|mmc)|mkfs(?:\\.\\w+)?\\s+(?:-\\S+\\s+)*/dev/)`,
    ),
  },
  { what: "a fork bomb", pattern: /^\s*(?:\w+|:)\(\)\s*\{\s*(\w+|:)\s*\|\s*\1\s*&\s*\}\s*;\s*\1/ },
  {
    what: "a command that opens a shell to another machine",
    pattern: new RegExp(
      `${START}(?:(?:ba|z|da)?sh\\s+-i\\s*>&\\s*/dev/(?:tcp|udp)/|(?:nc|ncat|netcat)\\s[^\\n]{0,200}\\s-\\w*[ec]\\s*\\S*sh\\b)`,
    ),
  },
];

/** The default content filter: texts that consist of a command that destroys a machine or opens it to others. */
export const findUnwanted: ContentFilter = (text) => {
  if (text.length < 8) return undefined;
  return COMMANDS.find(({ pattern }) => pattern.test(text))?.what;
};

/** Of the arguments as JSON. */
const MAX_BYTES = 8 * 1024 * 1024;
/** Of objects and lists. */
const MAX_DEPTH = 64;
/** Only this much of a text is searched for secrets. */
const MAX_SEARCHED_CHARACTERS = 256 * 1024;
/** Control characters that no text needs, and tag characters, which are invisible but read by models, except in flag emojis. */
const CONTROL =
  /(?![\t-\r\u0080-\u009F])\p{Cc}|[\u202D\u202E]|(?<![\u{1F3F4}\u{E0020}-\u{E007F}])[\u{E0000}-\u{E007F}]/u;

/** Settings of {@link checkInputs}. */
export interface InputSettings {
  /**
   * Whether to refuse control characters that no text needs, such as NUL and terminal escapes.
   *
   * @defaultValue true
   */
  controlCharacters?: boolean | undefined;
  /**
   * Whether to refuse texts with the format of secrets, such as private keys and API tokens.
   *
   * @defaultValue true
   */
  secrets?: boolean | undefined;
  /**
   * Filters the texts of arguments. `false`: none.
   *
   * @defaultValue the default list, which refuses commands that destroy a machine or open it to others
   */
  contentFilter?: ContentFilter | false | undefined;
}

/**
 * Refuses calls whose arguments are too large or nested too deeply, hold control characters, secrets or unwanted content,
 * and leaves out keys that would change prototypes. It throws `ARGUMENTS_INVALID` or `TOOL_NOT_ALLOWED`.
 */
export function checkInputs(settings: InputSettings = {}): CallGuard {
  const { controlCharacters = true, secrets = true, contentFilter: filter = findUnwanted } = settings;

  const checkText = (call: GuardedCall, text: string, place: string): void => {
    if (controlCharacters && CONTROL.test(text)) {
      throw invalid(call, `${place} holds a control character. Leave it out, or encode the value`, place);
    }
    const searched = text.length > MAX_SEARCHED_CHARACTERS ? text.slice(0, MAX_SEARCHED_CHARACTERS) : text;
    const secret = secrets ? findSecret(searched) : undefined;
    if (secret !== undefined) throw notAllowed(call, `${place} looks like ${secret}`, { argument: place });
    const unwanted = filter === false ? undefined : filter(searched, call);
    if (unwanted !== undefined) throw notAllowed(call, `${place} holds ${unwanted}`, { argument: place });
  };

  const check = (call: GuardedCall): GuardedCall => {
    let bytes = 0;
    let hasPrototypeKey = false;
    const pending: { value: JsonValue; place: string; depth: number }[] = [
      { value: call.args, place: "", depth: 0 },
    ];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const { value, place, depth } = next;
      if (depth > MAX_DEPTH)
        throw invalid(call, `its arguments are nested deeper than ${MAX_DEPTH} levels`, place);
      if (typeof value === "string") {
        bytes += value.length + 2;
        checkText(call, value, place);
      } else if (Array.isArray(value)) {
        for (const [at, entry] of value.entries())
          pending.push({ value: entry, place: `${place}[${at}]`, depth: depth + 1 });
        bytes += 2;
      } else if (isObject<JsonValue>(value)) {
        for (const [key, entry] of Object.entries(value)) {
          bytes += key.length + 4;
          hasPrototypeKey ||= isPrototypeKey(key, entry);
          if (controlCharacters && CONTROL.test(key))
            throw invalid(call, "a key holds a control character", place);
          pending.push({ value: entry, place: place === "" ? key : `${place}.${key}`, depth: depth + 1 });
        }
      } else bytes += 8;
      if (bytes > MAX_BYTES) throw invalid(call, `its arguments are larger than ${MAX_BYTES} bytes`, "");
    }
    if (!hasPrototypeKey) return call;
    const { args, asNumbers = args } = call;
    return { ...call, args: withoutPrototypeKeys(args), asNumbers: withoutPrototypeKeys(asNumbers) };
  };

  return (next) => ({
    specificationVersion: "v1",
    invoke: async (call, context) => await next.invoke(check(call), context),
  });
}

function invalid({ server, tool }: GuardedCall, what: string, argument: string): CemError {
  return new CemError("ARGUMENTS_INVALID", `The arguments of ${server}.${tool} are not valid: ${what}.`, {
    details: { server, tool, argument },
  });
}

export function notAllowed({ server, tool }: GuardedCall, reason: string, details: object = {}): CemError {
  return new CemError("TOOL_NOT_ALLOWED", `${server}.${tool} may not be called this way: ${reason}.`, {
    details: { server, tool, ...details },
  });
}
