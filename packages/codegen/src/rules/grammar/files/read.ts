import { Pattern } from "../../language/pattern.ts";
import type { Plan } from "../../planning/plan.ts";
import { RANK, type Reading } from "../../planning/reading.ts";
import type { Production, Step } from "../../planning/step.ts";
import { reloadDocument } from "./documents.ts";
import { isJsonPath, lacks, matchesOf, readFiles, withPlaces } from "./places.ts";
import { listFolder, readText } from "./text-files.ts";
import { isBare, READ } from "./words.ts";

const LOOK = `(${READ}|show|cat|view | (give me) | (read back) | (show me) | (what (is|was) (in|inside)))`;
const CONTENT = "((whole|full|entire)? (content|contents|text) (of|from|in|inside))?";
const FILES: readonly Pattern[] = [
  new Pattern(`${LOOK} ${CONTENT} {files} (back|again)? (content|contents)?`),
  new Pattern("what does {files} (say|contain)"),
];
const BACK = new Pattern(
  `${LOOK} (it | ((the|that|this)? file) | ((its|whole|full)? (content|contents|text)) | ((content|contents|text) of (it | ((that|this)? file)))) (back|again)? (in)?`,
);
const BOTH = new Pattern(
  `${LOOK} (both | (both (of)? them) | (both (of)? files) | (two files)) (back|again)?`,
);
const FOLDER_NOUN = "(files|contents|content|entries|everything|items)";
const FOLDERS: readonly Pattern[] = [
  new Pattern(
    `(list|show|display|get|find) (all)? (${FOLDER_NOUN} (in|of|inside|under|from))? (directory|folder)? {path:path}`,
  ),
  new Pattern(
    `(list|show|display|get | (what (is|are)) | what|which) (all)? ${FOLDER_NOUN} ((are)? there)? (are)? (in|of|inside|under|from) (directory|folder)? {path:path} (directory|folder)?`,
  ),
  new Pattern(`(what (is|are)) (there)? (in|inside) (directory|folder) {path:path}`),
  new Pattern(
    `(list|show|display|get) (all)? (${FOLDER_NOUN} ((in|of|inside|from)? (current|working)? (workspace|directory|folder))? | ((current|working)? (directory|folder|workspace)))`,
  ),
  new Pattern(
    `(what|which) ${FOLDER_NOUN} (are|is) (there | (in (current|working)? (workspace|directory|folder)))`,
  ),
];

/** Reads text files, the file that was written before, or lists a folder. */
export const readReadFile: Production = (step, plan) => {
  if (!isBare(step)) return undefined;
  return readNamed(step, plan) ?? readBack(step, plan) ?? readBoth(step, plan) ?? readFolder(step, plan);
};

function reading(rank: number, lower: () => void): Reading {
  return { kind: "read", rank, lower };
}

function readNamed({ span: words }: Step, plan: Plan): Reading | undefined {
  const span = withPlaces(words, plan);
  for (const match of matchesOf(FILES, span)) {
    const paths = readFiles(match.span("files"));
    if (paths === undefined || paths.every(isJsonPath)) continue;
    return reading(RANK.plain + 0.1, () => {
      for (const path of paths) readText(plan, path);
    });
  }
  return undefined;
}

/** `read it back`: the file that was written. */
function readBack(step: Step, plan: Plan): Reading | undefined {
  if (BACK.match(step.span) === undefined) return undefined;
  const { lastPath } = plan;
  if (lastPath !== undefined) return reading(RANK.plain + 0.1, () => readAgain(plan, lastPath, step.text));
  if (!step.span.words.includes("file")) return undefined;
  throw lacks(step.text, "path", "Name the file to read.");
}

function readAgain(plan: Plan, path: string, text: string): void {
  if (isJsonPath(path)) reloadDocument(plan, path, text);
  else readText(plan, path);
}

/** `read both files`, where the steps before named exactly two. */
function readBoth(step: Step, plan: Plan): Reading | undefined {
  if (BOTH.match(step.span) === undefined) return undefined;
  const paths = [...plan.paths];
  if (paths.length === 2)
    return reading(RANK.plain + 0.1, () => {
      for (const path of paths) readText(plan, path);
    });
  if (!step.span.words.some((word) => word === "files")) return undefined;
  throw lacks(step.text, "path", "Name the files to read: the steps before name not exactly two.");
}

function readFolder({ span }: Step, plan: Plan): Reading | undefined {
  const match = FOLDERS.map((pattern) => pattern.match(span)).find((one) => one !== undefined);
  const path = match?.has("path") === true ? match.text("path") : "/workspace";
  if (match === undefined || /\.\w{1,5}$/u.test(path)) return undefined;
  return reading(RANK.plain, () => listFolder(plan, path));
}
