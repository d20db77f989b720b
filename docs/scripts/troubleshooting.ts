import type { KnownErrorCode } from "@cem/core";
import { CALL_TROUBLES } from "./troubles/calls.ts";
import { COMMAND_LINE_TROUBLES } from "./troubles/command-line.ts";
import { CONFIGURATION_TROUBLES } from "./troubles/configuration.ts";
import { CUSTOMER_TROUBLES } from "./troubles/customers.ts";
import { FORM_TROUBLES } from "./troubles/forms.ts";
import { MODEL_TROUBLES } from "./troubles/models.ts";
import { REDACTION_TROUBLES } from "./troubles/redaction.ts";
import { RUN_TROUBLES } from "./troubles/runs.ts";
import { SANDBOX_TROUBLES } from "./troubles/sandboxes.ts";
import { SERVER_TROUBLES } from "./troubles/servers.ts";
import { SERVING_TROUBLES } from "./troubles/serving.ts";
import { SKILL_TROUBLES } from "./troubles/skills.ts";
import { WORKFLOW_TROUBLES } from "./troubles/workflows.ts";
import type { Trouble } from "./troubles/trouble.ts";

/** Every error of this project, with its cause and the way out. The page of error codes is made from it. */
export const TROUBLES: Readonly<Record<KnownErrorCode, Trouble>> = {
  ...RUN_TROUBLES,
  ...CALL_TROUBLES,
  ...SERVER_TROUBLES,
  ...SANDBOX_TROUBLES,
  ...CUSTOMER_TROUBLES,
  ...SKILL_TROUBLES,
  ...WORKFLOW_TROUBLES,
  ...MODEL_TROUBLES,
  ...FORM_TROUBLES,
  ...SERVING_TROUBLES,
  ...REDACTION_TROUBLES,
  ...CONFIGURATION_TROUBLES,
  ...COMMAND_LINE_TROUBLES,
};
