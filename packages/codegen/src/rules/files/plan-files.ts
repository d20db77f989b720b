import type { StepField } from "@cem/core/text";
import { form, listOf, type Phrase } from "../language/phrase.ts";
import { isInWorkspace, loadFile } from "../planning/load.ts";
import type { Plan } from "../planning/plan.ts";
import { cite } from "../planning/unfilled.ts";
import { planPrint } from "./print.ts";
import { planSave } from "./save.ts";
import { planUpdate } from "./update.ts";
import { planWrite } from "./write.ts";

const SAVED =
  "(?: (?:that was )?(?:saved|written) (?:in|by|from|during) (?:previous|earlier|last|first) (?:session|step|run))?";
const READ = form(
  `(?:read|load|open|show|display)(?: (?:contents?|text|state|workflow|data|json|file|json file|text file))*(?: (?:from|in|of))?(?: file)? {file:path}(?: file)?${SAVED}`,
);
const READ_SEVERAL = form("(?:read|load|open)(?: files)? {files}");
const READ_BACK = form("read (?:it|file|that|content)(?: back)?(?: again)?");

/** Plans a step that reads, writes, changes or prints files of the workspace; `false` where it does not. */
export function planFiles(phrase: Phrase, fields: readonly StepField[], plan: Plan): boolean {
  const [hadChanged, dirty] = [plan.hasChanged, countDirty(plan)];
  plan.hasChanged = false;
  const isDone =
    planRead(phrase, plan) ||
    planWrite(phrase, fields, plan) ||
    planUpdate(phrase, plan) ||
    planSave(phrase, fields, plan) ||
    planPrint(phrase, plan);
  const changes = plan.hasChanged || countDirty(plan) > dirty;
  plan.hasChanged ||= hadChanged;
  if (isDone && plan.isQuestion && changes)
    throw plan.unread(
      "?",
      `${cite(phrase.text)} is a question, and would change a file. Say it as an order.`,
    );
  return isDone;
}

function countDirty({ documents }: Plan): number {
  return documents.filter(({ isDirty }) => isDirty).length;
}

/** Plans a step that reads files of the workspace; `false` where it does not. */
function planRead(phrase: Phrase, plan: Plan): boolean {
  const one = phrase.match(READ)?.text("file");
  const again = phrase.match(READ_BACK) === undefined ? undefined : plan.lastPath;
  const several = listOf(phrase.match(READ_SEVERAL)?.part("files") ?? phrase.slice(0, 0));
  const isList =
    several.length > 0 && several.every(({ tokens }) => tokens.length === 1 && tokens[0]?.kind === "path");
  const paths =
    one !== undefined
      ? [one]
      : again !== undefined
        ? [again]
        : isList
          ? several.map(({ words }) => words)
          : [];
  if (paths.length === 0 || !paths.every(isInWorkspace)) return false;
  plan.flush();
  const words = /\bstate\b/u.test(phrase.shape) ? "state" : undefined;
  for (const path of paths) loadFile(path, plan, words);
  return true;
}
