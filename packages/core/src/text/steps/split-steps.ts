import { readBlocks, type StepField, type TextBlock } from "./blocks.ts";
import { readCondition, readOtherwise, splitClauses, splitSentences, type StepCondition } from "./clauses.ts";
import { collapseSpaces, outline } from "./outline.ts";
import { beginsStep } from "./verbs.ts";

/** One step of a task. */
export interface TaskStep {
  /** The user's words, without list marks and joining words. */
  text: string;
  /** `key: value` pairs that are listed below the step. */
  fields: StepField[];
  /** Items without a key that are listed below the step. */
  items: string[];
  /** The condition of the step; absent when it is unconditional. */
  condition?: StepCondition | undefined;
}

interface SplitOptions {
  /** Words that begin a step in addition to the common English verbs, such as the verbs in the names of tools. */
  verbs?: Iterable<string> | undefined;
}

/** The longest text that is split, in UTF-16 units. Longer texts are cut. */
const MAX_STEP_TEXT_CHARACTERS = 200_000;

/** Polite phrases, which are not steps. */
const COURTESY =
  /^(?:(?:hi|hello|hey|greetings|good (?:morning|afternoon|evening|day)|ok|okay|thanks|thank you|cheers|many thanks|please|bye)(?: (?:there|all|everyone|so much|very much|a lot|a million|in advance|again|you))*|(?:i would |i'd )?appreciate it)$/iu;
const CLOSING =
  /(?:(?:,|(?<![\s,]))\s+(?:please|thanks|thank you|thx|cheers|for me|for us|if you can|if possible|if you please)){1,5}$/iu;
const MAX_CLOSING_CHARACTERS = 80;
const JOINING =
  /^(?:(?:hi|hello|hey|hi there|hey there|hello there|ok|okay|well|and|but|please|also|then|finally|next|now|afterwards|after that|first|firstly|secondly|thirdly|lastly|first of all|kindly|so|could you|can you|would you|i want you to|i want to|i need you to|i need to|i'd like to|i would like to|let's|i'd like you to|i would like you to|we need to|go ahead and|be so kind as to|if you don't mind|would you mind)\b[,:!]?\s+)+/iu;
/** `The JSON file should contain:` says that the fields below belong to the step before. */
const DESCRIBES =
  /^(?:the|this|that|it|its|with)(?:\s+(?:json|file|state|object|document|should|must|will|shall|contain|contains|include|includes|have|has|hold|holds|look|looks|like|fields|keys|properties|values|content|contents|structure|the|these|following|as|follows))*\s*:?$/iu;

interface Branches {
  count: number;
  /** The condition of the last step that has one. */
  last?: StepCondition | undefined;
}

/**
 * Splits a task into its steps, in order: by lines, list items, sentences and clauses. Quoted text, code and SQL are never
 * split.
 *
 * @param task - The task in plain English. Cut after {@link MAX_STEP_TEXT_CHARACTERS}.
 */
export function splitSteps(task: string, options: SplitOptions = {}): TaskStep[] {
  const own = new Set([...(options.verbs ?? [])].map((word) => word.toLowerCase()));
  const steps: TaskStep[] = [];
  const branches: Branches = { count: 0 };
  for (const block of readBlocks(collapseSpaces(task.slice(0, MAX_STEP_TEXT_CHARACTERS))))
    addBlock(steps, block, own, branches);
  return steps;
}

function addBlock(steps: TaskStep[], block: TextBlock, own: ReadonlySet<string>, branches: Branches): void {
  const before = steps.length;
  for (const sentence of splitSentences(block.text)) addSentence(steps, sentence, own, branches);
  const last = steps.at(-1);
  if (last === undefined || (steps.length === before && block.fields.length + block.items.length === 0))
    return;
  last.fields.push(...block.fields);
  last.items.push(...block.items);
  const owner = steps.at(-2);
  if (owner !== undefined && last.fields.length > 0 && DESCRIBES.test(last.text)) {
    owner.fields.push(...last.fields);
    owner.items.push(...last.items);
    steps.pop();
    if (last.condition !== undefined) branches.last = steps.findLast((step) => step.condition)?.condition;
  }
}

function addSentence(
  steps: TaskStep[],
  sentence: string,
  own: ReadonlySet<string>,
  branches: Branches,
): void {
  let current: StepCondition | undefined;
  let dangling: string | undefined;
  for (const clause of splitClauses(leadWithOrder(sentence), own)) {
    const otherwise = readOtherwise(strip(clause));
    const previous = current ?? branches.last;
    if (otherwise !== undefined && previous !== undefined) current = { ...previous, holds: !previous.holds };
    const { condition, negated, rest } = readCondition(otherwise ?? strip(clause));
    let applies = current;
    if (condition !== undefined) {
      branches.count += 1;
      applies = { text: condition, holds: !negated, branch: branches.count };
      if (rest === "" || !clause.startsWith(rest)) current = applies;
    }
    const text = strip(rest);
    if (text === "" && condition !== undefined) dangling = clause;
    if (text !== "") dangling = undefined;
    if (text !== "") {
      steps.push({ text, fields: [], items: [], condition: applies });
      branches.last = applies ?? branches.last;
    }
  }
  if (dangling !== undefined) steps.push({ text: strip(dangling), fields: [], items: [] });
}

/** Turns `For each of Paris and Rome, get the weather` into `get the weather for each of Paris and Rome`. */
function leadWithOrder(sentence: string): string {
  if (
    !/^(?:for\s+(?:each|every|all|both|the)\b|in\s+(?:the\s+)?(?:file\s+)?["'`]?[\w./-]+\.\w{1,5}\b)/iu.test(
      sentence,
    )
  )
    return sentence;
  const mask = outline(sentence);
  for (const match of mask.matchAll(/(?:,|(?<![\s,]))\s+(?=\p{L})/gu)) {
    if (!beginsStep(mask.slice(match.index + match[0].length, match.index + 200).replace(/^and\s+/u, "")))
      continue;
    const order = sentence.slice(match.index + match[0].length).replace(/(?<![.!?])[.!?]+$/u, "");
    return /^and\s/iu.test(order) ? sentence : `${order} ${sentence.slice(0, match.index)}`;
  }
  return sentence;
}

function strip(clause: string): string {
  const bare = withoutMarks(clause.trim().replace(JOINING, ""));
  const end = bare.slice(-MAX_CLOSING_CHARACTERS);
  const closing = CLOSING.exec(end.replace(/(?<!\?)\?+$/u, ""));
  const plain =
    closing === null
      ? bare
      : withoutMarks(bare.slice(0, bare.length - end.length) + end.slice(0, closing.index));
  return COURTESY.test(plain.slice(0, MAX_CLOSING_CHARACTERS)) ? "" : plain;
}

function withoutMarks(text: string): string {
  return text.replace(/(?<![.,;:!])[.,;:!]+$/u, "").trim();
}
