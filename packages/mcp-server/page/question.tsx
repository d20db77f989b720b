import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { RunDetails } from "../src/console/schemas.ts";
import { send } from "./api.ts";
import { Redacted } from "./redacted.tsx";

type Asked = RunDetails["openQuestions"][number];

type Constant = string | number | boolean;

/** The schemas of choices that MCP allows: plain, titled, and titled as in older revisions. */
interface Options {
  enum?: Constant[];
  enumNames?: string[];
  oneOf?: { const?: Constant; title?: string }[];
  anyOf?: { const?: Constant; title?: string }[];
}

interface Field extends Options {
  type?: string;
  title?: string;
  description?: string;
  items?: Options;
  default?: string | number | boolean | string[];
}

/** A question of a run, with fields for its answer. */
export function Question({ run, question }: { run: string; question: Asked }) {
  const [problem, setProblem] = useState("");
  const [isSent, setSent] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  // A person at the keyboard goes on in the run, not at the page's beginning.
  useLayoutEffect(
    () => () => {
      if (form.current?.contains(document.activeElement) === true)
        document.querySelector<HTMLElement>("#details-title")?.focus({ preventScroll: true });
    },
    [],
  );
  const properties = Object.entries((question.schema?.["properties"] ?? {}) as Record<string, Field>);
  const required = (question.schema?.["required"] ?? []) as string[];
  const answer = async (given: object): Promise<void> => {
    if (isSent) return;
    try {
      setSent(true);
      await send(`runs/${encodeURIComponent(run)}/questions/${encodeURIComponent(question.id)}`, given);
    } catch (error) {
      setSent(false);
      setProblem((error as Error).message);
    }
  };
  return (
    <form
      ref={form}
      class="question"
      aria-label={`Question of ${question.server}`}
      onSubmit={(event) => {
        event.preventDefault();
        void answer({
          action: "accept",
          ...(question.mode === "form" && { content: contentOf(event.currentTarget, properties, required) }),
        });
      }}
    >
      <p class="from">{question.server} asks</p>
      <p class="message" role="alert">
        <Redacted text={question.message} />
      </p>
      {question.url !== undefined && (
        <p>
          It wants you to open this page: <code>{question.url}</code>
        </p>
      )}
      {properties.map(([name, field]) => (
        <Control key={name} name={name} field={field} isRequired={required.includes(name)} />
      ))}
      {problem !== "" && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <p class="buttons">
        <button class="primary" aria-disabled={isSent}>
          Answer
        </button>
        <button
          type="button"
          class="quiet"
          aria-disabled={isSent}
          onClick={() => void answer({ action: "decline" })}
        >
          Decline
        </button>
      </p>
    </form>
  );
}

function Control({ name, field, isRequired }: { name: string; field: Field; isRequired: boolean }) {
  const label = <Redacted text={field.title ?? name} />;
  const hint = field.description !== undefined && (
    <span class="hint">
      <Redacted text={field.description} />
    </span>
  );
  const isList = field.type === "array";
  const choices = choicesOf(field);
  if (choices.length > 0)
    return (
      <fieldset class="choice">
        <legend>
          {label} {hint}
        </legend>
        {choices.map(({ value, title }) => (
          <label key={value}>
            <input
              type={isList ? "checkbox" : "radio"}
              name={name}
              value={value}
              required={isRequired && !isList}
              defaultChecked={[field.default ?? []].flat().map(String).includes(value)}
            />{" "}
            <Redacted text={title} />
          </label>
        ))}
      </fieldset>
    );
  if (field.type === "boolean")
    return (
      <label>
        <input type="checkbox" name={name} defaultChecked={field.default === true} /> {label} {hint}
      </label>
    );
  return (
    <label class="field">
      {label}
      <input
        name={name}
        {...(isNumber(field) ? { type: "number", step: "any" } : { type: "text" })}
        required={isRequired}
        defaultValue={String(field.default ?? "")}
        autocomplete="off"
      />
      {hint}
    </label>
  );
}

function choicesOf(field: Field) {
  const listed = field.type === "array" ? field.items : field;
  const { enum: values = [], enumNames, oneOf = [], anyOf = [] } = listed ?? {};
  const named = values.map((value, at) => ({ const: value, title: enumNames?.[at] }));
  return [...named, ...oneOf, ...anyOf].flatMap(({ const: given, title }) => {
    // An alternative of a tool of this host may be a schema.
    return given === undefined ? [] : [{ given, value: String(given), title: String(title ?? given) }];
  });
}

function contentOf(
  form: HTMLFormElement,
  fields: [string, Field][],
  required: string[],
): Record<string, unknown> {
  const data = new FormData(form);
  const values = fields.flatMap(([name, field]): [string, unknown][] => {
    const choices = choicesOf(field);
    const texts = data.getAll(name).filter((text) => text !== "");
    const given = texts.map((text) => choices.find(({ value }) => value === text)?.given ?? text);
    const [one] = given;
    // Nothing ticked is an empty list only where there has to be one.
    if (field.type === "array" && required.includes(name)) return [[name, given]];
    if (field.type === "boolean" && choices.length === 0) return [[name, one !== undefined]];
    if (one === undefined) return [];
    if (field.type === "array") return [[name, given]];
    return [[name, isNumber(field) ? Number(one) : one]];
  });
  return Object.fromEntries(values);
}

function isNumber({ type }: Field): boolean {
  return type === "number" || type === "integer";
}
