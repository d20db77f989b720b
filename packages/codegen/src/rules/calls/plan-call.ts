import type { ToolDefinition } from "@cem/core";
import { splitWords } from "@cem/core/text";
import type { Phrase } from "../language/phrase.ts";
import type { Plan } from "../planning/plan.ts";
import { cite, idOf, type Value } from "../planning/value.ts";
import { array, arrow, awaited, literal, method, name, plural, singular } from "../program/expression.ts";
import type { Expression } from "../program/expression.ts";
import { changes, findCandidates, OWN_VERBS, type Candidate, verbOf } from "./candidates.ts";
import { fillArguments } from "./fill.ts";
import type { Filling } from "./filling.ts";
import { mayBeOnePage } from "./parameters.ts";
import { unclaimed } from "./unclaimed.ts";

/** The call that a step names or implies, if every word is understood; else why the closest tool can't be called. */
export function readCall(phrase: Phrase, plan: Plan) {
  const candidates = findCandidates(phrase, plan.tools, plan.preferred);
  const read = candidates.map((candidate) => tryCandidate(candidate, phrase, plan));
  const fitting = read.filter(({ refusal }) => refusal === undefined).toSorted((a, b) => b.score - a.score);
  const [best, second] = fitting;
  if (best === undefined) {
    const [nearest] = read.toSorted((a, b) => a.unread - b.unread || b.score - a.score);
    return { refusal: nearest?.refusal };
  }
  if (second !== undefined && second.score === best.score) {
    const meant = `${idOf(best.filling.tool)} or ${idOf(second.filling.tool)}`;
    return { refusal: plan.unread("tool", `${cite(phrase.text)} may mean ${meant}. Name one of them.`) };
  }
  return { filling: best.filling };
}

function tryCandidate({ tool, score }: Candidate, phrase: Phrase, plan: Plan) {
  const filling = fillArguments(tool, phrase, plan);
  const rest = unclaimed(filling);
  const refusal = refusalOf(filling, rest, phrase, plan);
  return { filling, score: score + filling.args.size / 10, unread: rest.length, refusal };
}

function refusalOf(filling: Filling, rest: readonly string[], phrase: Phrase, plan: Plan): Error | undefined {
  const { tool } = filling;
  const step = cite(phrase.text);
  if (changes(tool) && plan.isQuestion) {
    const hint = `${step} is a question, and ${idOf(tool)} changes something. Say it as an order.`;
    return plan.unread(verbOf(phrase), hint, tool);
  }
  const [lacking] = filling.missing;
  const [word] = rest;
  const unread = `${cite(rest.slice(0, 5).join(" "))} was not understood.`;
  if (lacking !== undefined) {
    const hint = `${step} lacks ${lacking.name}.${word === undefined ? "" : ` ${unread}`}`;
    return plan.lacks(lacking.name, hint, tool);
  }
  return word === undefined ? undefined : plan.unread(word, `In ${step}, ${unread}`, tool);
}

export function lowerCall(filling: Filling, plan: Plan, items = listedItems(filling, plan)): Value {
  const { tool, args } = filling;
  plan.flush();
  for (const value of filling.consumed) value.consumed = true;
  if (changes(tool)) plan.hasChanged = true;
  const words = resultWords(tool);
  const schema = tool.outputSchema ?? {};
  const about = { words, isReceipt: changes(tool), pageOf: mayBeOnePage(tool) ? idOf(tool) : undefined };
  if (items === undefined) return plan.declare(plan.callTool(tool, args), { ...about, schema });
  const item = plan.names.take(singular(items.parameter.name), "item");
  const argument = [items.parameter.name, items.itemOf(name(item))] as const;
  const each = arrow([item], plan.startCall(tool, new Map([...args, argument])));
  const all = method(name("Promise"), "all", method(items.list, "map", each));
  return plan.declare(awaited(all), { ...about, schema: { type: "array", items: schema } });
}

/** The values in the step that a tool is called for, one by one. */
function listedItems({ each }: Filling, plan: Plan) {
  if (each === undefined) return undefined;
  const variable = plan.names.take(plural(each.parameter.name), "values");
  const list = array(each.values.map((value) => literal(value)));
  plan.addConstant(variable, list);
  return { parameter: each.parameter, list: name(variable), itemOf: (item: Expression) => item };
}

/** The name of a tool's result: `weather` of `get_weather`. */
function resultWords(tool: ToolDefinition): string {
  const words = splitWords(tool.name).filter((word) => !OWN_VERBS.has(word));
  return words.length === 0 || words.join("_") === tool.name ? "result" : words.slice(-2).join(" ");
}
