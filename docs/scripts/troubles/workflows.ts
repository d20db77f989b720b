import type { Troubles } from "./trouble.ts";

/** Errors of workflows. */
export const WORKFLOW_TROUBLES = {
  EXPRESSION_FAILED: {
    cause: "An expression `${{ … }}` refers to something that is not there, or takes too long.",
    wayOut: 'For a key that may be missing write `a.?key.orValue("none")`.',
  },
  EXPRESSION_INVALID: {
    cause: "An expression of a workflow is not valid CEL.",
    wayOut: "Mend it at the line that the message names.",
  },
  WORKFLOW_INVALID: {
    cause: "The file of a workflow has unknown keys, wrong values or steps that wait for each other.",
    wayOut: "`cem workflow validate <file>` lists all problems with their lines.",
  },
  WORKFLOW_NOT_FOUND: {
    cause: "No workflow has this name.",
    wayOut: "Look with `cem workflow list`, or name a file.",
  },
  WORKFLOW_RUN_BUSY: {
    cause: "Another process carries out this run.",
    wayOut: "Wait for it, or end that process first.",
  },
  WORKFLOW_RUN_NOT_FOUND: { cause: "No run has this id.", wayOut: "Look with `cem workflow list`." },
  WORKFLOW_RUN_UNREADABLE: {
    cause: "The run's files are damaged, were edited, or come from a newer version.",
    wayOut: "Start the workflow anew; what had been done is still in the journal.",
  },
  WORKFLOW_RUN_UNWRITABLE: {
    cause: "The journal can't be written, so no further step is begun.",
    wayOut: "Make room or mend the rights, then `cem workflow resume <run>`.",
  },
  WORKFLOW_STEP_TIMED_OUT: {
    cause: "A step took longer than its `timeout`.",
    wayOut: "Raise it, or set `on_error: retry` for a step that may be repeated.",
  },
  WORKFLOW_STEP_UNCERTAIN: {
    cause:
      "A step had begun when the run was killed or its connection broke; nobody knows whether it did its work.",
    wayOut:
      "Look, then resume with `--done <step>` or `--repeat <step>`. Mark steps that may be repeated `idempotent: true`.",
  },
  WORKFLOW_TIMED_OUT: {
    cause: "The workflow took longer than its `timeout`.",
    wayOut: "Raise it, then `cem workflow resume <run>`.",
  },
  WORKFLOW_VARIABLES_INVALID: {
    cause: "A variable is missing, unknown or of the wrong type.",
    wayOut: "Give it with `--var name=value`.",
  },
} satisfies Troubles;
