import { CemError } from "@cem/core";

/** The name of a model on a hub, with a revision where one is asked for. */
export interface ModelName {
  /** `Xenova/all-MiniLM-L6-v2` */
  name: string;
  /** A commit, a branch or a tag. */
  revision?: string | undefined;
}

const PART = String.raw`[\w][\w.-]{0,95}`;
const SYNTAX = new RegExp(String.raw`^(${PART}(?:/${PART})?)(?:@([\w][\w./-]{0,127}))?$`, "u");

/**
 * Parses `owner/name` or `owner/name@revision`.
 *
 * @throws CemError `EMBEDDER_MODEL_NOT_FOUND` for what can't be the name of a model.
 */
export function parseModelName(text: string): ModelName {
  const [, name, revision] = SYNTAX.exec(text) ?? [];
  // Both stand in paths of the cache: `--` is for the slash of the name.
  if (name === undefined || /\.\.|--/u.test(text)) {
    throw new CemError(
      "EMBEDDER_MODEL_NOT_FOUND",
      `${JSON.stringify(text)} is not the name of a model. Names look like Xenova/all-MiniLM-L6-v2, with @ and a revision where one is wanted.`,
      { details: { model: text } },
    );
  }
  return { name, revision };
}

/** The folder of a model in the cache: `Xenova--all-MiniLM-L6-v2`. */
export function folderNameOf(model: string): string {
  const { name, revision } = parseModelName(model);
  const folder = revision === undefined ? name : `${name}@${revision}`;
  return folder.replaceAll("/", "--");
}
