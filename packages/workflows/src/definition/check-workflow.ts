import { findCycle, type DefinitionProblems } from "@cem/config/definitions";
import { CemError, type WorkflowStepKind, type CatalogSnapshot } from "@cem/core";
import { nearest } from "@cem/core/text";
import { expressionsIn, type FoundExpression } from "../expressions/template.ts";
import { dependenciesOf, expressionsOf } from "./dependencies.ts";
import { isBuiltIn, type ParsedWorkflow } from "./parse-workflow.ts";
import { schemaProblem } from "./value-schema.ts";
import { ON_ERROR, type Workflow, type WorkflowStep } from "./workflow.ts";
import { codeProgram, findStepTool, type ToolNames } from "../steps/call-code.ts";

const GLOBALS = ["variables", "steps", "errors", "run", "step"] as const;
const IN_LOOP = ["item", "index", "previous"] as const;

interface Place {
  visible: ReadonlySet<string>;
  names: readonly string[];
}

/** Checks what the schema can't: names, references, cycles, types of steps. @throws CemError `WORKFLOW_INVALID` with lines. */
export async function checkWorkflow(
  { workflow, problems, values }: ParsedWorkflow,
  kinds: ReadonlyMap<string, WorkflowStepKind>,
): Promise<Workflow> {
  const { variables, outputs } = workflow;

  const checkNames = (found: FoundExpression, { names, visible }: Place, own?: string): void => {
    const { expression, path } = found;
    if (expression === undefined) return problems.add(path, found.error.message);
    for (const name of expression.names) {
      if (names.includes(name)) continue;
      const hint = name in variables ? `variables.${name}` : nearest(name, names)[0];
      const question = hint === undefined ? `There are: ${names.join(", ")}.` : `Did you mean ${hint}?`;
      problems.add(path, `refers to ${JSON.stringify(name)}, which is not known here. ${question}`);
    }
    for (const name of expression.variables) {
      if (Object.hasOwn(variables, name)) continue;
      const [meant] = nearest(name, Object.keys(variables));
      const question = meant === undefined ? "Declare it in variables." : `Did you mean variables.${meant}?`;
      problems.add(path, `refers to variables.${name}, which is not declared. ${question}`);
    }
    for (const step of [...expression.steps, ...expression.errors]) {
      if (step === own) problems.add(path, "refers to the result or the error of its own step.");
      else if (!visible.has(step))
        problems.add(path, `refers to ${JSON.stringify(step)}, which is not a step that can be seen here.`);
    }
  };

  const checkOnError = ({ name, path, onError }: WorkflowStep, siblings: readonly WorkflowStep[]): void => {
    if ((ON_ERROR as readonly string[]).includes(onError)) return;
    const at = siblings.findIndex((sibling) => sibling.name === onError);
    const own = siblings.findIndex((sibling) => sibling.name === name);
    if (at === -1) {
      const message = `${notAStep(onError, siblings)} It takes ${ON_ERROR.join(", ")} or a later step of the same list.`;
      problems.add([...path, "on_error"], message);
    } else if (at <= own) {
      const message = `goes back to ${JSON.stringify(onError)}: only later steps can follow.`;
      problems.add([...path, "on_error"], message);
    }
  };

  const checkKind = ({ type, path, config }: WorkflowStep): void => {
    if (isBuiltIn(type)) return;
    const kind = kinds.get(type);
    if (kind === undefined) {
      const known = ["tool_call", "code_execution", "condition", "loop", "workflow", ...kinds.keys()];
      const [meant] = nearest(type, known);
      const hint = meant === undefined ? `There are: ${known.join(", ")}.` : `Did you mean ${meant}?`;
      problems.add([...path, "type"], `is ${JSON.stringify(type)}, which is not a type of step. ${hint}`);
      return;
    }
    // The value of an expression is known when the step runs.
    if (!JSON.stringify(config).includes("${{"))
      values.push({ value: config, schema: kind.configSchema, path: [...path, "config"] });
  };

  const checkStep = (step: WorkflowStep, siblings: readonly WorkflowStep[], place: Place): void => {
    const { name, path, needs } = step;
    if ((ON_ERROR as readonly string[]).includes(name))
      problems.add([...path, "name"], `is ${name}, which on_error has a meaning of its own for.`);
    for (const [index, needed] of needs.entries()) {
      if (needed === name) problems.add([...path, "needs", index], "is the step itself.");
      else if (!siblings.some((sibling) => sibling.name === needed))
        problems.add([...path, "needs", index], notAStep(needed, siblings));
    }
    checkOnError(step, siblings);
    checkKind(step);
    const inner = step.type === "loop" ? { ...place, names: [...GLOBALS, ...IN_LOOP] } : place;
    const within = step.bodies.flatMap(({ steps }) => steps.map((body) => body.name));
    const visible = new Set([...place.visible, ...within]);
    for (const found of expressionsOf(step)) checkNames(found, { ...inner, visible }, name);
    for (const { steps } of step.bodies) checkList(steps, inner);
  };

  const checkList = (steps: readonly WorkflowStep[], outside: Place): void => {
    const visible = new Set([...outside.visible, ...steps.map(({ name }) => name)]);
    const seen = new Set(outside.visible);
    for (const step of steps) {
      if (seen.has(step.name))
        problems.add([...step.path, "name"], `is ${JSON.stringify(step.name)}, as another step is called.`);
      seen.add(step.name);
      checkStep(step, steps, { ...outside, visible });
    }
    const waits = [...dependenciesOf(steps)].map(([name, { waitsFor }]) => [name, waitsFor] as const);
    const cycle = findCycle(new Map(waits));
    if (cycle === undefined) return;
    const first = steps.find(({ name }) => name === cycle[0]);
    problems.add(first?.path ?? [], `waits for itself: ${cycle.join(" ← ")}.`);
  };

  checkList(workflow.steps, { visible: new Set(), names: GLOBALS });
  if (outputs !== undefined) {
    const place = { visible: new Set(workflow.steps.map(({ name }) => name)), names: GLOBALS };
    for (const found of expressionsIn(outputs, ["outputs"])) checkNames(found, place);
  }
  for (const { value, schema, path } of values) {
    const problem = await schemaProblem(value, schema);
    if (problem !== undefined) problems.add(path, problem);
  }
  problems.throwIfAny();
  return workflow;
}

function notAStep(name: string, steps: readonly WorkflowStep[]): string {
  const names = steps.map((step) => step.name);
  const [meant] = nearest(name, names);
  const question = meant === undefined ? "" : ` Did you mean ${JSON.stringify(meant)}?`;
  return `is ${JSON.stringify(name)}, which is not a step of this list.${question}`;
}

const NOT_FOUND = new Set(["SERVER_NOT_FOUND", "TOOL_NOT_FOUND"]);

/** Adds to the problems of a workflow: tools of steps that no server has, and code that can't be parsed. */
export async function checkCalls(
  { steps }: Workflow,
  problems: DefinitionProblems,
  { catalog, toolNames }: { catalog: CatalogSnapshot; toolNames: ToolNames },
): Promise<void> {
  const { parseProgram } = await import("@cem/program");
  const check = ({ type, path, config, bodies }: WorkflowStep): void => {
    if (type === "tool_call") checkTool(config, [...path, "config", "tool"]);
    if (type === "code_execution") {
      const parsed = parseProgram(codeProgram(config["code"] as string, {}));
      if (!parsed.ok) {
        const { line, message } = parsed.error;
        const place = line === undefined ? "" : ` in its line ${line}`;
        problems.add([...path, "config", "code"], `can't be parsed${place}: ${message}`);
      }
    }
    for (const body of bodies) body.steps.forEach(check);
  };
  const checkTool = ({ server, tool }: WorkflowStep["config"], path: WorkflowStep["path"]): void => {
    // The value of an expression is known when the step runs.
    if (JSON.stringify([server, tool]).includes("${{")) return;
    try {
      findStepTool({ server: server as string | undefined, tool: tool as string }, catalog, toolNames);
    } catch (error) {
      if (!CemError.isInstance(error) || !NOT_FOUND.has(error.code)) throw error;
      problems.add(path, `is not there: ${error.message}`);
    }
  };
  steps.forEach(check);
}
