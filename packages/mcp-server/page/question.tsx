import { useState } from "preact/hooks";
import type { RunDetails } from "../src/console/schemas.ts";
import { send } from "./api.ts";
import { Redacted } from "./redacted.tsx";

type Asked = RunDetails["openQuestions"][number];

interface Field {
  type?: string;
  title?: string;
  description?: string;
  enum?: unknown[];
  default?: unknown;
}

/** A question of a run, with fields for its answer. */
export function Question({ run, question }: { run: string; question: Asked }) {
  const [problem, setProblem] = useState("");
  const [isSent, setSent] = useState(false);
  const properties = Object.entries((question.schema?.["properties"] ?? {}) as Record<string, Field>);
  const required = (question.schema?.["required"] ?? []) as string[];
  const answer = async (given: object): Promise<void> => {
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
      class="question"
      aria-label={`Question of ${question.server}`}
      onSubmit={(event) => {
        event.preventDefault();
        void answer({
          action: "accept",
          ...(question.mode === "form" && { content: contentOf(event.currentTarget, properties) }),
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
        <button class="primary" disabled={isSent}>
          Answer
        </button>
        <button
          type="button"
          class="quiet"
          disabled={isSent}
          onClick={() => void answer({ action: "decline" })}
        >
          Decline
        </button>
      </p>
    </form>
  );
}

function Control({ name, field, isRequired }: { name: string; field: Field; isRequired: boolean }) {
  const label = field.title ?? name;
  if (field.enum !== undefined)
    return (
      <fieldset class="choice">
        <legend>{label}</legend>
        {field.enum.map(String).map((value) => (
          <label key={value}>
            <input type="radio" name={name} value={value} required={isRequired} /> {value}
          </label>
        ))}
      </fieldset>
    );
  if (field.type === "boolean")
    return (
      <label>
        <input type="checkbox" name={name} defaultChecked={field.default === true} /> {label}
      </label>
    );
  return (
    <label class="field">
      {label}
      {isNumber(field) ? (
        <input name={name} type="number" step="any" required={isRequired} autocomplete="off" />
      ) : (
        <input name={name} type="text" required={isRequired} autocomplete="off" />
      )}
      {field.description !== undefined && <span class="hint">{field.description}</span>}
    </label>
  );
}

function contentOf(form: HTMLFormElement, fields: [string, Field][]): Record<string, unknown> {
  const data = new FormData(form);
  const values = fields.flatMap(([name, field]): [string, unknown][] => {
    const given = data.get(name);
    if (field.type === "boolean") return [[name, given !== null]];
    if (given === null || given === "") return [];
    return [[name, isNumber(field) ? Number(given) : given]];
  });
  return Object.fromEntries(values);
}

function isNumber({ type }: Field): boolean {
  return type === "number" || type === "integer";
}
