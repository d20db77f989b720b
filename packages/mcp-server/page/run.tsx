import { useRef, useState } from "preact/hooks";
import type { RunDetails, RunSummary } from "../src/console/schemas.ts";
import { send, startRun } from "./api.ts";
import { Calls } from "./calls.tsx";
import { Code } from "./code.tsx";
import { asText, formatCount, formatMs, formatTime, Part, Problem, Status, useAnswer } from "./parts.tsx";
import { Question } from "./question.tsx";
import { Redacted } from "./redacted.tsx";
import { DetailsTitle, NoDetails } from "./split.tsx";

export function Run({ id, summary }: { id: string; summary: RunSummary | undefined }) {
  const { answer: run, problem } = useAnswer<RunDetails>(
    `runs/${encodeURIComponent(id)}`,
    JSON.stringify(summary),
  );
  // While the next version is read, the one before stays.
  const last = useRef<RunDetails>(undefined);
  if (run !== undefined) last.current = run;
  const shown = last.current?.id === id ? last.current : undefined;
  if (shown === undefined) return <NoDetails problem={problem} />;
  const code = codeOf(shown);
  const isUnderWay = ["waiting", "running", "asking"].includes(shown.status);
  return (
    <article class="run" aria-labelledby="details-title">
      <header>
        <DetailsTitle kind={shown.kind}>
          <Redacted text={shown.title || "…"} />
        </DetailsTitle>
        <p class="facts" role="status">
          <Status status={shown.status} />
          <span>{formatTime(shown.startedAt)}</span>
          {shown.ms !== undefined && <span>{formatMs(shown.ms)}</span>}
        </p>
        {isUnderWay ? <EndRun id={id} /> : <RunAgain run={shown} />}
      </header>
      {shown.openQuestions.map((question) => (
        <Question key={question.id} run={id} question={question} />
      ))}
      <Facts run={shown} />
      {shown.error !== undefined && (
        <section class="problem" aria-label="Error">
          <p class="code">{shown.error.code}</p>
          <p>
            <Redacted text={shown.error.message} />
          </p>
        </section>
      )}
      {shown.value !== undefined && (
        <Part title="Result">
          <Code label="Result" text={asText(shown.value)} />
        </Part>
      )}
      {shown.valueIsLeftOut && (
        <p class="hint">The result is too large for the console. Read it in the workspace.</p>
      )}
      {shown.output !== "" && (
        <Part title="Output">
          <Code label="Output" text={shown.output} />
          {shown.outputIsCut && <p class="hint">The rest is cut.</p>}
        </Part>
      )}
      <Calls run={shown} />
      {code !== undefined && (
        <Part title={`Code${shown.origin === undefined ? "" : `, ${WRITTEN[shown.origin]}`}`}>
          <Code label="Code" text={code.text} isProgram />
          {code.isCut && <p class="hint">The rest is cut.</p>}
        </Part>
      )}
      {shown.findings.length > 0 && (
        <Part title="Review">
          <ul>
            {shown.findings.map(({ rule, message, line }) => (
              <li key={`${rule}${line}`}>
                {line !== undefined && `Line ${line}: `}
                <Redacted text={message} />
              </li>
            ))}
          </ul>
        </Part>
      )}
      {shown.notes.length > 0 && (
        <Part title="Notes">
          <ul>
            {shown.notes.map((note) => (
              <li key={note}>
                <Redacted text={note} />
              </li>
            ))}
          </ul>
        </Part>
      )}
    </article>
  );
}

/** The code of a run, which is there from the start where it was given. */
function codeOf({ kind, code, codeIsCut, input, inputIsCut }: RunDetails) {
  if (code !== undefined) return { text: code, isCut: codeIsCut };
  return kind === "code" ? { text: input, isCut: inputIsCut } : undefined;
}

function EndRun({ id }: { id: string }) {
  const end = (): void => void send(`runs/${encodeURIComponent(id)}/end`, {}).catch(() => {});
  return (
    <button class="quiet" onClick={end}>
      End this run
    </button>
  );
}

function RunAgain({ run }: { run: RunDetails }) {
  const [problem, setProblem] = useState<string>();
  const given = (run.kind === "code" && codeOf(run)) || { text: run.input, isCut: run.inputIsCut };
  if (given.isCut)
    return <p class="hint">It is too long to be kept whole, so it can't be run again from here.</p>;
  const again = async (): Promise<void> => {
    try {
      await startRun(run.kind, given.text);
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <>
      <button class="quiet" onClick={() => void again()}>
        Run again
      </button>
      <Problem text={problem} />
    </>
  );
}

const WRITTEN = { rules: "written by rules", llm: "written by a model", given: "as given" } as const;

function Facts({ run }: { run: RunDetails }) {
  const { context, sandbox, redactions, stages } = run;
  return (
    <dl class="grid">
      {context !== undefined && (
        <div>
          <dt>Kept out of context</dt>
          <dd>
            {formatCount(context.saved)} tokens
            <small>
              {formatCount(context.used)} used instead of {formatCount(context.direct)}
            </small>
          </dd>
        </div>
      )}
      {sandbox !== undefined && (
        <div>
          <dt>Isolation</dt>
          <dd>
            {sandbox.level}
            <small>{sandbox.mechanisms.join(", ")}</small>
          </dd>
        </div>
      )}
      {redactions.length > 0 && (
        <div>
          <dt>Redacted</dt>
          <dd>
            {run.redacted} {run.redacted === 1 ? "value" : "values"}
            <small>
              {redactions.map(({ type, values }) => `${values} ${type.toLowerCase()}`).join(", ")}
            </small>
          </dd>
        </div>
      )}
      {stages.length > 0 && (
        <div>
          <dt>Stages</dt>
          <dd>
            <ol class="stages">
              {stages.map(({ stage, ms }, at) => (
                <li key={at}>
                  {stage} <span>{ms === undefined ? "…" : formatMs(ms)}</span>
                </li>
              ))}
            </ol>
          </dd>
        </div>
      )}
    </dl>
  );
}
