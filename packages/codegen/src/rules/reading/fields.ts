import type { JsonValue } from "@cem/core";
import { outline, type StepField } from "@cem/text";
import { readJson, readLooseValue } from "./json.ts";

/** One field to set, its value known or still in words (`the result`). */
export interface FieldAssignment {
  key: string;
  value: JsonValue;
  /** The value was a bare word or words, which may refer to something. */
  words?: string | undefined;
}

const KEY =
  /^(?:(?:the|a|an|its|new|field)\s+)*(?:"([^"]+)"|'([^']+)'|`([^`]+)`|([\p{L}_][\p{L}\p{N}_.-]*))(?:\s+(?:field|property|key|value))?\s*/u;
const JOINT = /^(?:[:=]\s*|(?:set to|equal to|equals|to be|to|is|as|of|be|with(?: the)? value)\s+)/iu;

/** Reads `workflow_id "calc_001", current_step 1 and status: done`. Undefined when it is no such list. */
export function readAssignments(text: string): FieldAssignment[] | undefined {
  const parts = cutList(text);
  const found = parts.map(readAssignment);
  return parts.length > 0 && found.every((one) => one !== undefined) ? found : undefined;
}

function cutList(text: string): string[] {
  const mask = outline(text);
  const parts: string[] = [];
  let start = 0;
  for (const match of mask.matchAll(/\s*[,;]\s*(?:and\s+)?|\s+and\s+|\s+-\s+(?=["'\p{L}_])/gu)) {
    parts.push(text.slice(start, match.index));
    start = match.index + match[0].length;
  }
  parts.push(text.slice(start));
  return parts.map((part) => part.trim().replace(/^-\s+/u, "")).filter((part) => part !== "");
}

function readAssignment(text: string): FieldAssignment | undefined {
  const key = KEY.exec(text);
  const keyText = key?.[1] ?? key?.[2] ?? key?.[3] ?? key?.[4];
  if (key === null || keyText === undefined) return undefined;
  const rest = text.slice(key[0].length);
  const joint = JOINT.exec(rest);
  const value = rest
    .slice(joint?.[0].length ?? 0)
    .replace(/\s*\([^()]*\)\s*$/u, "")
    .trim();
  if (value === "") return undefined;
  return joint === null && !/^["'`“[{]|^-?[\d.]+$|^(?:true|false|null)$/u.test(value)
    ? undefined
    : toAssignment(keyText, value);
}

/** Reads one listed field. */
function toAssignment(key: string, value: string): FieldAssignment {
  const read = readLooseValue(value);
  const isBare = typeof read === "string" && read === value.trim().replace(/[.;,]$/u, "");
  return { key, value: read, words: isBare ? read : undefined };
}

/** Reads the fields that are listed below a step. */
export function readListed(fields: readonly StepField[]): FieldAssignment[] {
  return fields.map((field) => toAssignment(field.key, field.value));
}

/** The JSON object or array that a text holds, and where. */
export function findJson(text: string): { value: JsonValue; start: number; end: number } | undefined {
  const start = text.search(/[{[]/u);
  const end = Math.max(text.lastIndexOf("}"), text.lastIndexOf("]")) + 1;
  if (start < 0 || end <= start) return undefined;
  const value = readJson(text.slice(start, end));
  return value === undefined || typeof value !== "object" ? undefined : { value, start, end };
}
