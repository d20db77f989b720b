import { shellWord } from "../text/printing.ts";
import { isErrorFacts, textOr, type ErrorEntries } from "./entry.ts";

function resumeOf(run: unknown): string {
  return `cem workflow resume ${shellWord(textOr(run, "<run>"))}`;
}

/** Errors of skills, workflows and forms. */
export const WORKFLOW_ERRORS = {
  SKILLS_DISABLED: {
    meaning: "Skills can't be saved here, as there is no folder for them.",
    fix: "Set `execution.skills_dir`.",
  },
  SKILL_INVALID: {
    meaning: "Name, description, code or test of a skill break a rule.",
    fix: "Correct what the message names.",
  },
  SKILL_NOT_FOUND: {
    meaning: "There is no skill of this name.",
    fix: "See which there are with `cem skills`.",
    hint: "fix",
  },
  SKILL_REFUSED: {
    meaning: "A skill did not pass its review, its types or its test.",
    fix: "Correct what was found, then save it again.",
    hint: ({ failure }, hintFor) => (isErrorFacts(failure) ? hintFor(failure) : undefined),
  },
  EXPRESSION_FAILED: {
    meaning: "An expression `${{ … }}` refers to something that is not there, or takes too long.",
    fix: 'For a key that may be missing write `a.?key.orValue("none")`.',
  },
  EXPRESSION_INVALID: {
    meaning: "An expression of a workflow can't be read.",
    fix: "Correct it at the line that the message names.",
  },
  WORKFLOW_INVALID: {
    meaning: "The file of a workflow has unknown keys, wrong values or steps that wait for each other.",
    fix: "`cem workflow validate <file>` lists all problems with their lines.",
  },
  WORKFLOW_NOT_FOUND: {
    meaning: "There is no workflow of this name.",
    fix: "See which there are with `cem workflow list` or name a file: ./<name>.yaml.",
    hint: "fix",
  },
  WORKFLOW_RUN_BUSY: {
    meaning: "Another process executes this run of a workflow.",
    fix: "Wait for it, or end that process first.",
  },
  WORKFLOW_RUN_NOT_FOUND: {
    meaning: "There is no run of a workflow with this id.",
    fix: "See which there are with `cem workflow list`.",
    hint: "fix",
  },
  WORKFLOW_RUN_UNREADABLE: {
    meaning: "The files of a workflow's run can't be read.",
    cause: "The run's files are damaged, were edited, or come from a newer version.",
    fix: "Start the workflow anew; what had been done is still in the journal.",
  },
  WORKFLOW_RUN_UNWRITABLE: {
    meaning: "The files of a workflow's run can't be written, so no further step is begun.",
    fix: "Make room or correct the rights, then `cem workflow resume <run>`.",
    hint: ({ code, run }) =>
      code === "ENOSPC" || code === "EDQUOT"
        ? `Make room on the disk, then ${run === undefined ? "run it again." : `go on with  ${resumeOf(run)}`}`
        : "Set execution.workflow_runs_dir to a folder that can be written.",
  },
  WORKFLOW_STEP_TIMED_OUT: {
    meaning: "A step of a workflow took longer than its timeout.",
    fix: "Raise the step's `timeout`, or set `on_error: retry` for a step that may be repeated.",
    hint: ({ onError }) =>
      `Raise the step's timeout${onError === "retry" ? "" : ", or set on_error: retry for a step that may be repeated"}.`,
  },
  WORKFLOW_STEP_UNCERTAIN: {
    meaning:
      "A step had begun when the run was killed or its connection broke; nobody knows whether it did its work.",
    fix: "Look, then resume with `--done <step>` or `--repeat <step>`. Mark steps that may be repeated `idempotent: true`.",
    hint: ({ run, step, steps }) => {
      const names = (Array.isArray(steps) ? steps : [step]).map((name) => shellWord(textOr(name, "<step>")));
      const [done, repeat] = ["--done", "--repeat"].map((option) =>
        [resumeOf(run), ...names.map((name) => `${option} ${name}`)].join(" "),
      );
      const each = names.length === 1 ? "it did its work" : "each did its work, and which option it needs";
      return `See whether ${each}, then go on with  ${done}  or  ${repeat}`;
    },
  },
  WORKFLOW_TIMED_OUT: {
    meaning: "A workflow took longer than its timeout.",
    fix: "Go on with `cem workflow resume <run>`, which has the whole timeout again. For later runs raise the workflow's `timeout`.",
    hint: ({ run }) => `Go on with  ${resumeOf(run)}  which has the whole timeout again.`,
  },
  WORKFLOW_VARIABLES_INVALID: {
    meaning: "A variable is missing, unknown or of the wrong type.",
    fix: "Give each with `--var <name>=<value>`.",
    hint: "fix",
  },
  BROWSER_FAILED: {
    meaning: "The browser that fills a web page can't be started or went away.",
    fix: "Start it by hand to see why. As root it needs `--no-sandbox`, which is set then.",
  },
  BROWSER_NOT_FOUND: {
    meaning: "No Chromium was found to fill a web page with.",
    fix: "Install Chromium, or name it in `CHROMIUM_PATH`.",
  },
  FORM_INVALID: {
    meaning: "The definition of a form is not valid.",
    fix: "Correct the lines that the message names.",
  },
  FORM_NOT_FILLED: {
    meaning: "Values are missing, do not fit, or the target refused them. Nothing was sent.",
    fix: "`missing` and `problems` of the result name the fields.",
  },
  FORM_TARGET_FAILED: {
    meaning: "The page or the file can't be opened, or led to an origin that is not allowed.",
    fix: "Check the target; add origins to `allowed_origins`.",
  },
  PACKAGE_MISSING: {
    meaning: "An optional package that is needed for this is not installed.",
    fix: "Install the package that the message names.",
  },
} satisfies ErrorEntries;
