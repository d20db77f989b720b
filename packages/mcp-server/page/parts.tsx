import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { RunSummary, WorkflowRun } from "../src/console/schemas.ts";
import { get } from "./api.ts";
import { Redacted } from "./redacted.tsx";

export function Status({ status }: { status: RunSummary["status"] | WorkflowRun["status"] }) {
  return <span class={`status ${status}`}>{status}</span>;
}

/** A section of a page with its heading. */
export function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="part">
      <h2 class="part-title">{title}</h2>
      {children}
    </section>
  );
}

export function Empty({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** Why something can't be shown, where it can't. */
export function Problem({ text }: { text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <p class="problem" role="alert">
      {text}
    </p>
  );
}

/** A link to one of a list. */
export function Entry({
  to,
  isSelected,
  title,
  children,
}: {
  to: string;
  isSelected: boolean;
  title: string;
  children: ComponentChildren;
}) {
  return (
    <li>
      <a href={to} aria-current={isSelected ? "true" : undefined}>
        <span class="title">
          <Redacted text={title} />
        </span>
        <span class="facts">{children}</span>
      </a>
    </li>
  );
}

/** The text that a form has under a name. */
export function textIn(form: HTMLFormElement, name: string): string {
  const given = new FormData(form).get(name);
  return typeof given === "string" ? given : "";
}

/** The API's answer at a path, read again when the path or `version` changes. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the API says what it answers
export function useAnswer<Answer>(
  path: string | undefined,
  version = "",
): {
  answer: Answer | undefined;
  problem: string | undefined;
} {
  const [state, setState] = useState<{ path?: string; answer?: Answer; problem?: string }>({});
  useEffect(() => {
    if (path === undefined) return undefined;
    const ending = new AbortController();
    get<Answer>(path, ending.signal).then(
      (answer) => setState({ path, answer }),
      (error: Error) => {
        if (!ending.signal.aborted) setState({ path, problem: error.message });
      },
    );
    return () => ending.abort();
  }, [path, version]);
  const isCurrent = state.path === path;
  return { answer: isCurrent ? state.answer : undefined, problem: isCurrent ? state.problem : undefined };
}

/** Counts how often an interval has passed, to read what changes by itself anew. */
export function useRound(intervalMs: number): number {
  const [round, setRound] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setRound((at) => at + 1), intervalMs);
    return () => clearInterval(timer);
  }, [intervalMs]);
  return round;
}

export function formatMs(ms: number | undefined): string {
  if (ms === undefined) return "";
  return ms < 1_000 ? `${Math.round(ms * 10) / 10} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

export function formatTime(iso: string): string {
  return new Date(iso).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

/** The time of day; of an earlier day its date, too. */
export function formatWhen(iso: string): string {
  const when = new Date(iso);
  const isToday = when.toDateString() === new Date().toDateString();
  return when.toLocaleString(undefined, {
    ...(!isToday && { month: "short", day: "numeric" }),
    hour: "2-digit",
    minute: "2-digit",
    ...(isToday && { second: "2-digit" }),
  });
}

export function formatBytes(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  const power = Math.min(units.length, Math.floor(Math.log(bytes) / Math.log(1_024)));
  return `${(bytes / 1_024 ** power).toFixed(1)} ${units[power - 1]}`;
}

export function formatCount(count: number): string {
  return count.toLocaleString("en");
}

/** A value as it is shown: text as it is, else JSON. */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
