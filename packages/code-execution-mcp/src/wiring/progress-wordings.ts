/** A task about the progress of a session. */
export type ProgressTask =
  | { kind: "save"; file: string }
  /** `step` is absent for the one behind the last. */
  | { kind: "continue"; step: number | undefined; file: string };

const DEFAULT_FILE = "state.json";
const MAX_TASK_CHARACTERS = 200;
const NUMBERS = "one two three four five six seven eight nine ten eleven twelve".split(" ");

const ASKED = "(?:(?:please|now|then|ok|okay|let's|let us|can you|could you|would you),? ){0,3}";
const FILE = String.raw`(?:the )?(?:file )?(?:\/workspace\/|\.\/)?((?:[\w-][\w.-]{0,79}\/){0,4}[\w-][\w.-]{0,79}\.json)(?: file)?`;
const GO_ON =
  "(?:continue|resume|proceed|go on|carry on|keep going|move on|pick (?:it )?up|start again|restart)";
const WHOSE = "(?:(?:the|my|our|your|this|all) )?(?:current |latest |present |overall |saved )?";
const PROGRESS =
  "(?:progress|(?:session |work(?:flow)? )?state|where (?:we|you|i) (?:are|am)|what (?:we|you|i) (?:have|did|have done))";
const SO_FAR = "(?: (?:so far|up to now|until now|to date|made so far))?";
const WORK = "(?: (?:with )?(?:the |our |my |this )?(?:work|workflow|task|session|job|next step|it))?";

const SAVE = new RegExp(
  `^${ASKED}(?:save|store|write|persist|keep|record|dump|add|append|checkpoint) ${WHOSE}${PROGRESS}${SO_FAR}(?: (?:down )?(?:to|in|into|as|under) ${FILE})?(?:,? (?:and |then |and then )${GO_ON}${WORK})?(?:,? please)?$`,
  "i",
);
const LOAD = new RegExp(
  `^${ASKED}(?:load|read|restore|take) ${WHOSE}${PROGRESS}${SO_FAR}(?: from ${FILE})?,? (?:and |then |and then )${GO_ON}${WORK}$`,
  "i",
);
const FROM_STEP = new RegExp(
  `^${ASKED}${GO_ON}${WORK}(?: up)?,? (?:from|at|with|in) (?:the )?step (?:number |no\\.? )?(\\d{1,6}|${NUMBERS.join("|")})$`,
  "i",
);
const LEFT_OFF = new RegExp(
  `^${ASKED}(?:continue|resume|carry on|pick up)${WORK}(?: again)?(?: (?:from |at )?(?:the point )?where (?:we|you|i|it) (?:left|stopped|were)(?: off)?| (?:from|at|with) (?:the )?(?:(?:last|latest|next|saved) )?(?:step|checkpoint|progress)| from ${FILE})$`,
  "i",
);

/** Reads a task about a session's progress; `undefined` for any other. */
export function readProgressTask(task: string): ProgressTask | undefined {
  if (task.length > MAX_TASK_CHARACTERS) return undefined;
  const text = task
    .trim()
    .replace(/(?<![.!?])[.!?]+$/, "")
    .replaceAll(/\s+/g, " ");
  const saved = SAVE.exec(text);
  if (saved !== null) return { kind: "save", file: saved[1] ?? DEFAULT_FILE };
  const step = FROM_STEP.exec(text)?.[1];
  if (step !== undefined) return { kind: "continue", step: numberOf(step), file: DEFAULT_FILE };
  const left = LOAD.exec(text) ?? LEFT_OFF.exec(text);
  return left === null ? undefined : { kind: "continue", step: undefined, file: left[1] ?? DEFAULT_FILE };
}

function numberOf(step: string): number {
  const place = NUMBERS.indexOf(step.toLowerCase());
  return place < 0 ? Number(step) : place + 1;
}
