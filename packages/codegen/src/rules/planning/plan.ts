import type { JsonSchema, ToolDefinition } from "@cem/core";
import {
  awaited,
  call,
  camelCase,
  literal,
  method,
  name,
  Names,
  object,
  line,
} from "../program/expression.ts";
import type { Expression, Statement } from "../program/expression.ts";
import { HELPER_NAMES } from "../program/print-program.ts";
import { hasType, refuse, type StateDocument, type Unfilled, type Value } from "./value.ts";

export const FILE_SYSTEM = "node:fs/promises";
const FILE_FUNCTIONS = ["readFile", "writeFile", "appendFile", "access", "mkdir"] as const;
type FileFunction = (typeof FILE_FUNCTIONS)[number];

/** A result to declare. */
interface Declaration extends Pick<
  Partial<Value>,
  "isReceipt" | "constant" | "field" | "pageOf" | "isSorted"
> {
  /** The words that name it in the program and in later steps. */
  words: string;
  schema?: JsonSchema | undefined;
}

/** A program under construction: its statements, and the values that later steps can refer to. */
export class Plan {
  readonly tools: readonly ToolDefinition[];
  /** The clock for "today". */
  readonly now: () => Date;
  /** The results so far, in order. */
  readonly values: Value[] = [];
  /** The JSON files that steps loaded or created. */
  readonly documents: StateDocument[] = [];
  /** Imported names by module. */
  readonly imports = new Map<string, Set<string>>();
  /** The tools that the program calls. */
  readonly uses = new Set<ToolDefinition>();
  readonly names = new Names();
  /** Whether something was written or changed. */
  hasChanged = false;
  /** Whether the current step is part of a question, which changes nothing. */
  isQuestion = false;
  /** Text of the step being planned. */
  stepText = "";
  /** The skill that a step mentioned without calling it. */
  preferred: ToolDefinition | undefined;
  /** The last path named by a step. */
  lastPath: string | undefined;
  /** The block that statements are added to. */
  block: Statement[] = [];

  constructor(tools: readonly ToolDefinition[], now: () => Date) {
    this.tools = tools;
    this.now = now;
    for (const reserved of [...tools.map((tool) => tool.name), ...HELPER_NAMES, ...FILE_FUNCTIONS])
      this.names.reserve(reserved);
  }

  /** Declares a variable for a result that later steps can refer to. */
  declare(value: Expression, declaration: Declaration): Value {
    const variable = this.names.take(declaration.words, "result");
    this.block.push({ kind: "const", name: variable, value });
    return this.track(name(variable), variable, declaration);
  }

  /** Makes an expression known to later steps without declaring a variable. */
  track(expression: Expression, variable: string, { schema = {}, ...rest }: Declaration): Value {
    const about = this.stepText;
    const value: Value = { ...rest, name: variable, expression, schema, about, consumed: false };
    this.values.push(value);
    return value;
  }

  /** Refuses the step because of words that it can't interpret. */
  unread(argument: string, hint: string, tool?: ToolDefinition): Unfilled {
    return refuse({ step: this.stepText, reason: "not-understood", argument, hint }, tool);
  }

  /** Refuses the step because of a missing value. */
  lacks(argument: string, hint: string, tool?: ToolDefinition): Unfilled {
    return refuse({ step: this.stepText, reason: "missing-argument", argument, hint }, tool);
  }

  add(...statements: Statement[]): void {
    this.block.push(...statements);
  }

  do(value: Expression): void {
    this.add({ kind: "do", value });
  }

  /** Imports a name from a module. */
  import(module: string, imported: string): void {
    const names = this.imports.get(module) ?? new Set<string>();
    this.imports.set(module, names.add(imported));
  }

  /** Calls a function of `node:fs/promises`. */
  callFileSystem(functionName: FileFunction, ...args: Expression[]): Expression {
    this.import(FILE_SYSTEM, functionName);
    if (functionName === "writeFile" || functionName === "appendFile") this.hasChanged = true;
    return awaited(call(functionName, ...args));
  }

  /** Calls a tool with arguments by name. */
  callTool(tool: ToolDefinition, args: ReadonlyMap<string, Expression>): Expression {
    const called = this.startCall(tool, args);
    const isSynchronous = tool.kind === "skill" && !tool.signature.includes("Promise<");
    return isSynchronous ? called : awaited(called);
  }

  /** Calls a tool without awaiting it. */
  startCall(tool: ToolDefinition, args: ReadonlyMap<string, Expression>): Expression {
    return call(this.#importTool(tool), ...toolArguments(tool, args));
  }

  /** Imports a tool. If another module's tool has the same name, it is prefixed with its server's name. */
  #importTool(tool: ToolDefinition): string {
    const isTaken = [...this.uses].some(
      (other) => other !== tool && other.name === tool.name && other.module !== tool.module,
    );
    this.uses.add(tool);
    const alias = camelCase(`${tool.server} ${tool.name}`);
    if (isTaken) this.names.reserve(alias);
    this.import(tool.module, isTaken ? `${tool.name} as ${alias}` : tool.name);
    return isTaken ? alias : tool.name;
  }

  /** Keeps a value in memory as the content of a JSON file. */
  addDocument(path: string, value: Value, isDirty: boolean): StateDocument {
    const document = { path, value, isDirty };
    value.document = document;
    this.documents.push(document);
    this.lastPath = path;
    return document;
  }

  get document(): StateDocument | undefined {
    return this.documents.at(-1);
  }

  /** Writes the files that changed in memory. */
  flush(): void {
    for (const document of this.documents) {
      if (!document.isDirty) continue;
      this.do(this.writeJson(document.path, document.value.expression));
      document.isDirty = false;
    }
  }

  /** `await writeFile(path, JSON text with a line break at its end)` */
  writeJson(path: string, value: Expression): Expression {
    this.makeFolder(path);
    const json = method(name("JSON"), "stringify", value, literal(null), literal(2));
    return this.callFileSystem("writeFile", literal(path), line(json));
  }

  /** Prints a text or a result; text without quotes. */
  print({ expression, schema }: Pick<Value, "expression" | "schema">): void {
    const isPlain = hasType(schema, "string", "number", "integer") && !hasType(schema, "object", "array");
    this.do(method(name("console"), "log", isPlain ? expression : call("toText", expression)));
  }

  /** Creates the folder of a path, unless it is the workspace itself. */
  makeFolder(path: string): void {
    const folder = path.slice(0, path.lastIndexOf("/") + 1).replace(/(?<=.)\/$/u, "");
    if (["", ".", "/", "/workspace"].includes(folder)) return;
    this.do(this.callFileSystem("mkdir", literal(folder), object({ recursive: literal(true) })));
  }
}

/** Arguments in the schema's order. */
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
