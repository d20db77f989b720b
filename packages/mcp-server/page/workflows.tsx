import type {
  WorkflowGraph,
  WorkflowList,
  WorkflowRun,
  WorkflowRunList,
} from "../src/console/history-schemas.ts";
import { EndedRow, EndedTable } from "./ended-table.tsx";
import { Code, Empty, Entry, formatMs, formatTime, Problem, Redacted, useAnswer } from "./parts.tsx";

const RUN = "run:";
const TONES: Readonly<Record<WorkflowRun["status"], string>> = {
  running: "running",
  completed: "success",
  failed: "error",
  cancelled: "refused",
  interrupted: "asking",
};

export function Workflows({ selected }: { selected: string }) {
  const { answer, problem } = useAnswer<WorkflowList>("workflows");
  const { answer: kept, problem: trouble } = useAnswer<WorkflowRunList>("workflow-runs");
  return (
    <div class="page">
      <h1>Workflows</h1>
      <Problem text={problem} />
      {answer?.absent !== undefined && <p class="hint">{answer.absent}</p>}
      {answer?.absent === undefined && answer?.workflows.length === 0 && (
        <Empty title="No workflows yet">
          <p>
            Put them under <code>workflows</code> in config.yaml, or make one of a session:{" "}
            <code>cem workflow from-run last</code>.
          </p>
        </Empty>
      )}
      <ul class="runs">
        {answer?.workflows.map(({ name, description, version, steps }) => (
          <Entry
            key={name}
            to={`#workflows/${encodeURIComponent(name)}`}
            isSelected={name === selected}
            title={name}
          >
            <span>
              {description !== "" && `${description} · `}version {version} · {steps}{" "}
              {steps === 1 ? "step" : "steps"}
            </span>
          </Entry>
        ))}
      </ul>
      {selected !== "" && !selected.startsWith(RUN) && <Graph name={selected} />}
      <h2>Runs of workflows</h2>
      <Problem text={trouble} />
      {kept?.runs.length === 0 && <p class="hint">No runs of workflows yet.</p>}
      <ul class="runs">
        {kept?.runs.map(({ run, workflow, status, startedAt, ms }) => (
          <Entry
            key={run}
            to={`#workflows/${encodeURIComponent(`${RUN}${run}`)}`}
            isSelected={selected === `${RUN}${run}`}
            title={workflow}
          >
            <span class={`status ${TONES[status]}`}>{status}</span>{" "}
            <span>
              {formatTime(startedAt)} · {formatMs(ms)}
            </span>
          </Entry>
        ))}
      </ul>
      {selected.startsWith(RUN) && <KeptRun id={selected.slice(RUN.length)} />}
    </div>
  );
}

function Graph({ name }: { name: string }) {
  const { answer, problem } = useAnswer<WorkflowGraph>(`workflows/${encodeURIComponent(name)}`);
  return (
    <section class="part" aria-label={`Steps of ${name}`}>
      <h2>{name}</h2>
      <Problem text={problem} />
      <ol class="steps">
        {answer?.steps.map(({ depth, group, text, detail }, at) => (
          <li key={at} class={`depth-${Math.min(depth, 4)}`}>
            <span class="group" title="Steps of one number can run at once">
              {depth === 0 ? group : ""}
            </span>
            <strong>{text}</strong> <span class="hint">{detail}</span>
          </li>
        ))}
      </ol>
      {answer !== undefined && (
        <details>
          <summary>Flow chart of Mermaid</summary>
          <Code label="Flow chart of Mermaid" text={answer.mermaid} />
        </details>
      )}
    </section>
  );
}

function KeptRun({ id }: { id: string }) {
  const { answer: run, problem } = useAnswer<WorkflowRun>(`workflow-runs/${encodeURIComponent(id)}`);
  if (run === undefined) return <Problem text={problem} />;
  return (
    <section class="part" aria-label={`Run ${run.run}`}>
      <h2>{run.run}</h2>
      {run.canResume && (
        <p>
          Go on with it where it stood: <code>cem workflow resume {run.run}</code>
          {run.uncertain.length > 0 &&
            `. It asks about ${run.uncertain.join(", ")}, which may have been carried out.`}
        </p>
      )}
      {run.error !== null && <Problem text={`${run.error.code}: ${run.error.message}`} />}
      <EndedTable what="Step" figure="Attempts">
        {run.steps.map(({ step, status, attempts, error }) => (
          <EndedRow key={step} name={step} ended={status} figure={attempts}>
            {error !== undefined && (
              <span class="hint">
                {" "}
                <Redacted text={error} />
              </span>
            )}
          </EndedRow>
        ))}
      </EndedTable>
      <Code label="Variables" text={`variables ${JSON.stringify(run.variables, null, 2)}`} />
      <Code label="Outputs" text={`outputs ${JSON.stringify(run.outputs, null, 2)}`} />
    </section>
  );
}
