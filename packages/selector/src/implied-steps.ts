/** A step that a text implies. */
export interface ImpliedStep {
  /** The step, worded like the descriptions of tools. */
  text: string;
  /** How likely it is needed, 0 to 1. */
  weight: number;
}

/** A path with an extension, or the name of a file. Every repetition is bounded. */
const FILE =
  /(?:~|\.{0,2})\/[\w.\-/]{0,200}\.([a-z]{2,5})\b|\b[\w-]{1,80}\.(md|txt|csv|json|html?|docx?|xlsx?|pptx?|pdf|png|jpe?g|py|ts|js|bib|log|ya?ml|xml)\b/giu;
const MAX_FILES = 16;
/** Verbs that say a file is made, when they stand before its path. */
const MAKES =
  /\b(?:save|saved|saving|store|stored|write|written|create|generate|generated|make|export|output|produce|report|draft|put|place|placed)\b/iu;
const CHARACTERS_BEFORE = 200;
const KINDS: Readonly<Record<string, string>> = {
  doc: "word document",
  docx: "word document",
  xls: "excel spreadsheet",
  xlsx: "excel spreadsheet",
  ppt: "powerpoint presentation",
  pptx: "powerpoint presentation",
  pdf: "pdf document",
  png: "image",
  jpg: "image",
  jpeg: "image",
};

/** Dates that depend on the current time. */
const RELATIVE_TIME =
  /\b(?:today|tonight|tomorrow|yesterday|right now|(?:this|next|last|past|coming) (?:week|weekend|month|quarter|year|monday|tuesday|wednesday|thursday|friday|saturday|sunday|\d{1,3} (?:days|weeks|months)))\b/iu;
const TIME_WEIGHT = 0.5;

/** Finds the implied steps: `save it as /tmp/a.md` needs a tool that writes files, `tomorrow` one with the current time. */
export function impliedSteps(text: string): ImpliedStep[] {
  const steps = new Map<string, number>();
  for (const match of [...text.matchAll(FILE)].slice(0, MAX_FILES)) {
    const kind = KINDS[(match[1] ?? match[2] ?? "").toLowerCase()];
    const before = text.slice(Math.max(0, match.index - CHARACTERS_BEFORE), match.index);
    if (!MAKES.test(before)) {
      steps.set(`read ${kind ?? "file"}`, 1);
    } else {
      steps.set(kind === undefined ? "write file" : `create ${kind}`, 1);
    }
  }
  if (RELATIVE_TIME.test(text)) {
    steps.set("get current time", TIME_WEIGHT);
  }
  return [...steps].map(([step, weight]) => ({ text: step, weight }));
}
