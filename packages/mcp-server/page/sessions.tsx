import type { Session, SessionList } from "../src/console/schemas.ts";
import { Code } from "./code.tsx";
import { Empty, Entry, formatTime, Part, Problem, useAnswer } from "./parts.tsx";
import { Redacted } from "./redacted.tsx";
import { DetailsTitle, NoDetails, Split } from "./split.tsx";

export function Sessions({ selected }: { selected: string }) {
  const { answer, problem } = useAnswer<SessionList>("sessions");
  return (
    <Split
      view="sessions"
      title="Sessions"
      selected={selected}
      hint={<p class="hint center">Select a session to see its tasks.</p>}
      list={
        <>
          <Problem text={problem} />
          {answer?.absent !== undefined && <p class="hint">{answer.absent}</p>}
          {answer?.absent === undefined && answer?.sessions.length === 0 && (
            <Empty title="No sessions yet">
              <p>
                What runs do is kept in the log of their session while <code>execution.state.auto_save</code>{" "}
                is true.
              </p>
            </Empty>
          )}
          <ul class="runs">
            {answer?.sessions.map(({ id, startedAt, endedAt, tasks, lastTask }) => (
              <Entry
                key={id}
                to={`#sessions/${encodeURIComponent(id)}`}
                isSelected={id === selected}
                title={id}
              >
                <span>
                  {formatTime(startedAt)} · {tasks} {tasks === 1 ? "task" : "tasks"}
                  {endedAt === null && " · not ended"}
                  {lastTask !== "" && (
                    <>
                      {" · "}
                      <Redacted text={lastTask} />
                    </>
                  )}
                </span>
              </Entry>
            ))}
          </ul>
        </>
      }
    >
      <OneSession key={selected} id={selected} />
    </Split>
  );
}

function OneSession({ id }: { id: string }) {
  const { answer: session, problem } = useAnswer<Session>(`sessions/${encodeURIComponent(id)}`);
  if (session === undefined) return <NoDetails problem={problem} />;
  return (
    <article class="run" aria-labelledby="details-title">
      <DetailsTitle>{session.id}</DetailsTitle>
      <p class="hint">
        Go on with it: <code>cem run --resume {session.id} "&lt;task&gt;"</code>
      </p>
      <Part title="What a model is told of it">
        <Code label="Recap" text={session.recap} />
      </Part>
      {session.tasks.map((task) => (
        <section key={task.id} class="part" aria-label={task.id}>
          <h3>
            <Redacted text={task.description === "" ? "Given code" : task.description} />
          </h3>
          <p class="hint">{formatTime(task.at)}</p>
          {task.error !== null && <Problem text={task.error} />}
          <Code label={`Code of ${task.id}`} text={task.code} isProgram />
          <Code label={`Result of ${task.id}`} text={JSON.stringify(task.result, null, 2)} />
        </section>
      ))}
    </article>
  );
}
