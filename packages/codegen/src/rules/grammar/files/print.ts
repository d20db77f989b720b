import { Pattern } from "../../language/pattern.ts";
import type { Span } from "../../language/token.ts";
import { useHelper } from "../../program/helpers.ts";
import type { Plan } from "../../planning/plan.ts";
import { type Meaning, RANK } from "../../planning/reading.ts";
import type { Production, Step } from "../../planning/step.ts";
import { hasType, isNumeric, type Value } from "../../planning/value.ts";
import { call, type Expression, literal, member, name } from "../../program/expression.ts";
import { toJson } from "../../planning/convert.ts";
import { lacks } from "./places.ts";
import { readConfirmation, readQuotes } from "./messages.ts";
import { readShown } from "./shown.ts";
import { GIVE, isBare, PRINT } from "./words.ts";

const START = new Pattern(`((${PRINT}|console.log) | {give:@give}) (out|back|again)? :? {what:rest}?`, {
  give: Object.fromEntries(GIVE.split("|").map((verb) => [verb, "give"])),
});
const ON_SCREEN = new Pattern("{what} (to|on|in) (console|screen|terminal|stdout|output)");

/** Prints a message, earlier results or fields of a file; "show" and "return" make them the program's value. */
export const readPrint: Production = (step, plan) => {
  const match = isBare(step) ? START.match(step.span) : undefined;
  if (match === undefined) return undefined;
  const isPrinted = !match.has("give");
  const rest = match.span("what");
  const what = ON_SCREEN.match(rest)?.span("what") ?? rest;
  const messages = readQuotes(what) ?? readConfirmation(what, plan);
  if (messages !== undefined) return message(messages, isPrinted, plan);
  const shown = readShown(what, plan) ?? (isPrinted ? readAsked(what, plan) : undefined);
  if (shown === undefined) return isPrinted ? refuse(what, step) : undefined;
  const lower = isPrinted ? () => print(plan, shown.lower(), shown.schema) : () => give(plan, shown);
  return { kind: "print", rank: RANK.plain + 0.9, lower };
};

function message(messages: readonly string[], isPrinted: boolean, plan: Plan) {
  return {
    kind: "print",
    rank: RANK.plain + 0.9,
    lower() {
      for (const text of messages) {
        plan.printed = literal(text);
        if (isPrinted) log(plan, plan.printed);
      }
    },
  };
}

function print(plan: Plan, expression: Expression, schema: Value["schema"]): void {
  log(plan, printable(expression, schema));
}

/** `console.log(value)` */
export function log(plan: Plan, value: Expression): void {
  plan.add({ kind: "do", value: call(member(name("console"), "log"), value) });
}

/** What `console.log` shows best: text and numbers as they are, the rest as JSON. */
function printable(expression: Expression, schema: Value["schema"]): Expression {
  if (hasType(schema, "string") || hasType(schema, "boolean")) return expression;
  if (isNumeric(schema)) return isWhole(expression) ? expression : call(useHelper("readable"), expression);
  return Object.keys(schema).length === 0 ? call(useHelper("toText"), expression) : toJson(expression);
}

/** A count, or a number of the text. */
function isWhole(expression: Expression): boolean {
  return expression.kind === "literal" || (expression.kind === "member" && expression.key === "length");
}

/** Values that a step asked to be given back. */
const given = new WeakSet<Value>();

/** What is asked for is the program's value, and what came before it is not. */
function give(plan: Plan, shown: Meaning): void {
  const { schema, words } = shown;
  const expression = shown.lower();
  for (const value of plan.values) if (!given.has(value)) value.consumed = true;
  const value =
    expression.kind === "name"
      ? plan.track(expression, expression.name, { words, schema })
      : plan.declare(expression, { words, schema });
  given.add(value);
}

/** `print the weather in Oslo`: what is to be printed has to be asked for first. */
function readAsked(what: Span, plan: Plan): Meaning | undefined {
  if (what.trimmed.isEmpty) return undefined;
  const reading = plan.readAsked(`get ${what.text}`);
  if (reading === undefined) return undefined;
  return {
    schema: { type: "string" },
    words: what.text,
    lower() {
      reading.lower();
      const asked = plan.values.at(-1);
      if (asked === undefined) throw new Error(`Nothing came of "${what.text}".`);
      return printable(asked.expression, asked.schema);
    },
  };
}

function refuse(what: Span, { text }: Step): never {
  const words = what.text.slice(0, 60);
  throw lacks(
    text,
    words === "" ? "value" : words,
    `There is nothing before this step that "${words}" could mean.`,
  );
}
