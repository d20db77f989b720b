import type { JsonSchema, ToolDefinition, UnfilledStep } from "@cem/core";
import { awaited, call, type Expression, name, object, type ObjectEntry } from "../program/expression.ts";
import { HELPER_NAMES } from "../program/helpers.ts";
import { camelCase, Names } from "../program/names.ts";
import type { Statement } from "../program/statement.ts";
import { FILE_FUNCTIONS } from "./file-functions.ts";
import type { Reading } from "./reading.ts";
import type { StateDocument, Value } from "./value.ts";

/** Thrown by an operation for a step that can't be planned. */
export class Unfilled extends Error {
  readonly step: UnfilledStep;

  constructor(step: UnfilledStep) {
    super(step.hint);
    this.step = step;
  }
}

/** A result to declare. */
export interface Declaration {
  /** The words it is named by, in the program and in later steps. */
  words: string;
  schema?: JsonSchema | undefined;
  /** Whether it is made for a side effect, and so is no part of the program's value. */
  isEffect?: boolean | undefined;
  /** TypeScript type of the variable. */
  type?: string | undefined;
}

/** A program under construction: its statements, and the values that later steps can refer to. */
export class Plan {
  /** The tools that steps may use. */
  readonly tools: readonly ToolDefinition[];
  /** The results so far, in order. */
  readonly values: Value[] = [];
  /** The JSON files that steps load or save. */
  readonly documents: StateDocument[] = [];
  /** Imported names by module. */
  readonly imports = new Map<string, Set<string>>();
  /** The tools that the program calls. */
  readonly uses = new Set<ToolDefinition>();
  /** The names that are taken in the program. */
  readonly names = new Names();
  /** The clock that "today" is read from. */
  readonly now: () => Date;
  /** The skill that a step mentioned without calling it, to be preferred by later steps. */
  preferred: ToolDefinition | undefined;
  /** The text of the step that mentioned `preferred`. */
  mentioned: string | undefined;
  /** The paths that steps named, most recent last. */
  readonly paths = new Set<string>();
  /** The text that a step printed last, where it is known. */
  printed: Expression | undefined;
  /** Index of the step being planned. */
  stepIndex = 0;
  /** Text of the step being planned. */
  stepText = "";
  /** Reads words inside a step as a question of their own: `the weather of Paris` in "save the weather of Paris". */
  readAsked: (text: string) => Reading | undefined = () => undefined;
  /** The block that statements are added to. */
  block: Statement[] = [];

  constructor(tools: readonly ToolDefinition[], now: () => Date) {
    this.tools = tools;
    this.now = now;
    for (const tool of tools) this.names.reserve(tool.name);
    for (const helper of HELPER_NAMES) this.names.reserve(helper);
    for (const reserved of FILE_FUNCTIONS) this.names.reserve(reserved);
  }

  /** The path a step named last. */
  get lastPath(): string | undefined {
    return [...this.paths].at(-1);
  }

  set lastPath(path: string | undefined) {
    if (path === undefined) return;
    this.paths.delete(path);
    this.paths.add(path);
  }

  /** Declares a variable for a result that later steps can refer to. */
  declare(value: Expression, declaration: Declaration): Value {
    const variable = this.names.take(declaration.words, "result");
    this.block.push({ kind: "const", name: variable, value, type: declaration.type });
    return this.track(name(variable), variable, declaration);
  }

  /** Makes an expression known to later steps without a variable of its own. */
  track(expression: Expression, variable: string, declaration: Declaration): Value {
    const tracked: Value = {
      name: variable,
      expression,
      schema: declaration.schema ?? {},
      words: declaration.words,
      step: this.stepIndex,
      consumed: false,
      isEffect: declaration.isEffect ?? false,
      about: this.stepText,
    };
    this.values.push(tracked);
    return tracked;
  }

  /** What was a result of the task before some work stays one after it: writing a result to a file is no use of it. */
  keepResults<T>(work: () => T): T {
    const results = this.values.filter((value) => !value.consumed && !value.isEffect);
    const made = work();
    for (const value of results) value.consumed = false;
    return made;
  }

  add(...statements: Statement[]): void {
    this.block.push(...statements);
  }

  /** Takes a name from a module. */
  import(module: string, imported: string): Expression {
    const names = this.imports.get(module) ?? new Set<string>();
    names.add(imported);
    this.imports.set(module, names);
    return name(imported);
  }

  /** A call of a tool with its arguments by name, in the schema's order. */
  callTool(tool: ToolDefinition, args: ReadonlyMap<string, Expression>): Expression {
    this.uses.add(tool);
    const callee = this.import(tool.module, this.#localName(tool));
    const called = call(calleeName(callee), ...toolArguments(tool, args));
    return tool.kind === "skill" &&
      /\)\s*:\s*(?!Promise\b)/u.test(tool.signature) &&
      !tool.signature.includes("Promise<")
      ? called
      : awaited(called);
  }

  /** Two tools of one name from different modules: the second gets its server's name in front. */
  #localName(tool: ToolDefinition): string {
    const isTaken = [...this.uses].some(
      (other) => other !== tool && other.name === tool.name && other.module !== tool.module,
    );
    if (!isTaken) return tool.name;
    const alias = camelCase(`${tool.server} ${tool.name}`);
    this.names.reserve(alias);
    return `${tool.name} as ${alias}`;
  }

  /** The newest value that is not an effect. */
  get last(): Value | undefined {
    return this.values.findLast((value) => !value.isEffect) ?? this.values.at(-1);
  }

  get document(): StateDocument | undefined {
    return this.documents.at(-1);
  }
}

function calleeName(expression: Expression): Expression {
  if (expression.kind !== "name") return expression;
  return name(expression.name.split(" as ").at(-1) ?? expression.name);
}

function toolArguments(tool: ToolDefinition, args: ReadonlyMap<string, Expression>): Expression[] {
  if (tool.callStyle === "object") {
    const entries: ObjectEntry[] = [...args].map(([key, value]) => ({ key, value }));
    const isOptional = /^[\w$]+\((?:[\w$]+\?:|\s*\))/u.test(tool.signature);
    return entries.length === 0 && isOptional ? [] : [object(entries)];
  }
  const order = Object.keys(tool.inputSchema.properties ?? {});
  const last = order.findLastIndex((key) => args.has(key));
  return order.slice(0, last + 1).map((key) => args.get(key) ?? name("undefined"));
}
