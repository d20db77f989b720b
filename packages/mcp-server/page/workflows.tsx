import type { WorkflowGraph, WorkflowList, WorkflowRun, WorkflowRunList } from "../src/console/schemas.ts";
import { Code } from "./code.tsx";
import { EndedRow, EndedTable } from "./ended-table.tsx";
import { Empty, Entry, formatMs, formatWhen, Part, Problem, Status, useAnswer } from "./parts.tsx";
import { Redacted } from "./redacted.tsx";
import { DetailsTitle, NoDetails, Split } from "./split.tsx";
import { Graph } from "./workflow-graph.tsx";

const RUN = "run:";
export function Workflows({ selected }: { selected: string }) {
  const { answer, problem } = useAnswer<WorkflowList>("workflows");
  const { answer: kept, problem: trouble } = useAnswer<WorkflowRunList>("workflow-runs");
  return (
    <Split
      view="workflows"
      title="Workflows"
      selected={selected}
      hint={
        <p class="hint center">Select a workflow to see its steps, or a run to see what became of them.</p>
      }
      list={
        <>
          <Problem text={problem} />
          {answer?.absent !== undefined && <p class="hint">{answer.absent}</p>}
          {answer?.absent === undefined && answer?.workflows.length === 0 && (
            <Empty title="No workflows yet">
              <p>
                Put them under <code>workflows</code> in config.yaml.
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
          <h2 class="part-title">Runs of workflows</h2>
          <Problem text={trouble} />
          {kept?.runs.length === 0 && (
            <p class="hint">
              None yet. Start one: <code>cem workflow run &lt;name&gt;</code>
            </p>
          )}
          <ul class="runs">
            {kept?.runs.map(({ run, workflow, status, startedAt, ms }) => (
              <Entry
                key={run}
                to={`#workflows/${encodeURIComponent(`${RUN}${run}`)}`}
                isSelected={selected === `${RUN}${run}`}
                title={workflow}
              >
                <Status status={status} />{" "}
                <span>
                  {formatWhen(startedAt)} · {formatMs(ms)}
                </span>
              </Entry>
            ))}
          </ul>
        </>
      }
    >
      {selected.startsWith(RUN) ? (
        <KeptRun key={selected} id={selected.slice(RUN.length)} />
      ) : (
        <Workflow key={selected} name={selected} />
      )}
    </Split>
  );
}

function Workflow({ name }: { name: string }) {
  const { answer, problem } = useAnswer<WorkflowGraph>(`workflows/${encodeURIComponent(name)}`);
  if (answer === undefined) return <NoDetails problem={problem} />;
  return (
    <article class="run" aria-labelledby="details-title">
      <DetailsTitle>{name}</DetailsTitle>
      <Graph steps={answer.steps} />
      <Part title="Steps, in the order in which they can run">
        <ol class="steps">
          {answer.steps.map(({ depth, group, text, detail }, at) => (
            <li key={at} class={`depth-${Math.min(depth, 4)}`}>
              <span class="group" title="Steps of one number can run at once">
                {depth === 0 ? group : ""}
              </span>
              <strong>{text}</strong> <span class="hint">{detail}</span>
            </li>
          ))}
        </ol>
      </Part>
    </article>
  );
}

function KeptRun({ id }: { id: string }) {
  const { answer: run, problem } = useAnswer<WorkflowRun>(`workflow-runs/${encodeURIComponent(id)}`);
  const { answer: graph } = useAnswer<WorkflowGraph>(
    run === undefined ? undefined : `workflows/${encodeURIComponent(run.workflow)}`,
  );
  if (run === undefined) return <NoDetails problem={problem} />;
  const states = new Map(run.steps.map(({ step, status }) => [step, status]));
  return (
    <article class="run" aria-labelledby="details-title">
      <DetailsTitle>
        {run.workflow} <small>{run.run}</small>
      </DetailsTitle>
      {run.canResume && (
        <p>
          Go on with it where it stood: <code>cem workflow resume {run.run}</code>
          {run.uncertain.length > 0 &&
            `. It asks about ${run.uncertain.join(", ")}, which may have been executed.`}
        </p>
      )}
      {run.error !== null && <Problem text={`${run.error.code}: ${run.error.message}`} />}
      {graph !== undefined && <Graph steps={graph.steps} states={states} />}
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
      <Part title="Variables">
        <Code label="Variables" text={JSON.stringify(run.variables, null, 2)} />
      </Part>
      <Part title="Outputs">
        <Code label="Outputs" text={JSON.stringify(run.outputs, null, 2)} />
      </Part>
    </article>
  );
}
