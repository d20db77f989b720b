import type { JsonSchema, ToolDefinition } from "@cem/core";
import {
  awaited,
  call,
  camelCase,
  literal,
  method,
  name,
  createNames,
  object,
  line,
} from "../program/expression.ts";
import type { Expression, Statement } from "../program/expression.ts";
import { HELPER_NAMES } from "../program/print-program.ts";
import { hasType, refuse, type StateDocument, type Unfilled, type Value } from "./value.ts";

export const FILE_SYSTEM = "node:fs/promises";
const FILE_FUNCTIONS = ["readFile", "writeFile", "appendFile", "access", "mkdir"] as const;
type FileFunction = (typeof FILE_FUNCTIONS)[number];

export interface Declaration extends Pick<
  Partial<Value>,
  "isReceipt" | "constant" | "field" | "pageOf" | "isSorted"
> {
  /** The words that name it in the program and in later steps. */
  words: string;
  schema?: JsonSchema | undefined;
}

/** A program under construction: its statements, and the values that later steps can refer to. */
export type Plan = ReturnType<typeof createPlan>;

export function createPlan(tools: readonly ToolDefinition[], now: () => Date) {
  /** Imports a tool. If another module's tool has the same name, it is prefixed with its server's name. */
  function importTool(tool: ToolDefinition): string {
    const isTaken = [...plan.uses].some(
      (other) => other !== tool && other.name === tool.name && other.module !== tool.module,
    );
    plan.uses.add(tool);
    const alias = camelCase(`${tool.server} ${tool.name}`);
    if (isTaken) plan.names.reserve(alias);
    plan.import(tool.module, isTaken ? `${tool.name} as ${alias}` : tool.name);
    return isTaken ? alias : tool.name;
  }

  const plan = {
    tools,
    now,
    values: [] as Value[],
    /** The JSON files that steps loaded or created. */
    documents: [] as StateDocument[],
    imports: new Map<string, Set<string>>(),
    uses: new Set<ToolDefinition>(),
    names: createNames([...tools.map((tool) => tool.name), ...HELPER_NAMES, ...FILE_FUNCTIONS]),
    hasChanged: false,
    /** Whether the current step is part of a question, which changes nothing. */
    isQuestion: false,
    stepText: "",
    /** The skill that a step mentioned without calling it. */
    preferred: undefined as ToolDefinition | undefined,
    lastPath: undefined as string | undefined,
    block: [] as Statement[],
    /** Declares a variable for a result that later steps can refer to. */
    declare(value: Expression, declaration: Declaration): Value {
      const variable = plan.names.take(declaration.words, "result");
      plan.addConstant(variable, value);
      return plan.track(name(variable), variable, declaration);
    },
    /** Makes an expression known to later steps without declaring a variable. */
    track(expression: Expression, variable: string, { schema = {}, ...rest }: Declaration): Value {
      const about = plan.stepText;
      const value: Value = { ...rest, name: variable, expression, schema, about, consumed: false };
      plan.values.push(value);
      return value;
    },
    /** Refuses the step because of words that it can't interpret. */
    unread(argument: string, hint: string, tool?: ToolDefinition): Unfilled {
      return refuse({ step: plan.stepText, reason: "not-understood", argument, hint }, tool);
    },
    lacks(argument: string, hint: string, tool?: ToolDefinition): Unfilled {
      return refuse({ step: plan.stepText, reason: "missing-argument", argument, hint }, tool);
    },
    add(text: string): void {
      plan.block.push({ text });
    },
    addConstant(name: string, value: Expression): void {
      plan.block.push({ text: `const ${name} = ${value.text};`, constant: { name, value } });
    },
    do(value: Expression): void {
      plan.add(`${value.text};`);
    },
    import(module: string, imported: string): void {
      const names = plan.imports.get(module) ?? new Set<string>();
      plan.imports.set(module, names.add(imported));
    },
    callFileSystem(functionName: FileFunction, ...args: Expression[]): Expression {
      plan.import(FILE_SYSTEM, functionName);
      if (functionName === "writeFile" || functionName === "appendFile") plan.hasChanged = true;
      return awaited(call(functionName, ...args));
    },
    callTool(tool: ToolDefinition, args: ReadonlyMap<string, Expression>): Expression {
      const called = plan.startCall(tool, args);
      const isSynchronous = tool.kind === "skill" && !tool.signature.includes("Promise<");
      return isSynchronous ? called : awaited(called);
    },
    startCall(tool: ToolDefinition, args: ReadonlyMap<string, Expression>): Expression {
      return call(importTool(tool), ...toolArguments(tool, args));
    },
    /** Keeps a value in memory as the content of a JSON file. */
    addDocument(path: string, value: Value, isDirty: boolean): StateDocument {
      const document = { path, value, isDirty };
      value.document = document;
      plan.documents.push(document);
      plan.lastPath = path;
      return document;
    },
    get document(): StateDocument | undefined {
      return plan.documents.at(-1);
    },
    flush(): void {
      for (const document of plan.documents) {
        if (!document.isDirty) continue;
        plan.do(plan.writeJson(document.path, document.value.expression));
        document.isDirty = false;
      }
    },
    /** `await writeFile(path, JSON text with a line break at its end)` */
    writeJson(path: string, value: Expression): Expression {
      plan.makeFolder(path);
      const json = method(name("JSON"), "stringify", value, literal(null), literal(2));
      return plan.callFileSystem("writeFile", literal(path), line(json));
    },
    print({ expression, schema }: Pick<Value, "expression" | "schema">): void {
      const isPlain = hasType(schema, "string", "number", "integer") && !hasType(schema, "object", "array");
      plan.do(method(name("console"), "log", isPlain ? expression : call("toText", expression)));
    },
    /** Creates the folder of a path, unless it is the workspace itself. */
    makeFolder(path: string): void {
      const folder = path.slice(0, path.lastIndexOf("/") + 1).replace(/(?<=.)\/$/u, "");
      if (["", ".", "/", "/workspace"].includes(folder)) return;
      plan.do(plan.callFileSystem("mkdir", literal(folder), object({ recursive: literal(true) })));
    },
  };
  return plan;
}

function toolArguments(tool: ToolDefinition, args: ReadonlyMap<string, Expression>): Expression[] {
  const order = Object.keys(tool.inputSchema.properties ?? {});
  if (tool.callStyle === "object") {
    const isOptional = /^[\w$]+\((?:[\w$]+\?:|\s*\))/u.test(tool.signature);
    if (args.size === 0 && isOptional) return [];
    const entries = order.flatMap((key) => {
      const value = args.get(key);
      return value === undefined ? [] : [{ key, value }];
    });
    return [object(entries)];
  }
  const last = order.findLastIndex((key) => args.has(key));
  return order.slice(0, last + 1).map((key) => args.get(key) ?? name("undefined"));
}
