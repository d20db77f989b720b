import { CemError } from "@cem/core";
import { readYaml } from "@cem/config/yaml";
import type { Position } from "@cem/config/yaml";
import { findFaults } from "./check-form.ts";
import { formSchema } from "./form-schema.ts";
import type { Form } from "./form-schema.ts";

const MAX_FORM_CHARACTERS = 1024 * 1024;
const MAX_SHOWN_PROBLEMS = 20;

/** Something that is wrong with a definition. */
export interface DefinitionProblem extends Partial<Position> {
  /** Where: `fields.2.pattern`. Empty for the whole file. */
  path: string;
  message: string;
}

/** Options of {@link parseForm}. */
export interface ParseFormOptions {
  /** The name of the file, for messages. */
  file?: string | undefined;
}

/**
 * Parses a form from YAML or JSON.
 *
 * @throws CemError `FORM_INVALID`, with each problem's line in its message and in `details.problems`.
 */
export function parseForm(text: string, { file = "form" }: ParseFormOptions = {}): Form {
  if (text.length > MAX_FORM_CHARACTERS) {
    throw formInvalid(file, [
      { path: "", message: `has ${text.length} characters; a form has at most ${MAX_FORM_CHARACTERS}` },
    ]);
  }
  const { value, problems, at } = readYaml(text);
  if (problems.length > 0)
    throw formInvalid(
      file,
      problems.map((one) => ({ path: "", ...one })),
    );
  if (value === undefined) throw formInvalid(file, [{ path: "", message: "is empty" }]);
  const locate = (problem: DefinitionProblem, path: readonly PropertyKey[]): DefinitionProblem => ({
    ...problem,
    ...at(path).position,
  });
  return checkForm(value, file, locate);
}

/**
 * Checks a form that a program made.
 *
 * @throws CemError `FORM_INVALID`
 */
export function defineForm(definition: unknown): Form {
  return checkForm(definition, "form", (problem) => problem);
}

function checkForm(
  definition: unknown,
  file: string,
  locate: (problem: DefinitionProblem, path: readonly PropertyKey[]) => DefinitionProblem,
): Form {
  const parsed = formSchema.safeParse(definition, { reportInput: false });
  const found = parsed.success ? findFaults(parsed.data) : describeIssues(parsed.error.issues);
  if (found.length === 0 && parsed.success) return parsed.data;
  throw formInvalid(
    file,
    found.map(({ path, message }) => locate({ path: path.join("."), message }, path)),
  );
}

interface Issue {
  code?: string | undefined;
  path: PropertyKey[];
  message: string;
  keys?: string[];
  errors?: Issue[][];
}

/** Of a union's alternatives, the one that went furthest is what was meant. */
function describeIssues(issues: readonly unknown[]): { path: PropertyKey[]; message: string }[] {
  return (issues as readonly Issue[]).flatMap(({ code, path, message, keys = [], errors = [] }) => {
    if (code === "unrecognized_keys") {
      return keys.map((key) => ({ path: [...path, key], message: "is not known here" }));
    }
    const furthest = errors
      .map((alternative) => describeIssues(alternative))
      .toSorted((a, b) => depthOf(b) - depthOf(a))
      .at(0);
    if (code !== "invalid_union" || furthest === undefined || depthOf(furthest) === 0)
      return [{ path, message }];
    return furthest.map((one) => ({ path: [...path, ...one.path], message: one.message }));
  });
}

function depthOf(found: readonly { path: readonly PropertyKey[] }[]): number {
  return Math.max(0, ...found.map(({ path }) => path.length));
}

function formInvalid(file: string, problems: readonly DefinitionProblem[]): CemError {
  const lines = problems.slice(0, MAX_SHOWN_PROBLEMS).map(({ line, path, message }) => {
    const place = line === undefined ? file : `${file}:${line}`;
    return [place, path, message].filter((part) => part !== "").join("  ");
  });
  if (problems.length > MAX_SHOWN_PROBLEMS) lines.push(`and ${problems.length - MAX_SHOWN_PROBLEMS} more`);
  return new CemError("FORM_INVALID", lines.join("\n"), { details: { file, problems } });
}
