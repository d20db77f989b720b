import type { CommandDefinition } from "../command/define-command.ts";
import { add, remove } from "./add.ts";
import { audit } from "./audit.ts";
import { customers } from "./customers.ts";
import { doctor } from "./doctor.ts";
import { form } from "./form.ts";
import { importCommand } from "./import.ts";
import { init } from "./init.ts";
import { migrate } from "./migrate.ts";
import { queue, worker } from "./queue.ts";
import { RUN_COMMANDS } from "./run.ts";
import { runs } from "./runs.ts";
import { search, tools } from "./tools.ts";
import { serve } from "./serve.ts";
import { auth, generate, servers } from "./servers.ts";
import { skills } from "./skills.ts";
import { trust } from "./trust.ts";
import { workflow } from "./workflow.ts";

/** The commands, in the order of the help. Each loads its dependencies when it runs, so that mistakes are reported immediately. */
export const COMMANDS: readonly CommandDefinition[] = [
  init,
  add,
  importCommand,
  ...RUN_COMMANDS,
  tools,
  serve,
  doctor,
  search,
  worker,
  queue,
  migrate,
  trust,
  servers,
  remove,
  generate,
  auth,
  skills,
  runs,
  workflow,
  customers,
  audit,
  form,
];
