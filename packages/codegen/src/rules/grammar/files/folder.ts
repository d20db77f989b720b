import { splitWords } from "@cem/text";
import { callFileSystem } from "../../planning/file-system.ts";
import { RANK } from "../../planning/reading.ts";
import type { Production } from "../../planning/step.ts";
import { literal, object } from "../../program/expression.ts";
import { Pattern } from "../../language/pattern.ts";
import { kindOfTool } from "../calls/verbs.ts";

const FOLDER = new Pattern(
  "(create|make|add) (a|an|the)? (new|empty)? (folder|directory) (called|named | with (the)? name)? {name}",
);
/** A folder inside the workspace, in one word or in quotes. */
const NAME = /^[\p{L}\p{N}_][\p{L}\p{N}_.-]*(?:\/[\p{L}\p{N}_][\p{L}\p{N}_.-]*)*\/?$/u;

/** `create a folder reports`, where no tool makes folders. */
export const readFolder: Production = ({ span }, plan) => {
  const hasTool = plan.tools.some((tool) => {
    const words = splitWords(tool.name);
    return words.some((word) => /^(?:folder|directory|mkdir)$/u.test(word)) && kindOfTool(words) !== "list";
  });
  const named = hasTool ? undefined : FOLDER.match(span)?.span("name").trimmed;
  if (named === undefined || named.length !== 1) return undefined;
  const said = named.literal?.value ?? named.text;
  if (typeof said !== "string" || !NAME.test(said)) return undefined;
  return {
    kind: "folder",
    rank: RANK.plain + 0.7,
    lower() {
      const made = callFileSystem(plan, "mkdir", literal(said), object({ recursive: literal(true) }));
      plan.add({ kind: "do", value: made });
      plan.track(literal(said), "folder", { words: "folder", schema: { type: "string" }, isEffect: true });
    },
  };
};
