import type { ToolDefinition } from "@cem/core";
import type { TaskStep } from "@cem/text";
import type { Plan } from "../../planning/plan.ts";
import { findReference, sameWords } from "../../planning/references.ts";
import { hasType } from "../../planning/value.ts";
import { literal } from "../../program/expression.ts";
import { readTokens } from "../../language/lexer.ts";
import { formula } from "../arithmetic/arithmetic.ts";
import { readArithmetic } from "../arithmetic/read-arithmetic.ts";
import { readJson } from "../../language/json.ts";
import { Phrase, QUOTED } from "./phrase.ts";
import { takeFlag, takeNamedToken, takeNamedWords, takeNumber } from "./explicit.ts";
import { splitList } from "./lists.ts";
import { type Parameter, readParameters } from "./parameters.ts";
import { takeByRole, takeSlug } from "./take-by-role.ts";
import {
  type FilledArguments,
  type Filling,
  set,
  setEach,
  setFound,
  setReference,
  toFound,
} from "./filling.ts";
import { fillEnum } from "./fill-enum.ts";
import { fillLeftover } from "./fill-leftover.ts";
import { fillList } from "./fill-list.ts";
import { fillFromResults, fillReference } from "./fill-reference.ts";

/** Fills a tool's parameters from a step's words, then from earlier results. */
export function fillArguments(tool: ToolDefinition, step: TaskStep, plan: Plan): FilledArguments {
  const parameters = readParameters(tool);
  const result: FilledArguments = { args: new Map(), missing: [], consumed: [], rest: "" };
  const filling: Filling = { phrase: new Phrase(step.text), tool, plan, step, result };
  fillFromFields(filling, parameters);
  fillSlug(filling, parameters);
  const rounds: ((filling: Filling, parameter: Parameter) => void)[] = [
    fillNamed,
    fillTyped,
    fillNamedWords,
    fillReference,
    fillByRole,
    fillLeftover,
    fillFromResults,
  ];
  for (const round of rounds) {
    for (const parameter of inOrder(parameters)) {
      if (result.args.has(parameter.name)) continue;
      const putBack = filling.phrase.remember();
      round(filling, parameter);
      // What was taken and is no value after all is not lost.
      if (!result.args.has(parameter.name)) putBack();
    }
  }
  result.missing = parameters.filter((parameter) => parameter.isRequired && !result.args.has(parameter.name));
  result.args = new Map(
    parameters.flatMap(({ name }) => {
      const value = result.args.get(name);
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
  result.rest = filling.phrase.rest;
  return result;
}

/** What has a form of its own goes first, free text last. */
function inOrder(parameters: readonly Parameter[]): Parameter[] {
  const order = [
    "enum",
    "sql",
    "expression",
    "email",
    "url",
    "path",
    "channel",
    "date",
    "boolean",
    "number",
    "list",
    "object",
    "language",
    "table",
    "title",
    "message",
    "query",
    "recipient",
    "identifier",
    "place",
    "text",
  ];
  return [...parameters].toSorted(
    (a, b) => Number(b.isRequired) - Number(a.isRequired) || order.indexOf(a.role) - order.indexOf(b.role),
  );
}

function fillFromFields(filling: Filling, parameters: readonly Parameter[]): void {
  for (const field of filling.step.fields) {
    const parameter = parameters.find((one) => sameWords(one.name, field.key));
    if (parameter === undefined) continue;
    const value = readJson(field.value) ?? field.value;
    set(
      filling,
      parameter,
      hasType(parameter.schema, "string") && typeof value !== "string" ? field.value : value,
    );
  }
  const { items } = filling.step;
  const target = parameters.find((one) => one.isRequired && !filling.result.args.has(one.name));
  if (items.length === 0 || target === undefined) return;
  const values = items.map((item) => item.replace(/^["'`](.*)["'`]$/u, "$1"));
  if (target.role === "list") set(filling, target, values);
  else setEach(filling, target, values);
}

function fillSlug({ phrase, result }: Filling, parameters: readonly Parameter[]): void {
  const owner = parameters.find((one) => one.role === "owner");
  const repository = parameters.find((one) => one.role === "repository");
  if (repository === undefined) return;
  const slug = takeSlug(phrase);
  if (slug === undefined) return;
  if (owner !== undefined) result.args.set(owner.name, literal(slug.owner));
  result.args.set(repository.name, literal(owner === undefined ? slug.whole : slug.repository));
}

function fillNamed(filling: Filling, parameter: Parameter): void {
  const { phrase } = filling;
  if (parameter.role === "boolean") {
    const flag = takeFlag(phrase, parameter);
    if (flag !== undefined) set(filling, parameter, flag);
  } else if (parameter.role === "number") {
    const token = takeNumber(phrase, parameter, filling.tool);
    const number = token === undefined ? undefined : phrase.value(token);
    if (typeof number === "number") set(filling, parameter, number);
  } else if (parameter.role === "enum") {
    fillEnum(filling, parameter);
  } else if (parameter.role !== "list" && parameter.role !== "object" && parameter.role !== "date") {
    const token = takeNamedToken(phrase, parameter, QUOTED);
    const value = token === undefined ? undefined : phrase.quoted(token);
    if (value !== undefined) set(filling, parameter, value);
  }
}

function fillTyped(filling: Filling, parameter: Parameter): void {
  const { phrase, plan } = filling;
  if (parameter.role === "expression") {
    const arithmetic = readArithmetic(readTokens(filling.step.text), plan);
    const text = arithmetic === undefined ? undefined : formula(arithmetic);
    if (text === undefined) return;
    set(filling, parameter, text);
    phrase.take(/[\s\S]+/u);
  } else if (["email", "url", "path", "channel", "date"].includes(parameter.role)) {
    setFound(filling, parameter, takeByRole(phrase, parameter, plan.now()));
  } else if (parameter.role === "list") {
    fillList(filling, parameter);
  } else if (parameter.role === "object") {
    const json = phrase.takeJson(
      (value) => typeof value === "object" && value !== null && !Array.isArray(value),
    );
    if (json !== undefined) set(filling, parameter, json);
  }
}

function fillNamedWords(filling: Filling, parameter: Parameter): void {
  if (
    ["boolean", "number", "list", "object", "enum", "sql", "expression", "date", "path", "table"].includes(
      parameter.role,
    )
  )
    return;
  const words = takeNamedWords(filling.phrase, parameter);
  if (words === undefined) return;
  const value = filling.phrase.decode(words).trim();
  const reference = findReference(value, filling.plan);
  if (reference !== undefined && /^(?:it|that|this|them|the\b.*)$/iu.test(value))
    setReference(filling, parameter, reference);
  else if (parameter.role === "place")
    setFound(filling, parameter, toFound(splitList(words, filling.phrase, true)));
  else set(filling, parameter, value);
}

function fillByRole(filling: Filling, parameter: Parameter): void {
  const isEager = parameter.isRequired || parameter.role === "place" || parameter.role === "language";
  if (isEager) setFound(filling, parameter, takeByRole(filling.phrase, parameter, filling.plan.now()));
}
